import Synchronization
import Testing

@testable import WebSocketTransport

/// Connections that are no WebSockets yet: bounded, and the oldest gives way.
@Suite struct ArrivalTests {
  private static let half = "GET /ws HTTP/1.1\r\nHost: a\r\n"

  /// A connection with half a head, which the server has looked at.
  private static func halfHead(_ running: TestServer.Running, _ text: String = half) throws -> SocketClient {
    let before = try running.onLoop { running.loop.counters().waitingConnections }
    let client = try SocketClient(port: running.port)
    try client.send(text)
    let most = running.loop
    try waitUntil { try running.onLoop { most.counters().waitingConnections } > before || !running.server.dropped.isEmpty }
    return client
  }

  private static func waitUntil(_ isTrue: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !isTrue() {
      guard .now < end else { throw SocketClient.Failed(description: "it does not come") }
    }
  }

  private static func answer(_ running: TestServer.Running, _ text: String) throws -> String {
    let client = try SocketClient(port: running.port)
    try client.send(text)
    return try client.receive(through: "\r\n")
  }

  @Test func aHeadMayComeInPieces() async throws {
    try await TestServer.with { running in
      let request = Array(WebSocketClient.request().utf8)
      let client = try SocketClient(port: running.port)
      for start in stride(from: 0, to: request.count, by: 7) {
        try client.send(Array(request[start..<min(start + 7, request.count)]))
        try client.waitUntilReceived()
      }
      #expect(try client.receive(through: "\r\n").hasPrefix("HTTP/1.1 101"))
    }
  }

  @Test func thoseThatWaitAreCounted() async throws {
    let behaviour = TestServer.Behaviour(request: { $1.respond(status: 404, contentType: nil, body: []) })
    try await TestServer.with(behaviour: behaviour) { running in
      var clients = try (0..<3).map { _ in try Self.halfHead(running) }
      #expect(try running.onLoop { running.loop.counters().waitingConnections } == 3)
      try clients[0].send("\r\n")
      _ = try clients[0].receive(through: "\r\n")
      #expect(try running.onLoop { running.loop.counters().waitingConnections } == 2)
      clients = []
      try Self.waitUntil { try running.onLoop { running.loop.counters().waitingConnections } == 0 }
    }
  }

  @Test func theOldestGivesWayToTheNewest() async throws {
    let behaviour = TestServer.Behaviour(admit: { _ in .uncounted })
    try await TestServer.with({ $0.maxWaitingConnections = 8 }, behaviour: behaviour) { running in
      let clients = try (0..<12).map { _ in try Self.halfHead(running) }
      for client in clients.prefix(4) {
        try client.waitForEnd()
        #expect(try running.server.dropped.next() == .init(address: "127.0.0.1", reason: .total))
      }
      #expect(try Self.answer(running, WebSocketClient.request()).hasPrefix("HTTP/1.1 101"))
      try clients[4].waitForEnd()
      #expect(clients.suffix(7).allSatisfy { !$0.hasEnded })
    }
  }

  @Test func oneAddressHasAQuarter() async throws {
    try await TestServer.with({ $0.maxWaitingConnections = 40 }) { running in
      let clients = try (0..<13).map { _ in try Self.halfHead(running) }
      for client in clients.prefix(3) {
        try client.waitForEnd()
        #expect(try running.server.dropped.next() == .init(address: "127.0.0.1", reason: .address))
      }
      #expect(clients.suffix(10).allSatisfy { !$0.hasEnded })
    }
  }

