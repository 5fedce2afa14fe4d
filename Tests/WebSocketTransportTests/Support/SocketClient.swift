import Foundation

/// A blocking TCP connection, or a socket that leads to one.
final class SocketClient {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var keepsAlive: AnyObject?
  /// Nil: the bytes go as they are.
  private var tls: TLSSession?

  /// - Parameters:
  ///   - source: the address that the client has; nil = 127.0.0.1.
  ///   - receiveBuffer: bytes; the system doubles it and has a minimum.
  init(port: Int, from source: String? = nil, receiveBuffer: Int? = nil, isTLS: Bool = false) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw Failed(description: "socket: \(errno)") }
    self.descriptor = descriptor
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer.map(Int32.init) {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
      // A segment of the loopback is larger than such a buffer: the sender would use a window that is a little
      // smaller than half of it only when its timer asks, five times a second.
      var segment: Int32 = 536
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_MAXSEG, &segment, socklen_t(MemoryLayout<Int32>.size))
    }
    if let source {
      var own = Self.loopback(0)
      own.sin_addr.s_addr = inet_addr(source)
      let bound = withUnsafePointer(to: &own) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
      }
      guard bound == 0 else { throw Failed(description: "bind: \(errno)") }
    }
    var address = Self.loopback(port)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failed(description: "connect: \(errno)") }
    if isTLS { tls = try TLSSession(over: descriptor) }
  }

  init(descriptor: Int32, keepingAlive owner: AnyObject) {
    self.descriptor = descriptor
    keepsAlive = owner
  }

  deinit { close(descriptor) }

  /// Reserves a port without a listener, though connections may live on, so that no other test gets
  /// it meanwhile; nil where there is a listener.
  init?(reserving port: Int) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = Self.loopback(port)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    if result != 0 { return nil }
  }

  static func isFree(port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    return address
  }

  func send(_ bytes: [UInt8]) throws {
    if let tls { return try tls.write(bytes) }
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress! + sent, bytes.count - sent) }
      guard count > 0 else { throw Failed(description: "write: \(errno)") }
      sent += count
    }
  }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  /// Returns when the server's system has all that was sent, whether or not the server has read it.
  func waitUntilReceived() throws {
    let end = ContinuousClock.now + .seconds(60)
    var waiting: Int32 = 0
    repeat {
      guard ioctl(descriptor, UInt(TIOCOUTQ), &waiting) == 0 else { throw Failed(description: "ioctl: \(errno)") }
      guard ContinuousClock.now < end else { throw Failed(description: "\(waiting) bytes are under way") }
      if waiting > 0 { usleep(1000) }
    } while waiting > 0
  }

  /// Exactly `count` bytes.
  func receive(_ count: Int) throws -> [UInt8] {
    while buffer.count < count {
      guard try fill() else { throw Failed(description: "the stream ended") }
    }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  /// Everything up to and including the mark.
  func receive(through mark: String) throws -> String {
    let mark = Array(mark.utf8)
    guard let last = mark.last.map(Int32.init) else { return "" }
    var searched = 0
    while true {
      // By the C library: a loop over the bytes of a build without optimisation takes seconds for a megabyte.
      let found = buffer.withUnsafeBytes { bytes -> Int? in
        guard let start = bytes.baseAddress else { return nil }
        return memchr(start + searched, last, bytes.count - searched).map { start.distance(to: $0) + 1 }
      }
      if let end = found {
        if buffer[..<end].suffix(mark.count).elementsEqual(mark) { return String(decoding: try receive(end), as: UTF8.self) }
        searched = end
      } else {
        searched = buffer.count
        guard try fill() else { throw Failed(description: "the stream ended") }
      }
    }
  }

  /// Waits for the end of the stream; what comes before it is dropped. A reset counts as an end.
  func waitForEnd() throws {
    if let tls {
      while try !tls.read().isEmpty {}
      return
    }
    while true {
      var chunk = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &chunk, chunk.count)
      if count == 0 || (count < 0 && errno == ECONNRESET) { return }
      guard count > 0 else { throw Failed(description: "read: \(errno)") }
    }
  }

  /// Whether the server has ended the connection; what came before the end is dropped.
  var hasEnded: Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count <= 0 { return count == 0 || errno == ECONNRESET }
    }
  }

  /// The end of this object will reset the connection.
  func resetAtEnd() {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
  }

  func shutdownSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  private func fill() throws -> Bool {
    if let tls {
      let bytes = try tls.read()
      buffer.append(contentsOf: bytes)
      return !bytes.isEmpty
    }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &chunk, chunk.count)
    guard count >= 0 else { throw Failed(description: "read: \(errno)") }
    buffer.append(contentsOf: chunk.prefix(count))
    return count > 0
  }
}
