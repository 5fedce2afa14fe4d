import Testing
import WebSocketTransport

@Suite struct MessageTests {
  private static let echo = TestServer.Behaviour(receive: { connection, bytes, isText in
    bytes.withUnsafeBytes { if isText { connection.send($0) } else { connection.sendBinary($0) } }
  })

  @Test(arguments: [0, 1, 125, 126, 2047, 2048, 2049, 65_535, 65_536])
  func textOfAnySizeArrivesWhole(size: Int) async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      let text = String(String(repeating: "0123456789abcdef", count: 4097).prefix(size))
      try client.send(text)
      #expect(try running.server.messages.next() == .init(text: text, isText: true))
      #expect(try client.receiveText() == text)
    }
  }

  @Test func fragmentsAreOneMessageAndControlFramesMayComeBetween() async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      try client.send(.text, Array("one ".utf8), isFinal: false)
      try client.send(.ping, Array("?".utf8))
      try client.send(.continuation, Array("twö".utf8.dropLast()), isFinal: false)
      try client.send(.continuation, [], isFinal: false)
      try client.send(.continuation, Array("ö three".utf8.dropFirst()))
      #expect(try client.receive() == .init(opcode: WebSocketClient.Opcode.pong.rawValue, payload: Array("?".utf8)))
      #expect(try client.receiveText() == "one twö three")
    }
  }

  @Test func aTextMayBeCutInsideOfEachCharacter() async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      let text = String(repeating: "abcdefgh", count: 9) + "\u{80}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}z"
      try client.send(text)
      #expect(try client.receiveText() == text)
      for (index, byte) in text.utf8.enumerated() {
        try client.send(index == 0 ? .text : .continuation, [byte], isFinal: index == text.utf8.count - 1)
      }
      #expect(try client.receiveText() == text)
    }
  }

  @Test func aReplyDoesNotOvertakeThePong() async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      let both = WebSocketClient.frame(.ping, Array("first".utf8)) + WebSocketClient.frame(.text, Array("second".utf8))
      for _ in 0..<50 {
        try client.socket.send(both)
        #expect(try client.receive().text == "first")
        #expect(try client.receive().text == "second")
      }
    }
  }

  @Test func messagesInOneReadAreAnsweredInOrder() async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      let texts = (0..<500).map { "message \($0)" }
      try client.socket.send(texts.flatMap { WebSocketClient.frame(.text, Array($0.utf8)) })
      for text in texts { #expect(try client.receiveText() == text) }
    }
  }

  @Test func aFrameSentWithTheUpgradeIsDelivered() async throws {
    try await TestServer.with(behaviour: Self.echo) { running in
      let socket = try SocketClient(port: running.port)
      try socket.send(Array(WebSocketClient.request().utf8) + WebSocketClient.frame(.text, Array("early".utf8)))
      #expect(try socket.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 101 "))
      #expect(try socket.receive(7) == [0x81, 5] + Array("early".utf8))
    }
  }

  @Test func binaryIsDeliveredWhereItIsAccepted() async throws {
    try await TestServer.with({ $0.acceptsBinary = true }, behaviour: Self.echo) { running in
      let (client, _) = try running.connect()
      try client.send(.binary, [0, 255])
      #expect(try client.receive() == .init(opcode: WebSocketClient.Opcode.binary.rawValue, payload: [0, 255]))
    }
  }

  @Test func pausedReadingDeliversNothing() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop { connection.pauseReading() }
      try client.send("later")
      let (other, _) = try running.connect()
      try other.send("now")
      #expect(try running.server.messages.next().text == "now")
      try running.onLoop { connection.resumeReading() }
      #expect(try running.server.messages.next().text == "later")
    }
  }

  @Test func pausingInTheMiddleOfAReadKeepsTheRest() async throws {
    let behaviour = TestServer.Behaviour(receive: { connection, _, _ in
      connection.pauseReading()
      connection.loop.enqueue { connection.resumeReading() }
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let (client, _) = try running.connect()
      try client.socket.send((0..<100).flatMap { WebSocketClient.frame(.text, Array("\($0)".utf8)) })
      for number in 0..<100 { #expect(try running.server.messages.next().text == "\(number)") }
    }
  }
}
