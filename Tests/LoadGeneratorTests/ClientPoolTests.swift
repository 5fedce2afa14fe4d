import Testing

@testable import LoadGenerator

@Suite struct ClientPoolTests {
  private func stampText(_ value: UInt64) -> String {
    "~T" + String(repeating: "0", count: 18 - String(value).count) + "\(value)~"
  }

  @Test func framesArriveWholeHoweverTheStreamIsCut() throws {
    let plain = try PlainRun(connections: 1)
    let texts = ["a", String(repeating: "b", count: 130), "", "c\(String(repeating: "d", count: 300))", "e"]
    let stream = texts.flatMap { FrameTests.serverFrame(opcode: Frame.Opcode.text, Array($0.utf8)) }
    for cut in 0...stream.count {
      let before = plain.dialect.texts.count
      let bytesBefore = plain.run.pool.recorder.counters.pointee.bytes
      plain.peer.send(plain.sockets[0], stream[..<cut])
      try plain.wait { plain.run.pool.recorder.counters.pointee.bytes == bytesBefore + cut }
      plain.peer.send(plain.sockets[0], stream[cut...])
      try plain.wait { plain.run.pool.recorder.counters.pointee.bytes == bytesBefore + stream.count }
      #expect(Array(plain.dialect.texts[before...]) == texts, "cut at \(cut)")
    }
    #expect(plain.run.pool.table[0].unparsed.isEmpty)
  }

  @Test func framesLargerThanTheReceiveBuffer() throws {
    let plain = try PlainRun(connections: 1)
    let text = String(repeating: "x", count: 700_000)
    let stream = FrameTests.serverFrame(opcode: Frame.Opcode.text, Array(text.utf8))
    for start in stride(from: 0, to: stream.count, by: 60_000) {
      plain.peer.send(plain.sockets[0], stream[start..<min(stream.count, start + 60_000)])
      plain.run.poll(until: Clock.now())
    }
    try plain.wait { plain.dialect.texts == [text] }
  }

  @Test func onlyReceiversCountDeliveries() throws {
    let plain = try PlainRun(connections: 2)
    let counters = plain.run.pool.recorder.counters
    (counters.pointee.windowStart, counters.pointee.windowEnd) = (1000, 2000)
    plain.run.pool.table[0].countsDeliveries = true
    for socket in plain.sockets {
      plain.peer.send(socket, text: stampText(1000) + " and " + stampText(1500))
      plain.peer.send(socket, text: stampText(2000))
      plain.peer.send(socket, text: "no stamp")
    }
    try plain.wait { plain.dialect.texts.count == 2 }
    #expect(plain.dialect.texts == ["no stamp", "no stamp"], "what has a stamp is no reply")
    #expect(counters.pointee.matched == 2 && counters.pointee.total == 3)
    #expect(plain.run.pool.table[0].matched == 2 && plain.run.pool.table[1].matched == 0)
  }

  @Test func aPingIsAnswered() throws {
    let plain = try PlainRun(connections: 1)
    plain.peer.send(plain.sockets[0], FrameTests.serverFrame(opcode: Frame.Opcode.ping, Array("hi".utf8)))
    var answer: [UInt8] = []
    try plain.wait {
      answer += plain.peer.received(plain.sockets[0])
      return !answer.isEmpty
    }
    #expect(answer == FrameWriter.frame(opcode: Frame.Opcode.pong, payload: Array("hi".utf8)))
  }

  @Test func aCloseIsToldWithItsCode() throws {
    let plain = try PlainRun(connections: 2)
    plain.peer.send(plain.sockets[0], FrameTests.serverFrame(opcode: Frame.Opcode.close, [0x0f, 0xa2] + Array("slow".utf8)))
    try plain.wait { plain.run.openCount == 1 }
    #expect(plain.run.endings == ["4002": 1])
    #expect(plain.run.firstEnding == "connection 0: the server closed with 4002 (slow)")
    plain.peer.hangUp(plain.sockets[1])
    try plain.wait { plain.run.openCount == 0 }
    #expect(plain.run.endings == ["4002": 1, "lost": 1])
  }

  @Test func bytesThatAreNoFrameEndTheConnection() throws {
    let plain = try PlainRun(connections: 1)
    plain.peer.send(plain.sockets[0], [0x81, 0x81, 0, 0, 0, 0, 65])
    try plain.wait { plain.run.openCount == 0 }
    #expect(plain.run.endings == ["breach": 1])
  }

  @Test func bytesThatAFullSocketRefusesAreSentLater() throws {
    let plain = try PlainRun(connections: 1)
    let payload = [UInt8](repeating: 97, count: 60_000)
    let frame = FrameWriter.frame(opcode: Frame.Opcode.text, payload: payload)
    var sent = 0
    while plain.run.pool.table[0].unsent.isEmpty {
      plain.run.pool.send(0, frame)
      sent += frame.count
    }
    plain.run.pool.send(0, frame)
    sent += frame.count
    var received = 0
    try plain.wait {
      received += plain.peer.received(plain.sockets[0]).count
      return received == sent
    }
    #expect(plain.run.pool.table[0].unsent.isEmpty)
  }

  @Test func anUnansweredUpgradeIsASentence() throws {
    let peer = Peer()
    let address = try peer.address.resolve()
    let pool = try ClientPool(count: 1, recorder: Recorder())
    let dialect = PlainDialect()
    let run = Run(
      pool: pool, dialect: dialect, connectOptions: ConnectOptions(address: address, sources: 0, tls: nil), timeout: 0.2)
    // It listens and never answers the upgrade.
    let error = #expect(throws: BenchmarkError.self) { try run.connect(0..<1, parallel: 1) }
    #expect(error?.description.contains("(0 of 1): 1 for the upgrade") == true)
  }

  @Test func aRefusalIsToldAsTheServerSaysIt() throws {
    let peer = Peer()
    let pool = try ClientPool(count: 1, recorder: Recorder())
    let dialect = PlainDialect()
    let run = Run(
      pool: pool, dialect: dialect, connectOptions: ConnectOptions(address: try peer.address.resolve(), sources: 0, tls: nil),
      timeout: 10)
    try pool.connect(0, run.connectOptions)
    peer.send(peer.accept(), Array("HTTP/1.1 503 Service Unavailable\r\n\r\n".utf8))
    try PlainRun.wait(run) { run.refusal != nil }
    #expect(
      run.refusal?.description == "connection 0 did not come in: the server refused the upgrade: HTTP 503 Service Unavailable")
  }
}
