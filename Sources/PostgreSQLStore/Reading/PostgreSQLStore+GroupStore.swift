import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension PostgreSQLStore {
  package func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    let update = writer.queue.pendingUpdate(of: user)
    return try await readForSignIn(of: user) { try $0.signInRecord(of: user, update) }
  }

  package func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    try await read(.singleStatement) { db in
      let counts = try db.rows(
        """
        SELECT wanted.userID, (SELECT count(*) FROM (
          SELECT 1 FROM member AS m JOIN groupRecord AS g ON g.number = m.number
          WHERE m.userID = wanted.userID AND g.type IN (\(GroupType.listedSQL)) LIMIT $2) AS found)
        FROM unnest($1) AS wanted (userID)
        """, [users.map(\.rawValue), limit]
      ) { (try $0.value(UserID.self), try $0.value(Int.self)) }
      return Dictionary(counts) { $1 }
    }
  }

  package func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await read(.singleStatement) { db in
      try db.count(
        "SELECT count(*) FROM (SELECT 1 FROM groupRecord WHERE owner = $1 AND type = $2 LIMIT $3) AS found",
        [user.rawValue, type.rawValue, limit])
    }
  }

  package func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT g.groupID, g.type, m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
        WHERE m.userID = $1 AND m.number > $2 AND g.type IN (\(type.listedSQL)) AND ($3 <= 0 OR
          greatest(g.lastInfoTime, g.changeTime, m.changeTime, m.muteUntil, g.muteUntil) >= $3 OR
          m.receiveOption <> '\(ReceiveOption.notReceive.rawValue)' AND (g.removedTime >= $3 OR
          (SELECT timestamp FROM message WHERE message.number = m.number ORDER BY seq DESC LIMIT 1) >= $3))
        ORDER BY m.number LIMIT $4
        """, [user.rawValue, after, changedSince, max(0, limit)], Membership.read)
    }
  }

  package func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT groupID, type, groupNumber FROM departure
        WHERE userID = $1 AND groupNumber > $2 AND time >= $3 AND type IN (\(type.listedSQL))
        UNION ALL
        SELECT d.groupID, d.type, d.number FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = $1
        WHERE d.number > $2 AND d.time >= $3 AND d.type IN (\(type.listedSQL))
        ORDER BY groupNumber LIMIT $4
        """, [user.rawValue, after, since, max(0, limit)], Membership.read)
    }
  }

  package func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT groupID, type, number FROM groupRecord WHERE number > $1 \(type == nil ? "" : "AND type = $3")
        ORDER BY number LIMIT $2
        """, [after, max(0, limit)] + (type.map { [$0.rawValue] } ?? []), Membership.read)
    }
  }

  package func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    try await read(.singleStatement) { db in
      let counts = try db.rows("SELECT type, count(*) FROM groupRecord GROUP BY type", []) {
        (try $0.value(GroupType.self), try $0.value(Int.self))
      }
      return Dictionary(counts) { $1 }
    }
  }
}
