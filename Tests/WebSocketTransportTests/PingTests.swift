import Testing
import WebSocketTransport

@Suite struct PingTests {
  private static func quick(_ configuration: inout TransportConfiguration) {
    configuration.pingInterval = .milliseconds(300)
    configuration.pingTimeout = .milliseconds(1500)
    configuration.handshakeTimeout = 1  // shorter than the tests: it must not outlive the handshake
  }

  @Test func aSilentConnectionClosesWith4003() async throws {
    try await TestServer.with(Self.quick) { running in
      let (client, _) = try running.connect()
      #expect(try client.receive().opcode == WebSocketClient.Opcode.ping.rawValue)
      #expect(try client.receive().code == 4003)
      #expect(try running.server.closed.next() == 4003)
    }
  }

  /// Any frame is a sign of life: the pong, one without its payload, a ping, a message.
  @Test(arguments: [WebSocketClient.Opcode.pong, .ping, .text])
  func anyFrameKeepsTheConnection(opcode: WebSocketClient.Opcode) async throws {
    try await TestServer.with(Self.quick) { running in
      let (client, _) = try running.connect()
      var pings = 0
      while pings < 3 {
        let frame = try client.receive()
        #expect(frame.opcode != WebSocketClient.Opcode.close.rawValue)
        guard frame.opcode == WebSocketClient.Opcode.ping.rawValue else { continue }
        pings += 1
        try client.send(opcode, [])
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
