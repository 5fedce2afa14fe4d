/// The reason why a transport could not be made.
public enum TransportError: Error, Equatable, CustomStringConvertible {
  /// A listener's address is in use, not ours, or no address at all; `reason` is the system's text.
  case cannotBind(host: String, port: Int, reason: String)
  /// A Unix socket cannot be made; `reason` is a sentence, or the system's text.
  case cannotMakeSocket(path: String, reason: String)
  /// The certificate and the key cannot be used.
  case tls(reason: String)
  /// The library refused to make an event loop.
  case context(reason: String)

  /// The error as a sentence for an operator.
  public var description: String {
    switch self {
    case .cannotBind(let host, let port, let reason):
      "cannot listen on \(host.contains(":") ? "[\(host)]" : host):\(port): \(reason)"
    case .cannotMakeSocket(let path, let reason): "cannot listen on unix:\(path): \(reason)"
    case .tls(let reason): "cannot use the TLS files: \(reason)"
    case .context(let reason): "cannot make an event loop: \(reason)"
    }
  }
}

/// The reason of an error, which C writes into a buffer.
struct ErrorText {
  private var bytes = [CChar](repeating: 0, count: 512)

  /// Calls C with the buffer and its size.
  mutating func fill<Result>(_ body: (UnsafeMutablePointer<CChar>, Int) -> Result) -> Result {
    // Never empty, so it has an address.
    bytes.withUnsafeMutableBufferPointer { body($0.baseAddress!, $0.count) }
  }

  var text: String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
