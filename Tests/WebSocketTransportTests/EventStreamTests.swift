import Testing

@testable import WebSocketTransport

/// Connections that are answers to HTTP requests (Protocol.md, "Event streams").
@Suite struct EventStreamTests {
  private func with(
    _ change: (inout TransportConfiguration) -> Void = { _ in }, behaviour: TestServer.Behaviour = .init(),
    clock: ManualClock? = nil, _ body: (TestServer.Running) async throws -> Void
  ) async throws {
    try await TestServer.with(change, behaviour: behaviour.withEventStreams, clock: clock, body)
  }

  @Test func anAnswerMayBeAStream() async throws {
    try await with { running in
      let (client, connection) = try running.openStream(query: "?token=x")
      #expect(client.answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"))
      for line in ["Cache-Control: no-store", "X-Accel-Buffering: no", "X-Test: yes", "Connection: close"] {
        #expect(client.answer.contains(line + "\r\n"))
      }
      #expect(!client.answer.contains("Content-Length"))
      try running.onLoop { connection.send(Array(#"{"a":1}"#.utf8)) }
      #expect(try client.receiveLines() == [#"data: {"a":1}"#])
      let (isStream, counters) = try running.onLoop { (connection.isEventStream, running.loop.counters()) }
      #expect(isStream && counters.connections == 1 && counters.eventStreams == 1)
      let (webSocket, other) = try running.connect()
      defer { withExtendedLifetime((client, webSocket)) {} }
      let (isOther, both) = try running.onLoop { (other.isEventStream, running.loop.counters()) }
      #expect(!isOther && both.connections == 2 && both.eventStreams == 1, "\(isOther) \(both.connections) \(both.eventStreams)")
    }
  }

  @Test func theHeadIsTheRequests() async throws {
    try await with { running in
      let socket = try SocketClient(port: running.port)
      try socket.send("GET /events?a=%26 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer t\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n")
      let head = try running.server.opened.next().head
      #expect(head.path == "/events" && head.query == "a=%26" && head.authorization == "Bearer t")
      #expect(head.forwardedFor == "192.0.2.1" && head.peerAddress == "127.0.0.1")
      #expect(try running.server.left.next() == "127.0.0.1", "it no longer counts among those on their way")
    }
  }

  @Test func aTopicReachesFramesAndEventsAlike() async throws {
    try await with { running in
      let (client, connection) = try running.openStream()
      let (socket, other) = try running.connect()
      let topic = try running.onLoop { Topic(on: running.loop) }
      let sizes = [0, 1, 117, 118, 119, 125, 126, 65_527, 65_528, 65_535, 65_536, 300_000]
      let texts = sizes.map { #"{"x":""# + String(repeating: "x", count: $0) + #""}"# }
      try running.onLoop {
        topic.subscribe(connection)
        topic.subscribe(other)
        for text in texts { topic.publish(text, .lossless) }
        topic.publish(#""not for the stream""#, .lossless, except: connection)
        topic.send(#""only the stream""#, to: connection)
      }
      for text in texts {
        #expect(try client.receiveLines() == ["data: " + text])
        #expect(try socket.receiveText() == text)
      }
      #expect(try client.receive().text == #""only the stream""#)
      #expect(try socket.receiveText() == #""not for the stream""#)
    }
  }

  /// One event has one line, whatever a text holds that did not come from the server's own writer.
  @Test func aLineBreakIsABlank() async throws {
    try await with { running in
      let (client, connection) = try running.openStream()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(connection)
        topic.publish("{\n\"a\":\r\n1}\n\n", .lossless)
        connection.send(Array("[\r\r]\n".utf8))
      }
      #expect(try client.receiveLines() == ["data: [  ] "])
      #expect(try client.receiveLines() == [#"data: { "a":  1}  "#])
    }
  }

  // MARK: The end

  @Test func theLastEventSaysWhy() async throws {
    try await with { running in
      let (client, connection) = try running.openStream()
      try running.onLoop {
        connection.send(Array("1".utf8))
        connection.close(code: 4001, reason: "a \"reason\"\n\\ é")
        connection.send(Array("2".utf8))
      }
      #expect(try client.receive().text == "1")
      let lines = try client.receiveLines()
      #expect(lines == ["event: close", #"data: {"code":4001,"reason":"a \"reason\"\u000a\\ é"}"#])
      try client.socket.waitForEnd()
      client.socket.shutdownSending()
      #expect(try running.server.closed.next() == 4001)
      #expect(try running.server.closedByPeer.next() == false)
    }
  }

  @Test func aClientThatDoesNotCloseIsCutAfterFiveSeconds() async throws {
    try await with(clock: ManualClock()) { running in
      let (client, connection) = try running.openStream()
      try running.onLoop { connection.close(code: 4001, reason: "") }
      #expect(try client.receive().code == 4001)
      try client.socket.waitForEnd()
      try running.advance(by: 4_900)
      #expect(running.server.closed.isEmpty)
      try running.advance(by: 100)
      #expect(try running.server.closed.next() == 4001)
    }
  }

  @Test func aClientThatHangsUpIsGone() async throws {
    try await with { running in
      let (client, connection) = try running.openStream()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection) }
      client.socket.shutdownSending()
      #expect(try running.server.closed.next() == 1005)
      #expect(try running.server.closedByPeer.next() == true)
      try client.socket.waitForEnd()
      let (subscribers, isOpen) = try running.onLoop { (topic.subscriberCount, connection.isOpen) }
      #expect(subscribers == 0 && !isOpen)
    }
  }

  @Test func aConnectionThatIsResetIsCut() async throws {
    try await with { running in
      do {
        let (client, _) = try running.openStream()
        client.socket.resetAtEnd()
      }
      #expect(try running.server.closed.next() == 1006)
      #expect(try running.server.closedByPeer.next() == false)
    }
  }

  @Test func theEndOfTheLoopCutsStreams() async throws {
    try await with { running in
      let (client, _) = try running.openStream()
      await running.transport.stop()
      #expect(try running.server.closed.next() == 1006)
      try client.socket.waitForEnd()
    }
  }

  /// What a client sends stays in its socket: it is no second request, and costs no turn.
  @Test func whatAClientSendsIsIgnored() async throws {
    try await with { running in
      let socket = try SocketClient(port: running.port)
      let request = "GET /events HTTP/1.1\r\nHost: example.org\r\n\r\n"
      try socket.send(request + request)
      #expect(try socket.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 200 "))
      let connection = try running.server.opened.next().connection
      try socket.send(Array(repeating: 0x61, count: 10_000))
      try running.onLoop { connection.send(Array("1".utf8)) }
      #expect(try socket.receive(through: "\n\n") == "data: 1\n\n")
      #expect(running.server.opened.isEmpty && running.server.messages.isEmpty)
    }
  }

  // MARK: Heartbeat

  @Test func acknowledgementsAreTheSignOfLife() async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.pingInterval = .milliseconds(300)
      configuration.pingTimeout = .milliseconds(1500)
    }
    try await with(configure, clock: ManualClock()) { running in
      let (client, connection) = try running.openStream()
      for round in 1...4 {
        try running.advance(by: 300)
        try running.onLoop { connection.send(Array("\(round)".utf8)) }
        #expect(try client.receive().text == "\(round)")
        #expect(client.comments >= round)
        try running.advance(by: 1500)
      }
      #expect(running.server.closed.isEmpty)
    }
  }

  @Test func aClientThatTakesNothingClosesWith4003() async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.pingInterval = .milliseconds(300)
      configuration.pingTimeout = .milliseconds(1500)
      configuration.sendQueueBytes = 1 << 30
    }
    try await with(configure, clock: ManualClock()) { running in
      let (client, connection) = try running.openStream(receiveBuffer: 4096)
      // More than both systems hold: from some point on nothing is acknowledged.
      let block = [UInt8](repeating: 0x78, count: 1 << 20)
      try running.onLoop { for _ in 0..<32 { connection.send(block) } }
      // What is on its way may be acknowledged within the first rounds.
      for _ in 0..<50 where running.server.closed.isEmpty { try running.advance(by: 1000) }
      #expect(try running.server.closed.next() == 4003)
      withExtendedLifetime(client) {}
    }
  }

  // MARK: Slow clients

  @Test func aSlowClientLosesLiveChatFirstAndThenTheConnection() async throws {
    try await with({ $0.sendQueueBytes = 256 * 1024 }) { running in
      let (slow, connection) = try running.openStream(receiveBuffer: 4096)
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop { topic.subscribe(connection) }
      let filler = String(repeating: "x", count: 30_000)
      var published = 0
      while published < 3000, try running.onLoop({ running.loop.counters().skippedEntries }) < 20 {
        let number = published
        try running.onLoop { topic.publish("\(number) \(filler)", .skippable) }
        published += 1
      }
      let skipped = try running.onLoop { running.loop.counters().skippedEntries }
      #expect(skipped >= 20)
      var lossless = 0
      while lossless < 3000, try running.onLoop({ connection.isOpen }) {
        let number = published + lossless
        try running.onLoop { topic.publish("\(number) \(filler)", .lossless) }
        lossless += 1
      }
      var numbers: [Int] = []
      var code = 0
      while code == 0 {
        let frame = try slow.receive()
        if frame.opcode == WebSocketClient.Opcode.close.rawValue {
          code = frame.code
        } else {
          #expect(frame.payload.count > 30_000, "whole events only")
          numbers.append(try #require(Int(frame.text.prefix { $0 != " " })))
        }
      }
      #expect(code == 4002 && numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      slow.socket.shutdownSending()
      #expect(try running.server.closed.next() == 4002)
    }
  }

  @Test func whatIsHeldLeavesBehindTheFirst() async throws {
    try await with { running in
      let (client, connection) = try running.openStream()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(connection)
        connection.pauseWriting()
        connection.send(Array("2".utf8))
        topic.publish("3", .lossless)
      }
      try running.onLoop { connection.resumeWriting(first: Array("1".utf8)) }
      #expect(try (1...3).map { _ in try client.receive().text } == ["1", "2", "3"])
      try running.onLoop {
        connection.pauseWriting()
        connection.send(Array("dropped".utf8))
        topic.publish("dropped", .lossless)
        connection.dropQueued()
        connection.resumeWriting(first: Array("4".utf8))
      }
      #expect(try client.receive().text == "4")
    }
  }

  /// An event that the socket has taken in part stays whole, whatever leaves before or is dropped.
  @Test(arguments: [false, true]) func anEventThatIsBeingSentStaysWhole(overTLS: Bool) async throws {
    let files = try overTLS ? CertificateFiles() : nil
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files?.tls
      configuration.sendQueueBytes = 64 << 20
    }
    try await with(configure) { running in
      let (client, connection) = try running.openStream(receiveBuffer: 4096)
      let block = [UInt8](repeating: 0x78, count: 3 << 20)
      try running.onLoop { connection.send(block) }
      #expect(await running.loop.measureSendQueues().bytes > 0, "the system does not hold so much")
      try running.onLoop {
        connection.pauseWriting()
        connection.send(Array("dropped".utf8))
        connection.dropQueued()
        connection.send(Array("2".utf8))
        connection.resumeWriting(first: Array("1".utf8))
      }
      #expect(try client.receive().payload.count == block.count)
      #expect(try [client.receive().text, client.receive().text] == ["1", "2"])
    }
  }

  @Test func manyStreamsEndAtOnce() async throws {
    try await with { running in
      var clients = try (0..<300).map { _ in try running.openStream().0 }
      clients.removeAll()
      for _ in 0..<300 { #expect(try running.server.closed.next() == 1005) }
      let counters = try running.onLoop { running.loop.counters() }
      #expect(counters.connections == 0 && counters.eventStreams == 0)
    }
  }
}
