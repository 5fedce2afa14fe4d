/// A value of a column, apart from the database that keeps it.
public enum StoredValue: Sendable, Equatable, Codable {
  case null
  case integer(Int64)
  case flag(Bool)
  case text(String)
  case bytes([UInt8])
}

/// The kind of values in a column.
public enum StoredColumnKind: Sendable, Equatable {
  case integer, flag, text, bytes
  /// The messages of a block that a user has confirmed, as `SeqBlock.bytes`.
  case block
}

/// A table that all stores in a database have, as `throng migrate` copies it.
public struct StoredTable: Sendable, Equatable {
  /// A column and what it holds; a NULL may stand for any.
  public struct Column: Sendable, Equatable {
    public let name: String
    public let kind: StoredColumnKind
  }

  public let name: String
  public let columns: [Column]
  /// The primary key, in whose order rows are read: the first columns.
  public let keyCount: Int

  /// The columns of the primary key.
  public var key: ArraySlice<Column> { columns.prefix(keyCount) }

  private init(_ name: String, key: [(String, StoredColumnKind)], _ columns: [(String, StoredColumnKind)] = []) {
    self.name = name
    self.columns = (key + columns).map { Column(name: $0.0, kind: $0.1) }
    keyCount = key.count
  }

  /// A row as it is read and written: a value for each column.
  public typealias Row = [StoredValue]

  /// All tables, in the order in which they are copied: `member` before `groupRecord`, because a
  /// member that joins a group ends departures from it.
  public static let all: [StoredTable] = [
    StoredTable(
      "member", key: [("number", .integer), ("userID", .text)],
      [
        ("role", .text), ("joinTime", .integer), ("ordinal", .integer), ("muteUntil", .integer), ("receiveOption", .text),
        ("readSeq", .integer), ("unreadBase", .integer), ("unreadSinceSeq", .integer), ("firstVisibleSeq", .integer),
        ("inviter", .text), ("changeTime", .integer), ("mutedAt", .integer), ("earlierStays", .text), ("nameCard", .text),
        ("customInfo", .text), ("unheard", .text),
      ]),
    StoredTable(
      "groupRecord", key: [("number", .integer)],
      [
        ("groupID", .text), ("type", .text), ("epoch", .text), ("createTime", .integer), ("owner", .text), ("name", .text),
        ("maxMemberNum", .integer), ("joinMode", .text), ("inviteMode", .text), ("beInviteMode", .text),
        ("updateInfoMode", .text), ("updateCustomMode", .text), ("ownerQuitMode", .text), ("memberChangeNotification", .flag),
        ("isSearchable", .flag),
        ("isMemberVisible", .flag), ("muteMode", .text), ("muteRoles", .text), ("muteUntil", .integer),
        ("lastInfoTime", .integer), ("changeTime", .integer), ("importedThroughSeq", .integer), ("nextOrdinal", .integer),
        ("mutedAt", .integer), ("changeSeq", .integer), ("firstSeq", .integer), ("firstTime", .integer),
        ("removedTime", .integer), ("introduction", .text), ("notification", .text), ("faceURL", .text), ("customInfo", .text),
        ("serverCustomInfo", .text),
      ]),
    StoredTable("groupAttributes", key: [("number", .integer)], [("entries", .text)]),
    StoredTable("groupCounter", key: [("number", .integer), ("key", .text)], [("value", .integer)]),
    StoredTable(
      "formerMember", key: [("number", .integer), ("userID", .text)],
      [
        ("muteUntil", .integer), ("bannedUntil", .integer), ("leftTime", .integer), ("memorableUntil", .integer),
        ("mutedAt", .integer), ("stays", .text), ("banReason", .text), ("quitTime", .integer),
      ]),
    StoredTable(
      "message", key: [("number", .integer), ("seq", .integer)],
      [
        ("timestamp", .integer), ("sender", .text), ("kind", .text), ("isRevoked", .flag), ("isFromManager", .flag),
        ("needReadReceipt", .flag), ("priority", .text), ("platform", .text), ("msgID", .text), ("clientMsgID", .text),
        ("nameCard", .text), ("atUserIDList", .text), ("content", .text),
      ]),
    StoredTable(
      "messageChange", key: [("number", .integer), ("seq", .integer)],
      [("changeSeq", .integer), ("editTime", .integer), ("pinned", .integer)]),
    StoredTable(
      "reaction", key: [("number", .integer), ("seq", .integer), ("kind", .integer)], [("count", .integer), ("reaction", .text)]),
    StoredTable("reactionUser", key: [("number", .integer), ("kind", .integer), ("userID", .text)], [("time", .integer)]),
    StoredTable("goneReaction", key: [("number", .integer), ("kind", .integer)]),
    StoredTable("receiptMembers", key: [("number", .integer), ("seq", .integer)], [("userIDs", .text)]),
    StoredTable("readReceipt", key: [("number", .integer), ("block", .integer), ("userID", .text)], [("seqs", .block)]),
    StoredTable(
      "departure", key: [("userID", .text), ("groupID", .text)],
      [("type", .text), ("time", .integer), ("groupNumber", .integer)]),
    StoredTable("dismissedGroup", key: [("number", .integer)], [("groupID", .text), ("type", .text), ("time", .integer)]),
    StoredTable(
      "application", key: [("number", .integer)],
      [
        ("id", .text), ("groupNumber", .integer), ("groupID", .text), ("epoch", .text), ("kind", .text), ("fromUser", .text),
        ("toUser", .text), ("addTime", .integer), ("handledTime", .integer), ("isAgreed", .flag), ("handledBy", .text),
        ("endTime", .integer), ("isGroupGone", .flag), ("requestMsg", .text), ("attach", .text), ("handledMsg", .text),
      ]),
    StoredTable(
      "notification", key: [("addressee", .text), ("number", .integer)],
      [
        ("timestamp", .integer), ("kind", .text), ("groupID", .text), ("opUser", .text), ("applicationID", .text),
        ("reason", .text), ("data", .text), ("groupName", .text), ("platform", .text), ("opNickName", .text),
        ("opFaceURL", .text),
      ]),
    StoredTable("readMark", key: [("userID", .text)], [("applications", .integer), ("notifications", .integer)]),
    StoredTable("knownUser", key: [("userID", .text)], [("offlineSince", .integer)]),
    StoredTable("userInfo", key: [("userID", .text)], [("nickName", .text), ("faceURL", .text), ("customInfo", .text)]),
    webhook,
    StoredTable(
      "webhookFailure", key: [("number", .integer)],
      [
        ("id", .text), ("lane", .text), ("type", .text), ("timestamp", .integer), ("attempts", .integer), ("lastError", .text),
        ("data", .bytes),
      ]),
  ]

