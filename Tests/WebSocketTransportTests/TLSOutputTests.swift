import Testing
import WebSocketTransport

/// What leaves over TLS in one flush, as records that are sent together.
@Suite struct TLSOutputTests {
  /// Below, at and above one record and as many as are sent together; then several of these.
  private static let flushes = [600, 16_383, 16_384, 16_385, 17_408, 32_768, 65_536, 65_537, 81_921, 250_000]
  /// Of a frame of 500 bytes.
  private static let step = 504

  private static func label(_ text: String) -> Substring { text.prefix { $0 != " " } }

  private static func text(_ number: Int, _ count: Int) -> [UInt8] {
    let label = Array("\(number) ".utf8)
    return label + [UInt8](repeating: 0x2e, count: count - label.count)
  }

  /// Texts whose frames are so many bytes together.
  private static func texts(of bytes: Int) -> [[UInt8]] {
    let whole = max(0, bytes / step - 1)
    return (0..<whole).map { text($0, step - 4) } + [text(whole, bytes - whole * step - 4)]
  }

  @Test(arguments: flushes, [false, true])
  func theMessagesOfAFlushArriveWholeAndInOrder(bytes: Int, fromTopic: Bool) async throws {
    let files = try CertificateFiles()
    try await TestServer.with({ $0.tls = files.tls }) { running in
      let (client, connection) = try running.connect()
      let texts = Self.texts(of: bytes)
      let topic = try running.onLoop { Topic(on: running.loop) }
      if fromTopic { try running.onLoop { topic.subscribe(connection) } }
      for _ in 0..<3 {
        try running.onLoop {
          for text in texts {
            if fromTopic { topic.publish(text, .lossless) } else { connection.send(text) }
          }
        }
        for text in texts { #expect(try Array(client.receiveText().utf8) == text) }
      }
    }
  }

  @Test func anEchoOfManySmallMessagesIsWholeAndInOrder() async throws {
    let files = try CertificateFiles()
    let behaviour = TestServer.Behaviour(receive: { connection, bytes, _ in connection.send(bytes) })
    try await TestServer.with({ $0.tls = files.tls }, behaviour: behaviour) { running in
      let (client, _) = try running.connect()
      let texts = (0..<2000).map { Self.text($0, 20 + $0 % 100) }
      for part in stride(from: 0, to: texts.count, by: 500) {
        let sent = texts[part..<part + 500]
        try client.socket.send(sent.flatMap { WebSocketClient.frame(.text, $0) } + WebSocketClient.frame(.ping, [0x70]))
        var pongs = 0
        var received: [[UInt8]] = []
        while received.count < sent.count || pongs == 0 {
          let frame = try client.receive()
          if frame.opcode == WebSocketClient.Opcode.pong.rawValue { pongs += 1 } else { received.append(frame.payload) }
        }
        #expect(pongs == 1 && received == Array(sent))
      }
    }
  }

  // MARK: A socket that is full

  /// Of 30,000 bytes and the number modulo 5.
  private static let count = 200

  /// Publishes more than the systems of both sides hold.
  private static func fill(_ running: TestServer.Running, _ connection: Connection) async throws {
    let topic = try running.onLoop { Topic(on: running.loop) }
    try running.onLoop { topic.subscribe(connection) }
    for turn in 0..<count / 5 {
      try running.onLoop {
        for entry in 0..<5 { topic.publish(text(turn * 5 + entry, 30_000 + entry), .lossless) }
      }
    }
    let waiting = await running.loop.measureSendQueues()
    #expect(waiting.bytes > 0, "the systems do not hold so much")
  }

  @Test(arguments: [WebSocketClient.Opcode.ping, .text])
  func aSlowReaderGetsAllInOrder(opcode: WebSocketClient.Opcode) async throws {
    let files = try CertificateFiles()
    let behaviour = TestServer.Behaviour(receive: { connection, bytes, _ in connection.send(bytes) })
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files.tls
      configuration.sendQueueBytes = 64 << 20
    }
    try await TestServer.with(configure, behaviour: behaviour) { running in
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      try await Self.fill(running, connection)
      // The answer keeps its place between two frames: the library's own behind what it holds, the
      // other one where its queue has its turn.
      try slow.send(opcode, Array("answer".utf8))
      var numbers: [Int] = []
      var answers = 0
      while numbers.count < Self.count || answers == 0 {
        let frame = try slow.receive()
        if frame.text == "answer" {
          answers += 1
          continue
        }
        let number = try #require(Int(Self.label(frame.text)))
        #expect(frame.payload.count == 30_000 + number % 5)
        numbers.append(number)
      }
      #expect(numbers == Array(0..<Self.count) && answers == 1)
      try running.onLoop { connection.send(Array("after".utf8)) }
      #expect(try slow.receiveText() == "after")
      #expect(await running.loop.measureSendQueues() == SendQueues())
    }
  }

