import Testing
import WebSocketTransport

@Suite struct PauseWritingTests {
  @Test func resumingSendsTheFirstFrameBeforeQueuedOnes() async throws {
    let behaviour = TestServer.Behaviour(open: { $0.pauseWriting() })
    try await TestServer.with(behaviour: behaviour) { running in
      let (client, connection) = try running.connect()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(connection)
        connection.send(Array("own".utf8))
      }
      try running.onLoop { topic.publish(Array("topic".utf8), .lossless) }
      try running.onLoop { connection.resumeWriting(first: Array("first".utf8)) }
      #expect(try client.receiveText() == "first")
      #expect(try client.receiveText() == "own")
      #expect(try client.receiveText() == "topic")
    }
  }

  @Test func whatIsDroppedIsNotSentAndTheTopicIsLeft() async throws {
    let behaviour = TestServer.Behaviour(open: { $0.pauseWriting() })
    try await TestServer.with(behaviour: behaviour) { running in
      let (client, connection) = try running.connect()
      let (other, heard) = try running.connect()
      let topic = try running.onLoop { Topic(on: running.loop) }
      try running.onLoop {
        topic.subscribe(connection)
        topic.subscribe(heard)
        connection.send(Array("own".utf8))
        topic.publish(Array("before".utf8), .lossless)
      }
      try running.onLoop { topic.publish(Array("pending".utf8), .lossless) }
      try running.onLoop { connection.dropQueued() }
      try running.onLoop { topic.publish(Array("behind".utf8), .lossless) }
      try running.onLoop {
        connection.resumeWriting(first: Array("refusal".utf8))
        connection.close(code: 4500, reason: "70020")
        heard.resumeWriting(first: [])
      }
      #expect(try client.receiveText() == "refusal")
      let close = try client.receive()
      #expect(close.code == 4500 && close.reason == "70020")
      for text in ["before", "pending", "behind"] { #expect(try other.receiveText() == text, "nobody else") }
    }
  }

  @Test func queuedFramesAreBounded() async throws {
    let behaviour = TestServer.Behaviour(open: { $0.pauseWriting() })
    try await TestServer.with({ $0.sendQueueBytes = 100_000 }, behaviour: behaviour) { running in
      let (client, connection) = try running.connect()
      try running.onLoop { for _ in 0..<11 { connection.send([UInt8](repeating: 0x61, count: 10_000)) } }
      #expect(try client.receiveClose().code == 4002)
      #expect(try running.server.closed.next() == 4002)
    }
  }

  @Test func closingEndsAPause() async throws {
    let behaviour = TestServer.Behaviour(open: { connection in
      connection.pauseWriting()
      connection.send(Array("refusal".utf8))
      connection.close(code: 4500, reason: "70003")
    })
    try await TestServer.with(behaviour: behaviour) { running in
      let client = try WebSocketClient(port: running.port)
      #expect(try client.receiveText() == "refusal")
      let close = try client.receive()
      #expect(close.code == 4500 && close.reason == "70003")
    }
  }
}
