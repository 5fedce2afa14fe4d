import Testing
import WebSocketTransport

@Suite struct PingTests {
  /// Runs `body` with pings every 300 ms that are to be answered within 1500 ms.
  private func with(_ body: (TestServer.Running) async throws -> Void) async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.pingInterval = .milliseconds(300)
      configuration.pingTimeout = .milliseconds(1500)
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
      for _ in 0..<4 {
        try running.advance(by: 300)
        #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
        try client.send(opcode, [])
        switch opcode {
        case .text: _ = try running.server.messages.next()
        case .ping: #expect(try client.receive().opcode == WebSocketClient.Opcode.pong.rawValue)
        default: try client.socket.waitUntilReceived()
        }
        try running.advance(by: 1500)
      }
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
