import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import StoreTables

/// Binds the arguments of a statement from left to right by SQLite's C interface: GRDB's argument list
/// costs seventy thousand instructions for a message.
struct StatementBinding: ColumnWriter {
  private let statement: SQLiteStatement
  private var index: Int32 = 0
  /// The first error.
  fileprivate private(set) var code = SQLITE_OK

  fileprivate init(_ statement: SQLiteStatement) { self.statement = statement }

  private mutating func bind(_ body: (SQLiteStatement, Int32) -> Int32) {
    index += 1
    let outcome = body(statement, index)
    if code == SQLITE_OK { code = outcome }
  }

  mutating func append(_ number: Int64) { bind { sqlite3_bind_int64($0, $1, number) } }

  mutating func append(_ flag: Bool) { append(flag ? 1 : 0 as Int64) }

  /// Appends a text as `String.column` stores it.
  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      bind { statement, index in
        let count = UInt64(bytes.count)
        if bytes.contains(0) { return sqlite3_bind_blob64(statement, index, bytes.baseAddress, count, StatementBinding.copied) }
        // An empty text may have no address, which SQLite would take for NULL.
        guard let start = bytes.baseAddress else {
          return sqlite3_bind_text64(statement, index, "", 0, StatementBinding.copied, StatementBinding.utf8)
        }
        return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
          sqlite3_bind_text64(statement, index, $0, count, StatementBinding.copied, StatementBinding.utf8)
        }
      }
    }
  }

  mutating func append(bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      bind { statement, index in
        // No address would be NULL.
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(statement, index, 0) }
        return sqlite3_bind_blob64(statement, index, start, UInt64(bytes.count), StatementBinding.copied)
      }
    }
  }

  /// Appends a value of any type.
  fileprivate mutating func append(argument: (any DatabaseValueConvertible)?) {
    switch argument?.databaseValue.storage {
    case .int64(let number)?: append(number)
    case .string(let text)?: append(text)
    case .blob(let data)?: append(bytes: Array(data))
    case .double(let number)?: bind { sqlite3_bind_double($0, $1, number) }
    case .null?, nil: bind { sqlite3_bind_null($0, $1) }
    }
  }

  mutating func append(_ block: SeqBlock) { append(bytes: block.bytes) }

  mutating func append(null kind: ColumnKind) { bind { sqlite3_bind_null($0, $1) } }

  private static let utf8 = UInt8(SQLITE_UTF8)
  /// SQLITE_TRANSIENT, a macro that Swift does not import: SQLite copies the bytes.
  private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

extension Database {
  /// Runs a statement that stays prepared.
  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, binding bind: (inout StatementBinding) throws -> Void) throws -> Int {
    let outcome = try step(sql, bind)
    guard outcome == SQLITE_DONE else { throw lastError(sql) }
    return Int(sqlite3_changes(sqliteConnection))
  }

  /// Whether a query that stays prepared finds anything.
  func finds(_ sql: String, binding bind: (inout StatementBinding) throws -> Void) throws -> Bool {
    switch try step(sql, bind) {
    case SQLITE_ROW: true
    case SQLITE_DONE: false
    default: throw lastError(sql)
    }
  }

  /// Gives a body the rows of a statement that stays prepared, until it returns false.
  /// - Returns: whether there may be more rows.
  @discardableResult
  func step(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?], _ body: (SQLiteStatement) throws -> Bool
  ) throws -> Bool {
    try withStatement(sql) { statement, binding in
      assert(sqlite3_bind_parameter_count(statement) == arguments.count, "\(arguments.count) arguments of \(sql)")
      for argument in arguments { binding.append(argument: argument) }
    } body: {
      try stepThrough($0, sql, body)
    }
  }

  /// The same with arguments that `bind` binds.
  @discardableResult
  func visit(
    _ sql: String, binding bind: (inout StatementBinding) throws -> Void, _ body: (inout RowReader) throws -> Bool
  ) throws -> Bool {
    try withStatement(sql) { _, binding in
      try bind(&binding)
    } body: {
      try stepThrough($0, sql) { statement in
        var columns = RowReader(statement)
        return try body(&columns)
      }
    }
  }

  private func stepThrough(
    _ statement: SQLiteStatement, _ sql: String, _ body: (SQLiteStatement) throws -> Bool
  ) throws -> Bool {
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: guard try body(statement) else { return true }
      case SQLITE_DONE: return false
      default: throw lastError(sql)
      }
    }
  }

  private func step(_ sql: String, _ bind: (inout StatementBinding) throws -> Void) throws -> Int32 {
    try withStatement(sql) { _, binding in
      try bind(&binding)
    } body: { statement in
      let outcome = sqlite3_step(statement)
      // Read before the reset, which clears the error.
      if outcome != SQLITE_DONE, outcome != SQLITE_ROW { throw lastError(sql) }
      return outcome
    }
  }

  /// Binds a statement that stays prepared, and resets it behind the body.
  private func withStatement<Value>(
    _ sql: String, _ bind: (SQLiteStatement, inout StatementBinding) throws -> Void, body: (SQLiteStatement) throws -> Value
  ) throws -> Value {
    let prepared = try cachedStatement(sql: sql)
    let statement = prepared.sqliteStatement
    defer {
      // A change of the schema may empty the cache meanwhile.
      withExtendedLifetime(prepared) {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
    }
    var binding = StatementBinding(statement)
    try bind(statement, &binding)
    guard binding.code == SQLITE_OK else { throw lastError(sql) }
    return try body(statement)
  }

  private func lastError(_ sql: String) -> DatabaseError {
    let code = ResultCode(rawValue: sqlite3_extended_errcode(sqliteConnection))
    return DatabaseError(resultCode: code, message: String(cString: sqlite3_errmsg(sqliteConnection)), sql: sql)
  }
}
