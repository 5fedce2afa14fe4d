import CTLSPeer
import Foundation
import GroupModel
import Synchronization
import Testing

extension UserID: ExpressibleByStringLiteral {
  /// A name of a test, which is well-formed.
  public init(stringLiteral name: String) { self = UserID(name)! }
}

/// An HTTP server for tests: a thread for each connection, and a closure that says what follows a
/// request. The closure may block.
final class Receiver: Sendable {
  /// A request as it has come.
  struct ReceivedRequest: Sendable {
    /// `POST /path HTTP/1.1`.
    let line: String
    /// By lowercase name.
    let headers: [String: String]
    let body: [UInt8]
    /// The connection's number, from 0.
    let connection: Int
  }

  /// The answer to a request.
  enum Reply: Sendable {
    /// These bytes; the connection stays open.
    case bytes(String)
    /// These bytes; the connection is closed behind them.
    case lastBytes(String)
    /// Nothing, until the client closes the connection.
    case nothing

    static func answer(_ body: String = "{}", status: String = "200 OK", headers: String = "") -> Reply {
      .bytes("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)\r\n\(body)")
    }
  }

  /// The requests so far.
  struct Log: Sendable {
    fileprivate(set) var connections = 0
    fileprivate(set) var requests: [ReceivedRequest] = []
    /// Requests without an answer, and the most there were at once.
    fileprivate(set) var open = 0
    fileprivate(set) var mostOpen = 0
    /// Connections that have ended.
    fileprivate(set) var closed = 0
  }

  private struct State {
    var log = Log()
    var sockets: Set<Int32> = []
    var isStopped = false
    var waiting: [(condition: @Sendable (Log) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  let port: UInt16
  private let listener: Int32
  private let tls: TLS?
  private let greeting: String
  private let reply: @Sendable (ReceivedRequest) -> Reply
  private let state = Mutex(State())

  private init(tls: TLS?, greeting: String, reply: @escaping @Sendable (ReceivedRequest) -> Reply) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // Port 0: the kernel chooses a free one.
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 200) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    precondition(isBound, "no port to listen on")
    self.listener = listener
    self.tls = tls
    self.greeting = greeting
    self.reply = reply
    port = UInt16(bigEndian: address.sin_port)
  }

  /// Runs `body` beside a receiver and stops that afterwards.
  /// - Parameter greeting: what it says on a new connection before any request.
  static func run(
    tls: TLS? = nil, greeting: String = "", reply: @escaping @Sendable (ReceivedRequest) -> Reply = { _ in .answer() },
    _ body: (Receiver) async throws -> Void
  ) async throws {
    let receiver = Receiver(tls: tls, greeting: greeting, reply: reply)
    Thread.detachNewThread { receiver.accept() }
    defer { receiver.stop() }
    try await body(receiver)
  }

  var url: String { "\(tls == nil ? "http" : "https")://localhost:\(port)/hook" }

  var log: Log { state.withLock { $0.log } }

  /// Returns when the condition holds.
  func wait(for condition: @escaping @Sendable (Log) -> Bool) async {
    await withCheckedContinuation { continuation in
      change { $0.waiting.append((condition, continuation)) }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    let ready = state.withLock { state in
      body(&state)
      let log = state.log
      let ready = state.waiting.filter { $0.condition(log) }
      state.waiting.removeAll { $0.condition(log) }
      return ready.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  private func stop() {
    state.withLock { state in
      state.isStopped = true
      for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while case let socket = Glibc.accept(listener, nil, nil), socket >= 0 {
      var number = 0
      change { state in
        number = state.log.connections
        state.log.connections += 1
        state.sockets.insert(socket)
        if state.isStopped { shutdown(socket, Int32(SHUT_RDWR)) }
      }
      let connection = number
      Thread.detachNewThread { self.serve(socket, connection) }
    }
    close(listener)
  }

  private func serve(_ socket: Int32, _ connection: Int) {
    let stream = Stream(socket, tls)
    if !greeting.isEmpty { _ = stream.write(greeting) }
    while let request = stream.readRequest(connection) {
      change { state in
        state.log.requests.append(request)
        state.log.open += 1
        state.log.mostOpen = max(state.log.mostOpen, state.log.open)
      }
      let reply = reply(request)
      if case .nothing = reply { stream.waitForEnd() }
      // Before the bytes: a client that has them may start its next request.
      change { $0.log.open -= 1 }
      guard case .bytes(let text) = reply else {
        if case .lastBytes(let text) = reply { _ = stream.write(text) }
        break
      }
      guard stream.write(text) else { break }
    }
    stream.release()
    change { state in
      state.log.closed += 1
      state.sockets.remove(socket)
      _ = close(socket)
    }
  }
}

extension Receiver {
  /// A server's certificate and key.
  ///
  /// @unchecked Sendable: OpenSSL counts the references to a context under a lock of its own, and
  /// nothing else of it changes.
  final class TLS: @unchecked Sendable {
    fileprivate let context: OpaquePointer
    /// PEM of the certificate.
    let certificateFile: String

    /// - Parameter name: the one that the certificate is for.
    init(name: String) throws {
      certificateFile = NSTemporaryDirectory() + "throng-webhooks-\(UUID().uuidString).pem"
      context = try #require(tp_context_create(name, certificateFile))
    }

    deinit {
      tp_context_release(context)
      unlink(certificateFile)
    }
  }

  /// The bytes of a connection, on the thread that serves it.
  private final class Stream {
    private let socket: Int32
    private let tls: OpaquePointer?
    private var received: [UInt8] = []

    init(_ socket: Int32, _ tls: TLS?) {
      self.socket = socket
      self.tls = tls.flatMap { tp_create($0.context, socket) }
    }

    func release() { if let tls { tp_release(tls) } }

    /// Nil at the connection's end.
    func readRequest(_ connection: Int) -> ReceivedRequest? {
      while true {
        if let request = nextRequest(connection) { return request }
        guard read() else { return nil }
      }
    }

    func waitForEnd() { while read() {} }

    func write(_ text: String) -> Bool {
      let bytes = Array(text.utf8)
      if let tls { return tp_write(tls, bytes, bytes.count) }
      var sent = 0
      while sent < bytes.count {
        let count = bytes[sent...].withUnsafeBufferPointer { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return false }
        sent += count
      }
      return true
    }

    private func read() -> Bool {
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = tls.map { tp_read($0, &bytes, bytes.count) } ?? recv(socket, &bytes, bytes.count, 0)
      guard count > 0 else { return false }
      received += bytes[..<count]
      return true
    }

    private func nextRequest(_ connection: Int) -> ReceivedRequest? {
      guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").map(String.init)
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        if parts.count == 2 { headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
      }
      let length = headers["content-length"].flatMap { Int($0) } ?? 0
      guard received.count >= end.upperBound + length else { return nil }
      let body = Array(received[end.upperBound..<end.upperBound + length])
      received.removeFirst(end.upperBound + length)
      return ReceivedRequest(line: lines.first ?? "", headers: headers, body: body, connection: connection)
    }
  }
}
