import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Removes the oldest messages of a group, with what belongs to them.
enum MessageRemoval {
  /// - Parameter seq: of the first message that stays.
  static func remove(of number: Int64, before seq: Int64, _ transaction: WriteTransaction) throws {
    try WebhookRows.copyMessages(number: number, before: seq, transaction)
    try transaction.run(
      """
      UPDATE groupRecord SET firstSeq = greatest(firstSeq, $2),
      removedTime = coalesce((
        SELECT m.timestamp FROM message AS m \(Message.joinedExtras)
        WHERE m.number = $1 AND m.seq < $2 AND e.toUserIDs IS NULL AND e.isExcludedFromLastMessage IS NOT TRUE
        ORDER BY m.seq DESC LIMIT 1), removedTime),
      firstTime = (SELECT timestamp FROM message WHERE number = $1 AND seq = $2)
      WHERE number = $1
      """, [number, seq])
    try transaction.run("DELETE FROM message WHERE number = $1 AND seq < $2", [number, seq])
    try transaction.run("DELETE FROM messageChange WHERE number = $1 AND seq < $2", [number, seq])
    try transaction.run("DELETE FROM messageExtras WHERE number = $1 AND seq < $2", [number, seq])
    try transaction.run(
      """
      WITH gone AS (DELETE FROM reaction WHERE number = $1 AND seq < $2 RETURNING number, kind)
      INSERT INTO goneReaction SELECT number, kind FROM gone ON CONFLICT DO NOTHING
      """, [number, seq])
    try transaction.run("DELETE FROM readReceipt WHERE number = $1 AND block < $2 / \(SeqBlock.size)", [number, seq])
    try transaction.run(
      """
      DELETE FROM receiptMembers WHERE number = $1 AND seq < (
        SELECT max(seq) FROM receiptMembers WHERE number = $1 AND seq <= $2)
      """, [number, seq])
  }
}

/// Finds the messages beyond the limits of their groups.
struct HistoryExcess {
  let bounds: HistoryBounds

  /// The known contents of a group.
  struct Head {
    let number: Int64
    let id: GroupID
    let type: GroupType
    let epoch: String
    let firstSeq: Int64
    /// The oldest message's time; nil = not known, or there is none.
    let firstTime: WallInstant?
    let newest: Int64?
  }

  private static let heads = """
    SELECT g.number, g.groupID, g.type, g.epoch, g.firstSeq, g.firstTime,
    (SELECT max(m.seq) FROM message AS m WHERE m.number = g.number) FROM groupRecord AS g
    """

  private static func head(_ row: inout RowReader) throws -> Head {
    let number = try row.integer()
    let id = try row.value(GroupID.self)
    let type = try row.value(GroupType.self)
    let epoch = try row.text()
    let firstSeq = try row.integer()
    let firstTime = try row.value(WallInstant?.self)
    return Head(
      number: number, id: id, type: type, epoch: epoch, firstSeq: firstSeq, firstTime: firstTime,
      newest: try row.optionalInteger())
  }

  /// The next groups by their number.
  static func heads(after number: Int64, limit: Int, in db: PostgreSQLConnection) throws -> [Head] {
    try db.rows("\(heads) WHERE g.number > $1 ORDER BY g.number LIMIT $2", [number, limit], head)
  }

  static func heads(of groups: [GroupID], in db: PostgreSQLConnection) throws -> [Head] {
    try db.rows("\(heads) WHERE g.groupID = ANY ($1)", [groups.map(\.rawValue)], head)
  }

  /// Groups with a message that is too old, behind one in the order of these messages.
  func expired(
    _ type: GroupType, behind last: Head?, limit: Int, in db: PostgreSQLConnection
  ) throws -> [Head] {
    guard let oldest = bounds.oldest[type] else { return [] }
    return try db.rows(
      """
      \(Self.heads) WHERE g.type = $1 AND g.firstTime < $2 AND (g.firstTime, g.number) > ($3, $4)
      ORDER BY g.firstTime, g.number LIMIT $5
      """, [type.rawValue, oldest, last?.firstTime ?? .distantPast, last?.number ?? 0, limit], Self.head)
  }

  /// Whether the oldest message's time must be noted, so that `expired` finds the group later.
  func wantsFirstTime(_ head: Head) -> Bool {
    bounds.limits[head.type]?.age != nil && head.firstTime == nil && head.newest != nil
  }

  /// The last message to be removed of a group among its oldest `rows`; nil = none is beyond the
  /// limits.
  func lastExcess(of head: Head, from seq: Int64, rows: Int, in db: PostgreSQLConnection) throws -> Int64? {
    let mayBeOld = bounds.oldest[head.type].map { head.firstTime ?? .distantPast < $0 } ?? false
    guard head.newest != nil, mayBeOld || bounds.lastExcess(of: head.type, newest: head.newest) ?? 0 >= seq else { return nil }
    let messages = try db.rows(
      "SELECT seq, timestamp FROM message WHERE number = $1 AND seq >= $2 ORDER BY seq LIMIT $3", [head.number, seq, rows]
    ) { (seq: try $0.integer(), time: try $0.instant()) }
    return bounds.excess(messages, of: head.type, newest: head.newest).last?.seq
  }
}

extension PostgreSQLStore {
  /// Removes the messages of a group before one, as retention does.
  func removeMessages(of group: GroupID, before seq: Int64) throws(StoreError) {
    try writer.performAndWait(.removeMessages) { transaction in
      let head = try transaction.rows(
        "SELECT number, (SELECT max(seq) FROM message AS m WHERE m.number = g.number) FROM groupRecord AS g WHERE groupID = $1",
        [group.rawValue]
      ) { (number: try $0.integer(), newest: try $0.optionalInteger()) }
      guard let number = head.first?.number, let newest = head.first?.newest else { return }
      try MessageRemoval.remove(of: number, before: min(seq, newest + 1), transaction)
    }
  }
}
