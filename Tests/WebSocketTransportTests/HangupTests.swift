import Dispatch
import Synchronization
import Testing
import WebSocketTransport

/// Many clients that hang up at once: each turn of the loop closes only a few of them.
@Suite struct HangupTests {
  private static let count = 400
  /// In hangups.c: the bound for a loop with few connections, and those that the library reads
  /// again.
  private static let mostPerTurn = 64 + 32

  @Test(arguments: [false, true])
  func hungUpConnectionsAreClosedAFewPerTurn(isReset: Bool) async throws {
    try await expectFewClosesPerTurn { lost in
      if isReset { for client in lost { client.socket.resetAtEnd() } }
      lost = []
    }
  }

  @Test func connectionsThatCannotBeWrittenAreClosedAFewPerTurn() async throws {
    let topics = Mutex<[Topic]>([])
    try await expectFewClosesPerTurn { connections, loop in
      let topic = Topic(on: loop)
      for connection in connections { topic.subscribe(connection) }
      topics.withLock { $0 = [topic] }
    } losing: { lost in
      for client in lost { client.socket.resetAtEnd() }
      lost = []
    } afterwards: {
      topics.withLock { $0.first?.publish("to connections that are gone", .lossless) }
    }
  }

  /// The loop is blocked while clients hang up; then it runs `afterwards`.
  private func expectFewClosesPerTurn(
    prepare: @escaping @Sendable ([Connection], EventLoop) -> Void = { _, _ in },
    losing: (inout [WebSocketClient]) -> Void,
    afterwards: @escaping @Sendable () -> Void = {}
  ) async throws {
    try await TestServer.with { running in
      let loop = running.loop
      var clients: [WebSocketClient] = []
      let connections = try (0..<Self.count).map { _ in
        let (client, connection) = try running.connect()
        clients.append(client)
        return connection
      }
      try running.onLoop { prepare(connections, loop) }
      // libev doubles its event buffer whenever a poll has filled it.
      for _ in 0..<3 {
        try block(loop) { for client in clients { try client.send("many events") } }
        for _ in clients { _ = try running.server.messages.next() }
      }
      let watch = TurnWatch(running)
      try block(loop) {
        losing(&clients)
      } afterwards: {
        watch.begin()
        afterwards()
      }
      for _ in 0..<Self.count { #expect(try running.server.closed.next() == 1006) }
      let most = try running.onLoop { watch.mostCloses }
      #expect((1...Self.mostPerTurn).contains(most))
    }
  }

  /// Counts the closes between two turns, until no connection is left or the time limit has passed:
  /// work that queues itself for ever would keep the transport from stopping.
  private final class TurnWatch: Sendable {
    private let running: TestServer.Running
    private let most = Mutex(0)
    private let limit = ContinuousClock.now + .seconds(60)

    init(_ running: TestServer.Running) { self.running = running }

    var mostCloses: Int { most.withLock { $0 } }

    func begin() { look(before: 0) }

    private func look(before: Int) {
      let closed = running.server.closeCount.load(ordering: .relaxed)
      most.withLock { $0 = max($0, closed - before) }
      if closed < HangupTests.count && .now < limit { running.loop.enqueue { self.look(before: closed) } }
    }
  }

  /// Runs `body` while the loop is blocked.
  private func block(
    _ loop: EventLoop, _ body: () throws -> Void, afterwards: @escaping @Sendable () -> Void = {}
  ) throws {
    let isBlocked = EventQueue<Void>()
    let release = DispatchSemaphore(value: 0)
    loop.enqueue {
      isBlocked.add(())
      release.wait()
      afterwards()
    }
    try isBlocked.next()
    defer { release.signal() }
    try body()
  }
}
