import Testing
import ThrongTestKit

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
    #expect(OriginPolicy(allowed: []).allows(origin: origin, host: host) == passes)
  }

  @Test func allowedOriginsPassBesideTheOwn() {
    let policy = OriginPolicy(allowed: ["https://shop.example"])
    #expect(policy.allows(origin: "https://Shop.example", host: "a.example"))
    #expect(policy.allows(origin: "https://a.example", host: "a.example"))
    #expect(!policy.allows(origin: "http://shop.example", host: "a.example"))
    #expect(!policy.allows(origin: "null", host: "a.example"))
  }

  @Test func aStarPassesEverything() {
    let policy = OriginPolicy(allowed: ["*"])
    #expect(policy.allows(origin: "null", host: nil) && policy.allows(origin: "https://b.example", host: "a.example"))
  }
}

@Suite struct ClientAddressTests {
  private func address(peer: String, forwarded: String?) -> String {
    ForwardedClient(of: .of(peer: peer, forwardedFor: forwarded), by: .any) { $0.hasPrefix("10.") }.address
  }

  @Test func anUntrustedPeerKeepsItsOwnAddress() {
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
    ]) func anEntryThatIsNoAddressEndsTheWalk(entry: String)
  {
    #expect(address(peer: "10.0.0.1", forwarded: "198.51.100.7, \(entry)") == "10.0.0.1")
    #expect(address(peer: "10.0.0.1", forwarded: "198.51.100.7, \(entry), 10.0.0.2:80") == "10.0.0.2")
    #expect(address(peer: "10.0.0.1", forwarded: "\(entry), 198.51.100.7") == "198.51.100.7")
  }
}

@Suite struct ConnectionLimiterTests {
  @Test func theLimitOfAllConnectionsHolds() {
    let connectionLimiter = ConnectionLimiter(connections: 2, connectionsPerAddress: 0)
    #expect(connectionLimiter.add(from: "a") && connectionLimiter.add(from: "b"))
    #expect(!connectionLimiter.add(from: "c"))
    connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
    #expect(connectionLimiter.add(from: "c"))
  }

