import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `member` and `departure` rows.
enum MemberRows {
  private static let insertSQL = """
    INSERT INTO member (number, \(Member.columns.names)) SELECT number, \(Member.columns.places("?"))
    FROM groupRecord WHERE groupID = ? ON CONFLICT (number, userID) DO NOTHING
    """
  // Takes the arguments of `insertSQL`.
  private static let updateSQL = """
    UPDATE member SET \(Member.columns.assignments("?", to: Member.columns.without("userID").map(\.name)))
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?\(Member.columns.count + 1))
    AND userID = ?\(Member.columns.place(of: "userID"))
    """
  private static let selectSQL = """
    SELECT \(Member.columns.names) FROM member WHERE number = ? AND userID > ? ORDER BY userID LIMIT ?
    """

  /// The numbers of the groups that a user manages.
  static let managedGroupsSQL = """
    SELECT member.number FROM member INDEXED BY managerByUser CROSS JOIN groupRecord ON groupRecord.number = member.number
    WHERE member.userID = ? AND member.role IN ('Owner', 'Admin')
    """

  // Live rooms leave no departures, because their members change too often.
  private static let departSQL = """
    INSERT OR REPLACE INTO departure (userID, groupID, type, time, groupNumber)
    SELECT ?, groupID, type, ?, number FROM groupRecord WHERE groupID = ? AND type IN (\(GroupType.listedSQL))
    """

  static func put(_ member: Member, in group: GroupID, _ db: Database) throws {
    let bind = { (binding: inout StatementBinding) in
      try member.write(to: &binding)
      binding.append(group.rawValue)
    }
    // Only a new member can have left before.
    if try db.run(insertSQL, binding: bind) == 1 { return try forgetDeparture(of: member.userID, from: group, db) }
    guard try db.run(updateSQL, binding: bind) == 1 else {
      throw StoreError(.inconsistent, "no group \(group) to be a member of")
    }
  }

  static func remove(_ user: UserID, from group: GroupID, at time: WallInstant, _ db: Database) throws {
    let removed = try db.run(
      "DELETE FROM member WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
    guard removed == 1 else { throw StoreError(.inconsistent, "\(user) is no member of \(group)") }
    try db.run(departSQL, [user.rawValue, time, group.rawValue])
  }

  /// The next page of a group's members, by `userID`.
  static func page(number: Int64, after user: String, limit: Int, in db: Database) throws -> [Member] {
    try db.rows(selectSQL, [number, user, limit], Member.read)
  }

  // A disbanded group of the same groupID may still have a row of the member, which counts as a
  // departure.
  private static func forgetDeparture(of user: UserID, from group: GroupID, _ db: Database) throws {
    try db.run("DELETE FROM departure WHERE userID = ? AND groupID = ?") { binding in
      binding.append(user.rawValue)
      binding.append(group.rawValue)
    }
    let isReused = try db.finds("SELECT 1 FROM dismissedGroup WHERE groupID = ?") { $0.append(group.rawValue) }
    guard isReused else { return }
    try NotificationRows.deliver(memberOfDisbanded: group, user, db)
    try db.run(
      "DELETE FROM member WHERE number IN (SELECT number FROM dismissedGroup WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
  }
}
