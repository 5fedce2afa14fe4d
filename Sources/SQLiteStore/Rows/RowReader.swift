import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import StoreTables

/// Reads the columns of the row at which a statement stands by SQLite's C interface: GRDB's rows and
/// arguments cost an edit a third of its instructions.
struct RowReader: ColumnReader {
  private let statement: SQLiteStatement
  private var index: Int32 = 0

  /// - Parameter statement: stays at its row while this is used.
  init(_ statement: SQLiteStatement) { self.statement = statement }

  /// The next column and the type of its value.
  private mutating func next() -> (column: Int32, type: Int32) {
    defer { index += 1 }
    return (column: index, type: sqlite3_column_type(statement, index))
  }

  /// The bytes of a BLOB, until the statement goes on.
  private func blob(_ column: Int32) -> UnsafeRawBufferPointer {
    // The address first: the count is of what it points to. Where there are no bytes it is NULL.
    guard let start = sqlite3_column_blob(statement, column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
  }

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    let (column, type) = next()
    switch type {
    case SQLITE_INTEGER: return sqlite3_column_int64(statement, column)
    case SQLITE_NULL: return nil
    default: throw unexpectedValue()
    }
  }

  mutating func optionalFlag() throws(StoreError) -> Bool? { try optionalInteger().map { $0 != 0 } }

  mutating func optionalText() throws(StoreError) -> String? {
    let (column, type) = next()
    switch type {
    case SQLITE_TEXT:
      // Also an empty text has an address; without memory there is none.
      guard let start = sqlite3_column_text(statement, column) else { throw unexpectedValue() }
      let count = Int(sqlite3_column_bytes(statement, column))
      return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    case SQLITE_NULL: return nil
    case SQLITE_BLOB:
      guard let value = String(validating: blob(column), as: UTF8.self) else { throw unexpectedValue() }
      return value
    default: throw unexpectedValue()
    }
  }

  mutating func optionalBytes() throws(StoreError) -> [UInt8]? {
    let (column, type) = next()
    switch type {
    case SQLITE_BLOB: return Array(blob(column))
    case SQLITE_NULL: return nil
    default: throw unexpectedValue()
    }
  }

  mutating func optionalBlock() throws(StoreError) -> SeqBlock? {
    guard let bytes = try optionalBytes() else { return nil }
    guard let block = SeqBlock(bytes: bytes) else { throw unexpectedValue() }
    return block
  }

  /// The name of a column; nil where the statement has no such column.
  private func name(of column: Int32) -> String? { sqlite3_column_name(statement, column).map { String(cString: $0) } }

  func isNext(_ name: StaticString) -> Bool { self.name(of: index) == "\(name)" }

  func unexpectedValue() -> StoreError {
    StoreError(.inconsistent, "column \(name(of: index - 1) ?? "?") holds a value that does not belong there")
  }
}

/// A column holds the milliseconds, 0 where there is no instant.
extension WallInstant: DatabaseValueConvertible {
  public var databaseValue: DatabaseValue { milliseconds.databaseValue }

  public static func fromDatabaseValue(_ value: DatabaseValue) -> WallInstant? {
    Int64.fromDatabaseValue(value).map(WallInstant.init(milliseconds:))
  }
}

extension String {
  /// The value of a column. SQLite's C strings end at a NUL, so a text that has one is stored as
  /// bytes.
  var column: any DatabaseValueConvertible {
    utf8.contains(0) ? Data(utf8) : self
  }
}

extension Database {
  /// Runs a statement that stays prepared.
  /// - Returns: how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws -> Int {
    try step(sql, arguments) { _ in true }
    return Int(sqlite3_changes(sqliteConnection))
  }

  /// The rows of a query that stays prepared, each converted into a value.
  func rows<Value>(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?], _ make: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try visit(sql, arguments) { row in
      values.append(try make(&row))
      return true
    }
    return values
  }

  /// Gives a body the rows of a query that stays prepared, until it returns false.
  /// - Returns: whether there may be more rows.
  @discardableResult
  func visit(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?], _ body: (inout RowReader) throws -> Bool
  ) throws -> Bool {
    try step(sql, arguments) { statement in
      var columns = RowReader(statement)
      return try body(&columns)
    }
  }

  /// The single number that a query returns.
  func count(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws -> Int {
    try rows(sql, arguments) { try $0.value(Int.self) }.first ?? 0
  }

  /// The group's number; nil where there is no such group.
  package func number(of group: GroupID) throws -> Int64? {
    try rows("SELECT number FROM groupRecord WHERE groupID = ?", [group.rawValue]) { try $0.integer() }.first
  }
}
