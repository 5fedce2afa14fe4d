import GroupModel
import WireProtocol

/// Completes answers that need stored messages.
struct AnswerReader: Sendable {
  let group: GroupID
  let messages: any MessageStore
  let observer: any GroupObserver

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
    let list = try await read(range, newestFirst: newestFirst)
    return .object(capacity: 64 + list.count * 384) { writer in
      writer.member("messageList", list)
      writer.member("isFinished", isFinished)
    }
  }

  private func sync(_ row: SyncAnswer) async throws(StoreError) -> Reply {
    let list = try await read(row.range, newestFirst: false)
    return .object(capacity: 160 + list.count * 384) { writer in
      writer.member("groupID", group.rawValue)
      writer.member("code", 0)
      writer.member("epoch", row.epoch)
      writer.member("lastSeq", row.lastSeq)
      writer.member("recovered", row.recovered)
      writer.member("messageList", list)
      writer.member("more", row.more)
    }
  }

  private func info(_ info: GroupInfo, of member: Member) async throws(StoreError) -> Reply {
    let unread = try await messages.unreadCount(of: group, after: member.readSeq, reader: member.userID)
    let counted = info.with(reader: .member(GroupInfo.SelfInfo(member: member, unreadCount: unread)))
    return .success(JSONWriter.text(capacity: 768) { $0.value(counted) })
  }

  private func read(_ range: ClosedRange<Int64>?, newestFirst: Bool) async throws(StoreError) -> [Message] {
    guard let range else { return [] }
    return try await messages.messages(of: group, in: range, newestFirst: newestFirst, limit: range.count)
  }
}
