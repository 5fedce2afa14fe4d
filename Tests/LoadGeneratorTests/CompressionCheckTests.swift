import CInflate
import Testing

@testable import LoadGenerator

@Suite struct CompressionCheckTests {
  /// Two messages of one compressor; the second refers to the first.
  private static let texts = ["~T000000000000001000~ the first of all", "~T000000000000001004~ the first of all"]
  private static let messages: [[UInt8]] = [
    [
      0xaa, 0x0b, 0x31, 0x40, 0x01, 0x86, 0x40, 0x5c, 0xa7, 0x50, 0x92, 0x91, 0xaa, 0x90, 0x96, 0x59, 0x54, 0x5c, 0xa2, 0x90,
      0x9f, 0xa6, 0x90, 0x98, 0x93, 0x03, 0x00,
    ],
    [0xaa, 0xc3, 0x54, 0x65, 0x82, 0xa9, 0x0a, 0x00],
  ]

  private static let agreement = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover"

  private static func upgrade(_ lines: String...) -> [UInt8] {
    let head = ["HTTP/1.1 101 Switching Protocols", "Sec-WebSocket-Accept: \(Handshake.accept)"] + lines
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private static func frame(_ message: [UInt8]) -> [UInt8] {
    FrameTests.serverFrame(opcode: Frame.Opcode.text | Frame.compressedBit, message)
  }

  private static func deflated(_ text: String) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: 1024)
    let bytes = Array(text.utf8)
    return Array(result[..<cinflate_deflate(bytes, bytes.count, &result, result.count)])
  }

  /// Connections whose upgrades were answered, each in its own way.
  private func run(_ upgrades: [[UInt8]]) throws -> PlainRun {
    try PlainRun(connections: upgrades.count, compressionCheck: CompressionCheck(connections: upgrades.count)) { upgrades[$0] }
  }

  private func openWindow(_ plain: PlainRun) -> UnsafeMutablePointer<Recorder.Counters> {
    let counters = plain.run.pool.recorder.counters
    (counters.pointee.windowStart, counters.pointee.windowEnd, counters.pointee.isMeasuring) = (0, .max, true)
    for number in plain.sockets.indices { plain.run.pool.table[number].countsDeliveries = true }
    return counters
  }

  @Test func compressedAndPlainDeliveriesAreCountedAndCompared() throws {
    let agreed = Self.upgrade(Self.agreement)
    let plain = try run([agreed, Peer.upgrade, agreed, Peer.upgrade])
    let check = try #require(plain.run.pool.compressionCheck)
    let counters = openWindow(plain)
    let before = check.wireBytes(plain.run.pool.table)
    for message in Self.messages { plain.peer.send(plain.sockets[0], Self.frame(message)) }
    for text in Self.texts { for number in [1, 2, 3] { plain.peer.send(plain.sockets[number], text: text) } }
    try plain.wait { counters.pointee.total == 8 }
    #expect(check.failure == nil && check.equal == 6)
    // Connection 1 offers nothing: it is compared and not counted.
    #expect(check.counters.deliveries == 6 && check.counters.compressed == 2)
    #expect(check.counters.bytes == 3 * Self.texts.joined().utf8.count)
    let heads = 6 * 2
    #expect(
      check.wireBytes(plain.run.pool.table) - before
        == heads + 2 * Self.texts.joined().utf8.count + Self.messages.joined().count)
    #expect(plain.run.openCount == 4)
  }

  @Test func aConnectionHasAnInflaterOfItsOwn() throws {
    let plain = try run([Self.upgrade(Self.agreement), Peer.upgrade, Self.upgrade(Self.agreement)])
    plain.peer.send(plain.sockets[0], Self.frame(Self.messages[0]))
    plain.peer.send(plain.sockets[2], Self.frame(Self.messages[1]))
    try plain.wait { plain.run.openCount == 2 }
    #expect(plain.run.firstEnding == "connection 2: the server sent a compressed message that cannot be inflated")
  }

  @Test func otherBytesForOneReceiverAreTold() throws {
    let plain = try run([Self.upgrade(Self.agreement), Peer.upgrade])
    let check = try #require(plain.run.pool.compressionCheck)
    plain.peer.send(plain.sockets[1], text: Self.texts[0])
    try plain.wait { plain.run.pool.recorder.counters.pointee.reads == 1 + 2 }
    plain.peer.send(plain.sockets[0], Self.frame(Self.deflated(Self.texts[0] + "!")))
    try plain.wait { check.failure != nil }
    #expect(
      check.failure
        == "connection 0 got a message with other bytes than the first to get it: \(Self.texts[0])!")
  }

  @Test func aTextWithoutAStampIsInflatedForTheDialect() throws {
    let plain = try run([Self.upgrade(Self.agreement)])
    plain.peer.send(plain.sockets[0], Self.frame(Self.deflated("17")) + Self.frame(Self.deflated("")))
    plain.peer.send(plain.sockets[0], text: "18")
    try plain.wait { plain.dialect.texts.contains("18") }
    #expect(plain.dialect.texts.filter { !$0.isEmpty } == ["17", "18"])
  }

  @Test(
    arguments: [
      [0xc1, 0x00], [0x41, 0x00], [0xc0, 0x00], [0xc9, 0x00], [0xa1, 0x00], [0xc1, 0x02, 0xff, 0xff],
    ] as [[UInt8]])
  func compressedFramesThatNoServerSendsEndTheConnection(bytes: [UInt8]) throws {
    // Only the first of them has an agreement that it breaks nothing of.
    let isEmptyMessage = bytes == [0xc1, 0x00]
    let plain = try run([Self.upgrade(isEmptyMessage ? "X: y" : Self.agreement)])
    plain.peer.send(plain.sockets[0], bytes)
    try plain.wait { plain.run.openCount == 0 }
    #expect(plain.run.endings == ["breach": 1])
  }

  @Test func withoutTheCheckACompressedFrameIsInvalid() throws {
    let plain = try PlainRun(connections: 1)
    plain.peer.send(plain.sockets[0], Self.frame(Self.messages[0]))
    try plain.wait { plain.run.openCount == 0 }
    #expect(plain.run.endings == ["breach": 1])
  }

  @Test(arguments: [true, false]) func anAnswerToNoOfferIsARefusal(isChecked: Bool) throws {
    let count = isChecked ? 2 : 1
    let check = isChecked ? CompressionCheck(connections: count) : nil
    let error = #expect(throws: BenchmarkError.self) {
      _ = try PlainRun(connections: count, compressionCheck: check) {
        $0 == count - 1 ? Self.upgrade(Self.agreement) : Peer.upgrade
      }
    }
    #expect(error?.description.contains("an extension that was not offered") == true)
  }

  @Test func oneConnectionInAHundredOffersNothing() {
    let check = CompressionCheck(connections: 1000)
    #expect((0..<1000).filter { !check.offers($0) } == Array(stride(from: 1, to: 1000, by: 100)))
  }

  @Test func theNewestMessagesAreComparedHoweverManyThereWere() {
    let check = CompressionCheck(connections: 3)
    func receive(_ number: Int, _ stamp: Int, _ more: String = "") {
      let digits = String(repeating: "0", count: 18 - String(stamp).count) + String(stamp)
      Array("~T\(digits)~\(more)".utf8).withUnsafeBytes { check.compare(number, $0) }
    }
    for stamp in 0..<200_000 { receive(0, stamp) }
    for stamp in 150_000..<200_000 { receive(1, stamp) }
    #expect(check.equal == 50_000 && check.failure == nil)
    receive(2, 199_999, "?")
    #expect(check.failure?.hasPrefix("connection 2 ") == true)
  }
}
