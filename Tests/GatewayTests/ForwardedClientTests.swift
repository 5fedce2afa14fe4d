import Testing

@testable import Gateway
@testable import WebSocketTransport

/// The client behind proxies, 10.0.0.0/8 in these tests (Protocol.md, "Client addresses").
@Suite struct ForwardedClientTests {
  private func client(
    peer: String = "10.0.0.1", for list: String? = nil, host: String? = nil, forwarded: String? = nil,
    by headers: ForwardingHeaders = .any
  ) -> ForwardedClient {
    let head = RequestHead.of(peer: peer, forwardedFor: list, forwardedHost: host, forwarded: forwarded)
    return ForwardedClient(of: head, by: headers) { $0.hasPrefix("10.") || $0 == RequestHead.unixPeer }
  }

  private func named(_ address: String, _ host: String = "a.example") -> ForwardedClient {
    ForwardedClient(address: address, host: host)
  }

  // MARK: X-Forwarded-Host

  @Test func theForwardedHostCountsFromATrustedProxy() {
    #expect(client(for: "192.0.2.1", host: "chat.example") == named("192.0.2.1", "chat.example"))
    #expect(client(peer: "unix", for: "192.0.2.1", host: "chat.example") == named("192.0.2.1", "chat.example"))
    #expect(client(peer: "192.0.2.9", for: "192.0.2.1", host: "chat.example") == named("192.0.2.9"))
  }

  @Test func withoutAnAddressItIsWhatThePeerSays() {
    #expect(client(host: "chat.example") == named("10.0.0.1", "chat.example"))
    #expect(client(host: "evil.example, chat.example") == named("10.0.0.1", "chat.example"))
    #expect(client(peer: "unix", host: "chat.example") == named("unix", "chat.example"))
  }

  /// Lists of different lengths are paired from the right.
  @Test(
    arguments: [
      ("192.0.2.1", "chat.example", "chat.example"), ("192.0.2.1", "evil.example, chat.example", "chat.example"),
      ("192.0.2.1, 10.0.0.2", "chat.example, inner.example", "chat.example"),
      ("192.0.2.1, 10.0.0.2", "evil.example, chat.example, inner.example", "chat.example"),
      ("192.0.2.9, 192.0.2.1, 10.0.0.2", "evil.example,chat.example,inner.example", "chat.example"),
      ("192.0.2.1, 10.0.0.2", "inner.example", "a.example"), ("192.0.2.1", ",", "a.example"),
    ]) func theHopThatNamesTheAddressNamesTheHost(list: String, hosts: String, host: String)
  {
    #expect(client(for: list, host: hosts) == named("192.0.2.1", host))
  }

