import WebSocketTransport
import WireProtocol

/// The credential of an upgrade: `Authorization: Bearer`, or `?token=`, with `platform` and
/// `deviceID` as further query parameters (Protocol.md, "Ways to sign in"). Never logged.
struct UpgradeCredential {
  private let token: String
  private let platform: String?
  private let deviceID: String?

  /// Nil where the head holds no token.
  init?(_ head: borrowing RequestHead) {
    let query = QueryString(head.query)
    guard let token = BearerCredential.token(head.authorization) ?? query["token"] else { return nil }
    self.token = token
    platform = query["platform"]
    deviceID = query["deviceID"]
  }

  var login: Login { Login(token: token, platform: platform, deviceID: deviceID) }
}

/// The parameters of a query string; the first of a name counts. It is read as bytes, because
/// characters are costly in a long token.
struct QueryString {
  /// As a rule so few that hashing costs more than looking at each.
  private let pairs: [(name: String, value: String)]

  init(_ query: String) {
    var query = query
    pairs = query.withUTF8 { QueryString.pairs(in: $0) }
  }

  private static func pairs(in query: UnsafeBufferPointer<UInt8>) -> [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    var rest = query[...]
    while !rest.isEmpty {
      let pair = rest[..<(rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex)]
      rest = rest[pair.endIndex...].dropFirst()
      guard !pair.isEmpty else { continue }
      let name = pair[..<(pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex)]
      pairs.append((name: decoded(name), value: decoded(pair[name.endIndex...].dropFirst())))
    }
    return pairs
  }

  subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  /// Without percent-encoding; "+" is a space. An invalid escape stays as it is.
  private static func decoded(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return String(decoding: UnsafeBufferPointer(rebasing: text), as: UTF8.self)
    }
    var bytes: [UInt8] = []
    var remaining = text
    while let byte = remaining.popFirst() {
      if byte == UInt8(ascii: "%"), let value = hexadecimal(remaining.prefix(2)) {
        bytes.append(value)
        remaining = remaining.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Two hexadecimal digits and nothing else; `UInt8.init` would accept a sign.
  private static func hexadecimal(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> UInt8? {
    let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return values.count == 2 ? UInt8(values[0] * 16 + values[1]) : nil
  }
}

/// Reads `Authorization: Bearer`.
public enum BearerCredential {
  /// The token of the header; the scheme's case does not matter (RFC 9110, section 11.1). Nil where
  /// there is none.
  public static func token(_ authorization: String?) -> String? {
    guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return nil }
    return String(authorization.dropFirst(7).drop { $0 == " " })
  }
}
