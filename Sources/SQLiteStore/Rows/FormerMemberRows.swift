import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `formerMember` rows.
enum FormerMemberRows {
  private static let written = FormerMember.columns + [FormerMember.memorableUntil]
  fileprivate static let putSQL = """
    INSERT INTO formerMember (number, \(written.names)) SELECT number, \(written.places("?")) FROM groupRecord WHERE groupID = ?
    ON CONFLICT (number, userID) DO UPDATE SET \(written.without("userID").excluded)
    """

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
}

extension SQLiteTransaction {
  func put(_ former: FormerMember, in group: GroupID) throws {
    let changed = try db.run(FormerMemberRows.putSQL) { binding in
      try former.write(to: &binding)
      binding.append(former.memorableUntil)
      binding.append(group.rawValue)
    }
    guard changed == 1 else { throw StoreError(.inconsistent, "no group \(group) to remember somebody in") }
  }

  func forgetFormer(_ user: UserID, in group: GroupID) throws {
    let forgotten = try db.run(
      "DELETE FROM formerMember WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND userID = ?",
      [group.rawValue, user.rawValue])
    if forgotten == 0 { _ = try number(of: group, "to forget somebody in") }
  }
}

extension Database {
  package func restrictedMembers(
    number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int
  ) throws -> [FormerMember] {
    try rows(FormerMemberRows.restrictedSQL, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }

  package func freeMembers(
    number: Int64, at now: WallInstant, _ position: FormerMember.Position, limit: Int
  ) throws -> [FormerMember] {
    try rows(FormerMemberRows.freeSQL, [number, now, position.instant, position.userID, limit], FormerMember.read)
  }
}
