import Synchronization
import Testing

@testable import WebSocketTransport

/// A loop that did not run for a while: a stopped process, a paused machine.
@Suite struct PauseTests {
  private static func with(
    _ behaviour: TestServer.Behaviour = .init(), _ body: (TestServer.Running) async throws -> Void
  ) async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.pingInterval = .milliseconds(300)
      configuration.pingTimeout = .milliseconds(1500)
      configuration.handshakeTimeout = 3
      configuration.pauseLimit = .seconds(1)
    }
    try await TestServer.with(configure, behaviour: behaviour, clock: ManualClock(), body)
  }

  /// In steps that are no pauses.
  private static func walk(_ running: TestServer.Running, _ milliseconds: Int64) throws {
    for _ in 0..<milliseconds / 100 { try running.advance(by: 100) }
  }

  @Test func isNoTimeOfAConnection() async throws {
    try await Self.with { running in
      let (client, connection) = try running.connect()
      try Self.walk(running, 300)
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      try running.advance(by: 20_000)
      #expect(try running.server.pauses.next() >= .seconds(20))
      // The ping is still open, and has the rest of its time behind a second for reading.
      try Self.walk(running, 1000 + 1300)
      try running.onLoop { connection.send(Array("still open".utf8)) }
      #expect(try client.receiveText() == "still open")
      #expect(running.server.closed.isEmpty)
      try Self.walk(running, 400)
      #expect(try client.receiveClose().code == 4003)
      withExtendedLifetime(client) {}
    }
  }

  /// A ping that was due in the meantime leaves, and its answer has all its time.
  @Test func aPingThatWasDueIsSentAndAwaited() async throws {
    try await Self.with { running in
      let (client, _) = try running.connect()
      try running.advance(by: 20_000)
      try Self.walk(running, 1000 + 400)
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      try client.send(.pong, Array("throng".utf8))
      try client.socket.waitUntilReceived()
      try Self.walk(running, 1400)
      #expect(running.server.closed.isEmpty)
    }
  }

  @Test func isNoTimeOfADeadline() async throws {
    let reached = EventQueue<Bool>()
    try await Self.with(.init(reachDeadline: { _ in reached.add(true) })) { running in
      let (client, connection) = try running.connect()
      try running.onLoop { connection.setDeadline(inMilliseconds: 1000) }
      try Self.walk(running, 500)
      try running.advance(by: 3_600_000)
      try client.send("a sign of life")
      _ = try running.server.messages.next()
      try Self.walk(running, 1000 + 400)
      #expect(reached.isEmpty)
      try Self.walk(running, 300)
      _ = try reached.next()
    }
  }

  @Test func isNoTimeOfARequestThatIsOnItsWay() async throws {
    let behaviour = TestServer.Behaviour(request: { $1.respond(status: 200, contentType: nil, body: []) })
    try await Self.with(behaviour) { running in
      let client = try SocketClient(port: running.port)
      try client.send("GET / HTTP/1.1\r\nHost:")
      while try running.onLoop({ running.loop.counters().waitingConnections }) == 0 {}
      try running.advance(by: 20_000)
      try Self.walk(running, 1000 + 2500)
      try client.send(" a\r\n\r\n")
      #expect(try client.receive(through: "\r\n") == "HTTP/1.1 200 OK\r\n")
    }
  }

  @Test func aSecondIsNone() async throws {
    try await Self.with { running in
      let (client, _) = try running.connect()
      try running.advance(by: 1000)
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      #expect(running.server.pauses.isEmpty)
    }
  }
}
