import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Reads the columns of a row.
struct RowReader: ColumnReader {
  private let row: Row
  private var index = 0

  init(_ row: Row) { self.row = row }

  private mutating func next() -> DatabaseValue.Storage {
    defer { index += 1 }
    return (row[index] as DatabaseValue).storage
  }

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    switch next() {
    case .int64(let value): return value
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  mutating func optionalFlag() throws(StoreError) -> Bool? { try optionalInteger().map { $0 != 0 } }

  mutating func optionalText() throws(StoreError) -> String? {
    switch next() {
    case .string(let value): return value
    case .null: return nil
    case .blob(let bytes):
      guard let value = String(validating: bytes, as: UTF8.self) else { throw unexpectedValue() }
      return value
    default: throw unexpectedValue()
    }
  }

  mutating func optionalBytes() throws(StoreError) -> [UInt8]? {
    switch next() {
    case .blob(let bytes): return Array(bytes)
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  mutating func optionalBlock() throws(StoreError) -> SeqBlock? {
    guard let bytes = try optionalBytes() else { return nil }
    guard let block = SeqBlock(bytes: bytes) else { throw unexpectedValue() }
    return block
  }

  func isNext(_ name: StaticString) -> Bool { row.columnNames.dropFirst(index).first == "\(name)" }

  func unexpectedValue() -> StoreError {
    let name = row.columnNames.dropFirst(index - 1).first ?? "?"
    return StoreError(.inconsistent, "column \(name) holds a value that does not belong there")
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
    try cachedStatement(sql: sql).execute(arguments: StatementArguments(arguments))
    return changesCount
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
    let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    while let row = try cursor.next() {
      var columns = RowReader(row)
      guard try body(&columns) else { return true }
    }
    return false
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
