import GroupModel
import GroupRuntime

/// Goes through the columns of a row in the order of its description. A codec calls `column` once for
/// each: that call names it, reads it and writes it.
public protocol ColumnCoder {
  /// Whether `column` sets the values.
  static var isReader: Bool { get }

  /// The next column of the row.
  /// - Parameters:
  ///   - name: as both databases have it.
  ///   - value: is set by a reader, and taken by a writer.
  /// - Throws: `.inconsistent` where the column holds no such value.
  mutating func column<Value: ColumnValue>(_ name: StaticString, _ value: inout Value) throws(StoreError)
}

/// Reads the columns of a result from left to right. An unexpected value throws `.inconsistent` and
/// never traps: it comes from a disk.
public protocol ColumnReader: ColumnCoder {
  /// The next column; nil = NULL.
  mutating func optionalInteger() throws(StoreError) -> Int64?
  /// The next column; nil = NULL.
  mutating func optionalFlag() throws(StoreError) -> Bool?
  /// The next column; nil = NULL.
  mutating func optionalText() throws(StoreError) -> String?
  /// The next column; nil = NULL.
  mutating func optionalBytes() throws(StoreError) -> [UInt8]?
  /// The next column, the bits of a block; nil = NULL.
  mutating func optionalBlock() throws(StoreError) -> SeqBlock?
  /// Whether the next column has this name. Debug builds ask: a statement names the columns of a
  /// description, and no others.
  func isNext(_ name: StaticString) -> Bool
  /// Names the column that was read last, never its value, which may be a user's text.
  func unexpectedValue() -> StoreError
}

extension ColumnReader {
  @inlinable public static var isReader: Bool { true }

  @inlinable public mutating func column<Value: ColumnValue>(
    _ name: StaticString, _ value: inout Value
  ) throws(StoreError) {
    assert(isNext(name), "the statement has another column than \(name)")
    value = try self.value()
  }

  /// The next column.
  @inlinable public mutating func value<Value: ColumnValue>(_ type: Value.Type = Value.self) throws(StoreError) -> Value {
    guard let value = try Value.read(&self) ?? Value.ofNull else { throw unexpectedValue() }
    return value
  }

  /// The next column, a number.
  @inlinable public mutating func integer() throws(StoreError) -> Int64 { try value() }
  /// The next column, an instant.
  @inlinable public mutating func instant() throws(StoreError) -> WallInstant { try value() }
  /// The next column, a truth value.
  @inlinable public mutating func flag() throws(StoreError) -> Bool { try value() }
  /// The next column, a text.
  @inlinable public mutating func text() throws(StoreError) -> String { try value() }
}

/// Takes the columns of a row, or the arguments of a statement, from left to right.
public protocol ColumnWriter: ColumnCoder {
  /// A number.
  mutating func append(_ number: Int64)
  /// A truth value.
  mutating func append(_ flag: Bool)
  /// Any text.
  mutating func append(_ text: String)
  /// Bytes.
  mutating func append(bytes: [UInt8])
  /// The bits of a block.
  mutating func append(_ block: SeqBlock)
  /// NULL, in a column of a kind.
  mutating func append(null kind: ColumnKind)
}

extension ColumnWriter {
  @inlinable public static var isReader: Bool { false }

  @inlinable public mutating func column<Value: ColumnValue>(
    _ name: StaticString, _ value: inout Value
  ) throws(StoreError) { try value.write(to: &self) }

  /// An instant.
  @inlinable public mutating func append(_ instant: WallInstant) { append(instant.milliseconds) }

  /// A text, or NULL.
  @inlinable public mutating func append(_ text: String?) {
    if let text { append(text) } else { append(null: .text) }
  }
}
