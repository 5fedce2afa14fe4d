import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Reads a whole database for another store (`throng migrate`). No server uses the database
/// meanwhile.
public final class SQLiteExport: RowSource, Sendable {
  private let pool: DatabasePool
  private let lock: DatabaseLock

  /// Locks the database, and brings it to the present schema.
  /// - Parameters:
  ///   - directory: the data directory.
  ///   - database: the path of the database, as `SQLiteStore.open` takes it.
  /// - Throws: `StoreOpenError` with a sentence for the operator, also where a server uses it.
  public init(directory: String, database: String?) throws(StoreOpenError) {
    let file = try DatabaseFile(database, dataDirectory: directory, makesDirectory: false)
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw StoreOpenError(.missing, "there is no database \(file.path)")
    }
    let opener = DatabaseOpener(database: file, sync: .full, options: StoreOptions())
    let lock = try DatabaseLock(of: file, now: SystemClocks().wall)
    do throws(StoreOpenError) {
      try opener.prepareDatabase(lock)
      pool = try opener.pool()
    } catch {
      lock.close()
      throw error
    }
    self.lock = lock
  }

  /// Reads everything, so that nothing is copied that no store can read.
  /// - Returns: a sentence for each fault.
  public func faults() throws(StoreError) -> [String] {
    do { return try StoreCheck.faults(in: pool, .contents) } catch { throw StoreError(describing: error) }
  }

  /// Ends the use of the database.
  public func close() {
    // Nothing was written that a close could lose.
    try? pool.close()
    lock.close()
  }

  /// Tells this database from others, and from itself after a server has used it.
  public func identity() throws(StoreError) -> String {
    let tables = ["groupRecord", "member", "message", "knownUser"]
    let counts = try read { db in try tables.map { try db.count("SELECT count(*) FROM \($0)", []) } }
    return ([lock.lastAlive.milliseconds] + counts.map(Int64.init)).map(String.init).joined(separator: "-")
  }

  public func count(of table: StoredTable) throws(StoreError) -> Int {
    try read { db in
      try db.count(table == .webhook ? "SELECT coalesce(sum(count), 0) FROM webhook" : "SELECT count(*) FROM \(table.name)", [])
    }
  }

  public func rows(of table: StoredTable, behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row] {
    if table == .webhook { return try webhooks(behind: last, limit: limit) }
    let names = table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let keys = table.key.map { "\"\($0.name)\"" }.joined(separator: ", ")
    let places = table.key.map { _ in "?" }.joined(separator: ", ")
    let condition = last == nil ? "" : "WHERE (\(keys)) > (\(places))"
    let arguments = last.map { $0.prefix(table.keyCount).map(\.argument) } ?? []
    return try read { db in
      try db.rows("SELECT \(names) FROM \(table.name) \(condition) ORDER BY \(keys) LIMIT ?", arguments + [limit]) {
        try $0.row(of: table)
      }
    }
  }

  /// A row of SQLite's may stand for messages that follow each other.
  private func webhooks(behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row] {
    var after: Int64 = 0
    if case .integer(let number) = last?.first { after = number }
    return try read { db in
      let runs = try db.rows(
        """
        SELECT \(WebhookRows.columns) FROM webhook WHERE number + count - 1 > ? ORDER BY number LIMIT ?
        """, [after, limit]
      ) { (row: try WebhookRow.read(&$0), count: try $0.integer()) }
      return try runs.flatMap { run in
        try (max(0, after + 1 - run.row.number)..<run.count).map { offset in
          var (row, columns) = (run.row, StoredValues())
          row.number += offset
          row.seq? += offset
          try row.write(to: &columns)
          return columns.row
        }
      }
    }
  }

  public func numbers() throws(StoreError) -> StoredNumbers {
    try read { db in
      func last(_ table: String) throws -> Int64 {
        Int64(try db.count("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0)", [table]))
      }
      return StoredNumbers(
        group: try last("groupRecord"), application: try last("application"),
        notification: Int64(try db.count("SELECT last FROM notificationNumber", [])),
        webhook: try WebhookRows.lastNumber(in: db), webhookFailure: try last("webhookFailure"),
        userAccess: Int64(try db.count("SELECT last FROM userAccessNumber", [])), report: try last("report"))
    }
  }

  private func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    do { return try pool.read(body) } catch { throw StoreError(describing: error) }
  }
}

extension StoredValue {
  /// The value, as statements take it.
  var argument: (any DatabaseValueConvertible)? {
    switch self {
    case .null: nil
    case .integer(let number): number
    case .flag(let flag): flag
    case .text(let text): text.column
    case .bytes(let bytes): Data(bytes)
    }
  }
}
