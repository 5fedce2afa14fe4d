import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit
import WebSocketTransport

@testable import Gateway
@testable import ThrongServer

/// A gateway on a real transport, over a store in memory.
struct LiveGateway {
  let backend: Backend
  let gateway: Gateway
  let transport: Transport
  let port: Int

  var services: ComposedServices { backend.services }
  var store: GatedStore { backend.store }

  /// Runs `body` with a server, and stops it.
  static func with(
    world: World = World(), loops: Int = 1, sendQueueBytes: Int = 1 << 20, log: RecordingLog = RecordingLog(),
    tokens: any TokenChecking = NamedTokens(), spans: (any SpanRecorder)? = nil,
    _ configure: (inout GatewayConfiguration) -> Void = { _ in }, _ body: (LiveGateway) async throws -> Void
  ) async throws {
    let live = try LiveGateway(
      world, loops: loops, sendQueueBytes: sendQueueBytes, log: log, tokens: tokens, spans: spans, configure)
    await live.start()
    let result: Result<Void, any Error>
    do { result = .success(try await body(live)) } catch { result = .failure(error) }
    live.store.release()
    live.store.inner.release()
    await live.stop()
    try result.get()
  }

  init(
    _ world: World, loops: Int, sendQueueBytes: Int = 1 << 20, log: RecordingLog = RecordingLog(),
    rules: GroupRules = GroupRules(), cluster: ClusterPorts? = nil, tokens: any TokenChecking = NamedTokens(),
    spans: (any SpanRecorder)? = nil, _ configure: (inout GatewayConfiguration) -> Void
  ) throws {
    backend = Backend(
      world: world, rules: rules, executors: [], logger: log.logger, cluster: cluster, tokens: tokens, spans: spans
    ) { configuration in
      // A machine that is busy elsewhere may keep a test from signing in for longer than a client
      // would take.
      configuration.signInTime = .seconds(3600)
      // A fast machine sends more in a second than a user may: tests of rates set their own.
      configuration.requestBurst = 1_000_000
      configure(&configuration)
    }
    gateway = backend.services.gateway(http: StreamsOnly(routes: backend.services.eventStreamRoutes))
    (transport, port) = try LiveGateway.bind(loops, sendQueueBytes, gateway, isStill: world.alarms != nil)
    backend.services.use(transport.loops)
  }

  /// On a port below those that the system gives to clients.
  /// - Parameter isStill: the loops' time stands still, too.
  private static func bind(
    _ loops: Int, _ sendQueueBytes: Int, _ gateway: Gateway, isStill: Bool
  ) throws -> (Transport, Int) {
    while true {
      let port = Ports.next()
      do throws(TransportError) {
        var configuration = TransportConfiguration(loops: loops, listen: ("127.0.0.1", port))
        configuration.sendQueueBytes = sendQueueBytes
        configuration.publicBody = ("/rpc", 65_536)
        // The clients of tests answer no pings: none comes, however much time a test lets pass.
        configuration.pingInterval = .seconds(2_000_000)
        if isStill { configuration.clock = LoopClock.read }
        return (try Transport(configuration, delegate: gateway), port)
      } catch {
        guard case .cannotBind = error else { throw error }
      }
    }
  }

  /// Starts the loops.
  func start() async {
    transport.start()
    if backend.alarms != nil { await useOnLoops(backend.clocks) }
  }

  /// Ends the connections and the loops.
  func stop() async {
    await useOnLoops(nil)
    await transport.stop()
  }

  private func useOnLoops(_ clocks: ManualClocks?) async {
    for loop in transport.loops { await on(loop) { LoopClock.use(clocks) } }
  }

  // MARK: Time

  /// Lets milliseconds pass. Returns when the loops and groups have done what is due then. The loops'
  /// timers are as fine as 100 ms.
  func advance(by milliseconds: Int64) async {
    // What a client has heard of was done before.
    for loop in transport.loops { await on(loop) {} }
    backend.clocks.advance(by: milliseconds)
    backend.alarms?.ring(upTo: backend.clocks.monotonic)
    for loop in transport.loops { await on(loop) { loop.runTimers() } }
  }

  // MARK: Clients

  /// A connection that is not signed in.
  func connect() async throws -> Client { try await Client.open(port: port) }

