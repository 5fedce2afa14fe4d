import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `formerMember` rows.
enum FormerMemberRows {
  private static let written = FormerMember.columns + [FormerMember.memorableUntil]
  private static let putSQL = """
    INSERT INTO formerMember (number, \(written.names)) SELECT number, \(written.places("?")) FROM groupRecord WHERE groupID = ?
    ON CONFLICT (number, userID) DO UPDATE SET \(written.without("userID").excluded)
    """

  static func put(_ former: FormerMember, in group: GroupID, _ db: Database) throws {
    let changed = try db.run(putSQL) { binding in
      try former.write(to: &binding)
      binding.append(former.memorableUntil)
      binding.append(group.rawValue)
    }
    guard changed == 1 else { throw StoreError(.inconsistent, "no group \(group) to remember somebody in") }
  }

  static func forget(_ user: UserID, in group: GroupID, _ db: Database) throws {
    let forgotten = try db.run(
      "DELETE FROM formerMember WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
    if try forgotten == 0 && db.number(of: group) == nil {
      throw StoreError(.inconsistent, "no group \(group) to forget somebody in")
    }
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

  // `> 0` is the condition of the partial index.
  static let restrictedSQL = """
    SELECT \(FormerMember.columns.names) FROM formerMember INDEXED BY formerMemberRestricted
    WHERE number = ?1 AND restrictedUntil > 0 AND restrictedUntil > ?2 AND (restrictedUntil, userID) < (?3, ?4)
    ORDER BY restrictedUntil DESC, userID DESC LIMIT ?5
    """
  // Passes over members with a ban or mute: few, or the group would have no place for others.
  static let freeSQL = """
    SELECT \(FormerMember.columns.names) FROM formerMember INDEXED BY formerMemberOfGroup
    WHERE number = ?1 AND restrictedUntil <= ?2 AND memorableUntil > ?2 AND (memorableUntil, userID) < (?3, ?4)
    ORDER BY memorableUntil DESC, userID DESC LIMIT ?5
    """

  /// The next page of members with a ban or mute, by `restrictedUntil` and `userID` descending.
  static func restricted(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: Database
  ) throws -> [FormerMember] {
    try db.rows(restrictedSQL, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }

  /// The next page of members without one that are still remembered, by `memorableUntil` and
  /// `userID` descending.
  static func free(number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: Database) throws -> [FormerMember]
  {
    try db.rows(freeSQL, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }
}
