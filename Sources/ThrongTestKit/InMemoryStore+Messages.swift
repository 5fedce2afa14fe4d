import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: MessageStore {
  /// Stored messages of a group with `seq` in the range; none where there is no such group.
  public func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    contents.withLock { contents in
      let matching = contents.groups[group]?.messages(in: range) ?? []
      return newestFirst ? Array(matching.reversed().prefix(max(0, limit))) : Array(matching.prefix(max(0, limit)))
    }
  }

  /// The number of messages with `seq` in the range that are Text or Custom, not by `reader`, and
  /// not recalled.
  /// - Parameter managersOnly: only those with `isFromManager`.
  public func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let unread = (contents.groups[group]?.messages ?? []).filter { message in
        range.contains(message.seq ?? 0) && message.isChat && message.sender != reader && !message.isRevoked
          && (message.isFromManager || !managersOnly)
      }
      return min(limit, unread.count)
    }
  }

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is
  /// none.
  public func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    contents.withLock { $0.groups[group]?.messages.first { $0.timestamp >= notBefore }?.seq }
  }
}
