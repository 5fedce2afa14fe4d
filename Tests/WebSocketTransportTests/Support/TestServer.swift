import Synchronization
import WebSocketTransport

/// A transport whose events a test can wait for, and whose behaviour it can set.
final class TestServer: TransportDelegate {
  struct Opened: Sendable {
    let connection: Connection
    let head: RequestHead
  }
  struct Message: Sendable, Equatable {
    let text: String
    let isText: Bool
  }
  struct Refused: Sendable, Equatable {
    let path: String
    let status: Int
    let isUpgrade: Bool
  }
  struct Dropped: Sendable, Equatable {
    let address: String
    let reason: EarlyEnd
  }
  struct ReceivedRequest: Sendable {
    let request: HTTPRequest
    let exchange: HTTPExchange
  }
  /// Behaviour that a test may replace before the first client comes.
  struct Behaviour: Sendable {
    var decideUpgrade: @Sendable (RequestHead) -> UpgradeVerdict = { _ in .accept }
    var open: @Sendable (Connection) -> Void = { _ in }
    var receive: @Sendable (Connection, [UInt8], Bool) -> Void = { _, _, _ in }
    var request: (@Sendable (HTTPRequest, HTTPExchange) -> Void)?
    var reachDeadline: @Sendable (Connection) -> Void = { _ in }
    var tick: @Sendable (EventLoop) -> Void = { _ in }
    var admit: @Sendable (String) -> Admission = { _ in .admitted }
  }

  let opened = EventQueue<Opened>()
  let messages = EventQueue<Message>()
  let closed = EventQueue<Int>()
  let closeCount = Atomic(0)
  let closedByPeer = EventQueue<Bool>()
  let refused = EventQueue<Refused>()
  let requests = EventQueue<ReceivedRequest>()
  let dropped = EventQueue<Dropped>()
  let left = EventQueue<String>()
  let pauses = EventQueue<Duration>()
  private let behaviour: Behaviour

  private init(_ behaviour: Behaviour) { self.behaviour = behaviour }

  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict {
    behaviour.decideUpgrade(copy head)
  }

  func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {
    refused.add(Refused(path: head.path, status: status, isUpgrade: isUpgrade))
  }

  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler {
    behaviour.open(connection)
    opened.add(Opened(connection: connection, head: copy head))
    return Handler(server: self, connection: connection)
  }

  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) {
    if let answer = behaviour.request { answer(request, exchange) }
    requests.add(ReceivedRequest(request: request, exchange: exchange))
  }

  func admission(of address: String) -> Admission { behaviour.admit(address) }
  func didLeave(_ address: String) { left.add(address) }
  func didDrop(_ address: String, for reason: EarlyEnd) { dropped.add(Dropped(address: address, reason: reason)) }
  func didPause(_ loop: EventLoop, for time: Duration) { pauses.add(time) }

  func didTick(_ loop: EventLoop) { behaviour.tick(loop) }

  private final class Handler: ConnectionHandler {
    let server: TestServer
    let connection: Connection

    init(server: TestServer, connection: Connection) {
      self.server = server
      self.connection = connection
    }

    func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {
      // The padding must be readable; a sanitizer would object.
      let padded = UnsafeRawBufferPointer(start: message.baseAddress, count: message.count + 64)
      withExtendedLifetime(padded.reduce(0) { $0 &+ Int($1) }) {}
      server.behaviour.receive(connection, Array(message), isText)
      server.messages.add(Message(text: String(decoding: message, as: UTF8.self), isText: isText))
    }

    func didReachDeadline() { server.behaviour.reachDeadline(connection) }

    func didClose(code: Int, byPeer: Bool) {
      server.closeCount.add(1, ordering: .relaxed)
      server.closed.add(code)
      server.closedByPeer.add(byPeer)
    }
  }
}

extension TestServer {
  /// A running server.
  struct Running {
    let server: TestServer
    let transport: Transport
    /// Whether the public listener has TLS, which its clients then use.
    let isTLS: Bool
    /// Nil = the loops go by the system's.
    fileprivate let clock: ManualClock?

    var loop: EventLoop { transport.loops[0] }
    var port: Int { transport.publicPort ?? 0 }
    var internalPort: Int { transport.internalPort ?? 0 }

    /// A client, and the server's end of it.
    func connect(
      _ path: String = "/ws", headers: [String] = [], receiveBuffer: Int? = nil
    ) throws -> (WebSocketClient, Connection) {
      let client = try WebSocketClient(
        port: port, path: path, headers: headers, receiveBuffer: receiveBuffer, isTLS: isTLS)
      return (client, try server.opened.next().connection)
    }

    /// Lets time pass by the server's clock. Returns when the loops have done what is due then.
    func advance(by milliseconds: Int64) throws {
      clock?.advance(by: milliseconds)
      for loop in transport.loops { try on(loop) { loop.runTimers() } }
    }

    /// Runs `body` on the first loop and waits for its result.
    func onLoop<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws -> Value { try on(loop, body) }

    fileprivate func on<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () -> Value) throws -> Value {
      let done = EventQueue<Value>()
      loop.enqueue { done.add(body()) }
      return try done.next()
    }
  }

  /// - Parameter clock: of the loops; nil = the system's.
  static func with(
    _ change: (inout TransportConfiguration) -> Void = { _ in }, behaviour: Behaviour = Behaviour(),
    clock: ManualClock? = nil, _ body: (Running) async throws -> Void
  ) async throws {
    // No ping comes between the frames that a test expects, or closes a client that reads nothing,
    // however long the test takes.
    var configuration = TransportConfiguration(
      listen: ("127.0.0.1", TestPorts.next()), internalListen: ("127.0.0.1", TestPorts.next()),
      pingInterval: .seconds(3600))
    if clock != nil { configuration.clock = ManualClock.read }
    change(&configuration)
    let server = TestServer(behaviour)
    let transport = try Transport(configuration, delegate: server)
    transport.start()
    let running = Running(server: server, transport: transport, isTLS: configuration.tls != nil, clock: clock)
    if let clock { for loop in transport.loops { try running.on(loop) { ManualClock.use(clock) } } }
    let result: Result<Void, any Error>
    do { result = .success(try await body(running)) } catch { result = .failure(error) }
    if clock != nil { for loop in transport.loops { try? running.on(loop) { ManualClock.use(nil) } } }
    await transport.stop()
    try result.get()
  }
}

/// Ports below the ephemeral range, from which the system takes those of clients.
enum TestPorts {
  private static let range = 20_000..<28_000
  private static let last = Mutex(Int.random(in: range))

  /// Tries each port of the range once.
  static func next() -> Int {
    last.withLock { last in
      for _ in range {
        last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
        if SocketClient.isFree(port: last) { return last }
      }
      preconditionFailure("no port of \(range) is free")
    }
  }
}
