/// Reads a flat JSON object in the form that libraries give tokens: without blanks, with texts of
/// printable ASCII without escapes, integers of up to 15 digits, true, false and null. Whatever is of
/// another form, a fault included, is left to Foundation, which takes 20,000 instructions for an object.
struct PlainObject {
  enum Value {
    case text(ArraySlice<UInt8>)
    case integer(Int64)
    case flag(Bool)
    case null
  }

  private let bytes: [UInt8]
  private var index = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Gives a body each member, until it returns false.
  /// - Returns: whether the bytes are such an object, and the body has taken all of it.
  static func read(_ bytes: [UInt8], _ body: (_ name: String, _ value: Value) -> Bool) -> Bool {
    var object = PlainObject(bytes)
    guard object.skip(UInt8(ascii: "{")) else { return false }
    repeat {
      guard let name = object.text(), object.skip(UInt8(ascii: ":")), let value = object.value() else { return false }
      guard body(String(decoding: name, as: UTF8.self), value) else { return false }
    } while object.skip(UInt8(ascii: ","))
    return object.skip(UInt8(ascii: "}")) && object.index == bytes.count
  }

  private mutating func skip(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skip(_ word: String) -> Bool {
    guard bytes[index...].starts(with: word.utf8) else { return false }
    index += word.utf8.count
    return true
  }

  private mutating func value() -> Value? {
    guard index < bytes.count else { return nil }
    switch bytes[index] {
    case UInt8(ascii: "\""): return text().map { .text($0) }
    case UInt8(ascii: "t"): return skip("true") ? .flag(true) : nil
    case UInt8(ascii: "f"): return skip("false") ? .flag(false) : nil
    case UInt8(ascii: "n"): return skip("null") ? .null : nil
    default: return integer().map { .integer($0) }
    }
  }

  private mutating func text() -> ArraySlice<UInt8>? {
    guard skip(UInt8(ascii: "\"")) else { return nil }
    let start = index
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\"") { return bytes[start..<index - 1] }
      guard byte &- 0x20 < 0x5F, byte != UInt8(ascii: "\\") else { return nil }
    }
    return nil
  }

  /// Exact as a `Double`. A fraction or an exponent behind it ends the reading of the object.
  private mutating func integer() -> Int64? {
    let isNegative = skip(UInt8(ascii: "-"))
    let start = index
    var number: Int64 = 0
    while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 {
      guard index - start < 15 else { return nil }
      number = number * 10 + Int64(bytes[index] - UInt8(ascii: "0"))
      index += 1
    }
    guard index > start, index == start + 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
    return isNegative ? -number : number
  }
}

extension PlainObject.Value {
  /// Sets a member that is a text.
  /// - Returns: false where it is of another kind, or was named before.
  func set(_ member: inout String?) -> Bool {
    guard member == nil, case .text(let text) = self else { return false }
    member = String(decoding: text, as: UTF8.self)
    return true
  }

  /// The same for a number.
  func set(_ member: inout Double?) -> Bool {
    guard member == nil, case .integer(let number) = self else { return false }
    member = Double(number)
    return true
  }

  /// The same for a flag.
  func set(_ member: inout Bool?) -> Bool {
    guard member == nil, case .flag(let flag) = self else { return false }
    member = flag
    return true
  }
}

/// A part of a token that is read without Foundation where its form is plain.
protocol PlainPart: Decodable {
  /// Nil where the text is of another form, or names a member twice.
  init?(plain bytes: [UInt8])
}

extension TokenHeader: PlainPart {
  init?(plain bytes: [UInt8]) {
    var (alg, kid): (String?, String?) = (nil, nil)
    let isPlain = PlainObject.read(bytes) { name, value in
      switch name {
      case "alg": value.set(&alg)
      case "kid": value.set(&kid)
      case "crit": false
      default: true
      }
    }
    guard isPlain, let alg else { return nil }
    self.init(alg: alg, kid: kid, crit: nil)
  }
}

extension TokenClaims: PlainPart {
  init?(plain bytes: [UInt8]) {
    var sub: String?
    var (exp, nbf, iat): (Double?, Double?, Double?) = (nil, nil, nil)
    var adm: Bool?
    let isPlain = PlainObject.read(bytes) { name, value in
      switch name {
      case "sub": value.set(&sub)
      case "exp": value.set(&exp)
      case "nbf": value.set(&nbf)
      case "iat": value.set(&iat)
      case "adm": value.set(&adm)
      default: true
      }
    }
    guard isPlain, let sub, let exp else { return nil }
    self.init(sub: sub, exp: exp, nbf: nbf, iat: iat.map { AnyDate(seconds: $0) }, adm: adm)
  }
}
