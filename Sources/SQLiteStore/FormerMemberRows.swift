import GRDB
import GroupModel
import GroupRuntime

/// `formerMember` rows.
enum FormerMemberRows {
  static func put(_ former: FormerMember, in group: GroupID, _ db: Database) throws {
    let stays = try jsonColumn(former.stays.map { [$0.lowerBound, $0.upperBound] })
    let changed = try db.run(
      """
      INSERT INTO formerMember (number, userID, muteUntil, bannedUntil, stays, leftTime, mutedAt, memorableUntil)
      SELECT number, ?, ?, ?, ?, ?, ?, ? FROM groupRecord WHERE groupID = ?
      ON CONFLICT (number, userID) DO UPDATE SET muteUntil = excluded.muteUntil, bannedUntil = excluded.bannedUntil,
      stays = excluded.stays, leftTime = excluded.leftTime, mutedAt = excluded.mutedAt,
      memorableUntil = excluded.memorableUntil
      """,
      [
        former.userID.rawValue, former.muteUntil, former.bannedUntil, stays, former.leftTime, former.mutedAt,
        former.memorableUntil,
        group.rawValue,
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

  /// The next of a group by `userID`; those who are forgotten and not yet swept included.
  static func page(number: Int64, after user: String, limit: Int, in db: Database) throws -> [FormerMember] {
    try db.rows(
      """
      SELECT userID, muteUntil, bannedUntil, stays, leftTime, mutedAt FROM formerMember WHERE number = ? AND userID > ?
      ORDER BY userID LIMIT ?
      """, [number, user, limit]
    ) { row in
      let user = try row.value(UserID.init(stored:))
      let muteUntil = try row.integer()
      let bannedUntil = try row.integer()
      let stays = try row.stays()
      var former = FormerMember(
        userID: user, stays: stays, muteUntil: muteUntil, bannedUntil: bannedUntil, leftTime: try row.integer())
      former.mutedAt = try row.integer()
      return former
    }
  }
}

extension Columns {
  /// Ranges of `seq`, each as the JSON array of its bounds.
  mutating func stays() throws(StoreError) -> [ClosedRange<Int64>] {
    let pairs: [[Int64]] = try json(else: [])
    guard pairs.allSatisfy({ $0.count == 2 && $0[0] <= $0[1] }) else {
      throw StoreError(.inconsistent, "a column of stays holds no ranges")
    }
    return pairs.map { $0[0]...$0[1] }
  }
}
