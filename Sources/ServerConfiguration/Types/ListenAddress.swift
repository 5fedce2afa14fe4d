import GroupModel

/// The address of a listener, `HOST:PORT` (Operations.md, "Listeners"). An IPv6 address stands in
/// brackets; without a host it is every IPv4 address.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// An address or a name, without brackets.
  public let host: String
  /// The TCP port; 0 = any free one.
  public let port: UInt16

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// The address that a text spells, or nil.
  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(digits) else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard IPAddress(String(host))?.isIPv6 == true else { return nil }
    } else {
      guard host.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }) else { return nil }
    }
    self.init(host: host.isEmpty ? "0.0.0.0" : String(host), port: port)
  }

  /// The text that `init(_:)` reads.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension ValueType where Value == ListenAddress {
  static let listenAddress = scalar(
    "HOST:PORT (an IPv6 host in brackets)", as: [.string], show: \.description, parse: ListenAddress.init,
    unless: { $0.hasPortAboveMaximum ? "a port of at most 65535" : nil })
}

extension String {
  /// Whether the port is a number above 65,535.
  fileprivate var hasPortAboveMaximum: Bool {
    guard let colon = lastIndex(of: ":") else { return false }
    let digits = self[index(after: colon)...]
    return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(digits) == nil
  }
}
