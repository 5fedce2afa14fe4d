import Glibc

/// Why a connection ended.
enum Ending: Equatable, CustomStringConvertible {
  /// connect(2) failed (errno).
  case unreachable(Int32)
  /// The TLS handshake refused the server's certificate.
  case untrusted(String)
  /// TLS failed in another way.
  case tls(String)
  /// The server did not upgrade it.
  case refused(String)
  /// The server closed it: code and reason of its close frame.
  case closed(code: Int, reason: String)
  /// It ended without a close frame (errno, 0 = end of the stream).
  case lost(Int32)
  /// The server sent bytes that are no WebSocket frame.
  case invalidFrame
  /// The server sent a compressed message that cannot be inflated.
  case invalidCompression

  var description: String {
    switch self {
    case .unreachable(let error): "cannot connect: \(String(cString: strerror(error)))"
    case .untrusted(let reason): "the server's certificate is not accepted: \(reason)"
    case .tls(let reason): "TLS failed: \(reason)"
    case .refused(let answer): "the server refused the upgrade: \(answer)"
    case .closed(let code, let reason): "the server closed with \(code)\(reason.isEmpty ? "" : " (\(reason))")"
    case .lost(0): "the server ended the connection without a close frame"
    case .lost(let error): "the connection broke: \(String(cString: strerror(error)))"
    case .invalidFrame: "the server sent bytes that are no WebSocket frame"
    case .invalidCompression: "the server sent a compressed message that cannot be inflated"
    }
  }

  /// The key of such endings in the report.
  var label: String {
    switch self {
    case .unreachable: "unreachable"
    case .untrusted, .tls: "tls"
    case .refused: "refused"
    case .closed(let code, _): String(code)
    case .lost: "lost"
    case .invalidFrame, .invalidCompression: "breach"
    }
  }
}
