import WebSocketTransport
import WireProtocol

/// What an upgrade brings to sign in with: `Authorization: Bearer`, or `?token=`, with `platform` and `deviceID` as further query
/// parameters (contract section 2). Never logged.
struct UpgradeCredential {
  private let token: String
  private let platform: String?
  private let deviceID: String?

  /// What the head holds; nil where there is no token.
  init?(_ head: borrowing RequestHead) {
    let query = QueryString(head.query)
    guard let token = BearerCredential.token(head.authorization) ?? query["token"] else { return nil }
    self.token = token
    platform = query["platform"]
    deviceID = query["deviceID"]
  }

  var login: Login { Login(token: token, platform: platform, deviceID: deviceID) }
}

/// The parameters of a query string; the first of a name counts. It is read as bytes: a token is long, and characters are dear.
struct QueryString {
  private let values: [String: String]

  init(_ query: String) {
    let pairs = Array(query.utf8).split(separator: UInt8(ascii: "&")).map { pair in
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      return (QueryString.decoded(name), QueryString.decoded(pair.dropFirst(name.count + 1)))
    }
    values = Dictionary(pairs) { first, _ in first }
  }

  subscript(name: String) -> String? { values[name] }

  /// Without percent-encoding; "+" is a space. What is not encoded properly stands as it is.
  private static func decoded(_ text: ArraySlice<UInt8>) -> String {
    guard text.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return String(decoding: text, as: UTF8.self)
    }
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = hexadecimal(rest.prefix(2)) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Two hexadecimal digits, and nothing else (a number's own parser takes a sign).
  private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
    let values = digits.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    return values.count == 2 ? UInt8(values[0] * 16 + values[1]) : nil
  }
}
