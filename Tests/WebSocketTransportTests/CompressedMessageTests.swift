import Testing
import WebSocketTransport

/// Compressed messages of clients.
@Suite struct CompressedMessageTests {
  static let offer = ["Sec-WebSocket-Extensions: permessage-deflate"]

  private func withClient(
    maxBytes: Int = 65_536, _ body: (TestServer.Running, WebSocketClient) throws -> Void
  ) async throws {
    let configure = { (configuration: inout TransportConfiguration) in
      configuration.compressionBytes = 1 << 20
      configuration.maxMessageBytes = maxBytes
      configuration.acceptsBinary = true
    }
    try await TestServer.with(configure) { running in
      try body(running, try WebSocketClient(port: running.port, headers: Self.offer))
    }
  }

  /// The example of RFC 7692, section 7.2.3.1.
  static let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]

  @Test func isInflated() async throws {
    try await withClient { running, client in
      try client.send(.text, Self.hello, reserved: 4)
      #expect(try running.server.messages.next() == .init(text: "Hello", isText: true))
      try client.send("plain")
      #expect(try running.server.messages.next().text == "plain")
      // Nothing is kept from one to the next.
      try client.send(.text, Self.hello, reserved: 4)
      #expect(try running.server.messages.next().text == "Hello")
      try client.send(.binary, Self.hello, reserved: 4)
      #expect(try running.server.messages.next() == .init(text: "Hello", isText: false))
      try client.send(.text, [0], reserved: 4)
      #expect(try running.server.messages.next().text == "")
    }
  }

  /// RFC 7692, sections 7.2.3.3 to 7.2.3.5: blocks that are not compressed, final, or several.
  @Test(
    arguments: [
      [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
      [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
      [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
    ] as [[UInt8]]) func everyKindOfBlock(message: [UInt8]) async throws
  {
    try await withClient { running, client in
      try client.send(.text, message, reserved: 4)
      #expect(try running.server.messages.next().text == "Hello")
    }
  }

  @Test func inFragments() async throws {
    try await withClient { running, client in
      try client.send(.text, [], isFinal: false, reserved: 4)
      try client.send(.continuation, Array(Self.hello[..<3]), isFinal: false)
      try client.send(.ping, [1])
      try client.send(.continuation, Array(Self.hello[3...]), isFinal: false)
      try client.send(.continuation, [])
      #expect(try running.server.messages.next().text == "Hello")
      try client.send(.text, Array("He".utf8), isFinal: false)
      try client.send(.continuation, Array("llo".utf8))
      #expect(try running.server.messages.next().text == "Hello")
    }
  }

  @Test func RSV1OnAContinuationBreaksTheProtocol() async throws {
    try await withClient { running, client in
      try client.send(.text, Array(Self.hello[..<3]), isFinal: false, reserved: 4)
      try client.send(.continuation, Array(Self.hello[3...]), reserved: 4)
      #expect(try client.receiveClose().code == 1002)
    }
  }

  @Test(arguments: [WebSocketClient.Opcode.ping, .pong, .close]) func RSV1OnAControlFrameBreaksTheProtocol(
    opcode: WebSocketClient.Opcode
  ) async throws {
    try await withClient { running, client in
      try client.send("plain")
      _ = try running.server.messages.next()
      try client.send(opcode, opcode == .close ? [0x03, 0xe8] : [1], reserved: 4)
      #expect(try client.receiveClose().code == 1002)
    }
  }

  /// Each empty block takes its receiver much longer than its sender: final ones, stored ones, and of
  /// both kinds of code.
  @Test(
    arguments: [
      ([0x03, 0x00], 200), ([0x03, 0x00], 32_000), ([0x00, 0x00, 0x00, 0xff, 0xff], 13_000),
      ([0x01, 0x00, 0x00, 0xff, 0xff], 13_000),
    ] as [([UInt8], Int)]) func manyEmptyBlocksAreRefused(block: [UInt8], count: Int) async throws
  {
    try await withClient { running, client in
      try client.send(.text, Array(repeatElement(block, count: count).joined()), reserved: 4)
      let close = try client.receiveClose()
      #expect(close.code == 1009)
      #expect(running.server.messages.isEmpty)
    }
  }

  /// A client may flush for each part of a message.
  @Test func aBlockForEveryFewHundredBytesPasses() async throws {
    try await withClient { running, client in
      let text = [UInt8](repeating: UInt8(ascii: "x"), count: 512)
      var message: [UInt8] = []
      for _ in 0..<127 { message += [0x00, 0x00, 0x02, 0xff, 0xfd] + text }
      try client.send(.text, message + [0x00], reserved: 4)
      #expect(try running.server.messages.next().text.utf8.count == 127 * 512)
    }
  }

  @Test(arguments: [2, 1, 6] as [UInt8]) func otherReservedBitsBreakTheProtocol(bits: UInt8) async throws {
    try await withClient { running, client in
      try client.send(.text, Self.hello, reserved: bits)
      #expect(try client.receiveClose().code == 1002)
    }
  }

  @Test(arguments: [[0xff, 0xff], [0xf2, 0x48, 0xcd], [0x00], [], [0x07], [0x48, 0x65, 0x6c, 0x6c, 0x6f]] as [[UInt8]])
  func whatIsNoCompressedDataCloses(message: [UInt8]) async throws {
    guard message != [0x00] else { return }  // it is the empty message
    try await withClient { running, client in
      try client.send(.text, message, reserved: 4)
      #expect(try client.receiveClose().code == 1007)
    }
  }

  @Test func textIsUTF8() async throws {
    try await withClient { running, client in
      try client.send(.text, deflated([0x68, 0xc3]), reserved: 4)
      #expect(try client.receiveClose().code == 1007)
    }
  }

  /// Up to the bound of a message after inflation; a bomb ends there.
  @Test(arguments: [(1000, 1000), (1000, 1001), (65_536, 65_536), (65_536, 65_537), (1000, 1_000_000)])
  func theBoundHoldsForWhatComesOut(bound: Int, count: Int) async throws {
    try await withClient(maxBytes: bound) { running, client in
      try client.send(.text, deflated([UInt8](repeating: 0x61, count: count)), reserved: 4)
      if count <= bound {
        #expect(try running.server.messages.next().text.utf8.count == count)
      } else {
        #expect(try client.receiveClose().code == 1009)
      }
    }
  }

  /// Data that compressing makes longer than the bound, in pieces of the library's buffer.
  @Test func incompressibleData() async throws {
    var random = SystemRandomNumberGenerator()
    let data = (0..<65_536).map { _ in UInt8.random(in: 0...255, using: &random) }
    try await withClient { running, client in
      let message = deflated(data)
      #expect(message.count > 65_536)
      try client.send(.binary, message, reserved: 4)
      let received = try running.server.messages.next()
      #expect(!received.isText && received.text == String(decoding: data, as: UTF8.self))
      try client.send(.binary, [UInt8](repeating: 0, count: 66_000), reserved: 4)
      #expect(try client.receiveClose().code == 1009)
    }
  }
}
