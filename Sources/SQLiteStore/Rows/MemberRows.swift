import GRDB
import GroupModel
import GroupRuntime

/// `member` and `departure` rows.
enum MemberRows {
  private static let columns = [
    "userID", "role", "joinTime", "ordinal", "muteUntil", "receiveOption", "readSeq", "unreadBase", "unreadSinceSeq",
    "firstVisibleSeq", "inviter", "changeTime", "mutedAt", "earlierStays", "nameCard", "customInfo",
    "unheard",
  ]
  private static let insertSQL = """
    INSERT INTO member (number, \(columns.joined(separator: ", ")))
    SELECT number, \(columns.map { _ in "?" }.joined(separator: ", ")) FROM groupRecord WHERE groupID = ?
    ON CONFLICT (number, userID) DO NOTHING
    """
  // Takes the arguments of `insertSQL`, by number: the user is the first, the group the last.
  private static let updateSQL = """
    UPDATE member SET \(columns.indices.dropFirst().map { "\(columns[$0]) = ?\($0 + 1)" }.joined(separator: ", "))
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?\(columns.count + 1)) AND userID = ?1
    """
  private static let selectSQL = """
    SELECT \(columns.joined(separator: ", ")) FROM member WHERE number = ? AND userID > ? ORDER BY userID LIMIT ?
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
    let values = try values(of: member) + [group.rawValue]
    // Only a new member can have left before.
    if try db.run(insertSQL, values) == 1 { return try forgetDeparture(of: member.userID, from: group, db) }
    guard try db.run(updateSQL, values) == 1 else {
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
    try db.rows(selectSQL, [number, user, limit], member)
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

  private static func values(of member: Member) throws -> [(any DatabaseValueConvertible)?] {
    [
      member.userID.rawValue, member.role.wireName, member.joinTime, member.ordinal, member.muteUntil,
      member.receiveOption.rawValue, member.readSeq, member.unreadBase, member.unreadSinceSeq, member.firstVisibleSeq,
      member.inviter?.rawValue, member.changeTime, member.mutedAt,
      try jsonColumn(member.earlierVisibleRanges.map { [$0.lowerBound, $0.upperBound] }), member.nameCard.column,
      try jsonColumn(member.customInfo), try jsonColumn(member.unheardRanges.map { [$0.lowerBound, $0.upperBound] }),
    ]
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
