import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Clears away the rows of disbanded groups: members become departures where the type is listed,
/// applications end, everything else is deleted.
enum DisbandedGroupCleanup {
  /// Clears one chunk in the transaction that is open.
  /// - Parameter rows: how many rows a chunk has at most.
  /// - Returns: false where nothing is left to clear.
  static func chunk(of rows: Int, in db: Database) throws -> Bool {
    let oldest = try db.rows("SELECT number, groupID, time FROM dismissedGroup ORDER BY number LIMIT 1", []) {
      (number: try $0.integer(), id: try $0.value(GroupID.self), time: try $0.instant())
    }
    guard let group = oldest.first else { return false }
    if try members(of: group.number, rows, db) { return true }
    if try messages(of: group.number, group.id, rows, db) { return true }
    for table in StoredTable.ofDisbandedGroups { if try delete(from: table, of: group.number, rows, db) { return true } }
    if try applications(of: group.number, time: group.time, rows, db) { return true }
    try db.forgetNotifications(of: group.number)
    for table in ["groupAttributes", "groupCounter", "dismissedGroup"] {
      try db.run("DELETE FROM \(table) WHERE number = ?", [group.number])
    }
    return true
  }

  private static func members(of number: Int64, _ rows: Int, _ db: Database) throws -> Bool {
    let users = try db.rows("SELECT userID FROM member WHERE number = ? ORDER BY userID LIMIT ?", [number, rows]) {
      try $0.text()
    }
    guard let last = users.last else { return false }
    try db.run(
      """
      INSERT INTO departure (userID, groupID, type, time, groupNumber)
      SELECT userID, groupID, type, time, number FROM member JOIN dismissedGroup USING (number)
      WHERE number = ? AND userID <= ? AND type IN (\(GroupType.listedSQL))
      ON CONFLICT (userID, groupID) DO UPDATE
      SET type = excluded.type, time = excluded.time, groupNumber = excluded.groupNumber WHERE excluded.time >= time
      """, [number, last])
    try db.deliver(membersOf: number, through: last, users)
    try db.run("DELETE FROM member WHERE number = ? AND userID <= ?", [number, last])
    return true
  }

  private static func messages(of number: Int64, _ group: GroupID, _ rows: Int, _ db: Database) throws -> Bool {
    let first = try db.rows("SELECT seq FROM message WHERE number = ? ORDER BY seq LIMIT 1", [number]) { try $0.integer() }
    guard let first = first.first else { return false }
    let end = first + Int64(rows)
    try WebhookRows.copyMessages(of: group, number: number, before: end, in: db)
    try db.run("DELETE FROM message WHERE number = ? AND seq < ?", [number, end])
    return true
  }

  private static func delete(from table: StoredTable, of number: Int64, _ rows: Int, _ db: Database) throws -> Bool {
    let key = table.key.names
    return try db.run(
      "DELETE FROM \(table.name) WHERE (\(key)) IN (SELECT \(key) FROM \(table.name) WHERE number = ? LIMIT ?)", [number, rows])
      > 0
  }

  // They stay for a while, so that deciding one is answered with the group's end.
  private static func applications(of number: Int64, time: WallInstant, _ rows: Int, _ db: Database) throws -> Bool {
    try db.run(
      """
      UPDATE application SET endTime = coalesce(endTime, ?), isGroupGone = 1 WHERE number IN
      (SELECT number FROM application INDEXED BY applicationOfGroup WHERE groupNumber = ? AND isGroupGone = 0 LIMIT ?)
      """, [time, number, rows]) > 0
  }
}
