import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `notification` rows. An addressee is a user, the managers of a group, or the members of a
/// disbanded group. The users behind it are resolved when a list is read: a notification is one row
/// however large the group is.
enum NotificationRows {
  fileprivate static let columns = SystemNotification.columns + SystemNotification.profileColumns

  fileprivate static let nextNumberSQL = "UPDATE notificationNumber SET last = last + 1 RETURNING last"
  // One statement for all addressees. The operator's profile is that of this transaction.
  fileprivate static let insertSQL = """
    INSERT INTO notification (addressee, number, \(columns.names))
    SELECT value, ?1, \(SystemNotification.columns.places("?", from: 4)), operator.nickName, operator.faceURL FROM json_each(?2)
    LEFT JOIN userInfo AS operator ON operator.userID = CASE json_valid(?3) WHEN 1 THEN json_extract(?3, '$.userID') END
    """
  fileprivate static let forgetFormerSQL = """
    DELETE FROM notification WHERE (addressee, number) IN (
      SELECT old.addressee, old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.addressee = named.value
      WHERE old.kind = ? AND old.applicationID = ?)
    """
  // Deletes from the newest notification beyond the bound on: one index scan for each addressee.
  fileprivate static let trimSQL = """
    DELETE FROM notification WHERE (addressee, number) IN (
      SELECT old.addressee, old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.addressee = named.value
      WHERE old.number <= (
        SELECT number FROM notification WHERE addressee = named.value ORDER BY number DESC
        LIMIT 1 OFFSET \(SystemNotification.kept)))
    """

  // No userID begins with "@".
  static func managers(of group: Int64) -> String { "@managers:\(group)" }
  static func members(of group: Int64) -> String { "@members:\(group)" }
}

extension SQLiteTransaction {
  func put(_ notification: SystemNotification, for recipients: NotificationRecipients) throws {
    switch recipients {
    // A repeated user gets one. In the order of the index, so that each page is visited once.
    case .users(let users): try put(notification, for: Set(users).map(\.rawValue).sorted())
    case .managers(of: let group):
      try put(notification, for: [NotificationRows.managers(of: try number(of: group, "to notify"))])
    }
  }

  func put(_ notification: SystemNotification, for addressees: [String]) throws {
    guard let names = try jsonColumn(addressees) else { return }
    if let application = notification.applicationID {
      try db.run(NotificationRows.forgetFormerSQL, [names, notification.kind.rawValue, application.column])
    }
    let number = try db.rows(NotificationRows.nextNumberSQL, []) { try $0.integer() }.first
    // json_valid takes no NUL, which no encoded MemberInfo has.
    let encodedOperator = notification.opUser.utf8.contains(0) ? nil : notification.opUser
    try db.run(NotificationRows.insertSQL) { binding in
      try number.write(to: &binding)
      binding.append(names)
      binding.append(encodedOperator)
      try notification.write(to: &binding)
    }
    try db.run(NotificationRows.trimSQL, [names])
  }

  /// Moves the end of disbanded groups to the own notifications of a member, who joins another group
  /// of that groupID.
  func deliver(memberOfDisbanded group: GroupID, _ user: UserID) throws {
    try db.run(
      """
      INSERT INTO notification (addressee, number, \(NotificationRows.columns.names))
      SELECT m.userID, n.number, \(NotificationRows.columns.names(of: "n")) FROM dismissedGroup AS d
      CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?
      CROSS JOIN notification AS n ON n.addressee = '@members:' || d.number WHERE d.groupID = ?
      """, [user.rawValue, group.rawValue])
  }
}

extension Database {
  /// Moves the end of a disbanded group to the own notifications of some members, with its number.
  func deliver(membersOf group: Int64, through lastUser: String, _ users: [String]) throws {
    let delivered = try run(
      """
      INSERT INTO notification (addressee, number, \(NotificationRows.columns.names))
      SELECT m.userID, n.number, \(NotificationRows.columns.names(of: "n"))
      FROM notification AS n CROSS JOIN member AS m ON m.number = ? WHERE n.addressee = ? AND m.userID <= ?
      """, [group, NotificationRows.members(of: group), lastUser])
    if delivered > 0 { try run(NotificationRows.trimSQL, [try jsonColumn(users)]) }
  }

  /// Removes what a group that is gone has notified.
  func forgetNotifications(of group: Int64) throws {
    for addressee in [NotificationRows.managers(of: group), NotificationRows.members(of: group)] {
      try run("DELETE FROM notification WHERE addressee = ?", [addressee])
    }
  }

  package func newestNotifications(of user: UserID, since: WallInstant) throws -> [NumberedNotification] {
    let managed = try rows(MemberRows.managedGroupsSQL, [user.rawValue]) { NotificationRows.managers(of: try $0.integer()) }
    let disbanded = try rows(
      "SELECT d.number FROM dismissedGroup AS d CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?", [user.rawValue]
    ) { NotificationRows.members(of: try $0.integer()) }
    return try NewestFirst.merged([user.rawValue] + managed + disbanded, atMost: SystemNotification.kept) { addressee, below in
      try rows(
        """
        SELECT \(NumberedNotification.columns.names) FROM notification WHERE addressee = ? AND number < ? AND timestamp >= ?
        ORDER BY number DESC LIMIT 1
        """, [addressee, below, since], NumberedNotification.read
      ).first.map { (number: $0.number, item: $0) }
    }
  }
}
