import Dispatch
import Synchronization
import Testing
import WebSocketTransport

/// Many connections that are lost at once: in each turn of the loop only a few of them are closed.
@Suite struct LossTests {
  private static let count = 400
  /// In losses.c: the bound for a loop with few connections, and those that it lets the library read again.
  private static let mostPerTurn = 64 + 32

  @Test(arguments: [false, true])
  func lostConnectionsAreClosedAFewPerTurn(isReset: Bool) async throws {
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
      topics.withLock { $0.first?.publish("to those who are gone", lane: .lossless) }
    }
  }

  /// The loop does nothing while clients are lost; then it runs `afterwards`.
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
      // libev takes twice as many events at once whenever it was given as many as it could take.
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

  /// Counts the closes between two turns until no connection is left.
  private final class TurnWatch: Sendable {
    private let running: TestServer.Running
    private let most = Mutex(0)

    init(_ running: TestServer.Running) { self.running = running }

    var mostCloses: Int { most.withLock { $0 } }

    func begin() { look(before: 0) }

    private func look(before: Int) {
      let closed = running.server.closeCount.load(ordering: .relaxed)
      most.withLock { $0 = max($0, closed - before) }
      if closed < LossTests.count { running.loop.enqueue { self.look(before: closed) } }
    }
  }

  /// Runs `body` while the loop does nothing.
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