  @Test func theInternalListenerHasPlacesOfItsOwn() async throws {
    let behaviour = TestServer.Behaviour(
      request: { $1.respond(status: 200, contentType: nil, body: []) }, admit: { _ in .uncounted })
    try await TestServer.with({ $0.maxWaitingConnections = 4 }, behaviour: behaviour) { running in
      let clients = try (0..<4).map { _ in try Self.halfHead(running) }
      for _ in 0..<9 { #expect(try HTTPClient(port: running.internalPort).ask("GET", "/").status == 200) }
      #expect(clients.allSatisfy { !$0.hasEnded })
    }
  }

  /// The delegate's bound: the oldest of the address gives way, or the newcomer where there is none.
  @Test func aFullAddressHasNoMore() async throws {
    let arriving = Mutex(0)
    let behaviour = TestServer.Behaviour(admit: { _ in
      arriving.withLock { arriving in
        guard arriving < 2 else { return .full }
        arriving += 1
        return .admitted
      }
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let first = try Self.halfHead(running), second = try Self.halfHead(running)
      let third = try SocketClient(port: running.port)
      // The test does not count down, so not even its place is free.
      try first.waitForEnd()
      try third.waitForEnd()
      for _ in 0..<2 { #expect(try running.server.dropped.next() == .init(address: "127.0.0.1", reason: .address)) }
      #expect(try running.server.left.next() == "127.0.0.1")
      #expect(!second.hasEnded)
    }
  }

  @Test func aWebSocketLeavesItsPlace() async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      #expect(try running.server.left.next() == "127.0.0.1")
      withExtendedLifetime(client) {}
    }
  }

  @Test func itsTimeEndsByTheLoopsClock() async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.handshakeTimeout = 3
      configuration.maxWaitingConnections = 1000
    }
    try await TestServer.with(configure, clock: ManualClock()) { running in
      let clients = try (0..<200).map { _ in try Self.halfHead(running) }
      try running.advance(by: 2900)
      #expect(clients.allSatisfy { !$0.hasEnded })
      try running.advance(by: 300)
      for client in clients { try client.waitForEnd() }
      for _ in clients { #expect(try running.server.dropped.next().reason == .timeout) }
    }
  }

  /// A body that does not come has a limit of its own, which its bytes do not prolong.
  @Test func aBodyHasItsTime() async throws {
    try await TestServer.with(clock: ManualClock()) { running in
      let client = try SocketClient(port: running.internalPort)
      try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
      _ = try client.receive(through: "\r\n\r\n")
      try running.advance(by: 59_000)
      try client.send("a")
      try client.waitUntilReceived()
      #expect(!client.hasEnded)
      try running.advance(by: 1_200)
      try client.waitForEnd()
      #expect(try running.server.dropped.next().reason == .timeout)
    }
  }

  /// All places in the library belong to connections whose time has just ended; a turn closes a few of
  /// them. A newcomer who is there before that gets such a place.
  @Test func aNewcomerGetsThePlaceOfOneWhoseTimeIsOver() async throws {
    let clock = ManualClock()
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.handshakeTimeout = 600
      configuration.maxWaitingConnections = 512
    }
    let behaviour = TestServer.Behaviour(admit: { _ in .uncounted })
    try await TestServer.with(configure, behaviour: behaviour, clock: clock) { running in
      // So many may be in the library: each waits there for its body.
      let clients = try (0..<64).map { _ in
        let client = try SocketClient(port: running.port)
        try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        _ = try client.receive(through: "\r\n\r\n")
        return client
      }
      // nonisolated(unsafe): the loop sends by it while this test waits for the loop.
      nonisolated(unsafe) let newcomer = try Self.halfHead(running, String(WebSocketClient.request().dropLast()))
      let isThere = try running.onLoop {
        clock.advance(by: 61_000)
        running.loop.runTimers()
        // The loop looks at its sockets before its next turn.
        return (try? newcomer.send("\r\n")) != nil && (try? newcomer.waitUntilReceived()) != nil
      }
      #expect(isThere)
      #expect(try newcomer.receive(through: "\r\n").hasPrefix("HTTP/1.1 101"))
      for client in clients { try client.waitForEnd() }
      for _ in clients { #expect(try running.server.dropped.next().reason == .timeout) }
    }
  }

