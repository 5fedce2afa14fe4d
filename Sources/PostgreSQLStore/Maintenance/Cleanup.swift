import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Clears away the rows of disbanded groups: members become departures where the type is listed,
/// applications end, everything else is deleted.
enum DisbandedGroupCleanup {
  /// A group whose rows are to be cleared away.
  struct Group {
    let number: Int64
    let id: GroupID
    let time: WallInstant
  }

  /// The next disbanded groups by their number.
  static func groups(after number: Int64, limit: Int, in db: PostgreSQLConnection) throws -> [Group] {
    try db.rows(
      "SELECT number, groupID, time FROM dismissedGroup WHERE number > $1 ORDER BY number LIMIT $2", [number, limit]
    ) { Group(number: try $0.integer(), id: try $0.value(GroupID.self), time: try $0.instant()) }
  }

  /// Clears one chunk.
  /// - Parameter rows: how many rows a chunk has at most.
  /// - Returns: false where nothing is left to clear.
  static func chunk(of group: Group, _ rows: Int, _ transaction: WriteTransaction) throws -> Bool {
    if try members(of: group.number, rows, transaction) { return true }
    if try messages(of: group.number, rows, transaction) { return true }
    for table in StoredTable.ofDisbandedGroups {
      if try delete(from: table.name, of: group.number, rows, transaction) > 0 { return true }
    }
    if try applications(of: group.number, time: group.time, rows, transaction) { return true }
    try transaction.forgetNotifications(of: group.number)
    for table in ["groupAttributes", "groupCounter", "dismissedGroup"] {
      try transaction.run("DELETE FROM \(table) WHERE number = $1", [group.number])
    }
    return false
  }

  private static func members(of number: Int64, _ rows: Int, _ transaction: WriteTransaction) throws -> Bool {
    let users = try transaction.rows("SELECT userID FROM member WHERE number = $1 ORDER BY userID LIMIT $2", [number, rows]) {
      try $0.text()
    }
    guard let last = users.last else { return false }
    try transaction.run(
      """
      INSERT INTO departure (userID, groupID, type, time, groupNumber)
      SELECT m.userID, d.groupID, d.type, d.time, d.number FROM member AS m JOIN dismissedGroup AS d ON d.number = m.number
      WHERE m.number = $1 AND m.userID <= $2 AND d.type IN (\(GroupType.listedSQL))
      ON CONFLICT (userID, groupID) DO UPDATE
      SET type = excluded.type, time = excluded.time, groupNumber = excluded.groupNumber WHERE excluded.time >= departure.time
      """, [number, last])
    try transaction.deliver(membersOf: number, users)
    try transaction.run("DELETE FROM member WHERE number = $1 AND userID <= $2", [number, last])
    return true
  }

  private static func messages(of number: Int64, _ rows: Int, _ transaction: WriteTransaction) throws -> Bool {
    let first = try transaction.rows("SELECT min(seq) FROM message WHERE number = $1", [number]) { try $0.optionalInteger() }
    guard let first = first.first ?? nil else { return false }
    let end = first + Int64(rows)
    try WebhookRows.copyMessages(number: number, before: end, transaction)
    try transaction.run("DELETE FROM message WHERE number = $1 AND seq < $2", [number, end])
    return true
  }

  private static func delete(
    from table: String, of number: Int64, _ rows: Int, _ transaction: WriteTransaction
  ) throws -> Int {
    // By the place of a row: it finds rows of every primary key, and nothing moves them meanwhile.
    try transaction.rows(
      """
      WITH gone AS (
        DELETE FROM \(table) WHERE ctid = ANY (ARRAY(SELECT ctid FROM \(table) WHERE number = $1 LIMIT $2)) RETURNING 1)
      SELECT count(*) FROM gone
      """, [number, rows]
    ) { try $0.value(Int.self) }.first ?? 0
  }

  // They stay for a while, so that deciding one is answered with the group's end.
  private static func applications(
    of number: Int64, time: WallInstant, _ rows: Int, _ transaction: WriteTransaction
  ) throws -> Bool {
    let ended = try transaction.rows(
      """
      WITH ended AS (
        UPDATE application SET endTime = coalesce(endTime, $3), isGroupGone = true WHERE number IN
        (SELECT number FROM application WHERE groupNumber = $1 AND NOT isGroupGone LIMIT $2) RETURNING 1)
      SELECT count(*) FROM ended
      """, [number, rows, time]
    ) { try $0.integer() }
    return ended.first ?? 0 > 0
  }
}

/// Deletes the users of reactions that are gone.
enum ReactionCleanup {
  /// A reaction that is gone, and its group; nil = that is gone, too.
  struct Reaction {
    let number: Int64
    let kind: Int64
    let group: GroupID?
  }

  /// The next reactions in the order of their keys.
  static func reactions(behind last: Reaction?, limit: Int, in db: PostgreSQLConnection) throws -> [Reaction] {
    try db.rows(
      """
      SELECT r.number, r.kind, coalesce(g.groupID, d.groupID) FROM goneReaction AS r
      LEFT JOIN groupRecord AS g ON g.number = r.number LEFT JOIN dismissedGroup AS d ON d.number = r.number
      WHERE (r.number, r.kind) > ($1, $2) ORDER BY r.number, r.kind LIMIT $3
      """, [last?.number ?? 0, last?.kind ?? 0, limit]
    ) { Reaction(number: try $0.integer(), kind: try $0.integer(), group: try $0.value(GroupID?.self)) }
  }

  /// - Returns: false where nothing is left of it.
  static func chunk(of reaction: Reaction, _ rows: Int, _ transaction: WriteTransaction) throws -> Bool {
    let (number, kind) = (reaction.number, reaction.kind)
    let deleted = try transaction.rows(
      """
      WITH gone AS (
        DELETE FROM reactionUser WHERE number = $1 AND kind = $2 AND userID IN
        (SELECT userID FROM reactionUser WHERE number = $1 AND kind = $2 LIMIT $3) RETURNING 1)
      SELECT count(*) FROM gone
      """, [number, kind, rows]
    ) { try $0.value(Int.self) }
    if deleted.first ?? 0 == rows { return true }
    try transaction.run("DELETE FROM goneReaction WHERE number = $1 AND kind = $2", [number, kind])
    return false
  }
}

/// Deletes rows that are too old to be asked for.
enum ExpiredRowCleanup {
  /// - Returns: false where nothing old is left.
  static func chunk(
    of rows: Int, at now: WallInstant, reportRetention: Duration, _ transaction: WriteTransaction
  ) throws -> Bool {
    for expired in ExpiredRows.all(at: now, reportRetention: reportRetention) {
      let table = expired.table
      let deleted = try transaction.rows(
        """
        WITH gone AS (
          DELETE FROM \(table) WHERE ctid = ANY (ARRAY(SELECT ctid FROM \(table) WHERE \(expired.column) < $1 LIMIT $2))
          RETURNING 1)
        SELECT count(*) FROM gone
        """, [expired.before, rows]
      ) { try $0.integer() }
      if deleted.first ?? 0 > 0 { return true }
    }
    return false
  }
}
