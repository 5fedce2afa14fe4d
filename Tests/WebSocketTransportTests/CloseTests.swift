import Testing
import WebSocketTransport

@Suite struct CloseTests {
  private typealias Opcode = WebSocketClient.Opcode

  /// Each breach and its close code (Protocol.md, "Frames").
  private static let breaches: [(name: String, bytes: [UInt8], code: Int)] = [
    ("too long", WebSocketClient.frame(.text, [UInt8](repeating: 97, count: 1001)), 1009),
    (
      "too long in fragments",
      WebSocketClient.frame(.text, [UInt8](repeating: 97, count: 600), isFinal: false)
        + WebSocketClient.frame(.continuation, [UInt8](repeating: 97, count: 401)), 1009
    ),
    ("announced too long", [0x81, 0xff, 0, 0, 0, 0, 0xff, 0, 0, 0, 1, 2, 3, 4, 5], 1009),
    ("invalid UTF-8", WebSocketClient.frame(.text, [0x61, 0xff]), 1007),
    ("a surrogate", WebSocketClient.frame(.text, [0xed, 0xa0, 0x80]), 1007),
    ("half a character", WebSocketClient.frame(.text, [0x61, 0xc3]), 1007),
    (
      "half a character before an empty fragment",
      WebSocketClient.frame(.text, [0x61, 0xe2, 0x82], isFinal: false) + WebSocketClient.frame(.continuation, []), 1007
    ),
    ("an overlong character", WebSocketClient.frame(.text, [0xc0, 0xaf]), 1007),
    ("a character beyond U+10FFFF", WebSocketClient.frame(.text, [0xf4, 0x90, 0x80, 0x80]), 1007),
    ("invalid UTF-8 behind ASCII", WebSocketClient.frame(.text, [UInt8](repeating: 97, count: 70) + [0x80]), 1007),
    ("invalid UTF-8 in a first fragment", WebSocketClient.frame(.text, [0x61, 0xe2, 0x28], isFinal: false), 1007),
    ("binary", WebSocketClient.frame(.binary, [1, 2, 3]), 1003),
    ("reserved bits", WebSocketClient.frame(.text, [0x61], reserved: 2), 1002),
    ("compressed without agreement", WebSocketClient.frame(.text, [0x61], reserved: 4), 1002),
    ("unknown opcode", [0x83, 0x80, 1, 2, 3, 4], 1002),
    ("unknown control opcode", [0x8b, 0x80, 1, 2, 3, 4], 1002),
    ("a lone continuation", WebSocketClient.frame(.continuation, [0x61]), 1002),
    ("a fragmented ping", WebSocketClient.frame(.ping, [0x61], isFinal: false), 1002),
    ("a long ping", WebSocketClient.frame(.ping, [UInt8](repeating: 97, count: 126)), 1002),
    ("not masked", [0x81, 2, 0x61, 0x62], 1002),
    ("not masked, behind a good one", WebSocketClient.frame(.text, [0x61]) + [0x81, 2, 0x61, 0x62], 1002),
    ("not masked, medium", [0x81, 126, 1, 0] + [UInt8](repeating: 0x61, count: 256), 1002),
    ("a fragment that is not masked", WebSocketClient.frame(.text, [0x61], isFinal: false) + [0x80, 1, 0x61], 1002),
    ("a close of one byte", WebSocketClient.frame(.close, [3]), 1002),
    ("a close with a forbidden code", WebSocketClient.frame(.close, [3, 0xed]), 1002),
    ("a close whose reason is not UTF-8", WebSocketClient.frame(.close, [3, 0xe8, 0x61, 0xff]), 1007),
    ("a close whose reason ends inside a character", WebSocketClient.frame(.close, [3, 0xe8, 0xc3]), 1007),
  ]

  @Test(arguments: breaches.indices)
  func aBreachClosesWithItsCode(index: Int) async throws {
    let breach = Self.breaches[index]
    try await TestServer.with({ $0.maxMessageBytes = 1000 }) { running in
      let (client, _) = try running.connect()
      try client.socket.send(breach.bytes)
      let code = try client.receiveClose().code
      #expect(code == breach.code, "\(breach.name)")
      try client.sendClose(breach.code)
      let counted = try running.server.closed.next()
      #expect(counted == breach.code, "\(breach.name)")
      try client.socket.waitForEnd()
      let closes = try running.onLoop { running.loop.counters().closes }
      #expect(closes == [breach.code: 1])
    }
  }

