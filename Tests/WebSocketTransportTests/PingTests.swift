import Testing
import WebSocketTransport

@Suite struct PingTests {
  /// Runs `body` with pings that are to be answered within a time, which may be longer than their interval.
  private func with(
    interval: Duration = .milliseconds(300), timeout: Duration = .milliseconds(1500),
    _ body: (TestServer.Running) async throws -> Void
  ) async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.pingInterval = interval
      configuration.pingTimeout = timeout
    }
    try await TestServer.with(configure, clock: ManualClock(), body)
  }

  @Test func aSilentConnectionClosesWith4003() async throws {
    try await with { running in
      let (client, connection) = try running.connect()
      try running.advance(by: 300)
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      try running.advance(by: 1400)
      try running.onLoop { connection.send(Array("still open".utf8)) }
      #expect(try client.receiveText() == "still open")
      try running.advance(by: 100)
      #expect(try client.receive().code == 4003)
      // It does not answer the close either.
      try running.advance(by: 5000)
      #expect(try running.server.closed.next() == 4003)
    }
  }

  @Test func theTimeoutOfTheHandshakeEndsWithIt() async throws {
    try await TestServer.with({ $0.handshakeTimeout = 3 }) { running in
      let (client, connection) = try running.connect()
      try await Task.sleep(for: .seconds(4))
      try running.onLoop { connection.send(Array("still open".utf8)) }
      #expect(try client.receiveText() == "still open")
    }
  }

  /// Any frame is a sign of life: the pong, one without its payload, a ping, a message.
  @Test(arguments: [WebSocketClient.Opcode.pong, .ping, .text])
  func anyFrameKeepsTheConnection(opcode: WebSocketClient.Opcode) async throws {
    try await with { running in
      let (client, _) = try running.connect()
      for _ in 0..<8 {
        try running.advance(by: 300)
        #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
        try client.send(opcode, [])
        switch opcode {
        case .text: _ = try running.server.messages.next()
        case .ping: #expect(try client.receive().opcode == WebSocketClient.Opcode.pong.rawValue)
        default: try client.socket.waitUntilReceived()
        }
      }
    }
  }

  @Test func theTimeForAnAnswerMayBeShorterThanTheInterval() async throws {
    try await with(interval: .milliseconds(2000), timeout: .milliseconds(500)) { running in
      let (client, _) = try running.connect()
      for _ in 0..<3 {
        try running.advance(by: 2000)
        #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
        try client.send(.pong, [])
        try client.socket.waitUntilReceived()
        try running.advance(by: 500)
        try running.advance(by: 1500)
        #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
        try client.send(.pong, [])
        try client.socket.waitUntilReceived()
      }
      try running.advance(by: 2000)
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      try running.advance(by: 500)
      #expect(try client.receive().code == 4003)
    }
  }

  @Test func ticksComeOnTheLoop() async throws {
    let ticks = EventQueue<Bool>()
    try await TestServer.with(behaviour: .init(tick: { ticks.add($0.isCurrent) })) { _ in
      for _ in 0..<3 {
        let isOnLoop = try ticks.next()
        #expect(isOnLoop)
      }
    }
  }
}
