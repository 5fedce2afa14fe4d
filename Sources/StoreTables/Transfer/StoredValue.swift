import GroupModel
import GroupRuntime

/// A value of a column, apart from the database that keeps it.
public enum StoredValue: Sendable, Equatable, Codable {
  case null
  case integer(Int64)
  case flag(Bool)
  case text(String)
  case bytes([UInt8])
}

extension ColumnReader {
  /// The next column, whatever it holds.
  public mutating func value(of kind: ColumnKind) throws(StoreError) -> StoredValue {
    switch kind {
    case .integer: try optionalInteger().map(StoredValue.integer) ?? .null
    case .flag: try optionalFlag().map(StoredValue.flag) ?? .null
    case .text: try optionalText().map(StoredValue.text) ?? .null
    case .bytes: try optionalBytes().map(StoredValue.bytes) ?? .null
    case .block: try optionalBlock().map { .bytes($0.bytes) } ?? .null
    }
  }

  /// The next columns, a value for each of a table's.
  public mutating func row(of table: StoredTable) throws(StoreError) -> StoredTable.Row {
    var row: StoredTable.Row = []
    row.reserveCapacity(table.columns.count)
    for column in table.columns { row.append(try value(of: column.kind)) }
    return row
  }
}

extension ColumnWriter {
  /// A value for a column of a kind.
  public mutating func append(_ value: StoredValue, as kind: ColumnKind) {
    switch (value, kind) {
    case (.integer(let number), _): append(number)
    case (.flag(let flag), _): append(flag)
    case (.text(let text), _): append(text)
    case (.bytes(let bytes), .block): append(SeqBlock(bytes: bytes) ?? SeqBlock())
    case (.bytes(let bytes), _): append(bytes: bytes)
    case (.null, _): append(null: kind)
    }
  }
}

/// Collects the columns that a codec writes.
public struct StoredValues: ColumnWriter {
  public private(set) var row: StoredTable.Row = []

  /// No columns.
  public init() {}

  public mutating func append(_ number: Int64) { row.append(.integer(number)) }
  public mutating func append(_ flag: Bool) { row.append(.flag(flag)) }
  public mutating func append(_ text: String) { row.append(.text(text)) }
  public mutating func append(bytes: [UInt8]) { row.append(.bytes(bytes)) }
  public mutating func append(_ block: SeqBlock) { row.append(.bytes(block.bytes)) }
  public mutating func append(null kind: ColumnKind) { row.append(.null) }
}

/// The last numbers that a store has given, which are never given again.
public struct StoredNumbers: Sendable, Equatable {
  public var group: Int64
  public var application: Int64
  public var notification: Int64
  public var webhook: Int64
  public var webhookFailure: Int64
  public var userAccess: Int64
  public var report: Int64

  /// With everything given.
  public init(
    group: Int64, application: Int64, notification: Int64, webhook: Int64, webhookFailure: Int64, userAccess: Int64,
    report: Int64
  ) {
    self.group = group
    self.application = application
    self.notification = notification
    self.webhook = webhook
    self.webhookFailure = webhookFailure
    self.userAccess = userAccess
    self.report = report
  }
}

/// The number of a table's rows, and a sum that tells whether two stores have the same, in any
/// order.
public struct RowChecksum: Sendable, Equatable {
  public private(set) var count: Int64
  public private(set) var sum: UInt64

  /// The checksum of no rows, or of those that were counted before.
  public init(count: Int64 = 0, sum: UInt64 = 0) {
    self.count = count
    self.sum = sum
  }

  /// Adds a row.
  public mutating func add(_ row: StoredTable.Row) {
    var hash = Hash()
    for value in row { hash.add(value) }
    count += 1
    sum &+= hash.value
  }

  /// FNV-1a with 64 bits over a form that tells kinds and lengths, and a last mixing of the bits,
  /// because the hashes are added.
  private struct Hash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    private mutating func add(byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    private mutating func add(_ kind: UInt8, _ bytes: some Collection<UInt8>) {
      add(byte: kind)
      withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { for byte in $0 { add(byte: byte) } }
      for byte in bytes { add(byte: byte) }
    }

    mutating func add(_ value: StoredValue) {
      switch value {
      case .null: add(byte: 0)
      case .integer(let number): withUnsafeBytes(of: number.littleEndian) { add(1, $0) }
      case .flag(let flag): add(2, [flag ? 1 : 0])
      case .text(let text): add(3, text.utf8)
      case .bytes(let bytes): add(4, bytes)
      }
    }

    var value: UInt64 {
      var mixed = (state ^ state >> 33) &* 0xff51_afd7_ed55_8ccd
      mixed = (mixed ^ mixed >> 33) &* 0xc4ce_b9fe_1a85_ec53
      return mixed ^ mixed >> 33
    }
  }
}
