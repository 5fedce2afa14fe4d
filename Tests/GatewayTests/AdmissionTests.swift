import Testing

@testable import Gateway
@testable import WebSocketTransport

@Suite struct OriginPolicyTests {
  @Test(
    arguments: [
      (nil, "a.example", true), (nil, nil, true), ("null", "a.example", false), ("https://a.example", "a.example", true),
      ("https://a.example", "a.example:443", true), ("https://a.example:443", "a.example", true),
      ("http://a.example", "a.example:80", true),
      ("http://a.example", "a.example:443", false), ("https://a.example", "a.example:8080", false),
      ("http://a.example:8080", "a.example:8080", true), ("HTTPS://A.Example", "a.eXample", true),
      ("https://b.example", "a.example", false),
      ("https://a.example.evil", "a.example", false), ("https://evil/a.example", "a.example", false),
      ("http://[::1]", "[::1]:80", true),
      ("http://[::1]:8080", "[::1]:8080", true), ("http://[::1]:8080", "[::1]", false), ("https://a.example", nil, false),
      ("a.example", "a.example", false), ("", "a.example", false), ("://", ":80", false),
    ] as [(String?, String?, Bool)])
  func withoutAnyAllowedOnlyTheOwnOriginPasses(origin: String?, host: String?, passes: Bool) {
    #expect(OriginPolicy(allowed: []).admits(origin: origin, host: host) == passes)
  }

  @Test func allowedOriginsPassBesideTheOwn() {
    let policy = OriginPolicy(allowed: ["https://shop.example"])
    #expect(policy.admits(origin: "https://Shop.example", host: "a.example"))
    #expect(policy.admits(origin: "https://a.example", host: "a.example"))
    #expect(!policy.admits(origin: "http://shop.example", host: "a.example"))
    #expect(!policy.admits(origin: "null", host: "a.example"))
  }

  @Test func aStarPassesEverything() {
    let policy = OriginPolicy(allowed: ["*"])
    #expect(policy.admits(origin: "null", host: nil) && policy.admits(origin: "https://b.example", host: "a.example"))
  }
}

@Suite struct ClientAddressTests {
  private func address(peer: String, forwarded: String?) -> String {
    let head = RequestHead(
      method: "GET", path: "/ws", query: "", host: nil, origin: nil, authorization: nil, forwardedFor: forwarded,
      subprotocols: nil,
      peerAddress: peer, isTLS: false, isInternal: false)
    return ClientAddress.of(head) { $0.hasPrefix("10.") }
  }

  @Test func whoIsNoProxyIsTakenAtItsOwnAddress() {
    #expect(address(peer: "192.0.2.1", forwarded: "198.51.100.7") == "192.0.2.1")
    #expect(address(peer: "10.0.0.1", forwarded: nil) == "10.0.0.1")
  }

  @Test func behindProxiesItIsTheRightMostThatIsNone() {
    #expect(address(peer: "10.0.0.1", forwarded: "198.51.100.7") == "198.51.100.7")
    #expect(address(peer: "10.0.0.1", forwarded: "203.0.113.9, 198.51.100.7 ,10.0.0.2") == "198.51.100.7")
    #expect(address(peer: "10.0.0.1", forwarded: "203.0.113.9,,10.0.0.2") == "203.0.113.9")
  }

  @Test func whereAllAreProxiesItIsTheFirst() {
    #expect(address(peer: "10.0.0.1", forwarded: "10.0.0.3, 10.0.0.2") == "10.0.0.3")
    #expect(address(peer: "10.0.0.1", forwarded: " , ") == "10.0.0.1")
  }