  /// Outside the library, too: those who come before the turn that closes them do not push one
  /// another out.
  @Test func newcomersGetThePlacesOfThoseWhoseTimeIsOver() async throws {
    let clock = ManualClock()
    let behaviour = TestServer.Behaviour(admit: { _ in .uncounted })
    try await TestServer.with({ $0.maxWaitingConnections = 4 }, behaviour: behaviour, clock: clock) { running in
      let clients = try (0..<4).map { _ in try Self.halfHead(running) }
      let isOver = EventQueue<Void>(), haveCome = EventQueue<Void>()
      running.loop.enqueue {
        clock.advance(by: 61_000)
        running.loop.runTimers()
        isOver.add(())
        // The loop accepts connections before its next turn.
        _ = try? haveCome.next()
      }
      try isOver.next()
      let newcomers = try (0..<4).map { _ in
        let client = try SocketClient(port: running.port)
        try client.send(Self.half)
        try client.waitUntilReceived()
        return client
      }
      haveCome.add(())
      for client in clients { try client.waitForEnd() }
      for _ in clients { #expect(try running.server.dropped.next().reason == .timeout) }
      try Self.waitUntil { try running.onLoop { running.loop.counters().waitingConnections } == 4 }
      #expect(running.server.dropped.isEmpty && newcomers.allSatisfy { !$0.hasEnded })
    }
  }

  // MARK: What is answered before the library has the socket

  @Test(arguments: ["PROXY TCP4 192.0.2.1 127.0.0.1 40000 8080\r\n", "\r\n\r\n\0\r\nQUIT\n"])
  func thePROXYHeaderOfAStrangerIsABadRequest(header: String) async throws {
    try await TestServer.with { running in
      let answer = try Self.answer(running, header + WebSocketClient.request())
      #expect(answer == "HTTP/1.1 400 Bad Request\r\n")
      #expect(try running.server.refused.next() == .init(path: "/", status: 400, isUpgrade: false))
      #expect(running.server.opened.isEmpty)
    }
  }

  @Test func aZeroInTheTargetIsABadRequest() async throws {
    try await TestServer.with { running in
      let answer = try Self.answer(running, WebSocketClient.request(path: "/ws?deviceID=%00"))
      #expect(answer == "HTTP/1.1 400 Bad Request\r\n")
      #expect(try running.server.refused.next() == .init(path: "/", status: 400, isUpgrade: false))
    }
  }

  @Test func anEndlessHeadIsTold() async throws {
    try await TestServer.with { running in
      let client = try SocketClient(port: running.port)
      try client.send(Self.half + "X: " + String(repeating: "x", count: 41_000))
      #expect(try client.receive(through: "\r\n") == "HTTP/1.1 431 Request Header Fields Too Large\r\n")
    }
  }

  /// RFC 9110 section 5.5.
  @Test(arguments: [" ", "\t", " \t  "], ["", " ", "\t"])
  func blanksAroundAValueAreNoPartOfIt(behind: String, before: String) async throws {
    try await TestServer.with { running in
      let fields = [
        ("Host", "example.org:1"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Origin", "https://example.org"), ("Authorization", "Bearer x y"),
      ]
      let lines = fields.map { "\($0):\(before)\($1)\(behind)\r\n" }.joined()
      let client = try SocketClient(port: running.port)
      try client.send("GET /ws HTTP/1.1\r\n\(lines)\r\n")
      let answer = try client.receive(through: "\r\n\r\n")
      #expect(answer.hasPrefix("HTTP/1.1 101") && answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
      let head = try running.server.opened.next().head
      #expect(head.host == "example.org:1" && head.origin == "https://example.org" && head.authorization == "Bearer x y")
      // What follows the head is read from the socket.
      try client.send(WebSocketClient.frame(.text, Array("hello".utf8)))
      #expect(try running.server.messages.next().text == "hello")
    }
  }

  @Test func blanksAroundALengthAreNoPartOfIt() async throws {
    try await TestServer.with { running in
      let client = try SocketClient(port: running.internalPort)
      try client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\t3 \r\n\r\nabc")
      #expect(try running.server.requests.next().request.body == Array("abc".utf8))
    }
  }
}
