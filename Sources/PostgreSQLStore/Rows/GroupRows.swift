import GroupModel
import GroupRuntime
import StoreTables

/// `groupRecord` rows.
enum GroupRows {
  private static let insertSQL = """
    INSERT INTO groupRecord (\(GroupRecord.columns.names)) VALUES (\(GroupRecord.columns.places("$")))
    """
  private static let updateSQL = """
    UPDATE groupRecord SET \(GroupRecord.columns.assignments("$", to: GroupRecord.columns.without("groupID").map(\.name)))
    WHERE groupID = $\(GroupRecord.columns.place(of: "groupID"))
    """
  private static let selectSQL = "SELECT \(GroupRecord.columns.names), firstSeq, removedTime FROM groupRecord WHERE number = $1"

  static func insert(_ record: GroupRecord, _ transaction: WriteTransaction) throws {
    try transaction.run(insertSQL) { try record.write(to: &$0) }
  }

  static func update(_ record: GroupRecord, _ transaction: WriteTransaction) throws {
    try transaction.runForOne(updateSQL, binding: { try record.write(to: &$0) }) { "no group \(record.id) to change" }
  }

  /// A group without its other rows.
  static func group(number: Int64, in db: PostgreSQLConnection) throws -> StoredGroup? {
    try db.rows(selectSQL, [number], StoredGroup.read).first
  }
}

/// The number of group `$1`, as a part of a statement. NULL where there is none, which no column
/// `number` takes: the statement fails.
let numberOfGroup = "(SELECT g.number FROM groupRecord AS g WHERE g.groupID = $1)"

/// `groupAttributes` rows: all attributes of a group as JSON.
enum AttributeRows {
  static func put(_ attributes: GroupAttributes, in group: GroupID, _ transaction: WriteTransaction) throws {
    if attributes.count > 0 {
      try transaction.run(
        """
        INSERT INTO groupAttributes VALUES (\(numberOfGroup), $2)
        ON CONFLICT (number) DO UPDATE SET entries = excluded.entries
        """
      ) { arguments in
        arguments.append(group.rawValue)
        try attributes.entries.write(to: &arguments)
      }
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
    let sql = "SELECT entries FROM groupAttributes WHERE number = $1"
    return try db.rows(sql, [number], GroupAttributes.read).first ?? GroupAttributes()
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
      try db.rows("SELECT key, value FROM groupCounter WHERE number = $1", [number], GroupCounters.Entry.read))
  }
}
