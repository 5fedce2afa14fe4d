import CTLSClient
import Glibc

/// The TLS settings of a run's connections.
final class TLSContext {
  /// The certificates that a connection accepts.
  enum Trust {
    /// Those for the server's name from an authority of the system.
    case system
    /// Those for the server's name from an authority in a PEM file.
    case file(String)
    /// All.
    case any
  }

  private let context: OpaquePointer
  private let host: String

  /// - Parameter host: the server's name or IP address.
  init(host: String, trust: Trust) throws(BenchmarkError) {
    self.host = host
    var reason = [CChar](repeating: 0, count: 256)
    let context =
      switch trust {
      case .system: tc_context_create(true, nil, &reason, reason.count)
      case .file(let path): tc_context_create(true, path, &reason, reason.count)
      case .any: tc_context_create(false, nil, &reason, reason.count)
      }
    guard let context else { throw BenchmarkError("TLS: \(TLSContext.text(reason))") }
    self.context = context
    // OpenSSL writes without MSG_NOSIGNAL.
    signal(SIGPIPE, SIG_IGN)
  }

  deinit { tc_context_release(context) }

  /// Creates the TLS state of a socket; the owner releases it with `tc_release`.
  func makeConnection(_ socket: Int32) throws(BenchmarkError) -> OpaquePointer {
    guard let connection = tc_create(context, socket, host) else { throw BenchmarkError("TLS: no more memory") }
    return connection
  }

  /// The reason why the last call on a connection failed.
  static func reason(_ connection: OpaquePointer) -> String {
    var reason = [CChar](repeating: 0, count: 256)
    tc_reason(connection, &reason, reason.count)
    return text(reason)
  }

  private static func text(_ reason: [CChar]) -> String {
    String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension ClientPool {
  /// Continues the TLS handshake; at its end the upgrade follows.
  func continueHandshake(_ number: Int) {
    guard let tls = table[number].tls else { return }
    switch tc_handshake(tls) {
    case TC_DONE: didSecure(number)
    case TC_WANTS_READ: poller.change(table[number].descriptor, number: number, writing: false)
    case TC_WANTS_WRITE: poller.change(table[number].descriptor, number: number, writing: true)
    case TC_ENDED: end(number, .lost(0))
    case TC_UNTRUSTED: end(number, .untrusted(TLSContext.reason(tls)))
    default: end(number, .tls(TLSContext.reason(tls)))
    }
  }

  /// Reads and handles all that has come, also from OpenSSL's buffer, which epoll does not know.
  func readTLS(_ number: Int, _ tls: OpaquePointer) {
    var status = TC_DONE
    while status == TC_DONE {
      var length = 0
      status = tc_read(tls, buffer, ClientPool.bufferSize, &length)
      let ending: Ending? =
        switch status {
        case TC_ENDED: .lost(0)
        case TC_FAILED: .tls(TLSContext.reason(tls))
        default: nil
        }
      if length > 0 { handleBytes(number, length) }
      // The bytes may have ended the connection, and `tls` with it.
      guard table[number].descriptor >= 0 else { return }
      if let ending { return end(number, ending) }
    }
  }

  /// - Returns: the number of bytes written; below 0 after the connection's end, whose reason the
  ///   reading side finds.
  func writeTLS(_ tls: OpaquePointer, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    var written = 0
    let status = tc_write(tls, bytes, count, &written)
    return status == TC_ENDED || status == TC_FAILED ? -1 : written
  }
}
