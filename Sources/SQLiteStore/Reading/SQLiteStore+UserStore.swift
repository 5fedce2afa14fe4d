import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: UserStore {
  /// Makes users known at once, and durable with the next commit or within about a second.
  public func remember(_ users: [UserID]) { writer.writeQueue.markKnown(users) }

  /// Notes that the user's first session has begun, or that the last has ended: at once, and
  /// durable with the next commit or within about a second.
  /// - Parameter offlineSince: nil = online.
  public func notePresence(of user: UserID, offlineSince: WallInstant?) {
    writer.writeQueue.setPresence(offlineSince.map { .offline(since: $0) } ?? .online, of: user)
  }

  /// The end of the user's last session; nil where there is one, or never was. A user who was
  /// online at a crash counts as offline from about that second on.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? {
    switch writer.writeQueue.pendingUpdate(of: user) {
    case .online: nil
    case .offline(let since): since
    case .known, nil: try await read { try UserRows.offlineSince(of: user, in: $0) }
    }
  }

  /// The users among these that are known.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    // The queue first: users who have left it since are in the database.
    let waiting = writer.writeQueue.pendingUsers(among: users)
    let stored = try await read { db in
      var known: Set<UserID> = []
      for user in users where !waiting.contains(user) {
        if try UserRows.isKnown(user, in: db) { known.insert(user) }
      }
      return known
    }
    return waiting.union(stored)
  }

  /// The profiles of users, by one query; empty ones are absent.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    if users.isEmpty { return [:] }
    return try await read { try UserInfoRows.profiles(of: users, in: $0) }
  }

  /// The texts of those of the users that are known, in the order given; by one query.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] {
    // The queue first: users who have left it since are in the database.
    let waiting = writer.writeQueue.pendingUsers(among: users)
    return try await read { try UserInfoRows.infos(of: users, known: waiting, in: $0) }
  }

  /// The number of known users, counted in milliseconds for a hundred thousand.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func knownCount() async throws(StoreError) -> Int {
    let waiting = writer.writeQueue.pendingUpdates
    return try await read { db in
      let stored = try db.count("SELECT count(*) FROM knownUser", [])
      return try waiting.keys.reduce(stored) { count, user in try UserRows.isKnown(user, in: db) ? count : count + 1 }
    }
  }
}
