import GroupModel
import GroupRuntime

/// `groupRecord` rows, without the group's number and what retention alone writes.
extension GroupRecord: StoredRow {
  public static let columns = describe()
  public static var blank: GroupRecord { blank(GroupID(allowed: "-"), .work, epoch: "", .unset) }
  @usableFromInline static func blank(
    _ id: GroupID, _ type: GroupType, epoch: String, _ createTime: WallInstant
  ) -> GroupRecord {
    GroupRecord(
      id: id, type: type, epoch: epoch, createTime: createTime, owner: .administrator, name: "", maxMemberNum: 0,
      policy: GroupPolicy(
        joinMode: .any, inviteMode: .any, beInviteMode: .none, updateInfoMode: .any, updateCustomMode: .any,
        ownerQuitMode: .transfer, memberChangeNotification: false, isSearchable: false, isMemberVisible: false,
        historyVisibility: type.defaultHistoryVisibility))
  }

  /// Columns that only retention writes: the oldest message that is kept, its timestamp, and that of
  /// the newest message that was removed and may be a last message.
  public static let historyColumns = [
    StoredColumn("firstSeq", Int64.self), StoredColumn("firstTime", WallInstant?.self),
    StoredColumn("removedTime", WallInstant.self),
  ]

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout GroupRecord, _ coder: inout Coder) throws(StoreError) {
    var (id, type, epoch, createTime) = (row.id, row.type, row.epoch, row.createTime)
    try coder.column("groupID", &id)
    try coder.column("type", &type)
    try coder.column("epoch", &epoch)
    try coder.column("createTime", &createTime)
    if Coder.isReader { row = blank(id, type, epoch: epoch, createTime) }
    try coder.column("owner", &row.owner)
    try coder.column("name", &row.name)
    try coder.column("introduction", &row.introduction)
    try coder.column("notification", &row.notification)
    try coder.column("faceURL", &row.faceURL)
    try coder.column("maxMemberNum", &row.maxMemberNum)
    try coder.column("customInfo", &row.customInfo)
    try coder.column("joinMode", &row.policy.joinMode)
    try coder.column("inviteMode", &row.policy.inviteMode)
    try coder.column("beInviteMode", &row.policy.beInviteMode)
    try coder.column("updateInfoMode", &row.policy.updateInfoMode)
    try coder.column("updateCustomMode", &row.policy.updateCustomMode)
    try coder.column("ownerQuitMode", &row.policy.ownerQuitMode)
    try coder.column("memberChangeNotification", &row.policy.memberChangeNotification)
    try coder.column("isSearchable", &row.policy.isSearchable)
    try coder.column("isMemberVisible", &row.policy.isMemberVisible)
    try coder.column("muteMode", &row.mute.mode)
    try coder.column("muteRoles", &row.mute.roles)
    try coder.column("muteUntil", &row.mute.muteUntil)
    try coder.column("lastInfoTime", &row.lastInfoTime)
    try coder.column("changeTime", &row.changeTime)
    try coder.column("importedThroughSeq", &row.importedThroughSeq)
    try coder.column("nextOrdinal", &row.nextOrdinal)
    try coder.column("mutedAt", &row.mutedAt)
    try coder.column("serverCustomInfo", &row.serverCustomInfo)
    try coder.column("changeSeq", &row.changeSeq)
    try coder.column("messageFeatures", &row.messageFeatures)
    try coder.column("lastShownSeq", &row.lastShownSeq)
    try coder.column("lastShownTime", &row.lastShownTime)
    try coder.column("departuresSince", &row.departuresSince)
    var visibility: HistoryVisibility? = row.policy.historyVisibility
    try coder.column("historyVisibility", &visibility)
    // A node of the release before makes groups without it.
    if Coder.isReader { row.policy.historyVisibility = visibility ?? type.defaultHistoryVisibility }
    try coder.column("slowMode", &row.policy.slowMode)
    var attributeMode: AttributeMode? = row.policy.attributeMode
    try coder.column("attributeMode", &attributeMode)
    // A group from before the field has none.
    if Coder.isReader { row.policy.attributeMode = attributeMode ?? .any }
    try coder.column("listsUsers", &row.listsUsers)
    try coder.column("revision", &row.revision)
    try coder.column("board", &row.board)
  }
}

extension StoredGroup {
  /// Reads `GroupRecord.columns`, firstSeq and removedTime: a group without its other rows.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> StoredGroup {
    var group = StoredGroup(record: try GroupRecord.read(&reader), members: [], lastMessage: nil, recentlySent: [])
    group.firstSeq = try reader.integer()
    group.removedTime = try reader.instant()
    return group
  }
}

extension GroupStamp {
  /// Reads epoch, the newest message, changeSeq, revision and board.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> GroupStamp {
    let epoch = try reader.text()
    let (seq, changeSeq) = (try reader.integer(), try reader.integer())
    return GroupStamp(
      epoch: epoch, seq: seq, changeSeq: changeSeq, revision: try reader.integer(), board: try reader.integer())
  }
}

extension GroupAttributes {
  /// Reads the column entries of a `groupAttributes`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> GroupAttributes {
    GroupAttributes(try reader.value())
  }
}

extension GroupCounters.Entry {
  /// Reads the columns key and value of a `groupCounter`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> GroupCounters.Entry {
    let key = try reader.text()
    return GroupCounters.Entry(key: key, value: try reader.integer())
  }
}
