import Testing
import WebSocketTransport

/// permessage-deflate in the upgrade (RFC 7692, section 7.1).
@Suite struct CompressionOfferTests {
  static let plain = "permessage-deflate; client_no_context_takeover"

  /// Longer than what libwebsockets reads.
  private static let threeOffers = [
    "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_no_context_takeover; server_max_window_bits=9",
    "permessage-deflate; client_no_context_takeover; client_max_window_bits; server_no_context_takeover",
    "permessage-deflate; client_no_context_takeover; client_max_window_bits",
  ].joined(separator: ", ")
  private static let elevenOffers: String = {
    let bad = (1...9).map { "permessage-deflate; mode=\($0)" }
    return (["permessage-deflate; mode=0", "permessage-deflate"] + bad).joined(separator: ", ")
  }()

  private static let takeover = plain + "; server_no_context_takeover"
  private static let accepted: [(offer: String, answer: String)] = [
    ("permessage-deflate", plain), ("permessage-deflate; client_max_window_bits", plain),
    ("permessage-deflate;client_max_window_bits=10 ; client_no_context_takeover", plain),
    ("permessage-deflate; client_max_window_bits=\"10\"", plain), ("x-webkit-deflate-frame, permessage-deflate", plain),
    ("permessage-deflate; server_no_context_takeover", takeover),
    ("permessage-deflate; server_max_window_bits=10", plain + "; server_max_window_bits=10"),
    (
      "permessage-deflate; server_max_window_bits=8; server_no_context_takeover",
      takeover + "; server_max_window_bits=8"
    ),
    ("permessage-deflate; server_max_window_bits=15", plain),
    // The first of several that can be accepted.
    ("permessage-deflate; server_max_window_bits=9, permessage-deflate", plain + "; server_max_window_bits=9"),
    ("permessage-deflate, permessage-deflate; server_max_window_bits=9", plain),
    ("permessage-deflate; mode=fast, permessage-deflate; server_max_window_bits=11", plain + "; server_max_window_bits=11"),
    ("permessage-deflate; server_max_window_bits=7, permessage-deflate, permessage-deflate", plain),
    (threeOffers, takeover + "; server_max_window_bits=9"), (elevenOffers, plain),
  ]

  @Test(arguments: accepted) func accepts(offer: String, answer: String) async throws {
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
      let plain = "permessage-deflate, ", early = "permessage-deflate; client_max_window_bits, "
      for (offer, count, status) in [
        (plain, 200, "101"), (plain, 254, "101"), (plain, 255, "431"), (plain, 300, "431"), (plain, 4000, "431"),
        (early, 255, "101"), (early, 380, "101"), (early, 381, "431"), (early, 4000, "431"),
      ] {
        let field = offer + String(repeating: "x", count: count - offer.count)
        let client = try WebSocketClient(port: running.port, headers: ["Sec-WebSocket-Extensions: \(field)"])
        #expect(client.answer.split(separator: " ")[1] == status, "\(count)")
        if status == "101" { #expect(client.extensions == Self.plain) }
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