  @Test(
    arguments: [
      ("203.0.113.9:1111", "203.0.113.9"), ("203.0.113.9:0", "203.0.113.9"), ("2001:db8::1", "2001:db8::1"),
      ("[2001:db8::1]:80", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"), ("2001:DB8:0:0::01", "2001:db8::1"),
      ("::ffff:203.0.113.9", "203.0.113.9"), ("[::FFFF:CB00:7109]:443", "203.0.113.9"),
      ("198.51.100.7, 10.0.0.2:5", "198.51.100.7"), ("198.51.100.7:9, ::ffff:10.0.0.2", "198.51.100.7"),
    ]) func oneAddressHasOneSpelling(forwarded: String, client: String)
  {
    #expect(address(peer: "10.0.0.1", forwarded: forwarded) == client)
  }

  /// Or whoever writes the left end could choose.
  @Test(
    arguments: [
      "unknown", "_hidden", "203.0.113", "203.0.113.9:", "203.0.113.9:x", "203.0.113.9:65536", "203.0.113.9:-1",
      "203.0.113.9:1:2", "[203.0.113.9]", "[203.0.113.9]:80", "[2001:db8::1", "2001:db8::1]", "[2001:db8::1]80", "[2001:db8::1]:",
      "[]", "2001:db8::1%eth0", "203.0.113.9 5", "0x7f.1", "203.0.113.09", "\"203.0.113.9\"", ":", "203.0.113.9/32",
    ]) func whatIsNoAddressEndsTheWalk(entry: String)
  {
    #expect(address(peer: "10.0.0.1", forwarded: "198.51.100.7, \(entry)") == "10.0.0.1")
    #expect(address(peer: "10.0.0.1", forwarded: "198.51.100.7, \(entry), 10.0.0.2:80") == "10.0.0.2")
    #expect(address(peer: "10.0.0.1", forwarded: "\(entry), 198.51.100.7") == "198.51.100.7")
  }
}

@Suite struct AdmissionsTests {
  @Test func theLimitOfAllConnectionsHolds() {
    let admissions = Admissions(connections: 2, connectionsPerAddress: 0)
    #expect(admissions.enter("a") && admissions.enter("b"))
    #expect(!admissions.enter("c"))
    admissions.leave("a", wasAdmitted: true, at: 0)
    #expect(admissions.enter("c"))
  }

  @Test func theLimitOfAnAddressIsItsOwn() {
    let admissions = Admissions(connections: 0, connectionsPerAddress: 1)
    #expect(admissions.enter("a") && admissions.enter("b"))
    #expect(!admissions.enter("a"))
    #expect(!admissions.enter("b"))
  }

  /// Or a storm of refused connections would keep everybody else out while they end.
  @Test func refusedConnectionsTakeNoPlace() {
    let admissions = Admissions(connections: 1, connectionsPerAddress: 0)
    #expect(admissions.enter("a"))
    for _ in 0..<5 { #expect(!admissions.enter("b")) }
    admissions.leave("a", wasAdmitted: true, at: 0)
    #expect(admissions.enter("c"))
    for _ in 0..<5 { admissions.leave("b", wasAdmitted: false, at: 0) }
    #expect(!admissions.enter("d"))
  }

  @Test func theTwentyFirstFailureInTenSecondsWaits() {
    let admissions = Admissions(connections: 0, connectionsPerAddress: 0)
    for _ in 0..<20 { #expect(!admissions.noteFailure(from: "a", at: 0)) }
    #expect(!admissions.noteFailure(from: "b", at: 0), "another address")
    #expect(admissions.noteFailure(from: "a", at: 9999))
    #expect(!admissions.noteFailure(from: "a", at: 10_000), "only the one at 9999 is left")
  }

  @Test func anAddressIsForgottenWithItsLastConnectionAndFailure() {
    let admissions = Admissions(connections: 0, connectionsPerAddress: 0)
    _ = admissions.enter("a")
    _ = admissions.enter("a")
    admissions.leave("a", wasAdmitted: true, at: 0)
    #expect(admissions.addressCount == 1)
    admissions.leave("a", wasAdmitted: true, at: 0)
    #expect(admissions.addressCount == 0)

    _ = admissions.enter("b")
    _ = admissions.noteFailure(from: "b", at: 0)
    admissions.leave("b", wasAdmitted: true, at: 5000)
    #expect(admissions.addressCount == 1, "the failure still counts")
    admissions.sweepIfDue(at: 9999)
    #expect(admissions.addressCount == 1)
    admissions.sweepIfDue(at: 20_000)
    #expect(admissions.addressCount == 1, "it looks about once a minute")
    admissions.sweepIfDue(at: 69_999)
    #expect(admissions.addressCount == 0)
  }

  @Test func waitingForTheLastConnectionEndsWithIt() async {
    let admissions = Admissions(connections: 1, connectionsPerAddress: 0)
    await admissions.waitUntilEmpty()
    _ = admissions.enter("a")
    let isRefused = !admissions.enter("a")
    #expect(isRefused)
    await withTaskGroup { group in
      for _ in 0..<3 { group.addTask { await admissions.waitUntilEmpty() } }
      admissions.leave("a", wasAdmitted: true, at: 0)
      admissions.leave("a", wasAdmitted: false, at: 0)
    }
  }

  @Test func waitingEndsWithItsTask() async {
    let admissions = Admissions(connections: 0, connectionsPerAddress: 0)
    _ = admissions.enter("a")
    let waiting = Task { await admissions.waitUntilEmpty() }
    waiting.cancel()
    await waiting.value
    admissions.leave("a", wasAdmitted: true, at: 0)
  }
}
