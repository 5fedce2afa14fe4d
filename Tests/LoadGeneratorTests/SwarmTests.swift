import Testing

@testable import LoadGenerator

@Suite struct SwarmTests {
  private func stampText(_ value: UInt64) -> String {
    "~T" + String(repeating: "0", count: 18 - String(value).count) + "\(value)~"
  }

  @Test func framesArriveWholeHoweverTheStreamIsCut() throws {
    let plain = try PlainStage(connections: 1)
    let texts = ["a", String(repeating: "b", count: 130), "", "c\(String(repeating: "d", count: 300))", "e"]
    let stream = texts.flatMap { FrameTests.serverFrame(opcode: Frame.Opcode.text, Array($0.utf8)) }
    for cut in 0...stream.count {
      let before = plain.dialect.texts.count
      let bytesBefore = plain.stage.swarm.recorder.counters.pointee.bytes
      plain.peer.send(plain.sockets[0], stream[..<cut])
      try plain.wait { plain.stage.swarm.recorder.counters.pointee.bytes == bytesBefore + cut }
      plain.peer.send(plain.sockets[0], stream[cut...])
      try plain.wait { plain.stage.swarm.recorder.counters.pointee.bytes == bytesBefore + stream.count }
      #expect(Array(plain.dialect.texts[before...]) == texts, "cut at \(cut)")
    }
    #expect(plain.stage.swarm.table[0].tail.isEmpty)
  }

  @Test func framesLargerThanTheReceiveBuffer() throws {
    let plain = try PlainStage(connections: 1)
    let text = String(repeating: "x", count: 700_000)
    let stream = FrameTests.serverFrame(opcode: Frame.Opcode.text, Array(text.utf8))
    for start in stride(from: 0, to: stream.count, by: 60_000) {
      plain.peer.send(plain.sockets[0], stream[start..<min(stream.count, start + 60_000)])
      plain.stage.turn(until: Clock.now())
    }
    try plain.wait { plain.dialect.texts == [text] }
  }

  @Test func deliveriesAreCountedWhereTheyCountAndNowhereElse() throws {
    let plain = try PlainStage(connections: 2)
    let counters = plain.stage.swarm.recorder.counters
    (counters.pointee.windowStart, counters.pointee.windowEnd) = (1000, 2000)
    plain.stage.swarm.table[0].counts = true
    for socket in plain.sockets {
      plain.peer.send(socket, text: stampText(1000) + " and " + stampText(1500))
      plain.peer.send(socket, text: stampText(2000))
      plain.peer.send(socket, text: "no stamp")
    }
    try plain.wait { plain.dialect.texts.count == 2 }
    #expect(plain.dialect.texts == ["no stamp", "no stamp"], "what has a stamp is no reply")
    #expect(counters.pointee.matched == 2 && counters.pointee.total == 3)
    #expect(plain.stage.swarm.table[0].matched == 2 && plain.stage.swarm.table[1].matched == 0)
  }

  @Test func aPingIsAnswered() throws {
    let plain = try PlainStage(connections: 1)
    plain.peer.send(plain.sockets[0], FrameTests.serverFrame(opcode: Frame.Opcode.ping, Array("hi".utf8)))
    var answer: [UInt8] = []
    try plain.wait {
      answer += plain.peer.received(plain.sockets[0])
      return !answer.isEmpty
    }
    #expect(answer == FrameWriter.frame(opcode: Frame.Opcode.pong, payload: Array("hi".utf8)))
  }

  @Test func aCloseIsToldWithItsCode() throws {
    let plain = try PlainStage(connections: 2)
    plain.peer.send(plain.sockets[0], FrameTests.serverFrame(opcode: Frame.Opcode.close, [0x0f, 0xa2] + Array("slow".utf8)))
    try plain.wait { plain.stage.open == 1 }
    #expect(plain.stage.endings == ["4002": 1])
    #expect(plain.stage.firstEnding == "connection 0: the server closed with 4002 (slow)")
    plain.peer.hangUp(plain.sockets[1])
    try plain.wait { plain.stage.open == 0 }
    #expect(plain.stage.endings == ["4002": 1, "lost": 1])
  }

  @Test func bytesThatAreNoFrameEndTheConnection() throws {
    let plain = try PlainStage(connections: 1)
    plain.peer.send(plain.sockets[0], [0x81, 0x81, 0, 0, 0, 0, 65])
    try plain.wait { plain.stage.open == 0 }
    #expect(plain.stage.endings == ["breach": 1])
  }

  @Test func whatAFullSocketDoesNotTakeIsSentLater() throws {
    let plain = try PlainStage(connections: 1)
    let payload = [UInt8](repeating: 97, count: 60_000)
    let frame = FrameWriter.frame(opcode: Frame.Opcode.text, payload: payload)
    var sent = 0
    while plain.stage.swarm.table[0].unsent.isEmpty {
      plain.stage.swarm.send(0, frame)
      sent += frame.count
    }
    plain.stage.swarm.send(0, frame)
    sent += frame.count
    var received = 0
    try plain.wait {
      received += plain.peer.received(plain.sockets[0]).count
      return received == sent
    }
    #expect(plain.stage.swarm.table[0].unsent.isEmpty)
  }

  @Test func nobodyThereIsASentence() throws {
    let peer = Peer()
    let address = try peer.address.resolve()
    let swarm = try Swarm(count: 1, recorder: Recorder())
    let dialect = PlainDialect()
    let stage = Stage(swarm: swarm, dialect: dialect, dialing: Dialing(address: address, sources: 0), timeout: 0.2)
    // It listens and never answers the upgrade.
    let error = #expect(throws: BenchmarkError.self) { try stage.admit(0..<1, parallel: 1) }
    #expect(error?.description.contains("(0 of 1): 1 for the upgrade") == true)
  }

  @Test func aRefusalIsToldAsTheServerSaysIt() throws {
    let peer = Peer()
    let swarm = try Swarm(count: 1, recorder: Recorder())
    let dialect = PlainDialect()
    let stage = Stage(
      swarm: swarm, dialect: dialect, dialing: Dialing(address: try peer.address.resolve(), sources: 0), timeout: 10)
    try swarm.connect(0, stage.dialing)
    peer.send(peer.accept(), Array("HTTP/1.1 503 Service Unavailable\r\n\r\n".utf8))
    try PlainStage.wait(stage) { stage.refusal != nil }
    #expect(
      stage.refusal?.description == "connection 0 did not come in: the server refused the upgrade: HTTP 503 Service Unavailable")
  }
}
