import GroupModel
import GroupRuntime
import StoreTables

/// Fills an empty database with the rows of another store (`throng migrate`), page by page. Each
/// page and the note of it share a transaction, so that an interrupted migration goes on behind it.
public final class PostgreSQLImport: RowTarget {
  private let connection: PostgreSQLConnection
  /// A sentence for the operator about the database; nil = there is nothing to say.
  public let note: String?

  /// A server begins only where `isFinished` is true, or the table is missing.
  private static let tables = """
    CREATE TABLE IF NOT EXISTS migration (source text NOT NULL, isFinished boolean NOT NULL);
    CREATE TABLE IF NOT EXISTS migratedTable (
      name text PRIMARY KEY, count bigint NOT NULL, sum bigint NOT NULL, lastNumbers text, lastTexts text,
      isComplete boolean NOT NULL
    );
    """

  /// Whether a migration into the database was begun and not finished.
  static func isUnfinished(_ connection: PostgreSQLConnection) throws -> Bool {
    guard try connection.rows("SELECT to_regclass('migration') IS NOT NULL", [], { try $0.flag() }).first == true else {
      return false
    }
    return try !connection.rows("SELECT 1::bigint FROM migration WHERE NOT isFinished", [], { _ in }).isEmpty
  }

  /// Only one process fills a database at a time. The number is arbitrary, and fixed.
  private static let lock = "SELECT pg_advisory_lock(\(0x5468_7269), hashtext(current_schema()))"

  /// Prepares an empty database, or goes on with one that the same source has begun to fill.
  /// - Parameter source: tells the source from others, and from itself after a change.
  /// - Throws: `PostgreSQLOpenError` with a sentence for the operator, also where a server uses it.
  public convenience init(_ url: String, from source: String) throws(PostgreSQLOpenError) {
    try self.init(url, from: source, options: PostgreSQLOptions())
  }

  init(_ url: String, from source: String, options: PostgreSQLOptions) throws(PostgreSQLOpenError) {
    do {
      let opener = DatabaseOpener(url: url, options: options)
      connection = try opener.connect(for: .building)
      try opener.checkServer(connection)
      // Its lock belongs to a session.
      try ConnectionCheck(opener: opener, count: 2, patience: .zero).run(beside: connection)
      try opener.prepare(connection)
      note = try DatabaseAccess.close(connection).sentence
      try begin(source)
    } catch {
      throw PostgreSQLOpenError(describing: error)
    }
  }

  private func begin(_ source: String) throws {
    do throws(PostgreSQLError) {
      // The end of an interrupted one reaches the server a moment later.
      try connection.run("SET lock_timeout = '3s'")
      try connection.run(Self.lock)
      try connection.run("SET lock_timeout = 0")
    } catch {
      guard error.isLockTimeout else { throw error }
      throw PostgreSQLOpenError(.locked, "another migration into this database is running")
    }
    try connection.runScript(Self.tables)
    let begun = try connection.rows("SELECT source, isFinished FROM migration", []) { (try $0.text(), try $0.flag()) }.first
    switch begun {
    case (_, true)?: throw PostgreSQLOpenError(.locked, "a migration into this database has been finished")
    case (source, false)?: break
    case (_, false)?:
      throw PostgreSQLOpenError(
        .locked, "the database has a part of another source, or the source has changed since: begin with an empty database")
    case nil:
      for table in StoredTable.all {
        let isEmpty = try connection.rows("SELECT 1::bigint FROM \(table.name) LIMIT 1", [], { _ in }).isEmpty
        if !isEmpty { throw PostgreSQLOpenError(.locked, "the database is not empty: \(table.name) has rows") }
      }
      // From here on no server begins; one that has begun before is seen below.
      try connection.run("INSERT INTO migration (source, isFinished) VALUES ($1, false)", [source])
    }
    guard try connection.rows("SELECT 1::bigint FROM node LIMIT 1", [], { _ in }).isEmpty else {
      if begun == nil { try connection.run("DELETE FROM migration") }
      throw PostgreSQLOpenError(.locked, "a server uses the database")
    }
  }

  // MARK: Writing

