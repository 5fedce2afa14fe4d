import GRDB
import GroupModel
import GroupRuntime

/// `groupRecord` rows: the columns in one order for reading and writing.
enum GroupRows {
  private static let columns = [
    "groupID", "type", "epoch", "createTime", "owner", "name", "introduction", "notification", "faceURL", "maxMemberNum",
    "customInfo", "joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode",
    "memberChangeNotification", "isSearchable", "isMemberVisible", "muteMode", "muteRoles", "muteUntil", "lastInfoTime",
    "changeTime", "importedThroughSeq", "nextOrdinal", "mutedAt", "serverCustomInfo",
    "changeSeq",
  ]
  private static let insertSQL =
    "INSERT INTO groupRecord (\(columns.joined(separator: ", "))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
  private static let updateSQL =
    "UPDATE groupRecord SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE groupID = ?"
  private static let selectSQL = "SELECT \(columns.joined(separator: ", ")) FROM groupRecord WHERE number = ?"

  static func insert(_ record: GroupRecord, in db: Database) throws {
    try db.run(insertSQL, try values(of: record))
  }

  static func update(_ record: GroupRecord, in db: Database) throws {
    guard try db.run(updateSQL, try values(of: record) + [record.id.rawValue]) == 1 else {
      throw StoreError(.inconsistent, "no group \(record.id) to change")
    }
  }

  static func record(number: Int64, in db: Database) throws -> GroupRecord? {
    try db.rows(selectSQL, [number], Self.record).first
  }

  /// The oldest message that retention keeps, and the time of the newest that it has removed.
  static func history(number: Int64, in db: Database) throws -> (firstSeq: Int64, removedTime: WallInstant) {
    try db.rows("SELECT firstSeq, removedTime FROM groupRecord WHERE number = ?", [number]) {
      (try $0.integer(), try $0.instant())
    }.first ?? (1, .unset)
  }

  private static func values(of record: GroupRecord) throws -> [(any DatabaseValueConvertible)?] {
    let policy = record.policy
    return [
      record.id.rawValue, record.type.rawValue, record.epoch.column, record.createTime, record.owner.rawValue, record.name.column,
      record.introduction.column, record.notification.column, record.faceURL.column, record.maxMemberNum,
      try jsonColumn(record.customInfo), policy.joinMode.rawValue, policy.inviteMode.rawValue, policy.beInviteMode.rawValue,
      policy.updateInfoMode.rawValue, policy.updateCustomMode.rawValue, policy.ownerQuitMode.rawValue,
      policy.memberChangeNotification, policy.isSearchable, policy.isMemberVisible, record.mute.mode.rawValue,
      try jsonColumn(record.mute.roles.map(\.wireName)), record.mute.muteUntil, record.lastInfoTime, record.changeTime,
      record.importedThroughSeq, record.nextOrdinal, record.mutedAt, record.serverCustomInfo.column,
      record.changeSeq,
    ]
  }

  private static func record(_ row: inout RowReader) throws -> GroupRecord {
    var record = GroupRecord(
      id: try row.value(GroupID.init), type: try row.value(GroupType.init(rawValue:)), epoch: try row.text(),
      createTime: try row.instant(), owner: try row.value(UserID.init(stored:)), name: try row.text(),
      introduction: try row.text(), notification: try row.text(), faceURL: try row.text(), maxMemberNum: Int(try row.integer()),
      customInfo: try row.json(else: [:]), policy: try policy(&row), mute: try mute(&row))
    record.lastInfoTime = try row.instant()
    record.changeTime = try row.instant()
    record.importedThroughSeq = try row.integer()
    record.nextOrdinal = try row.integer()
    record.mutedAt = try row.instant()
    record.serverCustomInfo = try row.text()
    record.changeSeq = try row.integer()
    return record
  }

  private static func policy(_ row: inout RowReader) throws -> GroupPolicy {
    GroupPolicy(
      joinMode: try row.value(JoinMode.init), inviteMode: try row.value(InviteMode.init),
      beInviteMode: try row.value(BeInviteMode.init), updateInfoMode: try row.value(EditMode.init),
      updateCustomMode: try row.value(EditMode.init), ownerQuitMode: try row.value(OwnerQuitMode.init),
      memberChangeNotification: try row.flag(), isSearchable: try row.flag(), isMemberVisible: try row.flag())
  }

  private static func mute(_ row: inout RowReader) throws -> GroupMute {
    let mode = try row.value(GroupMute.Mode.init)
    let names: [String] = try row.json(else: [])
    let roles = names.compactMap(Role.init(wireName:))
    guard roles.count == names.count else { throw StoreError(.inconsistent, "column muteRoles names a role that there is not") }
    return GroupMute(mode: mode, roles: roles, muteUntil: try row.optionalInstant())
  }
}

/// `groupAttributes` rows: all attributes of a group as JSON pairs. A JSON object would merge two
/// keys that are equal to Unicode and different on the wire.
enum AttributeRows {
  static func put(_ attributes: GroupAttributes, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have attributes") }
    if let entries = try jsonColumn(attributes.entries.map { [$0.key, $0.value] }) {
      try db.run("INSERT OR REPLACE INTO groupAttributes VALUES (?, ?)", [number, entries])
    } else {
      try db.run("DELETE FROM groupAttributes WHERE number = ?", [number])
    }
  }

  static func attributes(number: Int64, in db: Database) throws -> GroupAttributes {
    let rows = try db.rows("SELECT entries FROM groupAttributes WHERE number = ?", [number]) { row -> [[String]] in
      try row.json(else: [])
    }
    let pairs = rows.first ?? []
    guard pairs.allSatisfy({ $0.count == 2 }) else { throw StoreError(.inconsistent, "column entries holds no pairs") }
    return GroupAttributes(pairs.map { GroupAttributes.Entry(key: $0[0], value: $0[1]) })
  }
}

/// `groupCounter` rows: one for each counter.
enum CounterRows {
  /// Sets the counters that have a value, and removes the others.
  static func put(_ counters: [GroupCounters.Entry], in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have counters") }
    for counter in counters {
      if let value = counter.value {
        try db.run("INSERT OR REPLACE INTO groupCounter VALUES (?, ?, ?)", [number, counter.key, value])
      } else {
        try db.run("DELETE FROM groupCounter WHERE number = ? AND key = ?", [number, counter.key])
      }
    }
  }

  static func counters(number: Int64, in db: Database) throws -> GroupCounters {
    GroupCounters(
      try db.rows("SELECT key, value FROM groupCounter WHERE number = ?", [number]) { row in
        GroupCounters.Entry(key: try row.text(), value: try row.integer())
      })
  }
}
