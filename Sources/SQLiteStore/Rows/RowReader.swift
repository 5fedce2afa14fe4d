import Foundation
import GRDB
import GroupModel
import GroupRuntime

/// Reads the columns of a row from left to right. An unexpected value throws `.inconsistent` and
/// never traps: it comes from a disk.
struct RowReader {
  private let row: Row
  private var index = 0

  init(_ row: Row) { self.row = row }

  private mutating func next() -> DatabaseValue.Storage {
    defer { index += 1 }
    return (row[index] as DatabaseValue).storage
  }

  mutating func integer() throws(StoreError) -> Int64 {
    guard let value = try optionalInteger() else { throw unexpectedValue() }
    return value
  }

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    switch next() {
    case .int64(let value): return value
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  mutating func instant() throws(StoreError) -> WallInstant { WallInstant(milliseconds: try integer()) }

  mutating func optionalInstant() throws(StoreError) -> WallInstant? {
    try optionalInteger().map(WallInstant.init(milliseconds:))
  }

  mutating func flag() throws(StoreError) -> Bool { try integer() != 0 }

  mutating func text() throws(StoreError) -> String {
    guard let value = try optionalText() else { throw unexpectedValue() }
    return value
  }

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

  mutating func bytes() throws(StoreError) -> [UInt8] {
    guard let value = try optionalBytes() else { throw unexpectedValue() }
    return value
  }

  mutating func optionalBytes() throws(StoreError) -> [UInt8]? {
    switch next() {
    case .blob(let bytes): return Array(bytes)
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  /// A text that stands for a value of the model.
  mutating func value<Value>(_ make: (String) -> Value?) throws(StoreError) -> Value {
    guard let value = make(try text()) else { throw unexpectedValue() }
    return value
  }

  /// A text that stands for a value of the model, or NULL.
  mutating func optionalValue<Value>(_ make: (String) -> Value?) throws(StoreError) -> Value? {
    guard let text = try optionalText() else { return nil }
    guard let value = make(text) else { throw unexpectedValue() }
    return value
  }

  /// A list or a dictionary kept as JSON; NULL is the empty one.
  mutating func json<Value: Decodable>(else empty: Value) throws(StoreError) -> Value {
    guard let text = try optionalText() else { return empty }
    do {
      return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    } catch {
      throw unexpectedValue()
    }
  }

  // Names the column, never the value, which may be a user's text.
  private func unexpectedValue() -> StoreError {
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

/// A list or a dictionary as JSON with sorted keys; nil for the empty one. JSON writes NUL as
/// \u0000.
func jsonColumn<Value: Encodable & Collection>(_ value: Value) throws -> String? {
  if value.isEmpty { return nil }
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  return String(decoding: try encoder.encode(value), as: UTF8.self)
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
    let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    var values: [Value] = []
    while let row = try cursor.next() {
      var columns = RowReader(row)
      values.append(try make(&columns))
    }
    return values
  }

  /// The single number that a query returns.
  func count(_ sql: String, _ arguments: [(any DatabaseValueConvertible)?]) throws -> Int {
    try rows(sql, arguments) { Int(try $0.integer()) }.first ?? 0
  }

  /// The group's number; nil where there is no such group.
  func number(of group: GroupID) throws -> Int64? {
    try rows("SELECT number FROM groupRecord WHERE groupID = ?", [group.rawValue]) { try $0.integer() }.first
  }
}
