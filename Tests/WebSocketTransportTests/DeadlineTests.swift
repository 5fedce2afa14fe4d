import Synchronization
import Testing
import WebSocketTransport

@Suite struct DeadlineTests {
  /// The deadlines that a server's connections have reached, in order.
  private static func with(
    _ reach: @escaping @Sendable (Connection) -> Void = { _ in },
    _ body: (TestServer.Running, EventQueue<UInt64>) async throws -> Void
  ) async throws {
    let reached = EventQueue<UInt64>()
    let behaviour = TestServer.Behaviour(reachDeadline: { connection in
      reach(connection)
      reached.add(connection.number)
    })
    try await TestServer.with(behaviour: behaviour, clock: ManualClock()) { try await body($0, reached) }
  }

  @Test(arguments: [0, 1, 99, 100, 101, 350] as [Int64], [0, 37] as [Int64])
  func aDeadlineIsReachedWithinATickAndNotEarly(milliseconds: Int64, start: Int64) async throws {
    try await Self.with { running, reached in
      let (client, connection) = try running.connect()
      try running.advance(by: start)
      try running.onLoop { connection.setDeadline(inMilliseconds: milliseconds) }
      try running.advance(by: max(0, milliseconds - 1))
      #expect(reached.isEmpty)
      try running.advance(by: 101)
      #expect(try reached.next() == connection.number)
      try running.advance(by: 3_600_000)
      #expect(reached.isEmpty)
      withExtendedLifetime(client) {}
    }
  }

  @Test func aClearedOrReplacedDeadlineIsNotReached() async throws {
    try await Self.with { running, reached in
      let clients = try (0..<3).map { _ in try running.connect() }
      let connections = clients.map(\.1)
      try running.onLoop {
        connections[0].setDeadline(inMilliseconds: 100)
        connections[0].clearDeadline()
        connections[1].setDeadline(inMilliseconds: 9_007_199_254_740_991)
        connections[2].setDeadline(inMilliseconds: 100)
        connections[2].setDeadline(inMilliseconds: 600)
        connections[1].setDeadline(inMilliseconds: 300)
      }
      for connection in connections[1...] {
        try running.advance(by: 299)
        #expect(reached.isEmpty)
        try running.advance(by: 1)
        #expect(try reached.next() == connection.number)
      }
      try running.advance(by: 3_600_000)
      #expect(reached.isEmpty)
    }
  }

  @Test func aClosedConnectionReachesNoDeadline() async throws {
    try await Self.with { running, reached in
      let (client, connection) = try running.connect()
      let (other, later) = try running.connect()
      try running.onLoop {
        connection.setDeadline(inMilliseconds: 300)
        later.setDeadline(inMilliseconds: 600)
        connection.close(code: 4000, reason: "")
      }
      #expect(try client.receiveClose().code == 4000)
      try client.send(.close, [0x0F, 0xA0])
      #expect(try running.server.closed.next() == 4000)
      try running.onLoop { connection.setDeadline(inMilliseconds: 0) }
      try running.advance(by: 599)
      #expect(reached.isEmpty)
      try running.advance(by: 1)
      #expect(try reached.next() == later.number)
      #expect(reached.isEmpty)
      withExtendedLifetime(other) {}
    }
  }

  /// All stand in one slot of the wheel; each moves or closes the others while the slot is being
  /// gone through.
  @Test func aHandlerMayChangeAnyDeadline() async throws {
    let connections = Mutex<[Connection]>([])
    try await Self.with({ reached in
      for (index, connection) in connections.withLock({ $0 }).enumerated() where connection != reached {
        if index.isMultiple(of: 2) { connection.setDeadline(inMilliseconds: 200) } else { connection.clearDeadline() }
      }
    }) { running, reached in
      let clients = try (0..<9).map { _ in try running.connect() }
      connections.withLock { $0 = clients.map(\.1) }
      try running.onLoop { for connection in connections.withLock({ $0 }) { connection.setDeadline(inMilliseconds: 100) } }
      // Every turn reaches one and moves the rest of the even ones to a later one.
      for wait in [100, 200, 200, 200] as [Int64] {
        try running.advance(by: wait)
        _ = try reached.next()
        #expect(reached.isEmpty)
      }
      try running.onLoop { for connection in connections.withLock({ $0 }) { connection.clearDeadline() } }
      try running.advance(by: 1000)
      #expect(reached.isEmpty)
      withExtendedLifetime(clients) {}
    }
  }
}
