import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: UserStore {
  /// Makes users known.
  public func remember(_ users: [UserID]) {
    contents.withLock { contents in
      for user in users where contents.users[user] == nil { contents.users[user] = .neverOnline }
    }
  }

  /// Those of the users that are known.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    contents.withLock { contents in Set(users.filter { contents.users[$0] != nil }) }
  }

  /// The number of known users.
  public func knownCount() async throws(StoreError) -> Int { contents.withLock { $0.users.count } }

  /// Notes that the user's first session has begun, or that the last has ended.
  /// - Parameter offlineSince: nil = online.
  public func notePresence(of user: UserID, offlineSince: WallInstant?) {
    contents.withLock { $0.users[user] = offlineSince.map { .offline(since: $0) } ?? .online }
  }

  /// When the user's last session ended; nil where there is one, or never was.
  public func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? {
    contents.withLock { $0.offlineSince(among: [user])[user] }
  }
}