  @Test func aHopWithoutAnAddressEndsTheWalkForTheHostToo() {
    #expect(client(for: "192.0.2.1, unknown", host: "evil.example, chat.example") == named("10.0.0.1", "chat.example"))
    #expect(
      client(for: "192.0.2.1, unknown, 10.0.0.2", host: "evil.example, evil.example, chat.example")
        == named("10.0.0.2", "chat.example"))
  }

  // MARK: Forwarded

  @Test(
    arguments: [
      ("for=192.0.2.1", "192.0.2.1", "a.example"), ("For=\"192.0.2.1:4711\"", "192.0.2.1", "a.example"),
      ("for=192.0.2.1:80;host=chat.example", "192.0.2.1", "chat.example"),
      ("for=\"[2001:DB8::1]:80\";proto=https;host=\"chat.example:8443\";by=10.0.0.1", "2001:db8::1", "chat.example:8443"),
      ("HOST=chat.example ; FOR=192.0.2.1", "192.0.2.1", "chat.example"),
      ("for=\"192.0.\\2.1\";host=\"ch\\at.example\"", "192.0.2.1", "chat.example"),
      ("for=192.0.2.9;host=evil.example, for=192.0.2.1;host=chat.example", "192.0.2.1", "chat.example"),
      ("for=192.0.2.1;host=chat.example, for=10.0.0.2;host=inner.example", "192.0.2.1", "chat.example"),
      ("for=192.0.2.1, for=10.0.0.2;host=inner.example", "192.0.2.1", "a.example"),
      ("host=chat.example", "10.0.0.1", "chat.example"), ("proto=https", "10.0.0.1", "a.example"),
      ("for=unknown;host=chat.example", "10.0.0.1", "chat.example"),
      ("for=_hidden, for=10.0.0.2;host=chat.example", "10.0.0.2", "chat.example"),
      (",, for=192.0.2.1 ,", "192.0.2.1", "a.example"), (";", "10.0.0.1", "a.example"), (" ", "10.0.0.1", "a.example"),
      ("for=192.0.2.1;host=\"\"", "192.0.2.1", "a.example"), ("for=\"::ffff:192.0.2.1\"", "192.0.2.1", "a.example"),
    ]) func forwardedNamesAddressAndHost(header: String, address: String, host: String)
  {
    #expect(client(forwarded: header) == named(address, host))
    #expect(client(peer: "unix", forwarded: header).host == host)
    #expect(client(peer: "192.0.2.200", forwarded: header) == named("192.0.2.200"))
  }

  /// An element that breaks the grammar tells nothing, and nothing to its left counts.
  @Test(
    arguments: [
      "for", "for=", "=192.0.2.1", "for=192.0.2.1;for=192.0.2.2", "for=192.0.2.1 host=a", "for=\"192.0.2.1", "for=\"192.0.2.1\"x",
      "for=\"192.0.2.1\\", "for =192.0.2.1", "for= 192.0.2.1", "for=\"192.0.2.1, for=192.0.2.2\"", "\"for=192.0.2.1\"",
      "for==192.0.2.1", "for=192.0.2.1;host=a;HOST=b",
    ]) func aBrokenElementNamesNobody(element: String)
  {
    #expect(client(forwarded: element) == named("10.0.0.1"))
    #expect(client(forwarded: "for=192.0.2.9;host=evil.example, " + element) == named("10.0.0.1"))
    #expect(
      client(for: "192.0.2.9", host: "evil.example", forwarded: element) == named("10.0.0.1"), "it wins also where it is broken")
  }

  @Test func aBrokenElementDoesNotReachOverAComma() {
    for broken in ["for", "for==x", "x y", "for=\"a\"b", "=;"] {
      #expect(client(forwarded: broken + ", for=192.0.2.1;host=chat.example") == named("192.0.2.1", "chat.example"))
    }
  }

  /// A client that opens a quote cannot make the element behind it say something else.
  @Test(arguments: ["for=\"192.0.2.9", "x\"", "for=192.0.2.9\"", "\"", "for=\"192.0.2.9\\\""])
  func anOpenQuoteTakesTheRestWithIt(opened: String) {
    #expect(client(forwarded: opened + ", for=192.0.2.1;host=chat.example") == named("10.0.0.1"))
    let quoted = client(forwarded: opened + ", for=\"[2001:db8::1]\";host=\"chat.example\"")
    #expect(quoted.address == "10.0.0.1" && quoted.host == "a.example")
  }

  @Test func forwardedWinsOverTheOthers() {
    #expect(
      client(for: "192.0.2.9", host: "other.example", forwarded: "for=192.0.2.1;host=chat.example")
        == named("192.0.2.1", "chat.example"))
    #expect(client(for: "192.0.2.9", host: "other.example", forwarded: "for=192.0.2.1") == named("192.0.2.1"))
    #expect(client(for: "192.0.2.9", host: "other.example", forwarded: "proto=https") == named("10.0.0.1"))
  }

  // MARK: One header that the proxies set

  /// The client wrote the header that its proxy does not know.
  @Test func theHeaderThatIsNotNamedDoesNotCount() {
    let (list, host, lie) = ("192.0.2.1", "chat.example", "for=192.0.2.9;host=evil.example")
    #expect(client(for: list, host: host, forwarded: lie, by: .xForwarded) == named("192.0.2.1", "chat.example"))
    #expect(client(for: list, host: host, forwarded: "for=\"", by: .xForwarded) == named("192.0.2.1", "chat.example"))
    #expect(client(forwarded: lie, by: .xForwarded) == named("10.0.0.1"))
    #expect(
      client(for: "192.0.2.9", host: "evil.example", forwarded: "for=192.0.2.1;host=chat.example", by: .forwarded)
        == named("192.0.2.1", "chat.example"))
    #expect(client(for: "192.0.2.9", host: "evil.example", by: .forwarded) == named("10.0.0.1"))
    #expect(client(peer: "192.0.2.7", for: list, forwarded: lie, by: .xForwarded) == named("192.0.2.7"))
  }

  // MARK: Properties

  /// Whatever the client wrote to the left, the last proxy's element decides, or nobody is named.
  @Test func nothingToTheLeftChangesTheLastProxysWord() {
    var random = SystemRandomNumberGenerator()
    let alphabet = Array("for=host\"\\,; :.[]192a_\t")
    for _ in 0..<5000 {
      let left = String((0..<Int.random(in: 0..<40, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
      for own in ["for=192.0.2.1;host=chat.example", "for=\"[2001:db8::1]:8\";host=\"chat.example\""] {
        let got = client(forwarded: left + "," + own)
        let allowed = [named("192.0.2.1", "chat.example"), named("2001:db8::1", "chat.example"), named("10.0.0.1")]
        #expect(allowed.contains(got), "\(left) gave \(got)")
      }
    }
  }

  /// Elements that are written by the grammar are read as they were meant.
  @Test func whatIsWrittenIsRead() {
    for _ in 0..<2000 {
      let hops = (0..<Int.random(in: 1...4))
        .map { _ in
          ForwardedHop(
            address: Bool.random()
              ? "192.0.2.\(Int.random(in: 0...255))" : Bool.random() ? "2001:db8::\(Int.random(in: 1...9))" : nil,
            host: Bool.random() ? "h\(Int.random(in: 0...9)).example" : nil)
        }
      let text = hops.map(written).joined(separator: [",", ", ", " , ,"].randomElement() ?? ",")
      #expect(ForwardedHeader.hops(in: text) == hops, "\(text)")
    }
  }

  private func written(_ hop: ForwardedHop) -> String {
    let address = hop.address.map { $0.contains(":") ? "for=\"[\($0)]:80\"" : Bool.random() ? "for=\($0)" : "For=\"\($0):80\"" }
    let host = hop.host.map { Bool.random() ? "host=\($0)" : "Host=\"\($0)\"" }
    let pairs = [address ?? "for=unknown", host, Bool.random() ? "proto=https" : nil].compactMap(\.self)
    return pairs.shuffled().joined(separator: [";", "; ", " ;"].randomElement() ?? ";")
  }
}
