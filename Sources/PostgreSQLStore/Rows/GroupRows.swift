import GroupModel
import GroupRuntime
import StoreTables

/// The number of group `$1`, as a part of a statement. NULL where there is none, which no column
/// `number` takes: the statement fails.
let numberOfGroup = "(SELECT g.number FROM groupRecord AS g WHERE g.groupID = $1)"

/// Statements of `groupRecord` rows.
enum GroupRows {
  static let insertSQL = """
    INSERT INTO groupRecord (\(GroupRecord.columns.names)) VALUES (\(GroupRecord.columns.places("$")))
    """
  // A correction of ends may be older than the stamp beside it.
  static let updateSQL = """
    UPDATE groupRecord
    SET \(GroupRecord.columns.assignments("$", to: GroupRecord.columns.without("groupID", "revision", "board").map(\.name))),
    revision = greatest(revision, $\(GroupRecord.columns.place(of: "revision"))),
    board = greatest(board, $\(GroupRecord.columns.place(of: "board")))
    WHERE groupID = $\(GroupRecord.columns.place(of: "groupID"))
    """
  static let stampSQL = """
    UPDATE groupRecord SET revision = greatest(revision, $2), board = greatest(board, $3) WHERE groupID = $1
    """
  // LIMIT keeps the planner from joining: while the tables are small it would read all groups, and keep
  // that.
  static let stampsSQL = """
    SELECT g.groupID, g.epoch,
    coalesce((SELECT max(m.seq) FROM message AS m WHERE m.number = g.number), g.firstSeq - 1), g.changeSeq, g.revision, g.board
    FROM unnest($1) AS wanted (id)
    CROSS JOIN LATERAL (SELECT * FROM groupRecord WHERE groupID = wanted.id LIMIT 1) AS g
    """
  static let selectSQL = "SELECT \(GroupRecord.columns.names), firstSeq, removedTime FROM groupRecord WHERE number = $1"
}

/// The numbers of a group's visible decisions in a transaction, the greatest of each.
struct PendingStamps {
  private var stamps: [GroupID: (revision: Int64, board: Int64)] = [:]

  var isEmpty: Bool { stamps.isEmpty }

  mutating func raise(_ group: GroupID, revision: Int64, board: Int64) {
    let known = stamps[group] ?? (revision: 0, board: 0)
    stamps[group] = (revision: max(known.revision, revision), board: max(known.board, board))
  }

  /// The group ends: another of its ID begins with numbers of its own.
  mutating func forget(_ group: GroupID) { stamps[group] = nil }

  /// Takes all out, by group: transactions lock rows in one order.
  mutating func popAll() -> [(group: GroupID, revision: Int64, board: Int64)] {
    defer { stamps = [:] }
    return stamps.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      (group: $0.key, revision: $0.value.revision, board: $0.value.board)
    }
  }
}

extension WriteTransaction {
  /// Writes the stamps that were raised: one new version of each group's row, however many decisions
  /// have raised it.
  func writeStamps() throws {
    if stamps.isEmpty { return }
    for stamp in stamps.popAll() { try run(GroupRows.stampSQL, [stamp.group.rawValue, stamp.revision, stamp.board]) }
  }

  func put(revision: Int64, board: Int64, in group: GroupID) throws {
    stamps.raise(group, revision: revision, board: board)
  }

  func insert(_ record: GroupRecord) throws { try run(GroupRows.insertSQL) { try record.write(to: &$0) } }

  func update(_ record: GroupRecord) throws {
    try runForOne(GroupRows.updateSQL, binding: { try record.write(to: &$0) }) { "no group \(record.id) to change" }
  }

  func put(lastShown seq: Int64, at time: WallInstant, in group: GroupID) throws {
    try runForOne(
      "UPDATE groupRecord SET lastShownSeq = $2, lastShownTime = $3 WHERE groupID = $1", [group.rawValue, seq, time]
    ) { "no group \(group) to have a last message" }
  }

  func put(_ attributes: GroupAttributes, in group: GroupID) throws {
    guard attributes.count > 0 else {
      return try runForOne(
        """
        WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
        gone AS (DELETE FROM groupAttributes AS a USING g WHERE a.number = g.number) SELECT number FROM g
        """, [group.rawValue]
      ) { "no group \(group) to have attributes" }
    }
    try run(
      """
      INSERT INTO groupAttributes VALUES (\(numberOfGroup), $2)
      ON CONFLICT (number) DO UPDATE SET entries = excluded.entries
      """
    ) { arguments in
      arguments.append(group.rawValue)
      try attributes.entries.write(to: &arguments)
    }
  }

  func put(_ counters: [GroupCounters.Entry], in group: GroupID) throws {
    // The last entry of a key counts; a statement cannot change a row twice.
    let last = Dictionary(counters.map { ($0.key, $0.value) }) { $1 }.sorted { $0.key < $1.key }
    let kept = last.compactMap { key, value in value.map { (key, $0) } }
    try runForOne(
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

  // `DisbandedGroupCleanup` clears the other rows.
  func dismiss(_ group: GroupID, at time: WallInstant, notifying notification: SystemNotification?) throws {
    stamps.forget(group)
    if let notification { try put(notification, forMembersOf: group) }
    try runForOne(
      """
      WITH gone AS (DELETE FROM groupRecord WHERE groupID = $1 RETURNING number, groupID, type)
      INSERT INTO dismissedGroup SELECT number, groupID, type, $2 FROM gone
      """, [group.rawValue, time]
    ) { "no group \(group) to disband" }
  }
}

extension PostgreSQLConnection {
  package func stamps(of groups: [GroupID]) throws -> [GroupID: GroupStamp] {
    let found = try rows(GroupRows.stampsSQL, [groups.map(\.rawValue)]) {
      (try $0.value(GroupID.self), try GroupStamp.read(&$0))
    }
    return Dictionary(found) { $1 }
  }

  package func recentMembers(since instant: WallInstant, limit: Int) throws -> [(GroupID, UserID)] {
    try rows(
      """
      SELECT g.groupID, m.userID FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE m.joinTime >= $1 AND g.type IN (\(GroupType.listedSQL)) LIMIT $2
      """, [instant, limit]
    ) { (try $0.value(GroupID.self), try $0.value(UserID.self)) }
  }

  package func head(of group: GroupID, number: Int64) throws -> StoredGroup? {
    guard var head = try rows(GroupRows.selectSQL, [number], StoredGroup.read).first else { return nil }
    head.lastMessage = try newestMessage(of: group, number: number)
    head.attributes =
      try rows("SELECT entries FROM groupAttributes WHERE number = $1", [number], GroupAttributes.read).first ?? head.attributes
    head.counters = GroupCounters(
      try rows("SELECT key, value FROM groupCounter WHERE number = $1", [number], GroupCounters.Entry.read))
    head.pinned = try pinned(number: number)
    return head
  }
}
