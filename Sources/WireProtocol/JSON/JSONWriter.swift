/// Writes JSON text front to back into bytes. The caller keeps the order: a key before each value of an object.
public struct JSONWriter {
  /// What has been written.
  public private(set) var bytes: [UInt8]
  private var needsComma = false

  /// An empty text.
  /// - Parameter capacity: how many bytes to make room for at first.
  public init(capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// The text that `body` writes.
  public static func text(capacity: Int = 256, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(capacity: capacity)
    body(&writer)
    return writer.bytes
  }

  /// An object with the members that `body` writes.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    open(UInt8(ascii: "{"))
    body(&self)
    close(UInt8(ascii: "}"))
  }

  /// An array with a value for each item.
  public mutating func array<Items: Sequence>(_ items: Items, _ body: (inout JSONWriter, Items.Element) -> Void) {
    open(UInt8(ascii: "["))
    for item in items { body(&self, item) }
    close(UInt8(ascii: "]"))
  }

  /// The name of the next member.
  public mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    append(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// The name of the next member, where it is not known before.
  public mutating func key(named name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A string. Escapes only what JSON asks for: quotation mark, backslash, and the characters below U+0020.
  public mutating func value(_ text: String) {
    separate()
    var text = text
    text.withUTF8 { appendQuoted($0) }
    needsComma = true
  }

  /// A whole number.
  public mutating func value(_ number: Int64) {
    separate()
    appendDecimal(number)
    needsComma = true
  }

  /// A whole number.
  public mutating func value(_ number: Int) { value(Int64(number)) }

  /// True or false.
  public mutating func value(_ flag: Bool) { raw(flag ? "true" : "false") }

  /// Nothing.
  public mutating func null() { raw("null") }

  /// A value that is JSON text already.
  public mutating func raw(_ text: [UInt8]) {
    separate()
    bytes.append(contentsOf: text)
    needsComma = true
  }

  /// A value that is JSON text already.
  public mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  @inline(__always)
  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }

  @inline(__always)
  private mutating func append(_ run: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: run) }

  private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    for index in text.indices where JSONWriter.needsEscape(text[index]) {
      append(UnsafeBufferPointer(rebasing: text[start..<index]))
      appendEscaped(text[index])
      start = index + 1
    }
    append(UnsafeBufferPointer(rebasing: text[start...]))
    bytes.append(UInt8(ascii: "\""))
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x0a: bytes.append(UInt8(ascii: "n"))
    case 0x0d: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      let digits: StaticString = "0123456789abcdef"
      bytes.append(contentsOf: "u00".utf8)
      bytes.append(digits.utf8Start[Int(byte >> 4)])
      bytes.append(digits.utf8Start[Int(byte & 15)])
    }
  }

  private mutating func appendDecimal(_ number: Int64) {
    guard number != 0 else { return bytes.append(UInt8(ascii: "0")) }
    if number < 0 { bytes.append(UInt8(ascii: "-")) }
    let start = bytes.count
    var rest = number.magnitude
    while rest > 0 {
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    bytes[start...].reverse()
  }
}

/// Something with one way to stand on the wire.
public protocol WireEncodable {
  /// Writes itself as one JSON value.
  func encode(into writer: inout JSONWriter)
}

extension JSONWriter {
  /// A value that knows how it is written.
  public mutating func value(_ item: some WireEncodable) { item.encode(into: &self) }

  /// A member with a string.
  public mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  /// A member with a whole number.
  public mutating func member(_ name: StaticString, _ number: Int64) {
    key(name)
    value(number)
  }

  /// A member with a whole number.
  public mutating func member(_ name: StaticString, _ number: Int) { member(name, Int64(number)) }

  /// A member with true or false.
  public mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  /// A member that knows how it is written.
  public mutating func member(_ name: StaticString, _ item: some WireEncodable) {
    key(name)
    value(item)
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent text: String?) {
    if let text { member(name, text) }
  }

  /// A member that is left out where there is nothing.
  public mutating func member(_ name: StaticString, ifPresent number: Int64?) {
    if let number { member(name, number) }
  }

  /// A member with an array of strings.
  public mutating func member(_ name: StaticString, _ texts: some Sequence<String>) {
    key(name)
    array(texts) { $0.value($1) }
  }

  /// A member with an array of things that know how they are written.
  public mutating func member<Item: WireEncodable>(_ name: StaticString, _ items: some Sequence<Item>) {
    key(name)
    array(items) { $0.value($1) }
  }

  /// A member with an object of strings, by key ascending so that one state has one text.
  public mutating func member(_ name: StaticString, _ map: [String: String]) {
    key(name)
    object { writer in
      for (key, value) in map.sorted(by: { $0.key < $1.key }) {
        writer.key(named: key)
        writer.value(value)
      }
    }
  }
}
