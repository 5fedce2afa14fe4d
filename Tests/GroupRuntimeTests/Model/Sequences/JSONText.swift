import ThrongTestKit

/// JSON texts to values and back: fast enough for the hundred thousands of texts that a run of the
/// model test compares.
extension JSON {
  static func int(_ number: Int64) -> JSON { .number(Double(number)) }
  static func int(_ number: Int) -> JSON { .number(Double(number)) }
  static func strings(_ texts: some Sequence<String>) -> JSON { .array(texts.map { .string($0) }) }
  static func texts(_ texts: [String: String]) -> JSON { .object(texts.mapValues { .string($0) }) }

  /// The members of an object; none for any other kind.
  var members: [String: JSON] { if case .object(let members) = self { members } else { [:] } }
  /// The strings of an array.
  var strings: [String] { elements.compactMap(\.string) }
  var int: Int? { integer.map { Int($0) } }

  /// The text, members by name.
  var text: String {
    switch self {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
    case .string(let text): JSON.quoted(text)
    case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { JSON.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",") + "}"
    }
  }

  private static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case _ where scalar.value < 0x20: "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }

  struct BadText: Error {
    let text: String
    let position: Int
  }

  /// The value of a text; fails where it is no JSON.
  init(reading text: some Collection<UInt8>) throws {
    let bytes = Array(text)
    self = try bytes.withUnsafeBufferPointer { bytes in
      var reader = Reader(bytes: bytes)
      let value = try reader.value()
      reader.skipSpace()
      guard reader.position == bytes.count else { throw reader.fault }
      return value
    }
  }

  private struct Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    var fault: BadText { BadText(text: String(decoding: bytes, as: UTF8.self), position: position) }

    mutating func skipSpace() {
      while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x0a { position += 1 }
    }

    private mutating func next() throws -> UInt8 {
      guard position < bytes.count else { throw fault }
      defer { position += 1 }
      return bytes[position]
    }

    private mutating func take(_ byte: Character) -> Bool {
      skipSpace()
      guard position < bytes.count, bytes[position] == byte.asciiValue else { return false }
      position += 1
      return true
    }

    mutating func value() throws -> JSON {
      skipSpace()
      guard position < bytes.count else { throw fault }
      switch bytes[position] {
      case UInt8(ascii: "{"): return .object(try object())
      case UInt8(ascii: "["): return .array(try array())
      case UInt8(ascii: "\""): return .string(try string())
      case UInt8(ascii: "t"): return try word("true", .bool(true))
      case UInt8(ascii: "f"): return try word("false", .bool(false))
      case UInt8(ascii: "n"): return try word("null", .null)
      default: return .number(try number())
      }
    }

    private mutating func object() throws -> [String: JSON] {
      position += 1
      var members: [String: JSON] = [:]
      if take("}") { return members }
      repeat {
        skipSpace()
        let name = try string()
        guard take(":") else { throw fault }
        members[name] = try value()
      } while take(",")
      guard take("}") else { throw fault }
      return members
    }

    private mutating func array() throws -> [JSON] {
      position += 1
      var elements: [JSON] = []
      if take("]") { return elements }
      repeat { elements.append(try value()) } while take(",")
      guard take("]") else { throw fault }
      return elements
    }

    private mutating func word(_ word: String, _ value: JSON) throws -> JSON {
      for byte in word.utf8 where try next() != byte { throw fault }
      return value
    }

    private mutating func number() throws -> Double {
      let start = position
      while position < bytes.count, bytes[position] == 0x2d || bytes[position] == 0x2e || (0x30...0x39).contains(bytes[position])
      {
        position += 1
      }
      guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)) else { throw fault }
      return number
    }

    private mutating func string() throws -> String {
      guard try next() == 0x22 else { throw fault }
      let start = position
      while position < bytes.count, bytes[position] != 0x22, bytes[position] != 0x5c { position += 1 }
      var text = String(decoding: bytes[start..<position], as: UTF8.self)
      while true {
        let byte = try next()
        if byte == 0x22 { return text }
        if byte == 0x5c { text.unicodeScalars.append(try escaped()) } else { try append(byte, to: &text) }
      }
    }

    private func append(_ byte: UInt8, to text: inout String) throws {
      // Behind an escape the model test's texts go on in ASCII.
      guard byte < 0x80 else { throw fault }
      text.unicodeScalars.append(Unicode.Scalar(byte))
    }

    private mutating func escaped() throws -> Unicode.Scalar {
      let byte = try next()
      switch byte {
      case UInt8(ascii: "n"): return "\n"
      case UInt8(ascii: "u"):
        let digits = String(decoding: [try next(), try next(), try next(), try next()], as: UTF8.self)
        guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else { throw fault }
        return scalar
      default: return Unicode.Scalar(byte)
      }
    }
  }
}
