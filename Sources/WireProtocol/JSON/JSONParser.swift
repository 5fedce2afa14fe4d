import CSimdJSON

/// Parses the texts of requests. Not thread-safe: each event loop has one. A value is valid until
/// its parser parses again.
public final class JSONParser {
  /// The deepest nesting that is read; the envelope, or a batch's array, is level 1 (Protocol.md,
  /// "Frames").
  public static let maxDepth = 32

  /// How many readable bytes must stand behind a text.
  public static let padding = 64

  private let raw: OpaquePointer

  /// A parser without a text yet.
  public init() {
    // Without the few hundred bytes of a parser no server can run.
    guard let raw = sj_parser_create(JSONParser.maxDepth) else { fatalError("out of memory") }
    self.raw = raw
  }

  deinit { sj_parser_free(raw) }

  /// The text's value, or nil where it is no JSON or nested too deeply.
  /// - Parameter padded: the text; 64 more bytes must be readable behind it.
  public func parse(padded text: UnsafeRawBufferPointer) -> JSONValue? {
    var root = sj_value()
    guard let bytes = text.baseAddress, sj_parse(raw, bytes.assumingMemoryBound(to: CChar.self), text.count, &root) else {
      return nil
    }
    return JSONValue(raw: root)
  }

  /// The same for a text in an array, which is copied to get its padding.
  public func parse(_ text: some Collection<UInt8>) -> JSONValue? {
    let padded = Array(text) + [UInt8](repeating: 0, count: JSONParser.padding)
    return padded.withUnsafeBytes { parse(padded: UnsafeRawBufferPointer(rebasing: $0.dropLast(JSONParser.padding))) }
  }
}

/// A value inside a parsed text; valid until its parser parses again.
public struct JSONValue {
  let raw: sj_value

  /// The kinds of values. An integer is a number without fraction or exponent that fits 64 bits.
  public enum Kind { case null, bool, integer, number, string, array, object }

  /// The kind of the value.
  public var kind: Kind {
    switch sj_kind_of(raw) {
    case SJ_BOOL: .bool
    case SJ_INTEGER: .integer
    case SJ_NUMBER: .number
    case SJ_STRING: .string
    case SJ_ARRAY: .array
    case SJ_OBJECT: .object
    default: .null
    }
  }

  /// The member of that name, where this is an object that has one.
  public subscript(name: StaticString) -> JSONValue? {
    var found = sj_value()
    let key = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    return sj_member(raw, key, name.utf8CodeUnitCount, &found) ? JSONValue(raw: found) : nil
  }

  /// The text of a string, copied.
  public var string: String? {
    var bytes: UnsafePointer<CChar>?
    var count = 0
    guard sj_string(raw, &bytes, &count), let bytes else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
  }

  /// The length of a string in bytes; 0 for any other kind.
  var stringLength: Int {
    var bytes: UnsafePointer<CChar>?
    var count = 0
    _ = sj_string(raw, &bytes, &count)
    return count
  }

  /// Whether this is the string of these bytes.
  func isString(_ bytes: [CChar]) -> Bool { sj_is_string(raw, bytes, bytes.count) }

  /// The number, where it is an integer as written.
  public var integer: Int64? {
    var value: Int64 = 0
    return sj_integer(raw, &value) ? value : nil
  }

  /// The number, where it is whole: an integer, or a decimal number without fraction. A number
  /// beyond 64 bits becomes the largest or smallest of them.
  public var wholeNumber: Int64? {
    if let integer { return integer }
    var value = 0.0
    guard kind == .number, sj_number(raw, &value), value.rounded() == value else { return nil }
    return Int64(exactly: value) ?? (value < 0 ? .min : .max)
  }

  /// True or false.
  public var bool: Bool? {
    var value = false
    return sj_bool(raw, &value) ? value : nil
  }

  /// How many elements or members it has.
  public var count: Int { sj_count(raw) }

  /// The elements of an array; nothing for any other kind.
  public func forEachElement<Failure: Error>(_ body: (JSONValue) throws(Failure) -> Void) throws(Failure) {
    guard kind == .array else { return }
    var iterator = sj_iterate(raw)
    var key: UnsafePointer<CChar>?
    var keyCount = 0
    var value = sj_value()
    while sj_next(&iterator, &key, &keyCount, &value) { try body(JSONValue(raw: value)) }
  }

  /// The members of an object; nothing for any other kind.
  public func forEachMember<Failure: Error>(_ body: (String, JSONValue) throws(Failure) -> Void) throws(Failure) {
    guard kind == .object else { return }
    var iterator = sj_iterate(raw)
    var key: UnsafePointer<CChar>?
    var keyCount = 0
    var value = sj_value()
    while sj_next(&iterator, &key, &keyCount, &value) {
      try body(String(decoding: UnsafeRawBufferPointer(start: key, count: keyCount), as: UTF8.self), JSONValue(raw: value))
    }
  }
}
