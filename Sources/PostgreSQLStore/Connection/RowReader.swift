import CPostgreSQL
import GroupModel
import GroupRuntime
import StoreTables

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

/// Reads the columns of a row.
struct RowReader: ColumnReader {
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

  mutating func optionalInteger() throws(StoreError) -> Int64? {
    guard let bytes = next() else { return nil }
    guard bytes.count == 8 else { throw unexpectedValue() }
    return bytes.reduce(0 as Int64) { $0 << 8 | Int64($1) }
  }

  mutating func optionalFlag() throws(StoreError) -> Bool? {
    guard let bytes = next() else { return nil }
    guard bytes.count == 1 else { throw unexpectedValue() }
    return bytes[0] != 0
  }

  mutating func optionalText() throws(StoreError) -> String? {
    guard let bytes = next() else { return nil }
    guard let value = StoredText.text(bytes) else { throw unexpectedValue() }
    return value
  }

  mutating func optionalBytes() throws(StoreError) -> [UInt8]? { next().map(Array.init) }

  mutating func optionalBlock() throws(StoreError) -> SeqBlock? {
    guard let bytes = next() else { return nil }
    // The number of bits comes first.
    guard bytes.count > 4, let block = SeqBlock(bits: bytes.dropFirst(4)) else { throw unexpectedValue() }
    return block
  }

  // PostgreSQL writes names in lower case.
  func isNext(_ name: StaticString) -> Bool { self.name(of: column) == "\(name)".lowercased() }

  func unexpectedValue() -> StoreError {
    StoreError(.inconsistent, "column \(name(of: column - 1)) holds a value that does not belong there")
  }

  private func name(of column: Int) -> String { String(cString: cpg_column_name(result.handle, Int32(column))) }
}
