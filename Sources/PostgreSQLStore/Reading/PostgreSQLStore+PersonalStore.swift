import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension PostgreSQLStore {
  package func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    try await read(.singleStatement) { db in
      try db.rows(
        "SELECT \(ApplicationRows.isOfLiveGroup), \(ApplicationRows.columns) FROM application AS a WHERE a.id = $1", [id],
        StoredApplication.read
      ).first
    }
  }

  package func applications(
    decidableBy user: UserID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    let end = before == 0 ? Int64.max : before
    return try await read(.singleStatement) { db in
      guard let user else {
        return try db.rows(
          """
          SELECT a.number, \(ApplicationRows.columns) FROM application AS a
          WHERE a.kind = 'Join' AND NOT a.isGroupGone AND a.number < $1 AND \(ApplicationRows.isOfLiveGroup)
          ORDER BY a.number DESC LIMIT $2
          """, [end, max(0, limit)], NumberedApplication.read)
      }
      return try db.rows(
        """
        SELECT a.number, \(ApplicationRows.columns) FROM (
          (SELECT a.* FROM application AS a
          WHERE a.toUser = $1 AND NOT a.isGroupGone AND a.number < $2 AND \(ApplicationRows.isOfLiveGroup)
          ORDER BY a.number DESC LIMIT $3)
          UNION ALL
          SELECT request.* FROM (\(MemberRows.managedGroupsSQL)) AS managed CROSS JOIN LATERAL (
            SELECT a.* FROM application AS a
            WHERE a.groupNumber = managed.number AND a.kind = 'Join' AND NOT a.isGroupGone AND a.number < $2
            ORDER BY a.number DESC LIMIT $3) AS request) AS a
        ORDER BY a.number DESC LIMIT $3
        """, [user.rawValue, end, max(0, limit)], NumberedApplication.read)
    }
  }

  package func applications(
    sentBy user: UserID, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    let end = before == 0 ? Int64.max : before
    return try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT a.number, \(ApplicationRows.columns) FROM application AS a
        WHERE a.fromUser = $1 AND NOT a.isGroupGone AND a.number < $2 AND \(ApplicationRows.isOfLiveGroup)
        ORDER BY a.number DESC LIMIT $3
        """, [user.rawValue, end, max(0, limit)], NumberedApplication.read)
    }
  }

  package func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      guard let user else {
        return try db.count(
          """
          SELECT count(*) FROM (SELECT 1 FROM application AS a
          WHERE a.kind = 'Join' AND NOT a.isGroupGone AND \(ApplicationRows.isOfLiveGroup) LIMIT $1) AS found
          """, [limit])
      }
      let mark = try db.readMark(.applications, of: user)
      return try db.count(
        """
        SELECT count(*) FROM (
          (SELECT 1 FROM application AS a
          WHERE a.toUser = $1 AND NOT a.isGroupGone AND a.addTime > $2 AND \(ApplicationRows.isOfLiveGroup) LIMIT $3)
          UNION ALL
          (SELECT 1 FROM (\(MemberRows.managedGroupsSQL)) AS managed
          JOIN application AS a ON a.groupNumber = managed.number AND a.kind = 'Join' AND a.addTime > $2 LIMIT $3)
          LIMIT $3) AS found
        """, [user.rawValue, mark, limit])
    }
  }
}
