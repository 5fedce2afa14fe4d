import GroupModel

/// The address of a listener (Operations.md, "Listeners"): `HOST:PORT`, where an IPv6 address stands
/// in brackets and no host is every IPv4 address, or `unix:` with the absolute path of a socket.
public enum ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// An address or a name, without brackets; port 0 = any free one.
  case tcp(host: String, port: UInt16)
  /// The absolute path of a Unix socket.
  case unix(path: String)

  /// The longest path of a socket: `sun_path` has 108 bytes with the zero behind it.
  private static let longestPath = 107
  private static let unixPrefix = "unix:"

  /// The address that a text spells, or nil.
  public init?(_ text: String) {
    if text.hasPrefix(ListenAddress.unixPrefix) {
      let path = text.dropFirst(ListenAddress.unixPrefix.count)
      let isFile = path.hasPrefix("/") && !path.hasSuffix("/") && !path.utf8.contains(0)
      guard isFile, path.utf8.count <= ListenAddress.longestPath else { return nil }
      self = .unix(path: String(path))
      return
    }
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
    self = .tcp(host: host.isEmpty ? "0.0.0.0" : String(host), port: port)
  }

  /// The host; nil for a Unix socket.
  public var host: String? {
    if case .tcp(let host, _) = self { host } else { nil }
  }

  /// The TCP port, 0 = any free one; nil for a Unix socket.
  public var port: UInt16? {
    if case .tcp(_, let port) = self { port } else { nil }
  }

  /// Whether both listeners would take the same port of an address of this machine, or the same file.
  /// `[::]` takes IPv4, too. A name other than `localhost` is not looked up: only itself and `[::]` are
  /// known to overlap it.
  func overlaps(_ other: ListenAddress) -> Bool {
    guard case .tcp(let host, let port) = self, case .tcp(let otherHost, let otherPort) = other else { return self == other }
    guard port == otherPort, port != 0 else { return false }
    let hosts = [host.lowercased(), otherHost.lowercased()]
    if hosts[0] == hosts[1] { return true }
    let (own, others) = (ListenAddress.addresses(of: hosts[0]), ListenAddress.addresses(of: hosts[1]))
    if (own + others).contains(where: { $0.isIPv6 && $0.isEvery }) { return true }
    return own.contains { one in
      others.contains { one == $0 || (one.isIPv6 == $0.isIPv6 && (one.isEvery || $0.isEvery)) }
    }
  }

  /// The addresses of a host; none where they are not known without looking it up.
  private static func addresses(of host: String) -> [IPAddress] {
    (host == "localhost" ? ["127.0.0.1", "::1"] : [host]).compactMap { IPAddress($0) }
  }

  /// The same address with the port that was bound.
  public func bound(to port: Int?) -> ListenAddress {
    guard case .tcp(let host, _) = self, let port, let port = UInt16(exactly: port) else { return self }
    return .tcp(host: host, port: port)
  }

  /// The text that `init(_:)` reads.
  public var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): ListenAddress.unixPrefix + path
    }
  }
}

extension IPAddress {
  /// Whether it stands for every address of its family.
  fileprivate var isEvery: Bool { bytes.allSatisfy { $0 == 0 } }
}

extension ValueType where Value == ListenAddress {
  static let listenAddress = scalar(
    "HOST:PORT (an IPv6 host in brackets), or unix:/PATH", as: [.string], show: \.description, parse: ListenAddress.init,
    unless: \.betterExpectation)
}

extension String {
  /// A better description than the type's name of the address that this text might have been.
  fileprivate var betterExpectation: String? {
    if hasPrefix("unix:") { return "unix: and an absolute path of at most 107 bytes" }
    return hasPortAboveMaximum ? "a port of at most 65535" : nil
  }

  /// Whether the port is a number above 65,535.
  private var hasPortAboveMaximum: Bool {
    guard let colon = lastIndex(of: ":") else { return false }
    let digits = self[index(after: colon)...]
    return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber } && UInt16(digits) == nil
  }
}