  /// A session by the upgrade; returns when it has been told so.
  func signIn(_ user: String, _ query: String = "") async throws -> Client {
    let client = try await Client.open(port: port, query: "token=\(user)&\(query)")
    let first = try await client.next()
    guard first["method"].string == "onConnectSuccess" else { throw Client.Failed(description: "first frame \(first)") }
    return client
  }

  /// An event stream that has signed in, with its key.
  func openStream(_ user: String, _ query: String = "") async throws -> (client: Client, key: String) {
    let client = try await Client.openStream(port: port, query: "token=\(user)&\(query)")
    let first = try await client.next()
    guard first["method"].string == "onConnectSuccess", let key = first["params"]["streamKey"].string else {
      throw Client.Failed(description: "first event \(first)")
    }
    return (client, key)
  }

  /// Sends a request of an event stream by HTTP.
  func post(_ body: String, key: String?, headers: [String] = []) async throws -> HTTPAnswer {
    let credential = key.map { ["Authorization: Bearer \($0)"] } ?? []
    return try await HTTPAnswer.to("POST", "/rpc", port: port, headers: credential + headers, body: Array(body.utf8))
  }

  /// One call of an event stream, which must be answered with 200.
  func call(_ method: String, _ params: String = "{}", key: String) async throws -> JSON {
    let answer = try await post(#"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#, key: key)
    guard answer.status == 200 else { throw Client.Failed(description: "\(method) was answered with \(answer.status)") }
    return try answer.json
  }

  // MARK: What is left

  /// Runs `body` on a loop's thread.
  func on<Value: Sendable>(_ loop: EventLoop, _ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in loop.enqueue { continuation.resume(returning: body()) } }
  }

  /// Sessions with an open connection, by loop.
  func openSessions() async -> [[Weak]] {
    var sessions: [[Weak]] = []
    for loop in transport.loops {
      sessions.append(await on(loop) { [gateway] in gateway.context(of: loop).open.values.map { Weak($0) } })
    }
    return sessions
  }

  /// Returns when at least so many commits wait for the store.
  func waitForCommits(_ count: Int) async throws {
    try await waitUntil("\(count) commits wait") { store.inner.pendingCount >= count }
  }

  /// Returns when at least so many reads wait for the store.
  func waitForReads(_ count: Int) async throws {
    try await waitUntil("\(count) reads wait") { store.waitingCount >= count }
  }

  /// The traces of sessions once every connection has gone; all have to be 0.
  /// - Parameter failures: how many addresses may be remembered because of bad tokens, which lasts
  ///   some seconds.
  func remains(failures: Int = 0) async -> [String: Int] {
    await waitUntilDisconnected()
    var remains = ["sessions": services.sessionCount, "users": services.directory.userCount]
    remains["counts"] = services.dispatcher.quotas.userCount
    remains["addresses"] = max(0, services.connectionLimiter.addressCount - failures)
    for loop in transport.loops {
      remains["open", default: 0] += await on(loop) { [gateway] in gateway.context(of: loop).open.count }
    }
    return remains.filter { $0.value != 0 }
  }

  /// Returns when no connection is open, or after a minute, so that a leak fails the test.
  private func waitUntilDisconnected() async {
    await withTaskGroup { tasks in
      tasks.addTask { await gateway.waitUntilEmpty() }
      tasks.addTask { try? await sleepAMinute() }
      await tasks.next()
      tasks.cancelAll()
    }
  }

  /// A session without keeping it.
  final class Weak: Sendable {
    weak let session: Session?
    init(_ session: Session) { self.session = session }

    /// Returns when the session has been freed; a cycle of references would keep it.
    func waitUntilReleased() async throws { try await waitUntil("the session is freed") { session == nil } }
  }

  private struct StreamsOnly: HTTPHandling {
    let routes: EventStreamRoutes

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
      if !routes.handle(request, exchange) { exchange.respond(status: 404, contentType: nil, body: []) }
    }
  }
}

/// Ports for servers of tests that run at once.
private enum Ports {
  private static let last = Mutex(Int.random(in: 12_000..<20_000))

  static func next() -> Int {
    last.withLock { last in
      last = last >= 20_000 ? 12_000 : last + 1
      return last
    }
  }
}
