import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension SQLiteStore {
  package func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    try await read { db in
      try db.rows(
        "SELECT \(ApplicationRows.isOfLiveGroup), \(GroupApplication.columns.names) FROM application WHERE id = ?",
        [id.column], StoredApplication.read
      ).first
    }
  }

  package func applications(
    decidableBy user: UserID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    let end = before == 0 ? Int64.max : before
    return try await read { db in
      guard let user else {
        return try db.rows(
          """
          SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOfKind
          WHERE kind = 'Join' AND isGroupGone = 0 AND number < ? AND \(ApplicationRows.isOfLiveGroup)
          ORDER BY number DESC LIMIT ?
          """, [end, max(0, limit)], NumberedApplication.read)
      }
      let sources = try [ApplicationSource.invitations] + ApplicationSource.groups(managedBy: user, db)
      return try NewestFirst.merged(sources, below: end, atMost: limit) { source, below in
        try source.newest(for: user, below: below, db).map { ($0.number, $0) }
      }
    }
  }

  package func applications(
    sentBy user: UserID, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    let end = before == 0 ? Int64.max : before
    return try await read { db in
      try db.rows(
        """
        SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOfSender
        WHERE fromUser = ? AND isGroupGone = 0 AND number < ? AND \(ApplicationRows.isOfLiveGroup)
        ORDER BY number DESC LIMIT ?
        """, [user.rawValue, end, max(0, limit)], NumberedApplication.read)
    }
  }

  package func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      guard let user else {
        return try db.count(
          """
          SELECT count(*) FROM (SELECT 1 FROM application INDEXED BY applicationOfKind
          WHERE kind = 'Join' AND isGroupGone = 0 AND \(ApplicationRows.isOfLiveGroup) LIMIT ?)
          """, [limit])
      }
      let mark = try db.readMark(.applications, of: user)
      let invitations = try db.count(
        """
        SELECT count(*) FROM (SELECT 1 FROM application INDEXED BY applicationOfInvitedByTime
        WHERE toUser = ? AND isGroupGone = 0 AND addTime > ? AND \(ApplicationRows.isOfLiveGroup) LIMIT ?)
        """, [user.rawValue, mark, limit])
      return invitations
        + (try db.count(
          """
          SELECT count(*) FROM (SELECT 1 FROM (\(MemberRows.managedGroupsSQL)) AS m
          CROSS JOIN application INDEXED BY applicationByGroup
          ON application.groupNumber = m.number AND application.kind = 'Join' AND application.addTime > ? LIMIT ?)
          """, [user.rawValue, mark, limit - invitations]))
    }
  }
}

/// A source of applications that a user may decide, in the order of their numbers.
private enum ApplicationSource {
  case invitations
  case requests(groupNumber: Int64)

  static func groups(managedBy user: UserID, _ db: Database) throws -> [ApplicationSource] {
    try db.rows(MemberRows.managedGroupsSQL, [user.rawValue]) { .requests(groupNumber: try $0.integer()) }
  }

  func newest(for user: UserID, below number: Int64, _ db: Database) throws -> NumberedApplication? {
    switch self {
    case .invitations:
      try db.rows(
        """
        SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOfInvited
        WHERE toUser = ? AND isGroupGone = 0 AND number < ? AND \(ApplicationRows.isOfLiveGroup) ORDER BY number DESC LIMIT 1
        """, [user.rawValue, number], NumberedApplication.read
      ).first
    case .requests(let groupNumber):
      try db.rows(
        """
        SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOfGroup
        WHERE groupNumber = ? AND kind = 'Join' AND isGroupGone = 0 AND number < ? ORDER BY number DESC LIMIT 1
        """, [groupNumber, number], NumberedApplication.read
      ).first
    }
  }
}
