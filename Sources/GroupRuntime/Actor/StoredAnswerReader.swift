import GroupModel
import WireProtocol

/// Reads the stored messages and profiles of replies.
struct StoredAnswerReader: Sendable {
  let group: GroupID
  let messages: any MessageStore
  let profiles: ProfileCache
  let observer: any GroupObserver
  let pageBytes: Int
  /// Receives each count of unread messages.
  let didCount: @Sendable (_ count: Int, UnreadMessages) -> Void

  /// How many messages one read counts; other reads have their turn in between.
  private static let messagesPerCount: Int64 = 4096

  func reply(to answer: StoredAnswer) async -> Reply {
    do throws(StoreError) {
      switch answer {
      case .history(let question): return try await history(question)
      case .messages(let seqs, let scope): return try await chosen(seqs, scope)
      case .replies(let question): return try await replies(question)
      case .pinned(let seqs, let scope): return try await pinned(seqs, scope)
      case .reactions(let seqs, let users, let scope): return try await reactions(to: seqs, users: users, scope)
      case .sync(let row): return try await sync(row)
      case .shown(let answer): return try await show(answer)
      case .info(let row, let member, let unread): return try await info(row, of: member, unread)
      case .unread(let unread):
        let count = try await self.count(unread)
        return .success(.unreadCount(count))
      case .readReceipts(let seqs, let sender, let epoch): return try await readReceipts(of: seqs, by: sender, epoch: epoch)
      }
    } catch {
      if error.kind != .cancelled { observer.storeFailed(error, group: group) }
      return .error(.temporary)
    }
  }

  private func history(_ question: HistoryQuestion) async throws(StoreError) -> Reply {
    let newestFirst = question.newestFirst
    let page = try await page(
      of: question.visible, from: question.bound, newestFirst: newestFirst, count: question.count, question.scope)
    let read = try await read(page.ranges, newestFirst: newestFirst, maxBytes: pageBytes, question.scope)
    return .success(
      .history(
        GetGroupHistoryMessageList.Result(
          messageList: read.messages,
          isFinished: (page.isFinished || (newestFirst && read.isIncomplete)) && !read.isCut)))
  }

  /// The messages of a page. Where some are addressed to others, they are looked up first, so that the
  /// page is full and knows whether it is the last.
  private func page(
    of visible: VisibleHistory, from bound: Int64, newestFirst: Bool, count: Int64, _ scope: HistoryScope
  ) async throws(StoreError) -> VisibleHistory.Page {
    guard let reader = scope.filteredReader else {
      return newestFirst ? visible.older(than: bound, count: count) : visible.newer(than: bound, count: count)
    }
    var filtered = FilteredPage(in: visible.ranges, from: bound, newestFirst: newestFirst, count: count)
    while let window = filtered.nextWindow {
      // Each window is a read of its own: a requester who has left waits for none.
      if Requester.hasLeft { throw StoreError(.cancelled, "the requester has left") }
      let hidden = try await messages.hiddenSeqs(
        of: group, from: reader, in: window, newestFirst: newestFirst, limit: window.count)
      filtered.add(window, without: hidden)
    }
    return filtered.page
  }

  /// "Those I may see, as they are now, in the order of seqList."
  private func chosen(_ seqs: [Int64], _ scope: HistoryScope) async throws(StoreError) -> Reply {
    let found = try await messages.messages(of: group, seqs: seqs).filter(scope.visibility.contains)
    let page = try await encode(found, maxBytes: pageBytes, scope)
    return .success(.messages(GetGroupMessages.Result(messageList: page.messages)))
  }

  /// "Replies that I may see and that are not recalled, ascending"; 10030 for what the reader may not
  /// see, retention removed, or another group has at that place by now.
  private func replies(_ question: ReplyQuestion) async throws(StoreError) -> Reply {
    let scope = question.scope
    guard let answered = try await messages.messages(of: group, seqs: [question.seq]).first, answered.isOf(scope.epoch),
      scope.visibility.contains(answered)
    else { return .failure(WireError(.messageUnknown, field: "seq")) }
    let found = try await messages.replies(
      to: question.seq, in: group, visible: scope.visibility, after: question.after, limit: question.count + 1)
    let page = try await encode(Array(found.messages.prefix(question.count)), maxBytes: pageBytes, scope)
    let hasMore = page.isCut || found.messages.count > question.count
    let last = page.messages.isEmpty ? nil : found.messages[page.messages.count - 1].seq
    return .success(
      .replies(
        GetGroupMessageReplies.Result(
          messageList: page.messages, totalCount: found.total, nextSeq: hasMore ? last ?? 0 : 0)))
  }

  /// How many messages one row of syncGroups holds at most, changed ones among them.
  static let syncPage = 100