  /// After-events that wait, a row for each.
  public static let webhook = StoredTable(
    "webhook", key: [("number", .integer)],
    [
      ("lane", .text), ("groupNumber", .integer), ("seq", .integer), ("id", .text), ("type", .text), ("timestamp", .integer),
      ("since", .integer), ("data", .bytes),
    ])
}

/// The last numbers that a store has given, which are never given again.
public struct StoredNumbers: Sendable, Equatable {
  public var group: Int64
  public var application: Int64
  public var notification: Int64
  public var webhook: Int64
  public var webhookFailure: Int64

  /// With everything given.
  public init(group: Int64, application: Int64, notification: Int64, webhook: Int64, webhookFailure: Int64) {
    self.group = group
    self.application = application
    self.notification = notification
    self.webhook = webhook
    self.webhookFailure = webhookFailure
  }
}

/// The number of a table's rows, and a sum that tells whether two stores have the same, in any
/// order.
public struct RowChecksum: Sendable, Equatable {
  public private(set) var count: Int64
  public private(set) var sum: UInt64

  /// The checksum of no rows, or of those that were counted before.
  public init(count: Int64 = 0, sum: UInt64 = 0) {
    self.count = count
    self.sum = sum
  }

  /// Adds a row.
  public mutating func add(_ row: StoredTable.Row) {
    var hash = Hash()
    for value in row { hash.add(value) }
    count += 1
    sum &+= hash.value
  }

  /// FNV-1a with 64 bits over a form that tells kinds and lengths, and a last mixing of the bits,
  /// because the hashes are added.
  private struct Hash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    private mutating func add(byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    private mutating func add(_ kind: UInt8, _ bytes: some Collection<UInt8>) {
      add(byte: kind)
      withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { for byte in $0 { add(byte: byte) } }
      for byte in bytes { add(byte: byte) }
    }

    mutating func add(_ value: StoredValue) {
      switch value {
      case .null: add(byte: 0)
      case .integer(let number): withUnsafeBytes(of: number.littleEndian) { add(1, $0) }
      case .flag(let flag): add(2, [flag ? 1 : 0])
      case .text(let text): add(3, text.utf8)
      case .bytes(let bytes): add(4, bytes)
      }
    }

    var value: UInt64 {
      var mixed = (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
      mixed = (mixed ^ mixed >> 33) &* 0xc4ce_b9fe_1a85_ec53
      return mixed ^ mixed >> 33
    }
  }
}
