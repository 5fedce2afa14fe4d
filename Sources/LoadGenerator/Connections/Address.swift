import Glibc

/// The server's address in `--url`.
public struct Address: Sendable, Equatable {
  /// Name or number of the host.
  public let host: String
  /// The port.
  public let port: UInt16
  /// Path and query, beginning with a slash.
  public let target: String
  /// wss://
  public let isTLS: Bool

  /// Reads `ws://HOST[:PORT][/PATH][?QUERY]` or the same with `wss`; throws for any other text.
  public init(url: String) throws(BenchmarkError) {
    isTLS = url.hasPrefix("wss://")
    guard isTLS || url.hasPrefix("ws://") else {
      throw BenchmarkError("'\(url)' is no WebSocket address: ws://HOST:PORT/PATH or wss://HOST:PORT/PATH")
    }
    let rest = url.dropFirst(isTLS ? 6 : 5).prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let path = rest[authority.endIndex...]
    target = path.hasPrefix("/") ? String(path) : "/" + path
    // Inside the brackets of an IPv6 number the colons are no beginning of a port.
    let name = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    let portText = authority.dropFirst(name.count)
    guard let port = portText.isEmpty ? (isTLS ? 443 : 80) : UInt16(portText.dropFirst()), port > 0, !name.isEmpty, name != "[]"
    else {
      throw BenchmarkError("'\(url)' names no host and port: ws://HOST:PORT/PATH")
    }
    self.port = port
    host = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : String(name)
  }

  /// As the Host header says it.
  var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// The socket address; throws when the name is unknown.
  func resolve() throws(BenchmarkError) -> SocketAddress {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, String(port), &hints, &list)
    guard status == 0, let first = list?.pointee, let address = first.ai_addr else {
      throw BenchmarkError("the host \(host) is unknown: \(String(cString: gai_strerror(status)))")
    }
    defer { freeaddrinfo(list) }
    var storage = sockaddr_storage()
    memcpy(&storage, address, Int(first.ai_addrlen))
    return SocketAddress(storage: storage, length: first.ai_addrlen)
  }
}

/// An address as the kernel takes it.
struct SocketAddress {
  let storage: sockaddr_storage
  let length: socklen_t

  var isIPv4: Bool { storage.ss_family == sa_family_t(AF_INET) }

  /// 127.0.0.0/8
  var isLoopback: Bool {
    guard isIPv4 else { return false }
    return withUnsafeBytes(of: storage) { $0.load(fromByteOffset: 4, as: UInt8.self) } == 127
  }

  /// 127.0.1.N, any port: where connections come from when one address has too few ports.
  static func source(_ number: Int) -> SocketAddress {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = (0x7f00_0100 + UInt32(number)).bigEndian
    var storage = sockaddr_storage()
    withUnsafeBytes(of: &address) { bytes in withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: bytes) } }
    return SocketAddress(storage: storage, length: socklen_t(MemoryLayout<sockaddr_in>.size))
  }

  /// Calls `body` with the address in the form of connect(2) and bind(2).
  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}
