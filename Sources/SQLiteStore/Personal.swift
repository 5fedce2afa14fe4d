import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: PersonalStore {
  /// The application of that id, handled or not; nil where there is none, or it ended more than a week ago.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    try await read { db in
      try db.rows(
        "SELECT \(ApplicationRows.isOfLiveGroup), \(ApplicationRows.columns) FROM application WHERE id = ?", [id.column]
      ) { row in
        let isGroupThere = try row.flag()
        return StoredApplication(application: try ApplicationRows.application(&row), isGroupGone: !isGroupThere)
      }.first
    }
  }

  /// Applications that a user may decide, handled ones included, the newest first; those of groups that are gone are left out.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func applications(
    decidableBy user: UserID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    let end = before == 0 ? Int64.max : before
    return try await read { db in
      guard let user else {
        return try db.rows(
          """
          SELECT number, \(ApplicationRows.columns) FROM application
          WHERE kind = 'Join' AND number < ? AND \(ApplicationRows.isOfLiveGroup) ORDER BY number DESC LIMIT ?
          """, [end, max(0, limit)], NumberedApplication.init(row:))
      }
      return try db.rows(
        """
        SELECT number, \(ApplicationRows.columns) FROM application WHERE number IN (
          \(Decidable.invitations) AND application.number < ?
          UNION ALL
          \(Decidable.requests) AND application.number < ?
          ORDER BY number DESC LIMIT ?)
        ORDER BY number DESC
        """, [user.rawValue, end, user.rawValue, end, max(0, limit)], NumberedApplication.init(row:))
    }
  }

  /// How many of those are newer than the user's mark; all of them for an application administrator, who has none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadApplications(of user: UserID?) async throws(StoreError) -> Int {
    try await read { db in
      guard let user else {
        return try db.count(
          "SELECT count(*) FROM application WHERE kind = 'Join' AND \(ApplicationRows.isOfLiveGroup)", [])
      }
      let mark = try ReadMarks.mark(.applications, of: user, in: db)
      return try db.count(
        """
        SELECT (SELECT count(*) FROM (\(Decidable.invitations) AND application.addTime > ?))
        + (SELECT count(*) FROM (\(Decidable.requests) AND application.addTime > ?))
        """, [user.rawValue, mark, user.rawValue, mark])
    }
  }

  /// Up to when the user has read applications; 0 = none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func applicationsReadThrough(by user: UserID) async throws(StoreError) -> Instant {
    try await read { try ReadMarks.mark(.applications, of: user, in: $0) }
  }

  /// The user's notifications that are not too old, the newest first.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func notifications(
    of user: UserID, since: Instant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification] {
    try await read { db in
      try db.rows(
        """
        SELECT number, \(NotificationRows.columns) FROM notification INDEXED BY notificationByUser
        WHERE userID = ? AND timestamp >= ? AND number < ? ORDER BY number DESC LIMIT ?
        """, [user.rawValue, since, before == 0 ? Int64.max : before, max(0, limit)]
      ) { NumberedNotification(number: try $0.integer(), notification: try NotificationRows.notification(&$0)) }
    }
  }

  /// How many of the user's notifications with a timestamp at or after an instant are newer than the mark.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadNotifications(of user: UserID, since: Instant) async throws(StoreError) -> Int {
    try await read { db in
      try db.count(
        """
        SELECT count(*) FROM notification INDEXED BY notificationByUser WHERE userID = ? AND timestamp >= ? AND number > ?
        """, [user.rawValue, since, try ReadMarks.mark(.notifications, of: user, in: db)])
    }
  }

  /// Up to which number the user has read notifications; 0 = none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64 {
    try await read { try ReadMarks.mark(.notifications, of: user, in: $0) }
  }
}

/// The numbers of the applications that a user may decide; the first argument is the user.
private enum Decidable {
  static let invitations = """
    SELECT application.number FROM application WHERE toUser = ? AND \(ApplicationRows.isOfLiveGroup)
    """
  static let requests = """
    SELECT application.number FROM member JOIN groupRecord USING (number)
    JOIN application INDEXED BY applicationByGroup ON application.groupNumber = member.number AND application.kind = 'Join'
    WHERE member.userID = ? AND member.role IN ('Owner', 'Admin')
    """
}

extension NumberedApplication {
  fileprivate init(row: inout Columns) throws {
    self.init(number: try row.integer(), application: try ApplicationRows.application(&row))
  }
}
