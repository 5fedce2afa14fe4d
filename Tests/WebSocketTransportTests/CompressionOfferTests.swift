import Testing
import WebSocketTransport

/// permessage-deflate in the upgrade (RFC 7692, section 7.1).
@Suite struct CompressionOfferTests {
  static let plain = "permessage-deflate; client_no_context_takeover"

  @Test(arguments: [
    ("permessage-deflate", plain), ("permessage-deflate; client_max_window_bits", plain),
    ("permessage-deflate;client_max_window_bits=10 ; client_no_context_takeover", plain),
    ("permessage-deflate; client_max_window_bits=\"10\"", plain), ("x-webkit-deflate-frame, permessage-deflate", plain),
    ("permessage-deflate; server_no_context_takeover", plain + "; server_no_context_takeover"),
    ("permessage-deflate; server_max_window_bits=10", plain + "; server_max_window_bits=10"),
    (
      "permessage-deflate; server_max_window_bits=8; server_no_context_takeover",
      plain + "; server_no_context_takeover; server_max_window_bits=8"
    ),
    ("permessage-deflate; server_max_window_bits=15", plain),
    // The first of several that can be accepted.
    ("permessage-deflate; server_max_window_bits=9, permessage-deflate", plain + "; server_max_window_bits=9"),
    ("permessage-deflate, permessage-deflate; server_max_window_bits=9", plain),
    ("permessage-deflate; mode=fast, permessage-deflate; server_max_window_bits=11", plain + "; server_max_window_bits=11"),
    ("permessage-deflate; server_max_window_bits=7, permessage-deflate, permessage-deflate", plain),
  ]) func accepts(offer: String, answer: String) async throws {
    try await TestServer.with({ $0.compressionBytes = 1 << 20 }) { running in
      let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: \(offer)"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      #expect(client.extensions == answer)
      try client.send("hello")
      #expect(try running.server.messages.next().text == "hello")
    }
  }

  @Test(arguments: [
    "permessage-bzip2", "permessage-deflate-frame", "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
    "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
    "permessage-deflate; server_max_window_bits=09", "permessage-deflate; server_max_window_bits=ten",
    "permessage-deflate; client_max_window_bits=99", "permessage-deflate; client_max_window_bits=\"10",
    "permessage-deflate; server_no_context_takeover=1",
    "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    "permessage-deflate; client_max_window_bits; client_max_window_bits=9", "permessage-deflate; =9",
    "permessage-deflate server_no_context_takeover",
  ]) func declines(offer: String) async throws {
    try await TestServer.with({ $0.compressionBytes = 1 << 20 }) { running in
      let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: \(offer)"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 "))
      #expect(client.extensions == nil)
      // RSV1 then breaks the protocol.
      try client.send(.text, [0], reserved: 4)
      #expect(try client.receiveClose().code == 1002)
    }
  }

  @Test func offersInTwoFieldsAreOneList() async throws {
    try await TestServer.with({ $0.compressionBytes = 1 << 20 }) { running in
      let client = try WebSocketClient(
        port: running.port,
        headers: ["Sec-WebSocket-Extensions: foo; bar=1", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"])
      #expect(client.extensions == Self.plain)
    }
  }

  @Test func nothingIsAgreedOnWhereItIsOff() async throws {
    try await TestServer.with { running in
      let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: permessage-deflate"])
      #expect(client.answer.hasPrefix("HTTP/1.1 101 ") && client.extensions == nil)
    }
  }

  /// One connection's terms are not the next one's.
  @Test func theNextUpgradeBeginsAnew() async throws {
    try await TestServer.with({ $0.compressionBytes = 1 << 20 }) { running in
      let deflate = ["Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=9"]
      for headers in [deflate, [], deflate, ["Sec-WebSocket-Extensions: foo"], deflate] {
        let client = try WebSocketClient(port: running.port, headers: headers)
        #expect((client.extensions != nil) == (headers == deflate))
      }
    }
  }

  @Test func anOfferThatIsTooLongIsRefused() async throws {
    try await TestServer.with({ $0.compressionBytes = 1 << 20 }) { running in
      for (count, status) in [(200, "101"), (254, "101"), (255, "431"), (300, "431"), (4000, "431")] {
        let offer = "permessage-deflate, " + String(repeating: "x", count: count - 20)
        let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: \(offer)"])
        #expect(client.answer.split(separator: " ")[1] == status)
      }
    }
  }
}

extension WebSocketClient {
  /// The extensions in the server's answer.
  var extensions: String? {
    let name = "Sec-WebSocket-Extensions: "
    return answer.split(separator: "\r\n").first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.count)) }
  }
}
