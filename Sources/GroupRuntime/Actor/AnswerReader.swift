import GroupModel
import WireProtocol

/// Completes answers that need stored messages.
struct AnswerReader: Sendable {
  let group: GroupID
  let messages: any MessageStore
  let observer: any GroupObserver
  let pageBytes: Int
  /// Hears how many unread messages were counted.
  let didCount: @Sendable (_ count: Int, UnreadMessages) -> Void

  /// How many messages are looked at for a count before other reads have their turn.
  private static let messagesPerCount: Int64 = 4096

  func reply(to answer: StoredAnswer) async -> Reply {
    do throws(StoreError) {
      switch answer {
      case .history(let page, let newestFirst, let epoch):
        return try await history(page, newestFirst: newestFirst, epoch: epoch)
      case .sync(let row): return try await sync(row)
      case .info(let info, let member, let unread): return try await self.info(info, of: member, unread)
      case .unread(let unread):
        let count = try await self.count(unread)
        return .success(.unreadCount(count))
      }
    } catch {
      if error.kind != .cancelled { observer.storeFailed(error, group: group) }
      return .error(.temporary)
    }
  }

  private func history(_ page: VisibleHistory.Page, newestFirst: Bool, epoch: String) async throws(StoreError) -> Reply {
    let read = try await read(page.ranges, newestFirst: newestFirst, bytes: pageBytes, epoch: epoch)
    return .success(
      .history(
        GetGroupHistoryMessageList.Result(messageList: read.messages, isFinished: page.isFinished && !read.isCut)))
  }

  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let read = try await read(row.page?.ranges ?? [], newestFirst: false, bytes: min(row.bytes, pageBytes), epoch: row.epoch)
    return .success(
      .syncRow(
        SyncGroups.Row(
          groupID: group.rawValue, code: 0, epoch: row.epoch, lastSeq: row.lastSeq, recovered: row.page != nil,
          messageList: read.messages, more: row.page?.isFinished == false || read.isCut)))
  }

  private func info(_ info: GroupInfo, of member: Member, _ unread: UnreadMessages) async throws(StoreError) -> Reply {
    let count = try await self.count(unread)
    return .success(.groupInfo(info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: count)))))
  }

  private func count(_ unread: UnreadMessages) async throws(StoreError) -> Int {
    guard let range = unread.range else { return unread.total() }
    var count = 0
    var next = range.lowerBound
    while next <= range.upperBound, unread.known + count < unread.limit {
      let last = min(range.upperBound, next + AnswerReader.messagesPerCount - 1)
      count += try await messages.unreadCount(
        of: group, in: next...last, reader: unread.reader, managersOnly: unread.managersOnly,
        limit: unread.limit - unread.known - count)
      next = last + 1
    }
    didCount(unread.known + count, unread)
    return unread.total(counting: count)
  }

  /// Messages for a reply, encoded because their bytes are bounded.
  private struct Read {
    var messages: [Encoded<Message>] = []
    var bytes = 0
    /// There were more than fit.
    var isCut = false
  }

  /// At least one message, where there is one and any room at all, and as many as fit.
  /// - Parameter epoch: of the group that was asked; another group may use its ID by now, and its messages are not the reader's to see.
  private func read(
    _ ranges: [ClosedRange<Int64>], newestFirst: Bool, bytes room: Int, epoch: String
  ) async throws(StoreError) -> Read {
    guard room > 0 else { return Read(isCut: !ranges.isEmpty) }
    var read = Read()
    for range in ranges {
      for message in try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count)
      where message.msgID.hasPrefix(epoch + "-") {
        let encoded = Encoded(message, capacity: 384)
        guard read.messages.isEmpty || read.bytes + encoded.text.count <= room else {
          read.isCut = true
          return read
        }
        read.messages.append(encoded)
        read.bytes += encoded.text.count + 1
      }
    }
    return read
  }
}
