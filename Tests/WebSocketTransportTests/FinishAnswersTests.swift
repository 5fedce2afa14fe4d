import Testing
import WebSocketTransport

/// A transport that is to stop sends the HTTP answers in flight first (Operations.md, "Stopping").
@Suite struct FinishAnswersTests {
  /// The system takes so much of it at once.
  private static let body = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 / 7) }

  private static let answerAtOnce = TestServer.Behaviour(request: { request, exchange in
    if request.head.path != "/later" { exchange.respond(status: 200, contentType: nil, body: Array("at once".utf8)) }
  })

  /// A client whose request waits for its answer.
  private func begin(_ running: TestServer.Running, port: Int, receiveBuffer: Int? = nil) throws -> (HTTPClient, HTTPExchange) {
    let client = try HTTPClient(port: port, receiveBuffer: receiveBuffer)
    try client.send("GET", "/later")
    return (client, try running.server.requests.next().exchange)
  }

  /// Begins to finish; the result has an event when that is done. What this thread asks of the loop
  /// afterwards comes behind it.
  private func finish(_ transport: Transport, atMost count: Int = 1000) -> EventQueue<Void> {
    let done = EventQueue<Void>()
    transport.finishAnswers(atMost: count) { done.add(()) }
    return done
  }

  @Test(arguments: [false, true]) func anAnswerThatIsGivenWhileTheTransportStopsIsSentWhole(isInternal: Bool) async throws {
    try await TestServer.with { running in
      let (client, exchange) = try begin(running, port: isInternal ? running.internalPort : running.port)
      let done = finish(running.transport)
      _ = try running.onLoop {}
      #expect(done.isEmpty)
      exchange.respond(status: 200, contentType: nil, body: Self.body)
      try done.next()
      await running.transport.stop()
      #expect(try client.receive().body == Self.body)
      try client.socket.waitForEnd()
    }
  }

  /// The socket takes a part, and the library another one.
  @Test func anAnswerThatItsClientReadsSlowlyIsSentToItsEnd() async throws {
    try await TestServer.with { running in
      let (client, exchange) = try begin(running, port: running.internalPort, receiveBuffer: 256 << 10)
      let body = [UInt8](repeating: 0x61, count: 16 << 20)
      let done = finish(running.transport)
      exchange.respond(status: 200, contentType: nil, body: body)
      for _ in 0..<100 { _ = try running.onLoop {} }
      #expect(done.isEmpty, "the system does not hold so much")
      let isWhole = try client.receive().body == body
      #expect(isWhole)
      try done.next()
    }
  }

  @Test func othersAreServedMeanwhileAndNobodyAfterwards() async throws {
    try await TestServer.with(behaviour: Self.answerAtOnce) { running in
      let (client, exchange) = try begin(running, port: running.internalPort)
      let unfinished = try HTTPClient(port: running.internalPort)
      try unfinished.send("POST", "/", headers: ["Content-Length: 5"])
      let done = finish(running.transport)
      for port in [running.port, running.internalPort] {
        #expect(try HTTPClient(port: port).ask("GET", "/").text == "at once")
        _ = try running.server.requests.next()
      }
      #expect(done.isEmpty)
      exchange.respond(status: 204, contentType: nil, body: [])
      try done.next()
      #expect(try client.receive().status == 204)
      for port in [running.port, running.internalPort] {
        #expect(throws: SocketClient.Failed.self) { try HTTPClient(port: port) }
      }
      // It was not whole, and is not executed.
      try unfinished.socket.send("hello")
      #expect(throws: SocketClient.Failed.self) { try unfinished.receive() }
      #expect(running.server.requests.isEmpty)
    }
  }

  @Test func itWaitsForSoManyAnswersAndNoMore() async throws {
    try await TestServer.with(behaviour: Self.answerAtOnce) { running in
      let (client, _) = try begin(running, port: running.internalPort)
      let done = finish(running.transport, atMost: 3)
      for number in 1...3 {
        #expect(done.isEmpty, "\(number)")
        #expect(try HTTPClient(port: running.internalPort).ask("GET", "/").status == 200)
      }
      try done.next()
      await running.transport.stop()
      #expect(throws: SocketClient.Failed.self) { try client.receive() }
    }
  }

  @Test(arguments: [1, 3]) func withoutRequestsItIsDoneAtOnce(loops: Int) async throws {
    try await TestServer.with({ $0.loops = loops }) { running in
      try finish(running.transport).next()
      try finish(running.transport).next()
      await running.transport.stop()
      try finish(running.transport).next()
    }
    let unstarted = try Transport(TransportConfiguration(), delegate: RefusingDelegate())
    try finish(unstarted).next()
    await unstarted.stop()
  }

  @Test func anEndAtOnceWaitsForNoAnswer() async throws {
    try await TestServer.with { running in
      let (client, exchange) = try begin(running, port: running.internalPort)
      let done = finish(running.transport)
      await running.transport.stop()
      try done.next()
      exchange.respond(status: 200, contentType: nil, body: Self.body)
      #expect(throws: SocketClient.Failed.self) { try client.receive() }
    }
  }
}