  public func progress(of table: StoredTable) throws(StoreError) -> TransferProgress {
    try attempt {
      try connection.rows(
        "SELECT count, sum, lastNumbers, lastTexts, isComplete FROM migratedTable WHERE name = $1", [table.name]
      ) { row in
        var progress = TransferProgress()
        let (count, sum) = (try row.integer(), try row.integer())
        progress.checksum = RowChecksum(count: count, sum: UInt64(bitPattern: sum))
        let (numbers, texts) = (try row.json([Int64].self) ?? [], try row.json([String].self) ?? [])
        progress.isComplete = try row.flag()
        progress.last = count == 0 ? nil : Self.key(of: table, numbers, texts)
        return progress
      }.first ?? TransferProgress()
    }
  }

  // A key has numbers and texts; JSON keeps the difference.
  private static func key(of table: StoredTable, _ numbers: [Int64], _ texts: [String]) -> StoredTable.Row {
    var (numbers, texts) = (numbers[...], texts[...])
    return table.key.map { $0.kind == .integer ? .integer(numbers.popFirst() ?? 0) : .text(texts.popFirst() ?? "") }
  }

  public func write(_ rows: [StoredTable.Row], to table: StoredTable, _ progress: TransferProgress) throws(StoreError) {
    let insert = Self.insert(into: table)
    try attempt {
      try connection.send("BEGIN") { _ in }
      for row in rows {
        try connection.send(insert) { arguments in
          for (column, value) in zip(table.columns, row) { arguments.append(value, as: column.kind) }
        }
      }
      try note(progress, of: table)
      try connection.send("COMMIT") { _ in }
      do {
        _ = try connection.finish()
      } catch {
        _ = try? connection.run("ROLLBACK")
        throw error
      }
    }
  }

  private static func insert(into table: StoredTable) -> String {
    let places = table.columns.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    return "INSERT INTO \(table.name) (\(table.columns.names)) OVERRIDING SYSTEM VALUE VALUES (\(places))"
  }

  private func note(_ progress: TransferProgress, of table: StoredTable) throws {
    let (numbers, texts) = (progress.last ?? []).reduce(into: ([Int64](), [String]())) { found, value in
      if case .integer(let number) = value { found.0.append(number) }
      if case .text(let text) = value { found.1.append(text) }
    }
    let (numberList, textList) = (try jsonColumn(numbers), try jsonColumn(texts))
    try connection.send(
      """
      INSERT INTO migratedTable (name, count, sum, lastNumbers, lastTexts, isComplete) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (name) DO UPDATE SET count = excluded.count, sum = excluded.sum, lastNumbers = excluded.lastNumbers,
      lastTexts = excluded.lastTexts, isComplete = excluded.isComplete
      """
    ) { arguments in
      arguments.append(table.name)
      arguments.append(progress.checksum.count)
      arguments.append(Int64(bitPattern: progress.checksum.sum))
      arguments.append(numberList)
      arguments.append(textList)
      arguments.append(progress.isComplete)
    }
  }

  public func finish(_ numbers: StoredNumbers) throws(StoreError) {
    try attempt {
      let sequences = [
        ("pg_get_serial_sequence('groupRecord', 'number')", numbers.group),
        ("pg_get_serial_sequence('webhookFailure', 'number')", numbers.webhookFailure),
        ("'applicationNumber'", numbers.application), ("'notificationNumber'", numbers.notification),
        ("'webhookNumber'", numbers.webhook), ("'userAccessNumber'", numbers.userAccess),
        ("'reportNumber'", numbers.report),
      ]
      for (sequence, last) in sequences where last > 0 {
        try connection.run("SELECT setval(\(sequence)::regclass, $1)", [last])
      }
      try connection.run("UPDATE migration SET isFinished = true")
      try connection.runScript("ANALYZE")
    }
  }

  // MARK: Reading back

  public func rows(of table: StoredTable, behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row] {
    let keys = table.key.names
    let places = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
    let condition = last == nil ? "" : "WHERE (\(keys)) > (\(places))"
    return try attempt {
      let limitPlace = "$\((last == nil ? 0 : table.keyCount) + 1)"
      try connection.send("SELECT \(table.columns.names) FROM \(table.name) \(condition) ORDER BY \(keys) LIMIT \(limitPlace)") {
        arguments in
        if let last { for (column, value) in zip(table.key, last) { arguments.append(value, as: column.kind) } }
        arguments.append(limit)
      }
      guard let result = try connection.finish().last else { return [] }
      return try result.map { try $0.row(of: table) }
    }
  }

  private func attempt<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
    do { return try body() } catch { throw StoreError(describing: error) }
  }
}
