import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension SQLiteStore {
  package func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    let result: Result<SignInRecord, StoreError> = await withCheckedContinuation { continuation in
      readSignInRecord(of: user) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }

  /// Users take turns: one in very many live rooms may sign in with many sessions.
  package func readSignInRecord(
    of user: UserID, _ completion: @escaping @Sendable (Result<SignInRecord, StoreError>) -> Void
  ) {
    // Before the row: an update that becomes durable meanwhile must not be missed.
    let update = writer.queue.pendingUpdate(of: user)
    signInScheduler.begin(for: user) { [self] turn in
      guard !writer.queue.isClosed else {
        signInScheduler.end(turn)
        return completion(.failure(StoreError(.unavailable, "the store is closed")))
      }
      signIns.asyncUnsafeRead { [self] access in
        let record = Result { try access.get().signInRecord(of: user, update) }.mapError(StoreError.init(describing:))
        signInScheduler.end(turn)
        completion(record)
      }
    }
  }

  package func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    try await read { db in
      var counts: [UserID: Int] = [:]
      for user in users {
        counts[user] = try db.count(
          """
          SELECT count(*) FROM (
            SELECT 1 FROM member JOIN groupRecord USING (number)
            WHERE userID = ? AND type IN (\(GroupType.listedSQL)) LIMIT ?)
          """,
          [user.rawValue, limit])
      }
      return counts
    }
  }

  package func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      try db.count(
        "SELECT count(*) FROM (SELECT 1 FROM groupRecord WHERE owner = ? AND type = ? LIMIT ?)",
        [user.rawValue, type.rawValue, limit])
    }
  }

  package func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read { db in
      try db.rows(
        """
        SELECT g.groupID, g.type, m.number FROM member AS m INDEXED BY memberByUser
        CROSS JOIN groupRecord AS g ON g.number = m.number
        WHERE m.userID = ?1 AND m.number > ?2 AND g.type IN (\(type.listedSQL)) AND (?3 <= 0 OR
          max(g.lastInfoTime, g.changeTime, m.changeTime, m.muteUntil, coalesce(g.muteUntil, 0)) >= ?3 OR
          m.receiveOption <> '\(ReceiveOption.notReceive.rawValue)' AND (g.removedTime >= ?3 OR
          (SELECT timestamp FROM message WHERE message.number = m.number ORDER BY seq DESC LIMIT 1) >= ?3))
        ORDER BY m.number LIMIT ?4
        """, [user.rawValue, after, changedSince, limit], Membership.read)
    }
  }

  package func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read { db in
      try db.rows(
        """
        SELECT groupID, type, groupNumber FROM departure INDEXED BY departureByNumber
        WHERE userID = ?1 AND groupNumber > ?2 AND time >= ?3 AND type IN (\(type.listedSQL))
        UNION ALL
        SELECT d.groupID, d.type, d.number FROM dismissedGroup AS d CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?1
        WHERE d.number > ?2 AND d.time >= ?3 AND d.type IN (\(type.listedSQL))
        ORDER BY groupNumber LIMIT ?4
        """, [user.rawValue, after, since, limit], Membership.read)
    }
  }

  package func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    let condition = type == nil ? "" : "type = ? AND "
    let arguments: [(any DatabaseValueConvertible & Sendable)?] = (type.map { [$0.rawValue] } ?? []) + [after, limit]
    return try await read { db in
      try db.rows(
        "SELECT groupID, type, number FROM groupRecord WHERE \(condition)number > ? ORDER BY number LIMIT ?",
        arguments, Membership.read)
    }
  }

  package func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    try await read { db in
      let counts = try db.rows("SELECT type, count(*) FROM groupRecord GROUP BY type", []) {
        (try $0.value(GroupType.self), try $0.value(Int.self))
      }
      return Dictionary(uniqueKeysWithValues: counts)
    }
  }
}
