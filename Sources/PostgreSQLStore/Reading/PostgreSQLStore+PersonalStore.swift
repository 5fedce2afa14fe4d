import GroupModel
import GroupRuntime
import StoreTables

extension PostgreSQLStore: PersonalStore {
  /// The application of an id, handled or not; nil where there is none, or it ended over a week
  /// ago.
  public func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    try await read(.singleStatement) { db in
      try db.rows(
        "SELECT \(ApplicationRows.isOfLiveGroup), \(ApplicationRows.columns) FROM application AS a WHERE a.id = $1", [id],
        StoredApplication.read
      ).first
    }
  }

  /// Applications that a user may decide, handled ones included, newest first; those of disbanded
  /// groups are left out.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  public func applications(
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

  /// Applications that a user has sent, handled ones included, newest first; those of disbanded
  /// groups are left out.
  /// - Parameter before: only those with a smaller number; 0 = from the newest.
  public func applications(
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

  /// The marks of those who may decide an application; users without a mark are absent.
  public func readMarks(ofDecidersOf application: GroupApplication) async throws(StoreError) -> [UserID: WallInstant] {
    try await read(.singleStatement) { db in
      guard let user = application.toUser else {
        return try ReadMarks.applicationMarks(ofManagersOf: application.groupID, in: db)
      }
      let mark = try ReadMarks.mark(.applications, of: user, in: db)
      return mark > 0 ? [user: WallInstant(milliseconds: mark)] : [:]
    }
  }

  /// The number of received applications that are newer than the user's mark, or all for an
  /// application administrator, who has none; at most `limit`.
  public func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      guard let user else {
        return try db.count(
          """
          SELECT count(*) FROM (SELECT 1 FROM application AS a
          WHERE a.kind = 'Join' AND NOT a.isGroupGone AND \(ApplicationRows.isOfLiveGroup) LIMIT $1) AS found
          """, [limit])
      }
      let mark = try ReadMarks.mark(.applications, of: user, in: db)
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

  /// Up to when the user has read applications; unset = none.
  public func applicationsReadThrough(by user: UserID) async throws(StoreError) -> WallInstant {
    WallInstant(milliseconds: try await read(.singleStatement) { try ReadMarks.mark(.applications, of: user, in: $0) })
  }

  /// Notifications of the user, and of the managers of groups that the user manages, newest first.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  public func notifications(
    of user: UserID, since: WallInstant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification] {
    try await read(.singleStatement) { db in
      let newest = try NotificationRows.newest(of: user, since: since, db)
      return Array(newest.drop { before > 0 && $0.number >= before }.prefix(max(0, limit)))
    }
  }

  /// The number of those notifications, at or after an instant, that are newer than the mark.
  public func unreadNotifications(of user: UserID, since: WallInstant) async throws(StoreError) -> Int {
    try await read { db in
      let mark = try ReadMarks.mark(.notifications, of: user, in: db)
      return try NotificationRows.newest(of: user, since: since, db).count { $0.number > mark }
    }
  }

  /// Up to which number the user has read notifications; 0 = none.
  public func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64 {
    try await read(.singleStatement) { try ReadMarks.mark(.notifications, of: user, in: $0) }
  }
}
