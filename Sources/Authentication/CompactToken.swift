import Foundation

/// A token split into its three parts (RFC 7515 section 7.1), not verified yet.
struct CompactToken {
  /// Far more than claims need, and little work to read.
  static let maximumBytes = 8192

  /// The parts that are JSON.
  enum Part { case header, payload }

  /// It keeps nothing of what it has read, so that all threads share it.
  private static let decoder = JSONDecoder()

  /// The header and the payload as they were signed, with the dot between them.
  let signedBytes: [UInt8]
  private let header: ArraySlice<UInt8>
  private let payload: ArraySlice<UInt8>
  private let encodedSignature: ArraySlice<UInt8>

  init(_ token: String) throws(TokenFault) {
    guard token.utf8.count <= CompactToken.maximumBytes else {
      throw .unsigned(.malformed, "it has \(token.utf8.count) bytes, and a token at most \(CompactToken.maximumBytes)")
    }
    let bytes = Array(token.utf8)
    let dot = UInt8(ascii: ".")
    guard let first = bytes.firstIndex(of: dot), let last = bytes.lastIndex(of: dot), first < last,
      !bytes[first + 1..<last].contains(dot)
    else {
      throw .unsigned(.malformed, bytes.isEmpty ? "it is empty" : "it is not three parts with a dot between two of them")
    }
    header = bytes[..<first]
    payload = bytes[first + 1..<last]
    encodedSignature = bytes[(last + 1)...]
    guard Base64URL.isAlphabetic(header), Base64URL.isAlphabetic(payload), Base64URL.isAlphabetic(encodedSignature) else {
      throw .unsigned(.malformed, "it holds a character that base64url does not have, such as a blank, a quote or =")
    }
    signedBytes = Array(bytes[..<payload.endIndex])
  }

  /// The signature; nil where it cannot be decoded. That is a wrong signature, not a malformed
  /// token: every change of a character has the same code.
  var signature: [UInt8]? { Base64URL.decode(encodedSignature) }

  /// A part; nil where it is no JSON object, or a member is not of the type's kind. `members` tells
  /// the caller which.
  func read<T: Decodable>(_ part: Part, as type: T.Type) -> T? {
    Base64URL.decode(text(of: part)).flatMap { CompactToken.decode($0, as: type) }
  }

  /// The same for a part that may be plain.
  func read<T: PlainPart>(_ part: Part, as type: T.Type) -> T? {
    guard let bytes = Base64URL.decode(text(of: part)) else { return nil }
    return T(plain: bytes) ?? CompactToken.decode(bytes, as: type)
  }

  private func text(of part: Part) -> ArraySlice<UInt8> {
    switch part {
    case .header: header
    case .payload: payload
    }
  }

  private static func decode<T: Decodable>(_ bytes: [UInt8], as type: T.Type) -> T? {
    guard isPlainJSON(bytes) else { return nil }
    return try? decoder.decode(type, from: Data(bytes))
  }

  /// The members of a part, whatever they are; nil where it is no JSON object.
  func members(of part: Part) -> [String: TokenMember]? { read(part, as: [String: TokenMember].self) }

  /// Whether the text is an object in UTF-8 (RFC 7519 section 7.2). Foundation also reads one behind
  /// a byte order mark, and one in UTF-16 or UTF-32, in which zeros stand.
  private static func isPlainJSON(_ bytes: [UInt8]) -> Bool {
    let first = bytes.first { !" \t\r\n".utf8.contains($0) }
    return first == UInt8(ascii: "{") && !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
  }
}

/// The value of a member of a header or payload. Lists and objects are not read: their depth is the
/// sender's choice.
enum TokenMember: Decodable, Equatable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list
  case object
  /// A number that no `Double` holds, or a broken text.
  case unreadable

  private enum AnyName: String, CodingKey { case any }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if (try? decoder.unkeyedContainer()) != nil {
      self = .list
    } else if (try? decoder.container(keyedBy: AnyName.self)) != nil {
      self = .object
    } else {
      self = .unreadable
    }
  }

  /// The kind of the value, in words.
  var kind: String {
    switch self {
    case .null: "null"
    case .flag(let flag): "\(flag)"
    case .number: "a number"
    case .text: "text"
    case .list: "a list"
    case .object: "an object"
    case .unreadable: "no value that can be read"
    }
  }
}
