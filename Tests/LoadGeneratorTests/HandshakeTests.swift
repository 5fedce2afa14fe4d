import Testing

@testable import LoadGenerator

@Suite struct HandshakeTests {
  private static let good =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

  private func read(_ text: String) -> Handshake.Response { Array(text.utf8).withUnsafeBytes { Handshake.parse($0) } }

  @Test func theFramesBeginBehindTheHead() {
    #expect(read(Self.good) == .accepted(end: Self.good.utf8.count))
    #expect(read(Self.good + "\u{1}\u{0}rest") == .accepted(end: Self.good.utf8.count))
  }

  @Test func everyProperPrefixIsIncomplete() {
    for length in 0..<Self.good.utf8.count {
      #expect(read(String(decoding: Self.good.utf8.prefix(length), as: UTF8.self)) == .incomplete)
    }
  }

  @Test func aRefusalIsToldAsTheServerSaysIt() {
    #expect(read("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") == .refused("HTTP 403 Forbidden"))
    #expect(read("HTTP/1.1 101 Switching Protocols\r\n\r\n") == .refused("HTTP 101 without the right Sec-WebSocket-Accept"))
    #expect(read("SSH-2.0-OpenSSH\r\n\r\n") == .refused("no HTTP"))
    #expect(read(String(repeating: "x", count: 20_000)) == .refused("no end of the HTTP head within 16 KB"))
  }

  @Test func theRequestNamesHostAndSubprotocol() {
    let text = String(decoding: Handshake.request(target: "/ws?a=b", host: "h:1", subprotocol: "p"), as: UTF8.self)
    #expect(text.hasPrefix("GET /ws?a=b HTTP/1.1\r\nHost: h:1\r\n"))
    #expect(text.contains("\r\nSec-WebSocket-Protocol: p\r\n"))
    #expect(text.hasSuffix("\r\n\r\n"))
    let bare = String(decoding: Handshake.request(target: "/", host: "h:1", subprotocol: nil), as: UTF8.self)
    #expect(!bare.contains("Protocol"))
  }

  @Test func permessageDeflateIsOfferedAndAgreedOn() {
    let request = Handshake.request(target: "/", host: "h", subprotocol: nil, offersDeflate: true)
    #expect(
      String(decoding: request, as: UTF8.self).contains(
        "\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"))
    let answer = Self.good.replacing("Connection", with: "sec-websocket-extensions: permessage-deflate\r\nConnection")
    #expect(read(answer) == .accepted(end: answer.utf8.count, agreesOnDeflate: true))
    #expect(read(Self.good.replacing("Connection", with: "X: permessage-deflate\r\nConnection")) != read(answer))
  }
}
