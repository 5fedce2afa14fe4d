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
        return .success(JSONWriter.text { $0.value(count) })
      }
    } catch {
      if error.kind != .cancelled { observer.storeFailed(error, group: group) }
      return .error(.temporary)
    }
  }

  private func history(_ page: VisibleHistory.Page, newestFirst: Bool, epoch: String) async throws(StoreError) -> Reply {
    let read = try await read(page.ranges, newestFirst: newestFirst, bytes: pageBytes, epoch: epoch)
    return .object(capacity: 64 + read.bytes) { writer in
      writer.key("messageList")
      writer.array(read.texts) { $0.raw($1) }
      writer.member("isFinished", page.isFinished && !read.isCut)
    }
  }

  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let read = try await read(row.page?.ranges ?? [], newestFirst: false, bytes: min(row.bytes, pageBytes), epoch: row.epoch)
    return .object(capacity: 160 + read.bytes) { writer in
      writer.member("groupID", group.rawValue)
      writer.member("code", 0)
      writer.member("epoch", row.epoch)
      writer.member("lastSeq", row.lastSeq)
      writer.member("recovered", row.page != nil)
      writer.key("messageList")
      writer.array(read.texts) { $0.raw($1) }
      writer.member("more", row.page?.isFinished == false || read.isCut)
    }
  }

  private func info(_ info: GroupInfo, of member: Member, _ unread: UnreadMessages) async throws(StoreError) -> Reply {
    let count = try await self.count(unread)
    let counted = info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: count)))
    return .success(JSONWriter.text(capacity: 768) { $0.value(counted) })
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

  /// Messages ready to be written into a reply.
  private struct Read {
    var texts: [[UInt8]] = []
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
        let text = JSONWriter.text(capacity: 384) { $0.value(message) }
        guard read.texts.isEmpty || read.bytes + text.count <= room else {
          read.isCut = true
          return read
        }
        read.texts.append(text)
        read.bytes += text.count + 1
      }
    }
    return read
  }
}