  @Test func aCloseFrameKeepsItsPlaceBehindWhatIsBlocked() async throws {
    let files = try CertificateFiles()
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files.tls
      configuration.sendQueueBytes = 64 << 20
    }
    // The clock is the test's: a busy machine may take long to read what is queued before the close.
    try await TestServer.with(configure, clock: ManualClock()) { running in
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      try await Self.fill(running, connection)
      try running.onLoop { connection.close(code: 4001, reason: "over") }
      for number in 0..<Self.count { #expect(try Self.label(slow.receiveText()) == "\(number)") }
      let close = try slow.receive()
      #expect(close.code == 4001 && close.reason == "over")
      try slow.sendClose(4001)
      #expect(try running.server.closed.next() == 4001)
      try slow.socket.waitForEnd()
    }
  }

  /// The address sanitizer looks for what they leave behind.
  @Test func connectionsMayEndWhileTheyAreBlocked() async throws {
    let files = try CertificateFiles()
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files.tls
      configuration.sendQueueBytes = 64 << 20
    }
    try await TestServer.with(configure, behaviour: TestServer.Behaviour().withEventStreams) { running in
      do {
        let (slow, connection) = try running.connect(receiveBuffer: 4096)
        try await Self.fill(running, connection)
        slow.socket.resetAtEnd()
      }
      #expect(try running.server.closed.next() == 1006)
      do {
        let (slow, connection) = try running.openStream(receiveBuffer: 4096)
        try await Self.fill(running, connection)
        slow.socket.resetAtEnd()
      }
      #expect(try running.server.closed.next() == 1006)
      let (slow, connection) = try running.connect(receiveBuffer: 4096)
      try await Self.fill(running, connection)
      let (quick, other) = try running.connect()
      try running.onLoop { other.send(Array("still here".utf8)) }
      #expect(try quick.receiveText() == "still here")
      await running.transport.stop()
      #expect(try [running.server.closed.next(), running.server.closed.next()] == [1006, 1006])
      withExtendedLifetime((slow, quick)) {}
    }
  }

  // MARK: Event streams

  @Test func aSlowEventStreamGetsAllInOrder() async throws {
    let files = try CertificateFiles()
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.tls = files.tls
      configuration.sendQueueBytes = 64 << 20
    }
    try await TestServer.with(
      configure, behaviour: TestServer.Behaviour().withEventStreams, clock: ManualClock()
    ) { running in
      let (slow, connection) = try running.openStream(receiveBuffer: 4096)
      try await Self.fill(running, connection)
      try running.onLoop { connection.close(code: 4001, reason: "") }
      for number in 0..<Self.count {
        let frame = try slow.receive()
        #expect(Self.label(frame.text) == "\(number)" && frame.payload.count == 30_000 + number % 5)
      }
      #expect(try slow.receive().code == 4001)
      try slow.socket.waitForEnd()
    }
  }
}
