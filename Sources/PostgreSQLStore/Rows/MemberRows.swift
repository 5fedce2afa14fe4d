import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `member` and `departure` rows.
enum MemberRows {
  // Before the row of the member: the trigger `memberInserted` finds nothing then.
  fileprivate static let endDeparturesSQL = """
    WITH ended AS (SELECT number FROM dismissedGroup WHERE groupID = $1),
    removed AS (DELETE FROM member AS m USING ended WHERE m.number = ended.number AND m.userID = $2 RETURNING m.number),
    told AS (
      INSERT INTO notification (addressee, number, \(NotificationRows.columns.names))
      SELECT $2, n.number, \(NotificationRows.columns.names(of: "n")) FROM removed
      JOIN notification AS n ON n.addressee = '@members:' || removed.number ON CONFLICT DO NOTHING)
    DELETE FROM departure WHERE userID = $2 AND groupID = $1
    """
  fileprivate static let putSQL = """
    INSERT INTO member (number, \(Member.columns.names)) VALUES (\(numberOfGroup), \(Member.columns.places("$", from: 2)))
    ON CONFLICT (number, userID) DO UPDATE SET \(Member.columns.without("userID").excluded)
    """
  fileprivate static let selectSQL = """
    SELECT \(Member.columns.names) FROM member WHERE number = $1 AND userID > $2 ORDER BY userID LIMIT $3
    """

  /// The numbers of the groups that user `$1` manages.
  static let managedGroupsSQL = """
    SELECT m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
    WHERE m.userID = $1 AND m.role IN ('Owner', 'Admin')
    """

  // One row where all of them are members.
  fileprivate static let endHiddenSQL = """
    WITH shown AS (
      UPDATE member SET isHidden = false, changeTime = $2 WHERE number = \(numberOfGroup) AND userID = ANY ($3) RETURNING 1)
    SELECT 1 FROM shown HAVING count(*) = $4
    """

  // Live rooms leave no departures, because their members change too often.
  fileprivate static let removeSQL = """
    WITH removed AS (DELETE FROM member WHERE number = \(numberOfGroup) AND userID = $2 RETURNING number),
    departed AS (
      INSERT INTO departure (userID, groupID, type, time, groupNumber)
      SELECT $2, g.groupID, g.type, $3, g.number FROM removed JOIN groupRecord AS g ON g.number = removed.number
      WHERE g.type IN (\(GroupType.listedSQL))
      ON CONFLICT (userID, groupID) DO UPDATE
      SET type = excluded.type, time = excluded.time, groupNumber = excluded.groupNumber)
    SELECT number FROM removed
    """
}

extension WriteTransaction {
  func endDepartures(of user: UserID, from group: GroupID) throws {
    try run(MemberRows.endDeparturesSQL, [group.rawValue, user.rawValue])
  }

  func put(_ member: Member, in group: GroupID) throws {
    try run(MemberRows.putSQL) { arguments in
      arguments.append(group.rawValue)
      try member.write(to: &arguments)
    }
  }

  func endHidden(of users: [UserID], at time: WallInstant, in group: GroupID) throws {
    try runForOne(MemberRows.endHiddenSQL, [group.rawValue, time, users.map(\.rawValue), users.count]) {
      "not all of \(users.count) are members of \(group)"
    }
  }

  func removeMember(_ user: UserID, from group: GroupID, at time: WallInstant) throws {
    try runForOne(MemberRows.removeSQL, [group.rawValue, user.rawValue, time]) { "\(user) is no member of \(group)" }
  }
}

extension PostgreSQLConnection {
  package func members(number: Int64, after user: String, limit: Int) throws -> [Member] {
    try rows(MemberRows.selectSQL, [number, user, limit], Member.read)
  }

  package func memberships(of user: UserID) throws -> [Membership] {
    try rows(MembershipRows.selectSQL, [user.rawValue], Membership.read)
  }
}

/// Statements of the groups of a user.
enum MembershipRows {
  static let selectSQL = """
    SELECT g.groupID, g.type, m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
    WHERE m.userID = $1 ORDER BY m.number
    """
}

/// Statements of `formerMember` rows.
private enum FormerMemberRows {
  private static let written = FormerMember.columns + [FormerMember.memorableUntil]
  static let putSQL = """
    INSERT INTO formerMember (number, \(written.names)) VALUES (\(numberOfGroup), \(written.places("$", from: 2)))
    ON CONFLICT (number, userID) DO UPDATE SET \(written.without("userID").excluded)
    """
}

extension WriteTransaction {
  func put(_ former: FormerMember, in group: GroupID) throws {
    try run(FormerMemberRows.putSQL) { arguments in
      arguments.append(group.rawValue)
      try former.write(to: &arguments)
      arguments.append(former.memorableUntil)
    }
  }

  func forgetFormer(_ user: UserID, in group: GroupID) throws {
    try runForOne(
      """
      WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
      gone AS (DELETE FROM formerMember AS f USING g WHERE f.number = g.number AND f.userID = $2) SELECT number FROM g
      """, [group.rawValue, user.rawValue]
    ) { "no group \(group) to forget somebody in" }
  }
}

extension PostgreSQLConnection {
  package func restrictedMembers(
    number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int
  ) throws -> [FormerMember] {
    try rows(
      """
      SELECT \(FormerMember.columns.names) FROM formerMember
      WHERE number = $1 AND restrictedUntil > 0 AND restrictedUntil > $2 AND (restrictedUntil, userID) < ($3, $4)
      ORDER BY restrictedUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }

  package func freeMembers(
    number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int
  ) throws -> [FormerMember] {
    try rows(
      """
      SELECT \(FormerMember.columns.names) FROM formerMember
      WHERE number = $1 AND restrictedUntil <= $2 AND memorableUntil > $2 AND (memorableUntil, userID) < ($3, $4)
      ORDER BY memorableUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }
}
