import GroupModel
import WireProtocol

/// Completes answers that need stored messages.
struct AnswerReader: Sendable {
  let group: GroupID
  let messages: any MessageStore
  let observer: any GroupObserver
  let pageBytes: Int

  func reply(to answer: Answer) async -> Reply {
    do throws(StoreError) {
      switch answer {
      case .reply(let reply): return reply
      case .history(let range, let newestFirst, let isFinished):
        return try await history(range, newestFirst: newestFirst, isFinished: isFinished)
      case .sync(let row): return try await sync(row)
      case .info(let info, let member): return try await self.info(info, of: member)
      }
    } catch {
      observer.storeFailed(error, group: group)
      return .error(.temporary)
    }
  }

  private func history(
    _ range: ClosedRange<Int64>?, newestFirst: Bool, isFinished: Bool
  ) async throws(StoreError) -> Reply {
    let page = try await page(range, newestFirst: newestFirst, bytes: pageBytes)
    return .object(capacity: 64 + page.bytes) { writer in
      writer.key("messageList")
      writer.array(page.texts) { $0.raw($1) }
      writer.member("isFinished", isFinished && !page.isCut)
    }
  }

  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let page = try await page(row.range, newestFirst: false, bytes: min(row.bytes, pageBytes))
    return .object(capacity: 160 + page.bytes) { writer in
      writer.member("groupID", group.rawValue)
      writer.member("code", 0)
      writer.member("epoch", row.epoch)
      writer.member("lastSeq", row.lastSeq)
      writer.member("recovered", row.recovered)
      writer.key("messageList")
      writer.array(page.texts) { $0.raw($1) }
      writer.member("more", row.more || page.isCut)
    }
  }

  private func info(_ info: GroupInfo, of member: Member) async throws(StoreError) -> Reply {
    let unread = try await messages.unreadCount(of: group, after: member.readSeq, reader: member.userID)
    let counted = info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: unread)))
    return .success(JSONWriter.text(capacity: 768) { $0.value(counted) })
  }

  /// Messages ready to be written into a reply.
  private struct Page {
    var texts: [[UInt8]] = []
    var bytes = 0
    /// There were more than fit.
    var isCut = false
  }

  /// At least one message, where there is one and any room at all, and as many as fit.
  private func page(_ range: ClosedRange<Int64>?, newestFirst: Bool, bytes room: Int) async throws(StoreError) -> Page {
    var page = Page()
    guard let range else { return page }
    guard room > 0 else { return Page(isCut: true) }
    for message in try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count) {
      let text = JSONWriter.text(capacity: 384) { $0.value(message) }
      guard page.texts.isEmpty || page.bytes + text.count <= room else {
        page.isCut = true
        break
      }
      page.texts.append(text)
      page.bytes += text.count + 1
    }
    return page
  }
}
