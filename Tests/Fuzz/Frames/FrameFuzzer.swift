import Dispatch
import Foundation
import Synchronization
import WebSocketTransport

/// Sends any bytes to a running transport as the stream of an upgraded client.
///
/// The server echoes each text, or publishes it to a topic when it begins with "t". Its own stream
/// must be whole frames, at most one of them a close frame and no text behind it, and the texts
/// must come back unchanged and in order. Each connection must end, exactly once, within the time
/// limit.
final class FrameFuzzer: Sendable {
  private let server = Server()
  private let transport: Transport
  private let port: Int

  init() throws {
    var configuration = TransportConfiguration(listen: ("127.0.0.1", 0))
    configuration.maxMessageBytes = 1000
    configuration.compressionBytes = 1 << 20
    transport = try Transport(configuration, delegate: server)
    guard let port = transport.publicPort else { fatalError("no port") }
    self.port = port
    transport.start()
  }

  /// The first byte is the size of the writes; 0 sends everything together with the upgrade.
  func run(_ input: UnsafeRawBufferPointer) {
    guard let size = input.first.map({ Int($0) }) else { return }
    let stream = Array(input.dropFirst())
    let client = FuzzClient(port: port)
    var head: [UInt8] = []
    if size == 0 {
      client.send(FuzzClient.upgrade + stream)
    } else {
      client.send(FuzzClient.upgrade)
      head = client.receive()
      for start in Swift.stride(from: 0, to: stream.count, by: size) {
        client.send(Array(stream[start..<min(start + size, stream.count)]))
      }
    }
    client.finishSending()
    let (answer, isReset) = client.receiveAll()
    let (received, fault) = server.waitForClose()
    if let fault { fatalError(fault) }
    check(head + answer, received, mayBeCutOff: isReset)
  }

  /// A server that closes before it has read everything resets the connection, which may cost the
  /// client the end of the stream.
  private func check(_ answer: [UInt8], _ received: [[UInt8]], mayBeCutOff: Bool) {
    let mark = Array("\r\n\r\n".utf8)
    guard let end = (0...max(0, answer.count - 4)).first(where: { answer[$0...].starts(with: mark) }) else {
      precondition(mayBeCutOff, "no answer to the upgrade")
      return
    }
    var rest = answer[(end + 4)...], texts: [[UInt8]] = [], isClosed = false
    while let first = rest.first {
      // RFC 6455 section 5.5.2: a PING that comes before the peer's close frame gets its PONG.
      precondition(!isClosed || first == 0x8a, "a frame behind the close frame: \(answer[(end + 4)...])")
      guard let (payload, next) = Self.frame(rest) else {
        precondition(mayBeCutOff, "a frame is cut off or malformed")
        break
      }
      switch first {
      case 0x81: texts.append(payload)
      case 0x88: isClosed = true
      case 0x8a: break
      default: fatalError("a frame that begins with \(first)")
      }
      rest = next
    }
    for isOfTopic in [false, true] {
      let sent = received.filter { ($0.first == 0x74) == isOfTopic }
      precondition(sent.starts(with: texts.filter { ($0.first == 0x74) == isOfTopic }), "other texts came back")
    }
  }

  private static func frame(_ bytes: ArraySlice<UInt8>) -> (payload: [UInt8], rest: ArraySlice<UInt8>)? {
    let bytes = Array(bytes)
    guard bytes.count >= 2 else { return nil }
    let extra = bytes[1] == 126 ? 2 : bytes[1] == 127 ? 8 : 0
    guard bytes[1] < 128, bytes.count >= 2 + extra else { return nil }
    let count = extra == 0 ? Int(bytes[1]) : bytes[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
    guard bytes.count >= 2 + extra + count else { return nil }
    return (Array(bytes[(2 + extra)...].prefix(count)), bytes[(2 + extra + count)...])
  }
}

/// One connection after the other.
private final class Server: TransportDelegate {
  private struct State {
    var received: [[UInt8]] = []
    var isClosed = false
    /// libFuzzer keeps the input of a crash only if that is on its own thread: a loop's blocks
    /// signals.
    var fault: String?
  }

  private let state = Mutex(State())
  private let closed = DispatchSemaphore(value: 0)

  /// The messages of the connection, and the fault of one, if any.
  func waitForClose() -> ([[UInt8]], String?) {
    guard closed.wait(timeout: .now() + 20) == .success else { fatalError("a connection did not end") }
    return state.withLock { state in
      defer { state = State() }
      return (state.received, state.fault)
    }
  }

  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict { .accept }
  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler {
    let topic = Topic(on: connection.loop)
    topic.subscribe(connection)
    return Handler(server: self, connection: connection, topic: topic)
  }
  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) {
    exchange.respond(status: 404, contentType: nil, body: [])
  }
  func didTick(_ loop: EventLoop) {}

  private final class Handler: ConnectionHandler {
    private let server: Server
    private let connection: Connection
    private let topic: Topic

    init(server: Server, connection: Connection, topic: Topic) {
      self.server = server
      self.connection = connection
      self.topic = topic
    }

    func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {
      let text = Array(message)
      server.state.withLock { state in
        state.received.append(text)
        if !isText || text.count > 1000 { state.fault = "a message that is binary or too long" }
        if String(validating: text, as: UTF8.self) == nil { state.fault = "a text is not UTF-8: \(text)" }
        if state.isClosed { state.fault = "a message after the end" }
      }
      if text.first == 0x74 { topic.publish(text, .lossless) } else { connection.send(text) }
    }

    func didClose(code: Int, byPeer: Bool) {
      server.state.withLock { state in
        if state.isClosed { state.fault = "two ends" }
        if !(1000..<5000).contains(code) { state.fault = "code \(code)" }
        state.isClosed = true
      }
      server.closed.signal()
    }
  }
}

/// A blocking client socket.
private final class FuzzClient {
  static let upgrade = Array(
    """
    GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n
    """.utf8)

  private var isReset = false
  private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

  init(port: Int) {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var limit = timeval(tv_sec: 20, tv_usec: 0), one: Int32 = 1
    // The end of this object resets the connection: thousands per second must not stay in
    // TIME_WAIT.
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { fatalError("cannot connect: \(errno)") }
  }

  deinit { close(descriptor) }

  /// The server may have closed, so a failure is none.
  func send(_ bytes: [UInt8]) { _ = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Some bytes; none at the end.
  func receive() -> [UInt8] {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    var count: Int
    repeat { count = recv(descriptor, &chunk, chunk.count, 0) } while count < 0 && errno == EINTR
    if count < 0 && errno == EAGAIN { fatalError("the server sends nothing") }
    if count < 0 { isReset = true }
    return Array(chunk.prefix(max(0, count)))
  }

  /// Everything up to the end of the stream, or to its reset.
  func receiveAll() -> (bytes: [UInt8], isReset: Bool) {
    var all: [UInt8] = []
    while case let chunk = receive(), !chunk.isEmpty { all += chunk }
    return (all, isReset)
  }
}

private let fuzzer: FrameFuzzer = {
  do { return try FrameFuzzer() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerTestOneInput")
func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzzer.run(UnsafeRawBufferPointer(start: data, count: count))
  return 0
}
