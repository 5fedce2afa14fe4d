import Glibc

@testable import LoadGenerator

/// The server side of a pool, in the same thread, step by step.
final class Peer {
  private let listener: Int32
  private(set) var sockets: [Int32] = []
  let port: UInt16

  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // Port 0: the kernel chooses a free one.
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 100) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    precondition(bound, "no port to listen on")
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
  }

  deinit {
    for socket in sockets { close(socket) }
    close(listener)
  }

  var address: Address { get throws { try Address(url: "ws://127.0.0.1:\(port)/") } }

  /// Accepts the next connection.
  func accept() -> Int32 {
    let socket = Glibc.accept(listener, nil, nil)
    sockets.append(socket)
    return socket
  }

  /// Everything that has arrived so far.
  func received(_ socket: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let length = recv(socket, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return length > 0 ? Array(bytes[..<length]) : []
  }

  /// The texts in the frames that have arrived; the key of the mask is always 0.
  func texts(_ socket: Int32) -> [String] {
    var rest = received(socket)[...]
    var texts: [String] = []
    while rest.count >= 6 {
      let head = Array(rest.prefix(14))
      var length = Int(head[1] & 0x7f)
      var size = 6
      if length == 126 { (length, size) = (Int(head[2]) << 8 | Int(head[3]), 8) }
      texts.append(String(decoding: rest.dropFirst(size).prefix(length), as: UTF8.self))
      rest = rest.dropFirst(size + length)
    }
    return texts
  }

  func send(_ socket: Int32, _ bytes: some Collection<UInt8>) {
    let bytes = Array(bytes)
    precondition(Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  func send(_ socket: Int32, text: String) {
    send(socket, FrameTests.serverFrame(opcode: Frame.Opcode.text, Array(text.utf8)))
  }

  func hangUp(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

  static let upgrade = Array(
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: \(Handshake.accept)\r\n\r\n".utf8)
}

/// A dialect without steps; a text that is a number is the reply to the message of that number.
final class PlainDialect: Dialect {
  let answersMessages = true
  let opcode = Frame.Opcode.text
  var outcome = Outcome.delivered
  private(set) var texts: [String] = []

  func upgrade(of number: Int, offersDeflate: Bool) -> [UInt8] {
    Handshake.request(target: "/", host: "h", subprotocol: nil, offersDeflate: offersDeflate)
  }

  func step(_ step: Int, of number: Int) -> SetupStep? { nil }

  func parse(_ text: UnsafeRawBufferPointer, on number: Int, step: Int?) -> ServerMessage {
    let text = String(decoding: text, as: UTF8.self)
    texts.append(text)
    return Int(text).map { .reply(id: $0, outcome) } ?? .nothing
  }
}

/// A run with open connections, and the server side of each.
struct PlainRun {
  let peer = Peer()
  let dialect = PlainDialect()
  let run: Run
  let sockets: [Int32]

  /// - Parameter upgrade: the response to the upgrade of a connection.
  init(
    connections: Int, compressionCheck: CompressionCheck? = nil, upgrade: (Int) -> [UInt8] = { _ in Peer.upgrade }
  ) throws {
    let pool = try ClientPool(count: connections, recorder: Recorder(), compressionCheck: compressionCheck)
    let connectOptions = ConnectOptions(address: try peer.address.resolve(), sources: 0, tls: nil)
    run = Run(pool: pool, dialect: dialect, connectOptions: connectOptions, timeout: 10)
    var sockets: [Int32] = []
    for number in 0..<connections {
      try pool.connect(number, connectOptions)
      let socket = peer.accept()
      sockets.append(socket)
      peer.send(socket, upgrade(number))
      try PlainRun.wait(run) { pool.table[number].phase == .open || pool.table[number].phase == .closed }
      if let refusal = run.refusal { throw refusal }
    }
    self.sockets = sockets
    // The upgrade's requests.
    for socket in sockets { _ = peer.received(socket) }
  }

  /// Polls until the condition holds; throws when it does not within the limit.
  func wait(_ condition: () -> Bool) throws { try PlainRun.wait(run, condition) }

  static func wait(_ run: Run, _ condition: () -> Bool) throws {
    let deadline = Clock.now() + 20 * Clock.second
    while !condition() {
      guard Clock.now() < deadline else { throw BenchmarkError("the condition does not come true") }
      run.poll(until: Clock.now() + Clock.millisecond)
    }
  }
}
