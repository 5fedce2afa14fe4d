import GroupModel
import GroupRuntime

/// `member` and `departure` rows.
enum MemberRows {
  private static let columns = [
    "userID", "role", "joinTime", "ordinal", "muteUntil", "receiveOption", "readSeq", "unreadBase", "unreadSinceSeq",
    "firstVisibleSeq", "inviter", "changeTime", "mutedAt", "earlierStays", "nameCard", "customInfo",
    "unheard",
  ]
  // A new member is no longer one who has left: the trigger `memberInserted` sees to it.
  private static let putSQL = """
    INSERT INTO member (number, \(columns.joined(separator: ", ")))
    VALUES (\(numberOfGroup), \(columns.indices.map { "$\($0 + 2)" }.joined(separator: ", ")))
    ON CONFLICT (number, userID) DO UPDATE SET
    \(columns.dropFirst().map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
    """
  private static let selectSQL = """
    SELECT \(columns.joined(separator: ", ")) FROM member WHERE number = $1 AND userID > $2 ORDER BY userID LIMIT $3
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
    try transaction.run(
      putSQL,
      [
        group.rawValue, member.userID.rawValue, member.role.wireName, member.joinTime, member.ordinal, member.muteUntil,
        member.receiveOption.rawValue, member.readSeq, member.unreadBase, member.unreadSinceSeq, member.firstVisibleSeq,
        member.inviter?.rawValue, member.changeTime, member.mutedAt,
        try jsonColumn(member.earlierVisibleRanges.map { [$0.lowerBound, $0.upperBound] }), member.nameCard,
        try jsonColumn(member.customInfo), try jsonColumn(member.unheardRanges.map { [$0.lowerBound, $0.upperBound] }),
      ])
  }

  static func remove(
    _ user: UserID, from group: GroupID, at time: WallInstant, _ transaction: WriteTransaction
  ) throws {
    try transaction.runForOne(removeSQL, [group.rawValue, user.rawValue, time]) { "\(user) is no member of \(group)" }
  }

  /// The next page of a group's members, by `userID`.
  static func page(number: Int64, after user: String, limit: Int, in db: PostgreSQLConnection) throws -> [Member] {
    try db.rows(selectSQL, [number, user, limit], member)
  }

  private static func member(_ row: inout RowReader) throws -> Member {
    let userID = try row.value(UserID.init(stored:))
    let role = try row.value(Role.init(wireName:))
    let joinTime = try row.instant()
    let ordinal = try row.integer()
    let muteUntil = try row.instant()
    let receiveOption = try row.value(ReceiveOption.init)
    let readSeq = try row.integer()
    let unreadBase = Int(try row.integer())
    let unreadSinceSeq = try row.optionalInteger()
    var member = Member(
      userID: userID, role: role, joinTime: joinTime, ordinal: ordinal, receiveOption: receiveOption, readSeq: readSeq,
      firstVisibleSeq: try row.integer(), inviter: try row.optionalValue(UserID.init(stored:)), muteUntil: muteUntil,
      changeTime: try row.instant())
    member.mutedAt = try row.instant()
    member.unreadBase = unreadBase
    member.unreadSinceSeq = unreadSinceSeq
    member.earlierVisibleRanges = try row.stays()
    member.nameCard = try row.text()
    member.customInfo = try row.json(else: [:])
    member.setUnheardRanges(try row.stays())
    return member
  }
}

extension GroupType {
  /// The types that every user is a member of, as SQL writes a list of texts.
  static let everybodysSQL = allCases.filter(\.everyoneIsMember).map { "'\($0.rawValue)'" }.joined(separator: ", ")
  /// The types that getJoinedGroupList names, as SQL writes a list of texts.
  static let listedSQL = allCases.filter(\.isListed).map { "'\($0.rawValue)'" }.joined(separator: ", ")
}

/// `formerMember` rows.
enum FormerMemberRows {
  static func put(_ former: FormerMember, in group: GroupID, _ transaction: WriteTransaction) throws {
    let stays = try jsonColumn(former.visibleRanges.map { [$0.lowerBound, $0.upperBound] })
    try transaction.run(
      """
      INSERT INTO formerMember (number, userID, muteUntil, bannedUntil, stays, leftTime, mutedAt, memorableUntil, banReason,
      quitTime)
      VALUES (\(numberOfGroup), $2, $3, $4, $5, $6, $7, $8, $9, $10)
      ON CONFLICT (number, userID) DO UPDATE SET muteUntil = excluded.muteUntil, bannedUntil = excluded.bannedUntil,
      stays = excluded.stays, leftTime = excluded.leftTime, mutedAt = excluded.mutedAt,
      memorableUntil = excluded.memorableUntil, banReason = excluded.banReason,
      quitTime = excluded.quitTime
      """,
      [
        group.rawValue, former.userID.rawValue, former.muteUntil, former.bannedUntil, stays, former.leftTime, former.mutedAt,
        former.memorableUntil, former.banReason, former.quitTime,
      ])
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

  private static let columns = "userID, muteUntil, bannedUntil, stays, leftTime, mutedAt, banReason, quitTime"

  /// The next page of members with a ban or mute, by `restrictedUntil` and `userID` descending.
  static func restricted(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: PostgreSQLConnection
  ) throws -> [FormerMember] {
    try db.rows(
      """
      SELECT \(columns) FROM formerMember
      WHERE number = $1 AND restrictedUntil > 0 AND restrictedUntil > $2 AND (restrictedUntil, userID) < ($3, $4)
      ORDER BY restrictedUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], former)
  }

  /// The next page of members without one that are still remembered, by `memorableUntil` and
  /// `userID` descending.
  static func free(
    number: Int64, at now: WallInstant, _ position: Position, limit: Int, in db: PostgreSQLConnection
  ) throws -> [FormerMember] {
    try db.rows(
      """
      SELECT \(columns) FROM formerMember
      WHERE number = $1 AND restrictedUntil <= $2 AND memorableUntil > $2 AND (memorableUntil, userID) < ($3, $4)
      ORDER BY memorableUntil DESC, userID DESC LIMIT $5
      """, [number, now, position.instant, position.userID, limit], former)
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
