import GroupModel

/// Keeps messages by their group and `seq`.
public protocol MessageStore: Sendable {
  /// Stored messages of a group with `seq` in the range.
  /// - Parameters:
  ///   - newestFirst: descending by `seq`, else ascending.
  ///   - limit: at most so many.
  func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message]

  /// How many messages with `seq` in the range are Text or Custom, of somebody else than `reader`, and not recalled. Counts no
  /// further than `limit`.
  /// - Parameter managersOnly: only those with `isFromManager`.
  func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, limit: Int
  ) async throws(StoreError) -> Int

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is none. Timestamps never fall with `seq`.
  func firstSeq(of group: GroupID, notBefore: Instant) async throws(StoreError) -> Int64?
}