  @Test func theLimitOfAnAddressIsItsOwn() {
    let connectionLimiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 1)
    #expect(connectionLimiter.add(from: "a") && connectionLimiter.add(from: "b"))
    #expect(!connectionLimiter.add(from: "a"))
    #expect(!connectionLimiter.add(from: "b"))
  }

  /// Or a storm of refused connections would keep everybody else out while they end.
  @Test func refusedConnectionsTakeNoPlace() {
    let connectionLimiter = ConnectionLimiter(connections: 1, connectionsPerAddress: 0)
    #expect(connectionLimiter.add(from: "a"))
    for _ in 0..<5 { #expect(!connectionLimiter.add(from: "b")) }
    connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
    #expect(connectionLimiter.add(from: "c"))
    for _ in 0..<5 { connectionLimiter.remove(from: "b", wasAccepted: false, at: 0) }
    #expect(!connectionLimiter.add(from: "d"))
  }

  @Test func thoseOnTheirWayHaveThePlacesThatAreFree() {
    let limiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 20)
    for _ in 0..<5 { #expect(limiter.add(from: "a")) }
    for _ in 0..<15 { #expect(limiter.arrive(from: "a") == .admitted) }
    #expect(limiter.arrive(from: "a") == .full)
    #expect(limiter.arrive(from: "b") == .admitted, "another address")
    limiter.leave(from: "a", at: 0)
    #expect(limiter.arrive(from: "a") == .admitted)
  }

  /// They may be HTTP requests, or get their 4005.
  @Test func aFewMayAskWhereNoPlaceIsFree() {
    let limiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 3)
    for _ in 0..<3 { #expect(limiter.add(from: "a")) }
    for _ in 0..<8 { #expect(limiter.arrive(from: "a") == .admitted) }
    #expect(limiter.arrive(from: "a") == .full)
    #expect(!limiter.refusesUpgrade(from: "a"))
    for _ in 0..<8 { #expect(!limiter.add(from: "a")) }
    #expect(limiter.refusesUpgrade(from: "a") && !limiter.refusesUpgrade(from: "b"))
    limiter.remove(from: "a", wasAccepted: true, at: 0)
    #expect(!limiter.refusesUpgrade(from: "a"), "a place is free")
  }

  @Test func manyAreToldOfTheLimitOfAllByAStatus() {
    let limiter = ConnectionLimiter(connections: 1, connectionsPerAddress: 0)
    #expect(limiter.add(from: "a"))
    for number in 0..<256 {
      #expect(!limiter.refusesUpgrade(from: "z"))
      #expect(!limiter.add(from: "\(number)"))
    }
    #expect(limiter.refusesUpgrade(from: "z"))
    limiter.remove(from: "0", wasAccepted: false, at: 0)
    #expect(!limiter.refusesUpgrade(from: "z"))
  }

  @Test(arguments: [
    (64, "2001:db8::1", "2001:db8::2:0:0:1", "2001:db8:0:1::1"), (48, "2001:db8::1", "2001:db8:0:1::1", "2001:db8:1::1"),
  ])
  func theLeadingBitsOfIPv6AreTheAddress(length: Int, one: String, same: String, other: String) {
    let limiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 1, ipv6PrefixLength: length)
    #expect(limiter.add(from: one) && !limiter.add(from: same) && limiter.add(from: other))
    for number in 0..<20 { #expect(!limiter.noteBadToken(from: number.isMultiple(of: 2) ? one : same, at: 0)) }
    #expect(!limiter.noteBadToken(from: other, at: 0))
    #expect(limiter.noteBadToken(from: same, at: 0))
    limiter.remove(from: one, wasAccepted: true, at: 0)
    #expect(limiter.add(from: same))
  }

  @Test(arguments: [
    ("2001:db8::1", 64, "2001:db8::/64"), ("2001:db8:ffff:ffff::1", 56, "2001:db8:ffff:ff00::/56"),
    ("2001:db8::1", 128, "2001:db8::1/128"), ("192.0.2.1", 64, "192.0.2.1"), ("unix", 64, "unix"),
  ]) func aSourceHasOneSpelling(address: String, length: Int, source: String) {
    #expect(ClientAddress.source(of: address, prefixLength: length) == source)
  }

  @Test func theTwentyFirstFailureInTenSecondsWaits() {
    let connectionLimiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 0)
    for _ in 0..<20 { #expect(!connectionLimiter.noteBadToken(from: "a", at: 0)) }
    #expect(!connectionLimiter.noteBadToken(from: "b", at: 0), "another address")
    #expect(connectionLimiter.noteBadToken(from: "a", at: 9999))
    #expect(!connectionLimiter.noteBadToken(from: "a", at: 10_000), "only the one at 9999 is left")
  }

  @Test func anAddressIsForgottenWithItsLastConnectionAndFailure() {
    let connectionLimiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 0)
    _ = connectionLimiter.add(from: "a")
    _ = connectionLimiter.add(from: "a")
    connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
    #expect(connectionLimiter.addressCount == 1)
    connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
    #expect(connectionLimiter.addressCount == 0)

    _ = connectionLimiter.add(from: "b")
    _ = connectionLimiter.noteBadToken(from: "b", at: 0)
    connectionLimiter.remove(from: "b", wasAccepted: true, at: 5000)
    #expect(connectionLimiter.addressCount == 1, "the failure still counts")
    connectionLimiter.sweepIfDue(at: 9999)
    #expect(connectionLimiter.addressCount == 1)
    connectionLimiter.sweepIfDue(at: 20_000)
    #expect(connectionLimiter.addressCount == 1, "it looks about once a minute")
    connectionLimiter.sweepIfDue(at: 69_999)
    #expect(connectionLimiter.addressCount == 0)
  }

  @Test func waitingForTheLastConnectionEndsWithIt() async {
    let connectionLimiter = ConnectionLimiter(connections: 1, connectionsPerAddress: 0)
    await connectionLimiter.waitUntilEmpty()
    _ = connectionLimiter.add(from: "a")
    let isRefused = !connectionLimiter.add(from: "a")
    #expect(isRefused)
    await withTaskGroup { group in
      for _ in 0..<3 { group.addTask { await connectionLimiter.waitUntilEmpty() } }
      connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
      connectionLimiter.remove(from: "a", wasAccepted: false, at: 0)
    }
  }

  @Test func waitingEndsWithItsTask() async {
    let connectionLimiter = ConnectionLimiter(connections: 0, connectionsPerAddress: 0)
    _ = connectionLimiter.add(from: "a")
    let waiting = Task { await connectionLimiter.waitUntilEmpty() }
    waiting.cancel()
    await waiting.value
    connectionLimiter.remove(from: "a", wasAccepted: true, at: 0)
  }
}
