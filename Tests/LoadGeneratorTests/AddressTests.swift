import Testing

@testable import LoadGenerator

@Suite struct AddressTests {
  @Test(
    arguments: [
      ("ws://127.0.0.1:8080/ws", "127.0.0.1", 8080, "/ws", "127.0.0.1:8080"),
      ("ws://example.org", "example.org", 80, "/", "example.org:80"),
      ("ws://h:1?x=y", "h", 1, "/?x=y", "h:1"),
      ("ws://h:1/a/b?c=%d#f", "h", 1, "/a/b?c=%d", "h:1"),
      ("ws://[::1]:9/p", "::1", 9, "/p", "[::1]:9"),
      ("ws://[::1]", "::1", 80, "/", "[::1]:80"),
      ("wss://h/p", "h", 443, "/p", "h:443"),
      ("wss://[::1]:9", "::1", 9, "/", "[::1]:9"),
    ] as [(String, String, UInt16, String, String)])
  func isRead(_ row: (url: String, host: String, port: UInt16, target: String, authority: String)) throws {
    let address = try Address(url: row.url)
    #expect(address.host == row.host)
    #expect(address.isTLS == row.url.hasPrefix("wss:"))
    #expect(address.port == row.port)
    #expect(address.target == row.target)
    #expect(address.authority == row.authority)
  }

  @Test(arguments: [
    "", "h:1", "http://h", "https://h", "wss:h:1", "wss://", "ws://", "ws:///x", "ws://h:0/", "ws://h:65536/", "ws://h:/",
    "ws://[]:1/",
  ])
  func anythingElseIsRefusedWithASentence(url: String) {
    #expect(throws: BenchmarkError.self) { try Address(url: url) }
  }

  @Test func sourcesAreLoopbackAddresses() throws {
    #expect(SocketAddress.source(1).isLoopback)
    #expect(try Address(url: "ws://127.0.0.1:1/").resolve().isLoopback)
    #expect(try !Address(url: "ws://[::1]:1/").resolve().isLoopback)
  }
}
