import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: UserStore {
  /// Makes users known at once, and durable with the next commit or within about a second.
  public func remember(_ users: [UserID]) { writer.inbox.put(users) }

  /// Those of the users that are known.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    // In this order: who has left the inbox by now is in the database by now.
    let waiting = writer.inbox.waiting(among: users)
    let stored = try await read { db in
      var known: Set<UserID> = []
      for user in users where !waiting.contains(user) {
        if try db.isKnown(user) { known.insert(user) }
      }
      return known
    }
    return waiting.union(stored)
  }

  /// How many users are known. Counts them: milliseconds for a hundred thousand.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func knownCount() async throws(StoreError) -> Int {
    let waiting = writer.inbox.waitingUsers
    return try await read { db in
      let stored = try db.rows("SELECT count(*) FROM knownUser", []) { Int(try $0.integer()) }.first ?? 0
      return try waiting.reduce(stored) { count, user in try db.isKnown(user) ? count : count + 1 }
    }
  }
}

extension Database {
  fileprivate func isKnown(_ user: UserID) throws -> Bool {
    try !rows("SELECT 1 FROM knownUser WHERE userID = ?", [user.rawValue]) { try $0.integer() }.isEmpty
  }
}
