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
      case .history(let page, let newestFirst, let epoch):
        return try await history(page, newestFirst: newestFirst, epoch: epoch)
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

  private func history(_ page: VisibleHistory.Page, newestFirst: Bool, epoch: String) async throws(StoreError) -> Reply {
    let read = try await read(page.ranges, newestFirst: newestFirst, maxBytes: pageBytes, epoch: epoch)
    return .success(
      .history(
        GetGroupHistoryMessageList.Result(
          messageList: read.messages,
          isFinished: (page.isFinished || (newestFirst && read.isIncomplete)) && !read.isCut)))
  }

  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    var page = row.page
    var read = try await read(page?.ranges ?? [], newestFirst: false, maxBytes: min(row.bytes, pageBytes), epoch: row.epoch)
    if read.isIncomplete { (page, read) = (nil, Page()) }
    return .success(
      .syncRow(
        SyncGroups.Row(
          groupID: group.rawValue, code: 0, epoch: row.epoch, lastSeq: row.lastSeq, recovered: page != nil,
          messageList: read.messages, more: page?.isFinished == false || read.isCut)))
  }

  private func info(_ info: GroupInfo, of member: Member, _ unread: UnreadMessages) async throws(StoreError) -> Reply {
    let count = try await self.count(unread)
    let info = info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: count)))
    return try await show(.groupInfo(info))
  }

  private func show(_ answer: ShownAnswer) async throws(StoreError) -> Reply {
    .success(answer.result(showing: try await profiles.profiles(of: answer.users)))
  }

  /// In the order of the request.
  private func readReceipts(of seqs: [Int64], by sender: UserID, epoch: String) async throws(StoreError) -> Reply {
    let counts = try await messages.receiptCounts(of: seqs, in: group, epoch: epoch).filter { $0.sender == sender }
    let rows = Dictionary(uniqueKeysWithValues: counts.map { ($0.seq, ReadReceiptCount($0)) })
    return .success(.readReceipts(GetMessageReadReceipts.Result(receiptList: seqs.compactMap { rows[$0] })))
  }

  private func count(_ unread: UnreadMessages) async throws(StoreError) -> Int {
    guard let range = unread.range else { return unread.total() }
    var count = 0
    var next = range.lowerBound
    while next <= range.upperBound, unread.known + count < unread.limit {
      let last = min(range.upperBound, next + Self.messagesPerCount - 1)
      count += try await messages.unreadCount(
        of: group, in: next...last, reader: unread.reader, managersOnly: unread.managersOnly,
        limit: unread.limit - unread.known - count)
      next = last + 1
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
    _ ranges: [ClosedRange<Int64>], newestFirst: Bool, maxBytes: Int, epoch: String
  ) async throws(StoreError) -> Page {
    guard maxBytes > 0 else { return Page(isCut: !ranges.isEmpty) }
    var found: [MessageInfo] = []
    for range in ranges {
      for message in try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count)
      where message.msgID.hasPrefix(epoch + "-") { found.append(MessageInfo(message)) }
    }
    let profiles = try await self.profiles.profiles(of: found.flatMap(\.users))
    var page = Page(isIncomplete: found.count < ranges.reduce(0) { $0 + $1.count })
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

  /// The reply to an answer that needs nothing but profiles, all of which are in memory; nil = it
  /// needs the store.
  func replyFromMemory(to answer: StoredAnswer) -> Reply? {
    guard case .shown(let answer) = answer else { return nil }
    let (found, missing) = profiles.lookUp(answer.users)
    return missing.isEmpty ? .success(answer.result(showing: found)) : nil
  }
}
