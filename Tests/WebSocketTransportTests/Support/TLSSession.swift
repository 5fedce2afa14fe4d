import CTLSClient
import Foundation

/// TLS of a client over a connected socket; it accepts any certificate.
final class TLSSession {
  private let descriptor: Int32
  private let connection: OpaquePointer

  /// Makes the handshake. The socket stays the caller's, and does not block any more.
  init(over descriptor: Int32) throws {
    var reason = [CChar](repeating: 0, count: 256)
    guard let context = tc_context_create(false, nil, &reason, reason.count) else {
      throw SocketClient.Failed(description: "no TLS context")
    }
    defer { tc_context_release(context) }
    guard let connection = tc_create(context, descriptor, "localhost") else {
      throw SocketClient.Failed(description: "no TLS connection")
    }
    self.descriptor = descriptor
    self.connection = connection
    var on: Int32 = 1
    guard ioctl(descriptor, UInt(FIONBIO), &on) == 0 else { throw SocketClient.Failed(description: "ioctl: \(errno)") }
    while true {
      let status = tc_handshake(connection)
      if status == TC_DONE { return }
      try wait(after: status)
    }
  }

  deinit { tc_release(connection) }

  func write(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      var count = 0
      let status = bytes[sent...].withUnsafeBytes { tc_write(connection, $0.baseAddress, $0.count, &count) }
      sent += count
      if status != TC_DONE { try wait(after: status) }
    }
  }

  /// What has come, at least one byte; nothing at the end of the stream.
  func read() throws -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      var count = 0
      let status = tc_read(connection, &chunk, chunk.count, &count)
      if count > 0 || status == TC_ENDED { return Array(chunk.prefix(count)) }
      try wait(after: status)
    }
  }

  /// The time limit only ends a test that has already failed.
  private func wait(after status: tc_status) throws {
    var polled = pollfd(fd: descriptor, events: 0, revents: 0)
    switch status {
    case TC_WANTS_READ: polled.events = Int16(POLLIN)
    case TC_WANTS_WRITE: polled.events = Int16(POLLOUT)
    default:
      var reason = [CChar](repeating: 0, count: 256)
      tc_reason(connection, &reason, reason.count)
      let text = String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw SocketClient.Failed(description: "TLS: \(text)")
    }
    var ready: Int32
    repeat { ready = poll(&polled, 1, 60_000) } while ready < 0 && errno == EINTR
    guard ready > 0 else { throw SocketClient.Failed(description: "TLS: the server is silent") }
  }
}
