import GroupModel
import GroupRuntime
import StoreTables

/// `member` and `departure` rows.
enum MemberRows {
  // A new member is no longer one who has left: the trigger `memberInserted` sees to it.
  private static let putSQL = """
    INSERT INTO member (number, \(Member.columns.names)) VALUES (\(numberOfGroup), \(Member.columns.places("$", from: 2)))
    ON CONFLICT (number, userID) DO UPDATE SET \(Member.columns.without("userID").excluded)
    """
  private static let selectSQL = """
    SELECT \(Member.columns.names) FROM member WHERE number = $1 AND userID > $2 ORDER BY userID LIMIT $3
    """

  /// The numbers of the groups that user `$1` manages.
  static let managedGroupsSQL = """
    SELECT m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
    WHERE m.userID = $1 AND m.role IN ('Owner', 'Admin')
    """

  // Live rooms leave no departures, because their members change too often.
  private static let removeSQL = """
    WITH removed AS (DELETE FROM member WHERE number = \(numberOfGroup) AND userID = $2 RETURNING number),
    departed AS (
      INSERT INTO departure (userID, groupID, type, time, groupNumber)
      SELECT $2, g.groupID, g.type, $3, g.number FROM removed JOIN groupRecord AS g ON g.number = removed.number
      WHERE g.type IN (\(GroupType.listedSQL))
      ON CONFLICT (userID, groupID) DO UPDATE
      SET type = excluded.type, time = excluded.time, groupNumber = excluded.groupNumber)
    SELECT number FROM removed
    """

  static func put(_ member: Member, in group: GroupID, _ transaction: WriteTransaction) throws {
    try transaction.run(putSQL) { arguments in
      arguments.append(group.rawValue)
      try member.write(to: &arguments)
    }
  }

  static func remove(
    _ user: UserID, from group: GroupID, at time: WallInstant, _ transaction: WriteTransaction
  ) throws {
    try transaction.runForOne(removeSQL, [group.rawValue, user.rawValue, time]) { "\(user) is no member of \(group)" }
  }

  /// The next page of a group's members, by `userID`.
  static func page(number: Int64, after user: String, limit: Int, in db: PostgreSQLConnection) throws -> [Member] {
    try db.rows(selectSQL, [number, user, limit], Member.read)
  }
}

/// `formerMember` rows.
enum FormerMemberRows {
  private static let written = FormerMember.columns + [FormerMember.memorableUntil]
  private static let putSQL = """
    INSERT INTO formerMember (number, \(written.names)) VALUES (\(numberOfGroup), \(written.places("$", from: 2)))
    ON CONFLICT (number, userID) DO UPDATE SET \(written.without("userID").excluded)
    """

  static func put(_ former: FormerMember, in group: GroupID, _ transaction: WriteTransaction) throws {
    try transaction.run(putSQL) { arguments in
      arguments.append(group.rawValue)
      try former.write(to: &arguments)
      arguments.append(former.memorableUntil)
    }
  }

  static func forget(_ user: UserID, in group: GroupID, _ transaction: WriteTransaction) throws {
    try transaction.runForOne(
      """
      WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
      gone AS (DELETE FROM formerMember AS f USING g WHERE f.number = g.number AND f.userID = $2) SELECT number FROM g
      """, [group.rawValue, user.rawValue]
    ) { "no group \(group) to forget somebody in" }
  }

  /// The beginning of a page, in descending order of instant and userID.
  struct Position: Sendable {
    fileprivate let instant: WallInstant
    fileprivate let userID: String

    /// Precedes all users: no userID holds U+007F.
    static let first = Position(instant: .distantFuture, userID: "\u{7f}")

    private init(instant: WallInstant, userID: String) {
      self.instant = instant
      self.userID = userID
    }

    /// - Parameter instant: the member's instant that the order uses.
    init(behind former: FormerMember, _ instant: WallInstant) { self.init(instant: instant, userID: former.userID.rawValue) }
  }

  /// The next page of members with a ban or mute, by `restrictedUntil` and `userID` descending.
  static func restricted(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: PostgreSQLConnection
  ) throws -> [FormerMember] {
    try db.rows(
      """
      SELECT \(FormerMember.columns.names) FROM formerMember
      WHERE number = $1 AND restrictedUntil > 0 AND restrictedUntil > $2 AND (restrictedUntil, userID) < ($3, $4)
      ORDER BY restrictedUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }

  /// The next page of members without one that are still remembered, by `memorableUntil` and
  /// `userID` descending.
  static func free(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: PostgreSQLConnection
  ) throws -> [FormerMember] {
    try db.rows(
      """
      SELECT \(FormerMember.columns.names) FROM formerMember
      WHERE number = $1 AND restrictedUntil <= $2 AND memorableUntil > $2 AND (memorableUntil, userID) < ($3, $4)
      ORDER BY memorableUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }
}
