import GroupModel
import GroupRuntime

/// Reads columns of values that were taken from a database.
public struct StoredValueReader: ColumnReader {
  private let columns: [StoredColumn]
  private let row: StoredTable.Row
  private var index = 0

  /// - Parameter row: a value for each column.
  public init(_ row: StoredTable.Row, of columns: [StoredColumn]) {
    self.row = row
    self.columns = columns
  }

  private mutating func next() -> StoredValue {
    defer { index += 1 }
    return index < row.count ? row[index] : .null
  }

  public mutating func optionalInteger() throws(StoreError) -> Int64? {
    switch next() {
    case .integer(let number): return number
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  public mutating func optionalFlag() throws(StoreError) -> Bool? {
    switch next() {
    case .flag(let flag): return flag
    case .integer(let number): return number != 0
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  public mutating func optionalText() throws(StoreError) -> String? {
    switch next() {
    case .text(let text): return text
    case .null: return nil
    case .bytes(let bytes):
      guard let text = String(validating: bytes, as: UTF8.self) else { throw unexpectedValue() }
      return text
    default: throw unexpectedValue()
    }
  }

  public mutating func optionalBytes() throws(StoreError) -> [UInt8]? {
    switch next() {
    case .bytes(let bytes): return bytes
    case .null: return nil
    default: throw unexpectedValue()
    }
  }

  public mutating func optionalBlock() throws(StoreError) -> SeqBlock? {
    guard let bytes = try optionalBytes() else { return nil }
    guard let block = SeqBlock(bytes: bytes) else { throw unexpectedValue() }
    return block
  }

  public func isNext(_ name: StaticString) -> Bool { index < columns.count && columns[index].name == "\(name)" }

  public func unexpectedValue() -> StoreError {
    let name = index > 0 && index <= columns.count ? columns[index - 1].name : "?"
    return StoreError(.inconsistent, "column \(name) holds a value that does not belong there")
  }
}
