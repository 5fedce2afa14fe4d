import GroupRuntime

/// A value that is kept as a row, or as a part of one. Its codec, `code`, is the only place that
/// names its columns: what lists, reads and writes them goes through it.
public protocol StoredRow {
  /// A value for the codec to fill in.
  static var blank: Self { get }

  /// Its columns, in the order of `code`.
  static var columns: [StoredColumn] { get }

  /// Calls `coder.column` for each column, in one order, with no condition around it.
  static func code<Coder: ColumnCoder>(_ row: inout Self, _ coder: inout Coder) throws(StoreError)
}

extension StoredRow {
  /// Reads the columns of a result that lists `columns`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> Self {
    var row = blank
    try code(&row, &reader)
    return row
  }

  /// Writes the columns, in the order of `columns`.
  @inlinable public func write<Writer: ColumnWriter>(to writer: inout Writer) throws(StoreError) {
    var row = self
    try Self.code(&row, &writer)
  }

  /// The columns that `code` names: `columns`, which is computed once.
  static func describe() -> [StoredColumn] {
    var (row, describer) = (blank, ColumnDescriber())
    do throws(StoreError) {
      try code(&row, &describer)
    } catch {
      // A codec throws where a column holds what it cannot: a blank row holds its own values.
      preconditionFailure("\(Self.self): \(error)")
    }
    return describer.columns
  }
}

/// Lists the columns of a codec.
private struct ColumnDescriber: ColumnCoder {
  static var isReader: Bool { false }
  var columns: [StoredColumn] = []

  mutating func column<Value: ColumnValue>(_ name: StaticString, _ value: inout Value) {
    columns.append(StoredColumn("\(name)", Value.self))
  }
}
