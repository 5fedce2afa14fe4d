import GRDB
import GroupModel
import GroupRuntime

/// `formerMember` rows.
enum FormerMemberRows {
  static func put(_ former: FormerMember, in group: GroupID, _ db: Database) throws {
    let stays = try jsonColumn(former.visibleRanges.map { [$0.lowerBound, $0.upperBound] })
    let changed = try db.run(
      """
      INSERT INTO formerMember (number, userID, muteUntil, bannedUntil, stays, leftTime, mutedAt, memorableUntil, banReason,
      quitTime)
      SELECT number, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM groupRecord WHERE groupID = ?
      ON CONFLICT (number, userID) DO UPDATE SET muteUntil = excluded.muteUntil, bannedUntil = excluded.bannedUntil,
      stays = excluded.stays, leftTime = excluded.leftTime, mutedAt = excluded.mutedAt,
      memorableUntil = excluded.memorableUntil, banReason = excluded.banReason,
      quitTime = excluded.quitTime
      """,
      [
        former.userID.rawValue, former.muteUntil, former.bannedUntil, stays, former.leftTime, former.mutedAt,
        former.memorableUntil, former.banReason.column, former.quitTime, group.rawValue,
      ])
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

  private static let columns = "userID, muteUntil, bannedUntil, stays, leftTime, mutedAt, banReason, quitTime"
  // `> 0` is the condition of the partial index.
  static let restrictedSQL = """
    SELECT \(columns) FROM formerMember INDEXED BY formerMemberRestricted
    WHERE number = ?1 AND restrictedUntil > 0 AND restrictedUntil > ?2 AND (restrictedUntil, userID) < (?3, ?4)
    ORDER BY restrictedUntil DESC, userID DESC LIMIT ?5
    """
  // Passes over members with a ban or mute: few, or the group would have no place for others.
  static let freeSQL = """
    SELECT \(columns) FROM formerMember INDEXED BY formerMemberOfGroup
    WHERE number = ?1 AND restrictedUntil <= ?2 AND memorableUntil > ?2 AND (memorableUntil, userID) < (?3, ?4)
    ORDER BY memorableUntil DESC, userID DESC LIMIT ?5
    """

  /// The next page of members with a ban or mute, by `restrictedUntil` and `userID` descending.
  static func restricted(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: Database
  ) throws -> [FormerMember] {
    try db.rows(restrictedSQL, [number, now, position.instant, position.userID, limit], former)
  }

  /// The next page of members without one that are still remembered, by `memorableUntil` and
  /// `userID` descending.
  static func free(number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: Database) throws -> [FormerMember]
  {
    try db.rows(freeSQL, [number, now, position.instant, position.userID, limit], former)
  }

  private static func former(_ row: inout RowReader) throws -> FormerMember {
    let user = try row.value(UserID.init(stored:))
    let muteUntil = try row.instant()
    let bannedUntil = try row.instant()
    let stays = try row.stays()
    var former = FormerMember(
      userID: user, visibleRanges: stays, muteUntil: muteUntil, bannedUntil: bannedUntil, leftTime: try row.instant())
    former.mutedAt = try row.instant()
    former.banReason = try row.text()
    former.quitTime = try row.instant()
    return former
  }
}

extension RowReader {
  /// Ranges of `seq`, each written as the JSON array of its bounds.
  mutating func stays() throws(StoreError) -> [ClosedRange<Int64>] {
    let pairs: [[Int64]] = try json(else: [])
    guard pairs.allSatisfy({ $0.count == 2 && $0[0] <= $0[1] }) else {
      throw StoreError(.inconsistent, "a column of stays holds no ranges")
    }
    return pairs.map { $0[0]...$0[1] }
  }
}
