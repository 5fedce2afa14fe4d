import GRDB
import GroupModel
import GroupRuntime
import StoreTables

extension SQLiteStore: PersonalStore {
  /// The application of an id, handled or not; nil where there is none, or it ended over a week
  /// ago.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    try await read { db in
      try db.rows(
        "SELECT \(ApplicationRows.isOfLiveGroup), \(GroupApplication.columns.names) FROM application WHERE id = ?",
        [id.column], StoredApplication.read
      ).first
    }
  }

  /// Applications that a user may decide, handled ones included, newest first; those of disbanded
  /// groups are left out.
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

  /// Applications that a user has sent, handled ones included, newest first; those of disbanded
  /// groups are left out.
  /// - Parameter before: only those with a smaller number; 0 = from the newest.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func applications(
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

  /// The marks of those who may decide an application; users without a mark are absent.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func readMarks(ofDecidersOf application: GroupApplication) async throws(StoreError) -> [UserID: WallInstant] {
    try await read { db in
      guard let user = application.toUser else {
        return try ReadMarks.applicationMarks(ofManagersOf: application.groupID, in: db)
      }
      let mark = try ReadMarks.mark(.applications, of: user, in: db)
      return mark > 0 ? [user: WallInstant(milliseconds: mark)] : [:]
    }
  }

  /// The number of received applications that are newer than the user's mark, or all for an
  /// application administrator, who has none; at most `limit`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      guard let user else {
        return try db.count(
          """
          SELECT count(*) FROM (SELECT 1 FROM application INDEXED BY applicationOfKind
          WHERE kind = 'Join' AND isGroupGone = 0 AND \(ApplicationRows.isOfLiveGroup) LIMIT ?)
          """, [limit])
      }
      let mark = try ReadMarks.mark(.applications, of: user, in: db)
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

  /// Up to when the user has read applications; unset = none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func applicationsReadThrough(by user: UserID) async throws(StoreError) -> WallInstant {
    WallInstant(milliseconds: try await read { try ReadMarks.mark(.applications, of: user, in: $0) })
  }

  /// Notifications of the user, and of the managers of groups that the user manages, newest first.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func notifications(
    of user: UserID, since: WallInstant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification] {
    try await read { db in
      let newest = try NotificationRows.newest(of: user, since: since, db)
      return Array(newest.drop { before > 0 && $0.number >= before }.prefix(max(0, limit)))
    }
  }

  /// The number of those notifications, at or after an instant, that are newer than the mark.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadNotifications(of user: UserID, since: WallInstant) async throws(StoreError) -> Int {
    try await read { db in
      let mark = try ReadMarks.mark(.notifications, of: user, in: db)
      return try NotificationRows.newest(of: user, since: since, db).count { $0.number > mark }
    }
  }

  /// Up to which number the user has read notifications; 0 = none.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64 {
    try await read { try ReadMarks.mark(.notifications, of: user, in: $0) }
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
