import GroupModel

/// Keeps which users have sessions, for several nodes: a node that becomes the owner of a user's shard
/// corrects what the owner before could not note any more.
public protocol PresenceStore: Sendable {
  /// The users that are noted to have a session.
  func usersOnline() async throws(StoreError) -> [UserID]

  /// The members of live rooms whose last session has ended since an instant, and when it has.
  func roomMembersOffline(since: WallInstant) async throws(StoreError) -> [UserID: WallInstant]

  /// Makes users known to all nodes: returns when they are durable.
  /// - Parameter areNew: the store was read, and has none of them; false = it may have, and is read first.
  func makeKnown(_ users: [UserID], areNew: Bool) async throws(StoreError)

  /// A user has been deleted: what this process remembers of the user being known is over.
  func forgetKnown(_ user: UserID)

  /// Returns when everything that was noted by now is durable, or has failed.
  func flushPresence() async
}
