import GroupModel
import StoreTables

/// The arguments of a statement in PostgreSQL's binary form, one behind the other.
struct StatementArguments: ColumnWriter {
  /// The numbers of PostgreSQL's types, which never change.
  enum ValueType: UInt32 {
    case boolean = 16
    case bytes = 17
    case integer = 20
    case text = 25
    case texts = 1009
    case integers = 1016
    case bits = 1560
  }

  private(set) var bytes: [UInt8] = []
  private(set) var lengths: [Int32] = []
  private(set) var types: [UInt32] = []

  var count: Int { lengths.count }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    types.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ type: ValueType, _ encode: (inout [UInt8]) -> Void) {
    let start = bytes.count
    encode(&bytes)
    lengths.append(Int32(bytes.count - start))
    types.append(type.rawValue)
  }

  mutating func append(null kind: ColumnKind) {
    let type: ValueType =
      switch kind {
      case .integer: .integer
      case .flag: .boolean
      case .text: .text
      case .bytes: .bytes
      case .block: .bits
      }
    lengths.append(-1)
    types.append(type.rawValue)
  }

  mutating func append(_ number: Int64) { append(.integer) { $0.append(bigEndian: number) } }

  mutating func append(_ number: Int) { append(Int64(number)) }

  mutating func append(_ flag: Bool) { append(.boolean) { $0.append(flag ? 1 : 0) } }

  /// Appends a text as `StoredText` writes it.
  mutating func append(_ text: String) { append(.text) { StoredText.append(text, to: &$0) } }

  mutating func append(bytes value: [UInt8]) { append(.bytes) { $0 += value } }

  /// Appends the bits of a block as bit(1024), whose first bit is the first place.
  mutating func append(_ block: SeqBlock) {
    let places = Int(SeqBlock.size)
    append(.bits) { bytes in
      bytes.append(bigEndian: Int32(places))
      bytes += (0..<places / 8).map { $0 < block.bytes.count ? block.bytes[$0].reversedBits : 0 }
    }
  }

  mutating func append(_ numbers: [Int64]) {
    append(.integers) { bytes in
      bytes.append(arrayOf: .integer, count: numbers.count)
      for number in numbers {
        bytes.append(bigEndian: 8 as Int32)
        bytes.append(bigEndian: number)
      }
    }
  }

  mutating func append(_ texts: [String]) {
    append(.texts) { bytes in
      bytes.append(arrayOf: .text, count: texts.count)
      for text in texts {
        let start = bytes.count
        bytes.append(bigEndian: 0 as Int32)
        StoredText.append(text, to: &bytes)
        bytes.replace(at: start, bigEndian: Int32(bytes.count - start - 4))
      }
    }
  }
}

extension UInt8 {
  fileprivate var reversedBits: UInt8 { (0..<8).reduce(0) { $0 | (self >> $1 & 1) << (7 - $1) } }
}

extension SeqBlock {
  /// The messages whose bits are set, the highest bit of each byte first.
  init?(bits: some Sequence<UInt8>) {
    var bytes = bits.map(\.reversedBits)
    while bytes.last == 0 { bytes.removeLast() }
    self.init(bytes: bytes)
  }
}

extension [UInt8] {
  fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func replace(at index: Int, bigEndian value: Int32) {
    Swift.withUnsafeBytes(of: value.bigEndian) { replaceSubrange(index..<index + 4, with: $0) }
  }

  /// The head of an array with one dimension and no NULL.
  fileprivate mutating func append(arrayOf type: StatementArguments.ValueType, count: Int) {
    append(bigEndian: (count == 0 ? 0 : 1) as Int32)
    append(bigEndian: 0 as Int32)
    append(bigEndian: type.rawValue)
    if count == 0 { return }
    append(bigEndian: Int32(count))
    append(bigEndian: 1 as Int32)
  }
}

/// A value that a statement takes.
protocol StatementValue: Sendable {
  func append(to arguments: inout StatementArguments)
}

extension Int64: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(self) } }
extension Int: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(Int64(self)) } }
extension SeqBlock: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(self) } }
extension WallInstant: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(self) } }
extension Bool: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(self) } }
extension String: StatementValue { func append(to arguments: inout StatementArguments) { arguments.append(self) } }

extension Optional: StatementValue where Wrapped: StatementValue & ColumnValue {
  func append(to arguments: inout StatementArguments) {
    if let self { self.append(to: &arguments) } else { arguments.append(null: Wrapped.kind) }
  }
}

/// A value of which a statement takes lists.
protocol StatementElement: Sendable {
  static func append(_ list: [Self], to arguments: inout StatementArguments)
}

extension Int64: StatementElement {
  static func append(_ list: [Int64], to arguments: inout StatementArguments) { arguments.append(list) }
}

extension String: StatementElement {
  static func append(_ list: [String], to arguments: inout StatementArguments) { arguments.append(list) }
}

/// Bytes are one value, no list.
extension UInt8: StatementElement {
  static func append(_ list: [UInt8], to arguments: inout StatementArguments) { arguments.append(bytes: list) }
}

extension Array: StatementValue where Element: StatementElement {
  func append(to arguments: inout StatementArguments) { Element.append(self, to: &arguments) }
}
