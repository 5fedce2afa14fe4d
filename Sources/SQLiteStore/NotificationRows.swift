import GRDB
import GroupModel
import GroupRuntime

/// `notification` rows. An addressee is a user, the managers of a group, or the members of a group that is being cleared away; who that
/// is gets resolved when the list is read, so that a notification is one row however large the group is.
enum NotificationRows {
  private static let columns = "timestamp, kind, groupID, opUser, applicationID, reason, data"

  private static let nextNumberSQL = "UPDATE notificationNumber SET last = last + 1 RETURNING last"
  // One statement for all addressees.
  private static let insertSQL = """
    INSERT INTO notification (addressee, number, \(columns)) SELECT value, ?, ?, ?, ?, ?, ?, ?, ? FROM json_each(?)
    """
  private static let forgetFormerSQL = """
    DELETE FROM notification WHERE (addressee, number) IN (
      SELECT old.addressee, old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.addressee = named.value
      WHERE old.kind = ? AND old.applicationID = ?)
    """
  // From the newest that is one too many backwards: each addressee costs one walk over what is kept.
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
    // A user named twice has one. In the order of the index, so that each of its pages is visited once.
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
    try db.run(
      insertSQL,
      [
        number, notification.timestamp, notification.kind.rawValue, notification.groupID.rawValue, notification.opUser.column,
        notification.applicationID?.column, notification.reason?.column, notification.data?.column, names,
      ])
    try db.run(trimSQL, [names])
  }

  // MARK: Groups that go

  /// Some members of a disbanded group find its end among their own notifications from here on, under the number it has.
  static func deliver(membersOf group: Int64, through lastUser: String, _ users: [String], _ db: Database) throws {
    let delivered = try db.run(
      """
      INSERT INTO notification (addressee, number, \(columns))
      SELECT m.userID, n.number, \(columns.prefixedColumns("n")) FROM notification AS n CROSS JOIN member AS m ON m.number = ?
      WHERE n.addressee = ? AND m.userID <= ?
      """, [group, members(of: group), lastUser])
    if delivered > 0 { try db.run(trimSQL, [try jsonColumn(users)]) }
  }

  /// The same for one member, who comes to another group of that groupID.
  static func deliver(memberOfDisbanded group: GroupID, _ user: UserID, _ db: Database) throws {
    try db.run(
      """
      INSERT INTO notification (addressee, number, \(columns))
      SELECT m.userID, n.number, \(columns.prefixedColumns("n")) FROM dismissedGroup AS d
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

  /// The newest of a user, at most as many as are kept.
  static func newest(of user: UserID, since: Instant, _ db: Database) throws -> [NumberedNotification] {
    let managed = try db.rows(
      """
      SELECT member.number FROM member INDEXED BY managerByUser CROSS JOIN groupRecord ON groupRecord.number = member.number
      WHERE member.userID = ? AND member.role IN ('Owner', 'Admin')
      """, [user.rawValue]
    ) { managers(of: try $0.integer()) }
    let leaving = try db.rows(
      "SELECT d.number FROM dismissedGroup AS d CROSS JOIN member AS m ON m.number = d.number AND m.userID = ?", [user.rawValue]
    ) { members(of: try $0.integer()) }
    return try NewestFirst.merged([user.rawValue] + managed + leaving, atMost: SystemNotification.kept) { addressee, below in
      try db.rows(
        """
        SELECT number, \(columns) FROM notification WHERE addressee = ? AND number < ? AND timestamp >= ?
        ORDER BY number DESC LIMIT 1
        """, [addressee, below, since]
      ) { row in
        let number = try row.integer()
        return (number: number, item: NumberedNotification(number: number, notification: try notification(&row)))
      }.first
    }
  }

  private static func notification(_ row: inout Columns) throws -> SystemNotification {
    let timestamp = try row.integer()
    let kind = try row.value(SystemNotification.Kind.init)
    let groupID = try row.value(GroupID.init)
    let opUser = try row.text()
    let applicationID = try row.optionalText()
    let reason = try row.optionalText()
    return SystemNotification(
      kind: kind, groupID: groupID, opUser: opUser, applicationID: applicationID, reason: reason, data: try row.optionalText(),
      timestamp: timestamp)
  }
}

extension String {
  /// A list of columns, each of a table.
  fileprivate func prefixedColumns(_ table: String) -> String {
    split(separator: ", ").map { "\(table).\($0)" }.joined(separator: ", ")
  }
}
