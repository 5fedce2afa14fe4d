/// Writes JSON text. The caller keeps the order: a key before each value of an object. Every
/// message is written at least twice, so the bytes go to the stack instead of a growing array.
public struct JSONWriter: ~Copyable {
  private var bytes: ByteRun
  private var needsComma = false

  private init(_ bytes: consuming ByteRun) { self.bytes = bytes }

  /// The text that `body` writes.
  /// - Parameter capacity: how many bytes to make room for at first; a good guess saves a copy.
  public static func text(capacity: Int = 256, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    ByteRun.array(capacity: capacity) { bytes in
      var writer = JSONWriter(bytes)
      body(&writer)
      return writer.bytes
    }
  }

  /// The text that `body` writes of a value. A value that a closure captures is copied; one that is
  /// passed on is not.
  static func text<Value>(
    of value: Value, capacity: Int, _ body: (inout JSONWriter, Value) -> Void
  ) -> [UInt8] {
    ByteRun.array(capacity: capacity) { bytes in
      var writer = JSONWriter(bytes)
      body(&writer, value)
      return writer.bytes
    }
  }

  /// How many bytes are written: the place of the next one.
  var byteCount: Int { bytes.count }

  /// An object with the members that `body` writes.
  public mutating func object(_ body: (inout JSONWriter) -> Void) {
    open(UInt8(ascii: "{"))
    body(&self)
    close(UInt8(ascii: "}"))
  }

  /// A JSON-RPC notification with the params that `body` writes.
  mutating func notification(_ method: String, _ body: (inout JSONWriter) -> Void) {
    beginNotification(method)
    body(&self)
    endNotification()
  }

  /// Begins a JSON-RPC notification, without a closure that would copy what it captures: the members of
  /// its params follow, and `endNotification`.
  mutating func beginNotification(_ method: String) {
    bytes.append(#"{"jsonrpc":"2.0","method":""#)
    var method = method
    method.withUTF8 { bytes.append($0) }
    bytes.append(#"","params":{"#)
    needsComma = false
  }

  /// Ends a JSON-RPC notification.
  mutating func endNotification() {
    bytes.append("}}")
    needsComma = true
  }

  /// A JSON-RPC response.
  mutating func response(_ reply: Reply, to id: RequestID?) {
    bytes.append(#"{"jsonrpc":"2.0","id":"#)
    if let id { value(id) } else { null() }
    switch reply {
    case .success(let result):
      key("result")
      value(result)
    case .failure(let error):
      key("error")
      value(error)
    }
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
    bytes.appendKey(name, separated: needsComma)
    needsComma = false
  }

  /// The name of the next member, where it is not known before.
  public mutating func key(named name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A string. Escapes only what JSON demands: quotation mark, backslash, and the characters below
  /// U+0020.
  public mutating func value(_ text: String) {
    separate()
    text.utf8.span.withUnsafeBufferPointer { bytes.appendQuoted($0) }
    needsComma = true
  }

  /// A whole number.
  public mutating func value(_ number: Int64) {
    separate()
    bytes.appendDecimal(number)
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
    text.withUnsafeBufferPointer { bytes.append($0) }
    needsComma = true
  }

  /// A value that is JSON text already.
  public mutating func raw(_ text: String) {
    var text = text
    separate()
    text.withUTF8 { bytes.append($0) }
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
}

/// Something with one way to stand on the wire.
public protocol WireEncodable {
  /// Writes itself as one JSON value.
  func encode(into writer: inout JSONWriter)
}
