import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: UserStore {
  /// Makes users known at once, and durable with the next commit or within about a second.
  public func remember(_ users: [UserID]) { writer.inbox.put(users) }

  /// The user's first session has begun, or the last has ended; known at once, durable with the next commit or within about a second.
  /// - Parameter offlineSince: nil = here now.
  public func notePresence(of user: UserID, offlineSince: Instant?) {
    writer.inbox.put(offlineSince.map { .gone(since: $0) } ?? .here, of: user)
  }

  /// When the user's last session ended; nil where there is one, or never was. Whoever was here when the process died counts as gone
  /// from the second on in which it did.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func offlineSince(of user: UserID) async throws(StoreError) -> Instant? {
    switch writer.inbox.note(of: user) {
    case .here: nil
    case .gone(let since): since
    case .known, nil: try await read { try UserRows.offlineSince(of: user, in: $0) }
    }
  }

  /// Those of the users that are known.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    // In this order: who has left the inbox by now is in the database by now.
    let waiting = writer.inbox.waiting(among: users)
    let stored = try await read { db in
      var known: Set<UserID> = []
      for user in users where !waiting.contains(user) {
        if try UserRows.isKnown(user, in: db) { known.insert(user) }
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
      let stored = try db.count("SELECT count(*) FROM knownUser", [])
      return try waiting.keys.reduce(stored) { count, user in try UserRows.isKnown(user, in: db) ? count : count + 1 }
    }
  }
}
