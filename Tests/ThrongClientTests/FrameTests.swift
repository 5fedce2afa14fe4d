import Foundation
import Testing

@testable import ThrongClient

#if canImport(Glibc)
  /// Frames and the upgrade of the transport on Linux.
  @Suite struct FrameTests {
    static func serverFrame(_ opcode: UInt8, _ payload: [UInt8], isFinal: Bool = true) -> [UInt8] {
      var frame: [UInt8] = [(isFinal ? 0x80 : 0) | opcode]
      if payload.count < 126 {
        frame.append(UInt8(payload.count))
      } else if payload.count < 65_536 {
        frame += [126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
      } else {
        frame += [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) }
      }
      return frame + payload
    }

    private func decode(_ bytes: [UInt8], by count: Int) throws -> [FrameDecoder.Output] {
      var decoder = FrameDecoder()
      var outputs: [FrameDecoder.Output] = []
      for start in stride(from: 0, to: bytes.count, by: count) {
        decoder.append(bytes[start..<min(bytes.count, start + count)])
        while let output = try decoder.next() { outputs.append(output) }
      }
      return outputs
    }

    @Test(arguments: [1, 2, 3, 7, 1_000_000]) func framesInAnyPieces(count: Int) throws {
      let long = [UInt8](repeating: 65, count: 70_000)
      let bytes =
        Self.serverFrame(1, Array("a".utf8)) + Self.serverFrame(1, [], isFinal: true)
        + Self.serverFrame(1, Array("b".utf8), isFinal: false)
        + Self.serverFrame(9, [1, 2]) + Self.serverFrame(0, Array("c".utf8), isFinal: false)
        + Self.serverFrame(0, Array("d".utf8))
        + Self.serverFrame(10, []) + Self.serverFrame(1, [UInt8](long.prefix(300))) + Self.serverFrame(1, long)
        + Self.serverFrame(8, [0x0f, 0xa1] + Array("bye".utf8))
      let expected: [FrameDecoder.Output] = [
        .message(Data("a".utf8)), .message(Data()), .ping([1, 2]), .message(Data("bcd".utf8)), .pong,
        .message(Data(long.prefix(300))),
        .message(Data(long)), .close(code: 4001, reason: "bye"),
      ]
      #expect(try decode(bytes, by: count) == expected)
    }

    @Test(
      arguments: [
        ([0xc1, 0x00], 1002), ([0x81, 0x80], 1002), ([0x82, 0x00], 1003), ([0x80, 0x00], 1002), ([0x83, 0x00], 1002),
        ([0x09, 0x00], 1002), ([0x89, 126, 0, 126], 1002), ([0x88, 0x01, 0x00], 1002), ([0x01, 0x00, 0x81, 0x00], 1002),
        ([0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0], 1009),
      ] as [([UInt8], Int)])
    func whatNoServerSends(bytes: [UInt8], code: Int) {
      do {
        _ = try decode(bytes, by: 100)
        Issue.record("accepted")
      } catch {
        #expect((error as? FrameDecoder.Fault)?.code == code)
      }
    }

    @Test func fragmentsHaveABoundTogether() throws {
      var decoder = FrameDecoder()
      decoder.append(Self.serverFrame(1, [1], isFinal: false))
      decoder.append([0x80, 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: ClientLimits.messageBytes >> (8 * $0)) })
      do {
        _ = try decoder.next()
        Issue.record("accepted")
      } catch {
        #expect(error.code == 1009)
      }
    }

    @Test func fragmentsHaveAnEnd() {
      var decoder = FrameDecoder()
      decoder.append(Self.serverFrame(1, [], isFinal: false))
      var fragments = 1
      do {
        while fragments < 100_000 {
          decoder.append(Self.serverFrame(0, [], isFinal: false))
          _ = try decoder.next()
          fragments += 1
        }
        Issue.record("accepted")
      } catch {
        #expect(error.code == 1009 && fragments == 65_536)
      }
    }

    @Test func pingsAreNotAnsweredWithoutEnd() {
      var output: [UInt8] = []
      for _ in 0..<10_000 { FrameEncoder.answer(ping: [UInt8](repeating: 1, count: 125), in: &output) }
      #expect(output.count < 66_000)
      output = []
      FrameEncoder.answer(ping: [7], in: &output)
      #expect(output.count == 7)
    }

    @Test func emptyMessagesTakeRoom() {
      var incoming = IncomingMessages()
      var count = 0
      while incoming.hasRoom, count < 100_000 {
        incoming.append(Data())
        count += 1
      }
      #expect(count == (1 << 20) / 64)
      for _ in 0..<count { #expect(incoming.next() == Data()) }
      #expect(incoming.next() == nil && incoming.hasRoom)
    }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536]) func framesOfAClientAreMasked(length: Int) {
      let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
      let frame = FrameEncoder.frame(FrameEncoder.text, payload)
      let width = length < 126 ? 0 : length < 65_536 ? 2 : 8
      #expect(frame[0] == 0x81 && frame[1] & 0x80 != 0 && frame.count == 6 + width + length)
      let mask = frame[(2 + width)..<(6 + width)].map { $0 }
      let unmasked = frame.dropFirst(6 + width).enumerated().map { $1 ^ mask[$0 & 3] }
      #expect(unmasked == payload)
    }

    // MARK: The upgrade

    private let upgrade = Upgrade(subprotocol: "throng.v1.json", key: "dGhlIHNhbXBsZSBub25jZQ==")

    private func response(_ lines: String...) -> [UInt8] { Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) }

    /// The key and its answer are those of RFC 6455, section 1.3.
    @Test func theRightAnswer() throws {
      let bytes = response("HTTP/1.1 101 Switching Protocols", "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(try upgrade.accept(bytes + [0x81, 0]) == bytes.count)
      for length in 0..<bytes.count { #expect(try upgrade.accept(Array(bytes.prefix(length))) == nil) }
    }

    @Test func otherAnswersAreRefused() {
      for (bytes, reason) in [
        (response("HTTP/1.1 503 Service Unavailable"), "HTTP 503 Service Unavailable"), (response("SSH-2.0"), "no HTTP"),
        (response("HTTP/1.1 101 OK", "Sec-WebSocket-Accept: AAAA"), "HTTP 101 without the right Sec-WebSocket-Accept"),
        (
          response(
            "HTTP/1.1 101 OK", "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            "Sec-WebSocket-Extensions: permessage-deflate"),
          "an extension that was not offered"
        ),
        ([UInt8](repeating: 65, count: 20_000), "no end of the HTTP head within 16 KB"),
      ] {
        #expect(throws: TransportError.failed(reason)) { try upgrade.accept(bytes) }
      }
    }

    @Test func theRequest() throws {
      let address = try WebSocketAddress(#require(URL(string: "ws://chat.example:8080/ws?a=%20b")))
      let text = String(decoding: upgrade.request(to: address), as: UTF8.self)
      #expect(text.hasPrefix("GET /ws?a=%20b HTTP/1.1\r\nHost: chat.example:8080\r\n") && text.hasSuffix("\r\n\r\n"))
      #expect(text.contains("\r\nSec-WebSocket-Protocol: throng.v1.json\r\n"))
    }

    @Test func addresses() throws {
      for (text, authority, port, target) in [
        ("ws://a/", "a", 80, "/"), ("wss://a", "a", 443, "/"), ("WS://a:443/x", "a:443", 443, "/x"),
        ("wss://a:443/x", "a", 443, "/x"),
        ("ws://[::1]:8080/ws", "[::1]:8080", 8080, "/ws"),
      ] {
        let address = try WebSocketAddress(#require(URL(string: text)))
        #expect(address.authority == authority && address.port == port && address.target == target, "\(text)")
      }
      for text in ["http://a/", "chat.example", "ws:///ws"] {
        let url = try #require(URL(string: text))
        #expect(throws: TransportError.self) { try WebSocketAddress(url) }
      }
    }
  }
#endif
