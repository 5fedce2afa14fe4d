#if canImport(Glibc)
  import CSQLiteClient
  import Glibc
#else
  import Foundation
  import SQLite3
#endif

/// One open database: a table of texts under keys. One thread at a time uses it.
final class SQLiteDatabase {
  /// How long another connection may hold the database, such as a tool that reads it, in milliseconds.
  private static let patience: Int32 = 5_000

  /// Closed in `deinit`, which nothing outlives.
  private let handle: OpaquePointer
  /// The statements that were used, by their text; finalized in `deinit`.
  private var statements: [String: OpaquePointer] = [:]
  /// Whether a change waits until the disk has it.
  private var isSynchronous = false

  /// Opens the database, and makes it where there is none.
  init(path: String) throws(StorageError) {
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
    // There is a handle also where the file could not be opened, unless there was no memory.
    guard let database = opened else { throw StorageError(.failed, "no memory for a database") }
    handle = database
    try check(code)
    sqlite3_busy_timeout(handle, SQLiteDatabase.patience)
    // A change is there after the process was killed; after a loss of power where `setSynchronous` says.
    try run("PRAGMA journal_mode = WAL")
    try run("PRAGMA synchronous = NORMAL")
    try run("CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID")
  }

  deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    // Every statement is finalized: nothing keeps the database open.
    sqlite3_close_v2(handle)
  }

  // MARK: Reading

  func value(for key: String) throws(StorageError) -> String? {
    let statement = try prepare("SELECT key, value FROM rows WHERE key = ?1")
    defer { reset(statement) }
    try bind(key, at: 1, of: statement)
    return try next(of: statement)?.value
  }

  func rows(from: String, to: String, limit: Int?, isDescending: Bool) throws(StorageError) -> [StorageRow] {
    let order = isDescending ? "DESC" : "ASC"
    let statement = try prepare("SELECT key, value FROM rows WHERE key >= ?1 AND key < ?2 ORDER BY key \(order) LIMIT ?3")
    defer { reset(statement) }
    try bind(from, at: 1, of: statement)
    try bind(to, at: 2, of: statement)
    // A negative limit is none.
    try check(sqlite3_bind_int64(statement, 3, limit.map { Int64(max(0, $0)) } ?? -1))
    var rows: [StorageRow] = []
    while let row = try next(of: statement) { rows.append(row) }
    return rows
  }

  // MARK: Writing

  /// Makes all changes, or none.
  /// - Parameter decide: answers them, by the values that the keys have.
  func update(
    _ keys: [String], isSynchronous: Bool, _ decide: ([String: String]) throws -> [StorageChange]
  ) throws {
    try setSynchronous(isSynchronous)
    try run("BEGIN IMMEDIATE")
    do {
      var values: [String: String] = [:]
      for key in keys { values[key] = try value(for: key) }
      for change in try decide(values) { try apply(change) }
      try run("COMMIT")
    } catch {
      // Some errors have ended the transaction by themselves.
      if sqlite3_get_autocommit(handle) == 0 { try run("ROLLBACK") }
      throw error
    }
  }

  /// Not within a transaction.
  private func setSynchronous(_ isSynchronous: Bool) throws(StorageError) {
    guard isSynchronous != self.isSynchronous else { return }
    try run("PRAGMA synchronous = \(isSynchronous ? "FULL" : "NORMAL")")
    self.isSynchronous = isSynchronous
  }

  private func apply(_ change: StorageChange) throws(StorageError) {
    switch change {
    case .put(let key, let value): try run("INSERT OR REPLACE INTO rows (key, value) VALUES (?1, ?2)", key, value)
    case .delete(let key): try run("DELETE FROM rows WHERE key = ?1", key)
    case .deleteRange(let from, let to): try run("DELETE FROM rows WHERE key >= ?1 AND key < ?2", from, to)
    }
  }

  // MARK: Statements

  private func run(_ text: String, _ values: String...) throws(StorageError) {
    let statement = try prepare(text)
    defer { reset(statement) }
    for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1), of: statement) }
    // A pragma may answer a row.
    while try step(statement) {}
  }

  private func prepare(_ text: String) throws(StorageError) -> OpaquePointer {
    if let statement = statements[text] { return statement }
    var prepared: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, text, -1, &prepared, nil))
    guard let statement = prepared else { throw StorageError(.failed, "an empty statement") }
    statements[text] = statement
    return statement
  }

  /// A statement that was reset holds no lock. It repeats the error of its last step, which was thrown.
  private func reset(_ statement: OpaquePointer) {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  private func bind(_ text: String, at index: Int32, of statement: OpaquePointer) throws(StorageError) {
    // SQLITE_TRANSIENT: SQLite copies the bytes. A macro in C, which Swift does not import.
    let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    try check(sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copies))
  }

  /// Whether there is a row.
  private func step(_ statement: OpaquePointer) throws(StorageError) -> Bool {
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw failure(code)
    }
  }

  private func next(of statement: OpaquePointer) throws(StorageError) -> StorageRow? {
    guard try step(statement) else { return nil }
    return StorageRow(key: try text(0, of: statement), value: try text(1, of: statement))
  }

  private func text(_ column: Int32, of statement: OpaquePointer) throws(StorageError) -> String {
    guard let bytes = sqlite3_column_text(statement, column) else { throw StorageError(.corrupt, "a row without a text") }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  private func check(_ code: Int32) throws(StorageError) { if code != SQLITE_OK { throw failure(code) } }

  private func failure(_ code: Int32) -> StorageError {
    StorageError(SQLiteDatabase.reason(code, systemError: sqlite3_system_errno(handle)), String(cString: sqlite3_errmsg(handle)))
  }

  /// The low byte of a code is its kind.
  static func reason(_ code: Int32, systemError: Int32) -> StorageError.Reason {
    switch code & 0xff {
    case SQLITE_FULL: .full
    case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .refused
    case SQLITE_NOTADB, SQLITE_CORRUPT: .corrupt
    case SQLITE_BUSY, SQLITE_LOCKED: .inUse
    case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: .full
    default: .failed
    }
  }
}
