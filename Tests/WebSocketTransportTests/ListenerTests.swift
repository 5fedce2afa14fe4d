import Testing
import WebSocketTransport

@Suite struct ListenerTests {
  @Test func twoLoopsShareOnePort() async throws {
    try await TestServer.with({ $0.loops = 2 }) { running in
      var loops = Set<Int>()
      var clients: [WebSocketClient] = []
      while loops.count < 2 && clients.count < 200 {
        let (client, connection) = try running.connect()
        clients.append(client)
        loops.insert(connection.loop.index)
      }
      #expect(loops == [0, 1])
    }
  }

  @Test(arguments: [1, 2])
  func aPortInUseIsRefused(loops: Int) async throws {
    try await TestServer.with({ $0.loops = loops }) { running in
      #expect(throws: TransportError.cannotBind(host: "127.0.0.1", port: running.port, reason: "Address already in use")) {
        try Transport(TransportConfiguration(loops: loops, listen: ("127.0.0.1", running.port)), delegate: RefusingDelegate())
      }
    }
  }

  @Test func portZeroIsAnyFreeOne() async throws {
    let transport = try Transport(
      TransportConfiguration(loops: 2, listen: ("127.0.0.1", 0), internalListen: ("127.0.0.1", 0)), delegate: RefusingDelegate())
    #expect((transport.publicPort ?? 0) > 0 && (transport.internalPort ?? 0) > 0)
    #expect(transport.publicPort != transport.internalPort)
    await transport.stop()
  }

  @Test(arguments: [("256.1.1.1", 0), ("127.0.0.1", 70_000), ("192.0.2.1", 1)])
  func anInvalidAddressIsRefused(host: String, port: Int) throws {
    #expect(throws: TransportError.self) {
      try Transport(TransportConfiguration(listen: (host, port)), delegate: RefusingDelegate())
    }
  }

  @Test(arguments: ["127.0.0.1", "::"], ["127.0.0.9", "127.10.200.99", "127.109.255.254"])
  func anAddressHasItsDigits(host: String, source: String) async throws {
    try await TestServer.with({ $0.listen?.host = host }) { running in
      let client = try SocketClient(port: running.port, from: source)
      try client.send(WebSocketClient.request())
      #expect(try client.receive(through: "\r\n").hasPrefix("HTTP/1.1 101 "))
      #expect(try running.server.opened.next().head.peerAddress == source)
    }
  }

  @Test func dualStackPeersHaveTheirOwnAddress() async throws {
    try await TestServer.with({ $0.listen?.host = "::" }) { running in
      _ = try WebSocketClient(port: running.port)
      #expect(try running.server.opened.next().head.peerAddress == "127.0.0.1")
    }
  }
}
