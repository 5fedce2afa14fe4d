import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `notification` rows. An addressee is a user, the managers of a group, or the members of a
/// disbanded group. The users behind it are resolved when a list is read: a notification is one row
/// however large the group is.
enum NotificationRows {
  private static let columns = SystemNotification.columns + SystemNotification.profileColumns

  private static let nextNumberSQL = "UPDATE notificationNumber SET last = last + 1 RETURNING last"
  // One statement for all addressees. The operator's profile is that of this transaction.
  private static let insertSQL = """
    INSERT INTO notification (addressee, number, \(columns.names))
    SELECT value, ?1, \(SystemNotification.columns.places("?", from: 4)), operator.nickName, operator.faceURL FROM json_each(?2)
    LEFT JOIN userInfo AS operator ON operator.userID = CASE json_valid(?3) WHEN 1 THEN json_extract(?3, '$.userID') END
    """
  private static let forgetFormerSQL = """
    DELETE FROM notification WHERE (addressee, number) IN (
      SELECT old.addressee, old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.addressee = named.value
      WHERE old.kind = ? AND old.applicationID = ?)
    """
  // Deletes from the newest notification beyond the bound on: one index scan for each addressee.
  private static let trimSQL = """
    DELETE FROM notification WHERE (addressee, number) IN (
      SELECT old.addressee, old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.addressee = named.value
      WHERE old.number <= (
        SELECT number FROM notification WHERE addressee = named.value ORDER BY number DESC
        LIMIT 1 OFFSET \(SystemNotification.kept)))
    """

  // No userID begins with "@".
  static func managers(of group: Int64) -> String { "@managers:\(group)" }
  static func members(of group: Int64) -> String { "@members:\(group)" }

  static func put(_ notification: SystemNotification, for recipients: NotificationRecipients, _ db: Database) throws {
    switch recipients {
    // A repeated user gets one. In the order of the index, so that each page is visited once.
    case .users(let users): try put(notification, for: Set(users).map(\.rawValue).sorted(), db)
    case .managers(of: let group):
      guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to notify") }
      try put(notification, for: [managers(of: number)], db)
    }
  }

  static func put(_ notification: SystemNotification, for addressees: [String], _ db: Database) throws {
    guard let names = try jsonColumn(addressees) else { return }
    if let application = notification.applicationID {
      try db.run(forgetFormerSQL, [names, notification.kind.rawValue, application.column])
    }
    let number = try db.rows(nextNumberSQL, []) { try $0.integer() }.first
    // json_valid takes no NUL, which no encoded MemberInfo has.
    let encodedOperator = notification.opUser.utf8.contains(0) ? nil : notification.opUser
    try db.run(insertSQL) { binding in
      try number.write(to: &binding)
      binding.append(names)
      binding.append(encodedOperator)
      try notification.write(to: &binding)
    }
    try db.run(trimSQL, [names])
  }

  // MARK: Disbanded groups

  /// Moves the end of a disbanded group to the own notifications of some members, with its number.
  static func deliver(membersOf group: Int64, through lastUser: String, _ users: [String], _ db: Database) throws {
    let delivered = try db.run(
      """
      INSERT INTO notification (addressee, number, \(columns.names))
      SELECT m.userID, n.number, \(columns.names(of: "n")) FROM notification AS n CROSS JOIN member AS m ON m.number = ?
      WHERE n.addressee = ? AND m.userID <= ?
      """, [group, members(of: group), lastUser])
    if delivered > 0 { try db.run(trimSQL, [try jsonColumn(users)]) }
  }

  /// The same for one member, who joins another group of that groupID.
  static func deliver(memberOfDisbanded group: GroupID, _ user: UserID, _ db: Database) throws {
    try db.run(
      """
      INSERT INTO notification (addressee, number, \(columns.names))
      SELECT m.userID, n.number, \(columns.names(of: "n")) FROM dismissedGroup AS d
      CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?
      CROSS JOIN notification AS n ON n.addressee = '@members:' || d.number WHERE d.groupID = ?
      """, [user.rawValue, group.rawValue])
  }

  static func forget(group: Int64, _ db: Database) throws {
    for addressee in [managers(of: group), members(of: group)] {
      try db.run("DELETE FROM notification WHERE addressee = ?", [addressee])
    }
  }

  // MARK: Lists

  /// The newest notifications of a user, at most `SystemNotification.kept`.
  static func newest(of user: UserID, since: WallInstant, _ db: Database) throws -> [NumberedNotification] {
    let managed = try db.rows(MemberRows.managedGroupsSQL, [user.rawValue]) { managers(of: try $0.integer()) }
    let disbanded = try db.rows(
      "SELECT d.number FROM dismissedGroup AS d CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?", [user.rawValue]
    ) { members(of: try $0.integer()) }
    return try NewestFirst.merged([user.rawValue] + managed + disbanded, atMost: SystemNotification.kept) { addressee, below in
      try db.rows(
        """
        SELECT \(NumberedNotification.columns.names) FROM notification WHERE addressee = ? AND number < ? AND timestamp >= ?
        ORDER BY number DESC LIMIT 1
        """, [addressee, below, since], NumberedNotification.read
      ).first.map { (number: $0.number, item: $0) }
    }
  }
}
