/// Writes the parts of messages between nodes: numbers in as few bytes as they need, and bytes
/// behind their count.
public struct ByteWriter: Sendable {
  public private(set) var bytes: [UInt8] = []

  /// Nothing yet.
  public init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  /// A number, seven bits in a byte, the lowest first.
  public mutating func number(_ value: UInt64) {
    var left = value
    while left >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
      left >>= 7
    }
    bytes.append(UInt8(left))
  }

  /// A count or another number that is never negative.
  public mutating func count(_ value: Int) { number(UInt64(value)) }

  /// A number of either sign: small ones of both need few bytes.
  public mutating func signed(_ value: Int64) { number(UInt64(bitPattern: value << 1 ^ value >> 63)) }

  public mutating func byte(_ value: UInt8) { bytes.append(value) }

  public mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

  /// Bytes behind their count.
  public mutating func data(_ value: [UInt8]) {
    count(value.count)
    bytes.append(contentsOf: value)
  }

  /// A text behind the count of its bytes.
  public mutating func text(_ value: String) {
    var value = value
    value.withUTF8 { utf8 in
      count(utf8.count)
      bytes.append(contentsOf: utf8)
    }
  }

  /// Whether there is a value, and the value.
  public mutating func optional<Value>(_ value: Value?, _ write: (inout ByteWriter, Value) -> Void) {
    flag(value != nil)
    if let value { write(&self, value) }
  }

  /// The values behind their count.
  public mutating func list<Value>(_ values: some Collection<Value>, _ write: (inout ByteWriter, Value) -> Void) {
    count(values.count)
    for value in values { write(&self, value) }
  }

  /// Bytes as they are.
  public mutating func append(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  /// Bytes as they are.
  public mutating func append(_ value: UnsafeRawBufferPointer) { bytes.append(contentsOf: value) }
}

/// A message between nodes that this release cannot read.
public struct MalformedMessage: Error, Sendable, Equatable {
  /// The reason, for logs.
  public let reason: String

  /// A message that is malformed for that reason.
  public init(_ reason: String) { self.reason = reason }
}

/// Reads what `ByteWriter` has written. Each call fails at the end of the bytes.
public struct ByteReader {
  private let bytes: [UInt8]
  /// Where the next value begins.
  public private(set) var position: Int

  /// - Parameter start: where to begin.
  public init(_ bytes: [UInt8], from start: Int = 0) {
    self.bytes = bytes
    position = start
  }

  public var isAtEnd: Bool { position == bytes.count }

  public mutating func byte() throws(MalformedMessage) -> UInt8 {
    guard position < bytes.count else { throw MalformedMessage("it ends too early") }
    defer { position += 1 }
    return bytes[position]
  }

  public mutating func number() throws(MalformedMessage) -> UInt64 {
    // Most are small.
    if position < bytes.count, bytes[position] < 0x80 {
      defer { position += 1 }
      return UInt64(bytes[position])
    }
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      let next = try byte()
      guard shift < 63 || next <= 1 else { throw MalformedMessage("a number is too large") }
      value |= UInt64(next & 0x7f) << UInt64(shift)
      if next < 0x80 { return value }
    }
    throw MalformedMessage("a number is too long")
  }

  /// A count, or another number that is never negative.
  public mutating func count() throws(MalformedMessage) -> Int {
    guard let value = Int(exactly: try number()) else { throw MalformedMessage("a count is too large") }
    return value
  }

  public mutating func signed() throws(MalformedMessage) -> Int64 {
    let value = try number()
    return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
  }

  public mutating func flag() throws(MalformedMessage) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw MalformedMessage("a flag is neither 0 nor 1")
    }
  }

  public mutating func data() throws(MalformedMessage) -> [UInt8] {
    try bytes(count())
  }

  /// So many bytes.
  public mutating func bytes(_ length: Int) throws(MalformedMessage) -> [UInt8] {
    guard length <= bytes.count - position else { throw MalformedMessage("it ends too early") }
    defer { position += length }
    return Array(bytes[position..<position + length])
  }

  public mutating func text() throws(MalformedMessage) -> String {
    let length = try count()
    guard length <= bytes.count - position else { throw MalformedMessage("it ends too early") }
    let place = position..<position + length
    position += length
    // Without an array of its own.
    let text = bytes.withUnsafeBufferPointer { String(validating: UnsafeBufferPointer(rebasing: $0[place]), as: UTF8.self) }
    guard let text else { throw MalformedMessage("a text is not UTF-8") }
    return text
  }

  public mutating func optional<Value>(
    _ read: (inout ByteReader) throws(MalformedMessage) -> Value
  ) throws(MalformedMessage) -> Value? {
    try flag() ? try read(&self) : nil
  }

  public mutating func list<Value>(
    _ read: (inout ByteReader) throws(MalformedMessage) -> Value
  ) throws(MalformedMessage) -> [Value] {
    let length = try count()
    // Each value has a byte at least, so a count beyond the bytes reserves nothing.
    guard length <= bytes.count - position else { throw MalformedMessage("it ends too early") }
    var values: [Value] = []
    values.reserveCapacity(length)
    for _ in 0..<length { values.append(try read(&self)) }
    return values
  }

  /// All bytes that are left.
  public mutating func rest() -> [UInt8] {
    defer { position = bytes.count }
    return Array(bytes[position...])
  }
}