  /// Each second breach is one that the library itself would answer.
  @Test(arguments: [[0x83, 0x80, 1, 2, 3, 4], WebSocketClient.frame(.text, [0x61], reserved: 2), [0x80, 0x80, 1, 2, 3, 4]])
  func aBreachAfterTheCloseFrameGetsNoSecondOne(second: [UInt8]) async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      try client.send(.binary, [1])
      #expect(try client.receiveClose().code == 1003)
      try client.socket.send(second)
      #expect(throws: SocketClient.Failed.self) { try client.receive() }
      #expect(try running.server.closed.next() == 1003)
    }
  }

  @Test func bothBreachesInOneReadGetOneCloseFrame() async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      try client.socket.send(WebSocketClient.frame(.binary, [1]) + [0x83, 0x80, 1, 2, 3, 4])
      #expect(try client.receiveClose().code == 1003)
      #expect(throws: SocketClient.Failed.self) { try client.receive() }
      #expect(try running.server.closed.next() == 1003)
    }
  }

  @Test func thePeersCloseIsEchoedBehindQueuedFrames() async throws {
    let behaviour = TestServer.Behaviour(receive: { connection, bytes, _ in connection.send(bytes) })
    try await TestServer.with(behaviour: behaviour) { running in
      let (client, _) = try running.connect()
      let last = WebSocketClient.frame(.text, Array("last".utf8))
      let close = WebSocketClient.frame(.close, [0x0f, 0xa0] + Array("bye".utf8))
      let ignored = WebSocketClient.frame(.text, Array("too late".utf8))
      try client.socket.send(last + close + ignored)
      #expect(try client.receiveText() == "last")
      #expect(try client.receiveClose().code == 4000)
      #expect(try running.server.closed.next() == 4000)
      try client.socket.waitForEnd()
    }
  }

  @Test func aCloseWithoutCodeCountsAs1005() async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      try client.send(.close, [])
      #expect(try client.receiveClose().payload.isEmpty)
      #expect(try running.server.closed.next() == 1005)
    }
  }

  @Test func aVanishedPeerCountsAs1006() async throws {
    try await TestServer.with { running in
      var pair: (WebSocketClient, Connection)? = try running.connect()
      let connection = try #require(pair?.1)
      pair = nil
      #expect(try running.server.closed.next() == 1006)
      try running.onLoop {
        #expect(!connection.isOpen)
        connection.send([0x61])
        connection.close(code: 4001, reason: "")
        connection.resumeWriting(first: [])
      }
      #expect(try running.onLoop { running.loop.counters().connections } == 0)
    }
  }

  @Test func closingSendsQueuedFramesThenCodeAndReason() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        let topic = Topic(on: running.loop)
        topic.subscribe(connection)
        connection.send(Array("own".utf8))
        topic.publish(Array("from the topic".utf8), .skippable)
        connection.close(code: 4502, reason: "replaced — " + String(repeating: "é", count: 100))
        connection.send(Array("never".utf8))
        topic.publish(Array("never".utf8), .lossless)
        #expect(topic.subscriberCount == 0)
      }
      #expect(try client.receiveText() == "own")
      #expect(try client.receiveText() == "from the topic")
      let close = try client.receive()
      #expect(close.code == 4502 && close.reason.hasPrefix("replaced — é") && close.payload.count <= 125)
      #expect(String(validating: close.payload.dropFirst(2), as: UTF8.self) != nil)
      try client.send("ignored")
      try client.sendClose(4502)
      #expect(try running.server.closed.next() == 4502)
      try client.socket.waitForEnd()
    }
  }

  @Test func aPeerThatDoesNotAnswerACloseIsCut() async throws {
    try await TestServer.with(clock: ManualClock()) { running in
      let (client, connection) = try running.connect()
      try running.onLoop { connection.close(code: 1000, reason: "") }
      #expect(try client.receiveClose().code == 1000)
      try running.advance(by: 4900)
      #expect(running.server.closed.isEmpty)
      try running.advance(by: 100)
      #expect(try running.server.closed.next() == 1000)
      try client.socket.waitForEnd()
    }
  }

  @Test func aPausedConnectionReadsTheAnswerToItsClose() async throws {
    try await TestServer.with { running in
      let (client, connection) = try running.connect()
      try running.onLoop {
        connection.pauseReading()
        connection.close(code: 4004, reason: "flood")
      }
      #expect(try client.receiveClose().code == 4004)
      try client.sendClose(4004)
      try client.socket.waitForEnd()
      #expect(try running.server.closed.next() == 4004)
    }
  }

  @Test func stoppingCutsOpenConnections() async throws {
    try await TestServer.with { running in
      let (client, _) = try running.connect()
      await running.transport.stop()
      #expect(try running.server.closed.next() == 1006)
      try client.socket.waitForEnd()
    }
  }
}
