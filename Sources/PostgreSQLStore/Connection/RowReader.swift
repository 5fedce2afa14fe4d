import CPostgreSQL
import Foundation
import GroupModel
import GroupRuntime

/// The result of a statement.
final class StatementResult {
  fileprivate let handle: OpaquePointer

  /// - Parameter handle: is freed with this object.
  init(_ handle: OpaquePointer) { self.handle = handle }

  deinit { cpg_free(handle) }

  var rowCount: Int { Int(cpg_row_count(handle)) }

  /// How many rows the statement has changed or returned.
  var changedCount: Int { Int(cpg_changed_count(handle)) }

  /// Each row, converted into a value.
  func map<Value>(_ make: (inout RowReader) throws -> Value) throws -> [Value] {
    try (0..<rowCount).map { index in
      var row = RowReader(self, row: index)
      return try make(&row)
    }
  }
}

/// Reads the columns of a row from left to right. An unexpected value throws `.inconsistent` and
/// never traps: it comes from a database.
struct RowReader {
  private let result: StatementResult
  private let row: Int
  private var column = 0

  fileprivate init(_ result: StatementResult, row: Int) {
    self.result = result
    self.row = row
  }

  /// The bytes live as long as the result.
  private mutating func next() -> UnsafeBufferPointer<UInt8>? {
    defer { column += 1 }
    var length: Int32 = 0
    guard let start = cpg_value(result.handle, Int32(row), Int32(column), &length) else { return nil }
    return UnsafeBufferPointer(start: start, count: Int(length))
  }

  mutating func integer() throws(StoreError) -> Int64 {
    guard let value = try optionalInteger() else { throw unexpectedValue() }
    return value
  }

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    guard let bytes = next() else { return nil }
    guard bytes.count == 8 else { throw unexpectedValue() }
    return bytes.reduce(0 as Int64) { $0 << 8 | Int64($1) }
  }

  mutating func instant() throws(StoreError) -> WallInstant { WallInstant(milliseconds: try integer()) }

  mutating func optionalInstant() throws(StoreError) -> WallInstant? {
    try optionalInteger().map(WallInstant.init(milliseconds:))
  }

  mutating func flag() throws(StoreError) -> Bool {
    guard let value = try optionalFlag() else { throw unexpectedValue() }
    return value
  }

  mutating func optionalFlag() throws(StoreError) -> Bool? {
    guard let bytes = next() else { return nil }
    guard bytes.count == 1 else { throw unexpectedValue() }
    return bytes[0] != 0
  }

  mutating func text() throws(StoreError) -> String {
    guard let value = try optionalText() else { throw unexpectedValue() }
    return value
  }

  mutating func optionalText() throws(StoreError) -> String? {
    guard let bytes = next() else { return nil }
    guard let value = StoredText.text(bytes) else { throw unexpectedValue() }
    return value
  }

  mutating func bytes() throws(StoreError) -> [UInt8] {
    guard let bytes = try optionalBytes() else { throw unexpectedValue() }
    return bytes
  }

  mutating func optionalBytes() throws(StoreError) -> [UInt8]? { next().map(Array.init) }

  /// The bits of a block.
  mutating func block() throws(StoreError) -> SeqBlock {
    // The number of bits comes first.
    guard let bytes = next(), bytes.count > 4, let block = SeqBlock(bits: bytes.dropFirst(4)) else { throw unexpectedValue() }
    return block
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
    let name = String(cString: cpg_column_name(result.handle, Int32(column - 1)))
    return StoreError(.inconsistent, "column \(name) holds a value that does not belong there")
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
