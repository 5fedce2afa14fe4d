import GRDB
import GroupModel
import GroupRuntime

/// `notification` rows.
enum NotificationRows {
  static let columns = "timestamp, kind, groupID, opUser, reason, data"

  // One statement for all users: thousands of members hear at once that their group is gone.
  private static let insertSQL = """
    INSERT INTO notification (userID, \(columns)) SELECT value, ?, ?, ?, ?, ?, ? FROM json_each(?)
    """
  // From the newest that is one too many backwards. The index goes by user and number, so each user costs one walk over what is kept.
  private static let trimSQL = """
    DELETE FROM notification WHERE number IN (
      SELECT old.number FROM json_each(?) AS named CROSS JOIN notification AS old ON old.userID = named.value
      WHERE old.number <= (
        SELECT number FROM notification WHERE userID = named.value ORDER BY number DESC LIMIT 1 OFFSET \(SystemNotification.kept)))
    """

  static func put(_ notification: SystemNotification, for users: [UserID], _ db: Database) throws {
    // A user named twice has one. In the order of the index, so that each of its pages is visited once.
    guard let names = try jsonColumn(Set(users).map(\.rawValue).sorted()) else { return }
    try db.run(
      insertSQL,
      [
        notification.timestamp, notification.kind.rawValue, notification.groupID.rawValue, notification.opUser.column,
        notification.reason?.column, notification.data?.column, names,
      ])
    try db.run(trimSQL, [names])
  }

  static func notification(_ row: inout Columns) throws -> SystemNotification {
    let timestamp = try row.integer()
    let kind = try row.value(SystemNotification.Kind.init)
    let groupID = try row.value(GroupID.init)
    let opUser = try row.text()
    let reason = try row.optionalText()
    return SystemNotification(
      kind: kind, groupID: groupID, opUser: opUser, reason: reason, data: try row.optionalText(), timestamp: timestamp)
  }
}