  /// "The first page holds changes before messages."
  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let maxBytes = min(row.bytes, pageBytes)
    let changes = try await self.changes(row, maxBytes: maxBytes)
    var messages = Page()
    var isFinished = true
    if let visible = row.visible, !changes.page.isCut {
      let scope = row.scope(of: visible)
      let wanted = try await page(
        of: visible, from: row.seq, newestFirst: false, count: Int64(Self.syncPage - changes.page.messages.count), scope)
      messages = try await read(
        wanted.ranges, newestFirst: false, maxBytes: max(0, maxBytes - changes.page.bytes), scope)
      isFinished = wanted.isFinished && !messages.isCut
    }
    // Retention may have removed a message since the group has decided.
    let isRecovered = row.visible != nil && !messages.isIncomplete
    let changeList = isRecovered ? changes.page.messages : []
    return .success(
      .syncRow(
        SyncGroups.Row(
          groupID: group.rawValue, code: 0, epoch: row.epoch, lastSeq: row.lastSeq, recovered: isRecovered,
          changeList: row.changeSeq == nil ? nil : changeList,
          changeSeq: row.changeSeq == nil ? nil : isRecovered ? changes.changeSeq : row.lastChangeSeq,
          messageList: isRecovered ? messages.messages : [], more: isRecovered && (changes.page.isCut || !isFinished))))
  }

  /// The changed messages of a row, and the change to go on from: that of the last one given where
  /// they are cut off, otherwise the group's.
  private func changes(_ row: SyncAnswer, maxBytes: Int) async throws(StoreError) -> (page: Page, changeSeq: Int64) {
    guard let after = row.changeSeq, let visible = row.visible, after < row.lastChangeSeq else {
      return (Page(), row.lastChangeSeq)
    }
    guard maxBytes > 0 else { return (Page(isCut: true), after) }
    let changed = try await messages.changedMessages(
      of: group, after: after, in: visible.ranges(through: row.seq), limit: Self.syncPage)
    let seen = changed.messages.filter(visible.visibility.contains)
    var page = try await encode(seen, maxBytes: maxBytes, row.scope(of: visible))
    if page.isCut { return (page, page.messages.isEmpty ? after : seen[page.messages.count - 1].changeSeq) }
    page.isCut = changed.cutAt != nil
    // Changes since the group has decided may be here too. They are not counted: there may be others of
    // messages behind the row's `seq`, whose events the client still holds.
    return (page, changed.cutAt ?? row.lastChangeSeq)
  }

  private func pinned(_ seqs: [Int64], _ scope: HistoryScope) async throws(StoreError) -> Reply {
    let found = try await messages.messages(of: group, seqs: seqs).filter { $0.isPinned && scope.visibility.contains($0) }
    let page = try await encode(found, maxBytes: .max, scope)
    return .success(.pinned(GetPinnedGroupMessageList.Result(messageList: page.messages)))
  }

  private func reactions(to seqs: [Int64], users: Int, _ scope: HistoryScope) async throws(StoreError) -> Reply {
    let visible = scope.visibility
    let known = try await messages.messages(of: group, seqs: seqs).filter { $0.isOf(scope.epoch) && visible.contains($0) }
    let found = try await messages.reactions(of: group, to: known.compactMap(\.seq), reader: visible.userID, users: users)
    let rows = known.compactMap(\.seq).map { seq in
      GetMessageReactions.Row(
        seq: seq, reactions: (found[seq] ?? []).map { GetMessageReactions.Reaction(ReactionInfo($0), users: $0.users) })
    }
    return .success(.reactions(GetMessageReactions.Result(resultList: rows)))
  }

  private func info(_ row: InfoRow, of member: Member, _ unread: UnreadMessages) async throws(StoreError) -> Reply {
    let count = try await self.count(unread)
    let info = row.info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: count)))
    return try await show(.groupInfo(info, replies: row.replies))
  }

  /// The reply to what a live room remembered, whose profiles are not all in memory.
  func reply(to answer: RecentAnswer) async -> Reply {
    do throws(StoreError) {
      return answer.reply(of: group, maxBytes: pageBytes, showing: try await profiles.profiles(of: answer.users))
    } catch {
      if error.kind != .cancelled { observer.storeFailed(error, group: group) }
      return .error(.temporary)
    }
  }

  private func show(_ answer: ShownAnswer) async throws(StoreError) -> Reply {
    var answer = answer
    if case .groupInfo(var info, let replies) = answer, let last = info.lastMessage, answer.showsChangedMessage {
      var shown = try await showReactions(in: [last], reader: info.readerID)
      if let replies { shown = try await showReplies(to: shown, replies) }
      info.lastMessage = shown.first
      answer = .groupInfo(info, replies: replies)
    }
    return .success(answer.result(showing: try await profiles.profiles(of: answer.users), maxBytes: pageBytes))
  }

  /// In the order of the request.
  private func readReceipts(of seqs: [Int64], by sender: UserID, epoch: String) async throws(StoreError) -> Reply {
    let counts = try await messages.receiptCounts(of: seqs, in: group, epoch: epoch).filter { $0.sender == sender }
    let rows = Dictionary(uniqueKeysWithValues: counts.map { ($0.seq, ReadReceiptCount($0)) })
    return .success(.readReceipts(GetMessageReadReceipts.Result(receiptList: seqs.compactMap { rows[$0] })))
  }

  private func count(_ unread: UnreadMessages) async throws(StoreError) -> Int {
    if unread.ranges.isEmpty { return unread.total() }
    var count = 0
    for range in unread.ranges {
      var next = range.lowerBound
      while next <= range.upperBound, unread.known + count < unread.limit {
        let last = min(range.upperBound, next + Self.messagesPerCount - 1)
        count += try await messages.unreadCount(
          of: group, in: next...last, reader: unread.reader, managersOnly: unread.managersOnly,
          skipsFlagged: unread.skipsFlagged, limit: unread.limit - unread.known - count)
        next = last + 1
      }
    }
    didCount(unread.known + count, unread)
    return unread.total(counting: count)
  }

  /// Messages for a reply, encoded because their bytes are bounded.
  private struct Page {
    var messages: [Encoded<MessageInfo>] = []
    var bytes = 0
    /// There are more messages than fit.
    var isCut = false
    /// Messages have gone since the group decided: the oldest, by retention, or all with the group.
    var isIncomplete = false
  }

  /// Reads as many messages as fit, but at least one if any bytes are allowed.
  /// - Parameter scope: of the group that has decided; another group may use its ID by now, whose
  ///   messages the reader may not see.
  private func read(
    _ ranges: [ClosedRange<Int64>], newestFirst: Bool, maxBytes: Int, _ scope: HistoryScope
  ) async throws(StoreError) -> Page {
    guard maxBytes > 0 else { return Page(isCut: !ranges.isEmpty) }
    var found: [Message] = []
    if ranges.count > Self.rangesPerPage {
      let seqs = ranges.flatMap { range -> [Int64] in newestFirst ? range.reversed() : Array(range) }
      found = try await messages.messages(of: group, seqs: seqs)
    } else {
      for range in ranges {
        found += try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count)
      }
    }
    var page = try await encode(found, maxBytes: maxBytes, scope)
    page.isIncomplete = found.count { $0.isOf(scope.epoch) } < ranges.reduce(0) { $0 + $1.count }
    return page
  }

  /// Up to so many ranges are read one by one, and more of them, which are short then, message by
  /// message in one read.
  private static let rangesPerPage = 3

  /// Encodes as many messages as fit, with profiles and reactions.
  private func encode(_ messages: [Message], maxBytes: Int, _ scope: HistoryScope) async throws(StoreError) -> Page {
    let known = messages.filter { $0.isOf(scope.epoch) }.map { MessageInfo($0) }
    let found = try await showReplies(to: try await showReactions(in: known, reader: scope.visibility.userID), scope)
    let profiles = try await self.profiles.profiles(of: found.flatMap(\.users))
    var page = Page()
    for var message in found {
      message.show(profiles)
      let encoded = Encoded(message, capacity: 384)
      guard page.messages.isEmpty || page.bytes + encoded.text.count <= maxBytes else {
        page.isCut = true
        return page
      }
      page.messages.append(encoded)
      page.bytes += encoded.text.count + 1
    }
    return page
  }

  /// The messages with their reactions. A message that never changed has none.
  private func showReactions(in infos: [MessageInfo], reader: UserID?) async throws(StoreError) -> [MessageInfo] {
    let changed = infos.filter { $0.message.changeSeq > 0 && !$0.message.isRevoked }.compactMap(\.message.seq)
    if changed.isEmpty { return infos }
    let found = try await messages.reactions(of: group, to: changed, reader: reader, users: 0)
    return infos.map { info in
      var info = info
      info.reactions = found[info.message.seq ?? 0].map { $0.map { ReactionInfo($0) } }
      return info
    }
  }

  /// The messages with the numbers of their replies, in a group that has any.
  private func showReplies(to infos: [MessageInfo], _ scope: HistoryScope) async throws(StoreError) -> [MessageInfo] {
    guard scope.features.contains(.replies) else { return infos }
    let counts = try await messages.replyCounts(
      of: group, to: infos.compactMap(\.message.seq), visible: scope.visibility)
    if counts.isEmpty { return infos }
    return infos.map { info in
      var info = info
      info.replyCount = counts[info.message.seq ?? 0] ?? 0
      return info
    }
  }

  /// The reply to an answer that needs nothing but profiles, all of which are in memory; nil = it
  /// needs the store.
  func replyFromMemory(to answer: StoredAnswer) -> Reply? {
    guard case .shown(let answer) = answer, !answer.showsChangedMessage else { return nil }
    let (found, missing) = profiles.lookUp(answer.users)
    return missing.isEmpty ? .success(answer.result(showing: found, maxBytes: pageBytes)) : nil
  }
}

extension ReactionInfo {
  fileprivate init(_ reaction: StoredReaction) {
    self.init(reaction: reaction.reaction, count: reaction.count, byMe: reaction.isByReader)
  }
}
