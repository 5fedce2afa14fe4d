import GroupModel
import GroupRuntime

/// `groupRecord` rows: the columns in one order for reading and writing.
enum GroupRows {
  private static let columns = [
    "groupID", "type", "epoch", "createTime", "owner", "name", "introduction", "notification", "faceURL", "maxMemberNum",
    "customInfo", "joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode",
    "memberChangeNotification", "isSearchable", "isMemberVisible", "muteMode", "muteRoles", "muteUntil", "lastInfoTime",
    "changeTime", "importedThroughSeq", "nextOrdinal", "mutedAt", "serverCustomInfo", "changeSeq",
  ]
  private static let insertSQL = """
    INSERT INTO groupRecord (\(columns.joined(separator: ", ")))
    VALUES (\(columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")))
    """
  private static let updateSQL = """
    UPDATE groupRecord SET \(columns.indices.dropFirst().map { "\(columns[$0]) = $\($0 + 1)" }.joined(separator: ", "))
    WHERE groupID = $1
    """
  private static let selectSQL = """
    SELECT \(columns.joined(separator: ", ")), firstSeq, removedTime FROM groupRecord WHERE number = $1
    """

  static func insert(_ record: GroupRecord, _ transaction: WriteTransaction) throws {
    try transaction.run(insertSQL, try values(of: record))
  }

  static func update(_ record: GroupRecord, _ transaction: WriteTransaction) throws {
    try transaction.runForOne(updateSQL, try values(of: record)) { "no group \(record.id) to change" }
  }

  /// The record, the oldest message that retention keeps, and the time of the newest that it has
  /// removed.
  static func record(
    number: Int64, in db: PostgreSQLConnection
  ) throws -> (record: GroupRecord, firstSeq: Int64, removedTime: WallInstant)? {
    try db.rows(selectSQL, [number]) { row in
      (record: try record(&row), firstSeq: try row.integer(), removedTime: try row.instant())
    }.first
  }

  private static func values(of record: GroupRecord) throws -> [any StatementValue] {
    let policy = record.policy
    return [
      record.id.rawValue, record.type.rawValue, record.epoch, record.createTime, record.owner.rawValue, record.name,
      record.introduction, record.notification, record.faceURL, record.maxMemberNum,
      try jsonColumn(record.customInfo), policy.joinMode.rawValue, policy.inviteMode.rawValue, policy.beInviteMode.rawValue,
      policy.updateInfoMode.rawValue, policy.updateCustomMode.rawValue, policy.ownerQuitMode.rawValue,
      policy.memberChangeNotification, policy.isSearchable, policy.isMemberVisible, record.mute.mode.rawValue,
      try jsonColumn(record.mute.roles.map(\.wireName)), record.mute.muteUntil, record.lastInfoTime, record.changeTime,
      record.importedThroughSeq, record.nextOrdinal, record.mutedAt, record.serverCustomInfo, record.changeSeq,
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

/// The number of group `$1`, as a part of a statement. NULL where there is none, which no column
/// `number` takes: the statement fails.
let numberOfGroup = "(SELECT g.number FROM groupRecord AS g WHERE g.groupID = $1)"

/// `groupAttributes` rows: all attributes of a group as JSON pairs. A JSON object would merge two
/// keys that are equal to Unicode and different on the wire.
enum AttributeRows {
  static func put(_ attributes: GroupAttributes, in group: GroupID, _ transaction: WriteTransaction) throws {
    if let entries = try jsonColumn(attributes.entries.map { [$0.key, $0.value] }) {
      try transaction.run(
        """
        INSERT INTO groupAttributes VALUES (\(numberOfGroup), $2)
        ON CONFLICT (number) DO UPDATE SET entries = excluded.entries
        """, [group.rawValue, entries])
    } else {
      try transaction.runForOne(
        """
        WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
        gone AS (DELETE FROM groupAttributes AS a USING g WHERE a.number = g.number) SELECT number FROM g
        """, [group.rawValue]
      ) { "no group \(group) to have attributes" }
    }
  }

  static func attributes(number: Int64, in db: PostgreSQLConnection) throws -> GroupAttributes {
    let rows = try db.rows("SELECT entries FROM groupAttributes WHERE number = $1", [number]) { row -> [[String]] in
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
  static func put(_ counters: [GroupCounters.Entry], in group: GroupID, _ transaction: WriteTransaction) throws {
    // The last entry of a key counts; a statement cannot change a row twice.
    let last = Dictionary(counters.map { ($0.key, $0.value) }) { $1 }.sorted { $0.key < $1.key }
    let kept = last.compactMap { key, value in value.map { (key, $0) } }
    try transaction.runForOne(
      """
      WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
      kept AS (
        INSERT INTO groupCounter SELECT g.number, c.key, c.value FROM g, unnest($2, $3) AS c (key, value)
        ON CONFLICT (number, key) DO UPDATE SET value = excluded.value),
      gone AS (DELETE FROM groupCounter AS c USING g WHERE c.number = g.number AND c.key = ANY ($4))
      SELECT number FROM g
      """, [group.rawValue, kept.map(\.0), kept.map(\.1), last.filter { $0.value == nil }.map(\.key)]
    ) { "no group \(group) to have counters" }
  }

  static func counters(number: Int64, in db: PostgreSQLConnection) throws -> GroupCounters {
    GroupCounters(
      try db.rows("SELECT key, value FROM groupCounter WHERE number = $1", [number]) { row in
        GroupCounters.Entry(key: try row.text(), value: try row.integer())
      })
  }
}
