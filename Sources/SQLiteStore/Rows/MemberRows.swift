import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `member` and `departure` rows.
enum MemberRows {
  fileprivate static let putSQL = """
    INSERT INTO member (number, \(Member.columns.names)) SELECT number, \(Member.columns.places("?"))
    FROM groupRecord WHERE groupID = ? ON CONFLICT (number, userID) DO UPDATE SET \(Member.columns.without("userID").excluded)
    """
  fileprivate static let selectSQL = """
    SELECT \(Member.columns.names) FROM member WHERE number = ? AND userID > ? ORDER BY userID LIMIT ?
    """

  /// The numbers of the groups that a user manages.
  static let managedGroupsSQL = """
    SELECT member.number FROM member INDEXED BY managerByUser CROSS JOIN groupRecord ON groupRecord.number = member.number
    WHERE member.userID = ? AND member.role IN ('Owner', 'Admin')
    """

  fileprivate static let endHiddenSQL = """
    UPDATE member SET isHidden = 0, changeTime = ?
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND userID IN (SELECT value FROM json_each(?))
    """

  // Live rooms leave no departures, because their members change too often.
  fileprivate static let departSQL = """
    INSERT OR REPLACE INTO departure (userID, groupID, type, time, groupNumber)
    SELECT ?, groupID, type, ?, number FROM groupRecord WHERE groupID = ? AND type IN (\(GroupType.listedSQL))
    """
}

extension SQLiteTransaction {
  func put(_ member: Member, in group: GroupID) throws {
    let changed = try db.run(MemberRows.putSQL) { binding in
      try member.write(to: &binding)
      binding.append(group.rawValue)
    }
    guard changed == 1 else { throw StoreError(.inconsistent, "no group \(group) to be a member of") }
  }

  func endHidden(of users: [UserID], at time: WallInstant, in group: GroupID) throws {
    let changed = try db.run(MemberRows.endHiddenSQL, [time, group.rawValue, try jsonColumn(users.map(\.rawValue))])
    guard changed == users.count else { throw StoreError(.inconsistent, "not all of \(users.count) are members of \(group)") }
  }

  func endDepartures(of user: UserID, from group: GroupID) throws {
    try db.run("DELETE FROM departure WHERE userID = ? AND groupID = ?") { binding in
      binding.append(user.rawValue)
      binding.append(group.rawValue)
    }
    let isReused = try db.finds("SELECT 1 FROM dismissedGroup WHERE groupID = ?") { $0.append(group.rawValue) }
    guard isReused else { return }
    try deliver(memberOfDisbanded: group, user)
    try db.run(
      "DELETE FROM member WHERE number IN (SELECT number FROM dismissedGroup WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
  }

  func removeMember(_ user: UserID, from group: GroupID, at time: WallInstant) throws {
    let removed = try db.run(
      "DELETE FROM member WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
    guard removed == 1 else { throw StoreError(.inconsistent, "\(user) is no member of \(group)") }
    try db.run(MemberRows.departSQL, [user.rawValue, time, group.rawValue])
  }
}

extension Database {
  package func members(number: Int64, after user: String, limit: Int) throws -> [Member] {
    try rows(MemberRows.selectSQL, [number, user, limit], Member.read)
  }

  package func memberships(of user: UserID) throws -> [Membership] {
    try rows(
      "SELECT groupID, type, number FROM member JOIN groupRecord USING (number) WHERE userID = ? ORDER BY number",
      [user.rawValue], Membership.read)
  }
}
