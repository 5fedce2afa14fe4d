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
      case .history(let page, let newestFirst, let epoch, let reader):
        return try await history(page, newestFirst: newestFirst, epoch: epoch, reader: reader)
      case .pinned(let seqs, let epoch, let reader): return try await pinned(seqs, epoch: epoch, reader: reader)
      case .reactions(let seqs, let users, let epoch, let reader):
        return try await reactions(to: seqs, users: users, epoch: epoch, reader: reader)
      case .sync(let row): return try await sync(row)
      case .shown(let answer): return try await show(answer)
      case .info(let info, let member, let unread): return try await self.info(info, of: member, unread)
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

  private func history(
    _ page: VisibleHistory.Page, newestFirst: Bool, epoch: String, reader: UserID?
  ) async throws(StoreError) -> Reply {
    let read = try await read(page.ranges, newestFirst: newestFirst, maxBytes: pageBytes, epoch: epoch, reader: reader)
    return .success(
      .history(
        GetGroupHistoryMessageList.Result(
          messageList: read.messages,
          isFinished: (page.isFinished || (newestFirst && read.isIncomplete)) && !read.isCut)))
  }

  /// How many messages one row of syncGroups holds at most, changed ones among them.
  private static let syncPage = 100

  /// "The first page holds changes before messages."
  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let maxBytes = min(row.bytes, pageBytes)
    let changes = try await self.changes(row, maxBytes: maxBytes)
    var messages = Page()
    var isFinished = true
    if let visible = row.visible, !changes.page.isCut {
      let wanted = visible.newer(than: row.seq, count: Int64(Self.syncPage - changes.page.messages.count))
      messages = try await read(
        wanted.ranges, newestFirst: false, maxBytes: max(0, maxBytes - changes.page.bytes), epoch: row.epoch, reader: row.reader)
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
    var page = try await encode(changed.messages, maxBytes: maxBytes, epoch: row.epoch, reader: row.reader)
    if page.isCut { return (page, page.messages.isEmpty ? after : changed.messages[page.messages.count - 1].changeSeq) }
    page.isCut = changed.cutAt != nil
    // Changes since the group has decided may be here too. They are not counted: there may be others of
    // messages behind the row's `seq`, whose events the client still holds.
    return (page, changed.cutAt ?? row.lastChangeSeq)
  }

  private func pinned(_ seqs: [Int64], epoch: String, reader: UserID?) async throws(StoreError) -> Reply {
    let found = try await messages.messages(of: group, seqs: seqs).filter(\.isPinned)
    let page = try await encode(found, maxBytes: .max, epoch: epoch, reader: reader)
    return .success(.pinned(GetPinnedGroupMessageList.Result(messageList: page.messages)))
  }

  private func reactions(to seqs: [Int64], users: Int, epoch: String, reader: UserID?) async throws(StoreError) -> Reply {
    let known = try await messages.messages(of: group, seqs: seqs).filter { $0.isOf(epoch) }
    let found = try await messages.reactions(of: group, to: known.compactMap(\.seq), reader: reader, users: users)
    let rows = known.compactMap(\.seq).map { seq in
      GetMessageReactions.Row(
        seq: seq, reactions: (found[seq] ?? []).map { GetMessageReactions.Reaction(ReactionInfo($0), users: $0.users) })
    }
    return .success(.reactions(GetMessageReactions.Result(resultList: rows)))
  }

  private func info(_ info: GroupInfo, of member: Member, _ unread: UnreadMessages) async throws(StoreError) -> Reply {
    let count = try await self.count(unread)
    let info = info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: count)))
    return try await show(.groupInfo(info))
  }

  private func show(_ answer: ShownAnswer) async throws(StoreError) -> Reply {
    var answer = answer
    if case .groupInfo(var info) = answer, let last = info.lastMessage, answer.showsChangedMessage {
      info.lastMessage = try await showReactions(in: [last], reader: info.readerID).first
      answer = .groupInfo(info)
    }
    return .success(answer.result(showing: try await profiles.profiles(of: answer.users)))
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
          limit: unread.limit - unread.known - count)
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
  /// - Parameter epoch: of the group that has decided; another group may use its ID by now, whose
  ///   messages the reader may not see.
  private func read(
    _ ranges: [ClosedRange<Int64>], newestFirst: Bool, maxBytes: Int, epoch: String, reader: UserID?
  ) async throws(StoreError) -> Page {
    guard maxBytes > 0 else { return Page(isCut: !ranges.isEmpty) }
    var found: [Message] = []
    for range in ranges {
      found += try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count)
    }
    var page = try await encode(found, maxBytes: maxBytes, epoch: epoch, reader: reader)
    page.isIncomplete = found.count { $0.isOf(epoch) } < ranges.reduce(0) { $0 + $1.count }
    return page
  }

  /// Encodes as many messages as fit, with profiles and reactions.
  private func encode(
    _ messages: [Message], maxBytes: Int, epoch: String, reader: UserID?
  ) async throws(StoreError) -> Page {
    let found = try await showReactions(in: messages.filter { $0.isOf(epoch) }.map { MessageInfo($0) }, reader: reader)
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

  /// The reply to an answer that needs nothing but profiles, all of which are in memory; nil = it
  /// needs the store.
  func replyFromMemory(to answer: StoredAnswer) -> Reply? {
    guard case .shown(let answer) = answer, !answer.showsChangedMessage else { return nil }
    let (found, missing) = profiles.lookUp(answer.users)
    return missing.isEmpty ? .success(answer.result(showing: found)) : nil
  }
}

extension Message {
  /// Whether it belongs to the group of that epoch.
  fileprivate func isOf(_ epoch: String) -> Bool { msgID.hasPrefix(epoch + "-") }
}

extension ReactionInfo {
  fileprivate init(_ reaction: StoredReaction) {
    self.init(reaction: reaction.reaction, count: reaction.count, byMe: reaction.isByReader)
  }
}
