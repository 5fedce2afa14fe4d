import GroupModel
import GroupRuntime

/// `member` rows, without the group's number.
extension Member: StoredRow {
  public static let columns = describe()
  @inlinable public static var blank: Member { blank(.administrator) }
  @inlinable static func blank(_ user: UserID) -> Member {
    Member(userID: user, role: .member, joinTime: .unset, ordinal: 0, receiveOption: .receive)
  }

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout Member, _ coder: inout Coder) throws(StoreError) {
    var (userID, unheard) = (row.userID, row.unheardRanges)
    try coder.column("userID", &userID)
    if Coder.isReader { row = blank(userID) }
    try coder.column("role", &row.role)
    try coder.column("joinTime", &row.joinTime)
    try coder.column("ordinal", &row.ordinal)
    try coder.column("muteUntil", &row.muteUntil)
    try coder.column("receiveOption", &row.receiveOption)
    try coder.column("readSeq", &row.readSeq)
    try coder.column("unreadBase", &row.unreadBase)
    try coder.column("unreadSinceSeq", &row.unreadSinceSeq)
    try coder.column("firstVisibleSeq", &row.firstVisibleSeq)
    try coder.column("inviter", &row.inviter)
    try coder.column("changeTime", &row.changeTime)
    try coder.column("mutedAt", &row.mutedAt)
    try coder.column("earlierStays", &row.earlierVisibleRanges)
    try coder.column("nameCard", &row.nameCard)
    try coder.column("customInfo", &row.customInfo)
    try coder.column("unheard", &unheard)
    // NULL in a row from before it was kept.
    var infoTime = Optional(row.infoTime)
    try coder.column("infoTime", &infoTime)
    try coder.column("clearedSeq", &row.clearedSeq)
    try coder.column("isPinned", &row.conversation.isPinned)
    try coder.column("isHidden", &row.conversation.isHidden)
    try coder.column("isMarkedUnread", &row.conversation.isMarkedUnread)
    try coder.column("marks", &row.conversation.marks)
    guard Coder.isReader else { return }
    row.setUnheardRanges(unheard)
    row.infoTime = infoTime ?? row.changeTime
  }
}

/// `formerMember` rows, without the group's number.
extension FormerMember: StoredRow {
  public static let columns = describe()
  @inlinable public static var blank: FormerMember { FormerMember(userID: .administrator) }

  /// A column that is computed from the others when they are written.
  public static let memorableUntil = StoredColumn("memorableUntil", WallInstant.self)

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout FormerMember, _ coder: inout Coder) throws(StoreError) {
    var (userID, visibleRanges) = (row.userID, row.visibleRanges)
    try coder.column("userID", &userID)
    try coder.column("stays", &visibleRanges)
    if Coder.isReader { row = FormerMember(userID: userID, visibleRanges: visibleRanges) }
    try coder.column("muteUntil", &row.muteUntil)
    try coder.column("bannedUntil", &row.bannedUntil)
    try coder.column("leftTime", &row.leftTime)
    try coder.column("mutedAt", &row.mutedAt)
    try coder.column("banReason", &row.banReason)
    try coder.column("quitTime", &row.quitTime)
    try coder.column("isListed", &row.isListed)
    try coder.column("role", &row.role)
    try coder.column("clearedSeq", &row.clearedSeq)
  }
}

extension Membership {
  /// Reads the columns groupID, type and number of a group.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Membership {
    let (groupID, type) = (try reader.value(GroupID.self), try reader.value(GroupType.self))
    return Membership(groupID: groupID, type: type, groupNumber: try reader.integer())
  }
}

extension GroupType {
  /// The types that every user is a member of, as SQL writes a list of texts.
  public static let everybodysSQL = listSQL(allCases.filter(\.everyoneIsMember))
  /// The types that getJoinedGroupList names, as SQL writes a list of texts.
  public static let listedSQL = listSQL(allCases.filter(\.isListed))

  fileprivate static func listSQL(_ types: [GroupType]) -> String { types.map { "'\($0.rawValue)'" }.joined(separator: ", ") }
}

extension Optional<GroupType> {
  /// The type, or all that are listed, as SQL writes a list of texts.
  public var listedSQL: String { map { GroupType.listSQL([$0]) } ?? GroupType.listedSQL }
}
