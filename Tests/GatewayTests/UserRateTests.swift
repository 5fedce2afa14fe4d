import Testing
import ThrongTestKit

@testable import Gateway

/// The request rate on real connections: it is the user's, and outlives sessions (Protocol.md,
/// "Request rate").
@Suite struct UserRateTests {
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  /// A server where everybody may send so many requests, sign-ins included, and never another one.
  private func withRequests(_ count: Int, loops: Int = 1, _ body: (LiveGateway) async throws -> Void) async throws {
    try await LiveGateway.with(loops: loops) {
      $0.requestsPerSecond = 0
      $0.requestBurst = count
    } _: { live in
      try await body(live)
    }
  }

  private func code(of client: Client) async throws -> JSON { try await client.call("ping")["error"]["code"] }

  @Test(arguments: [1, 4]) func sessionsShareTheRateAndSignInsCount(loops: Int) async throws {
    try await withRequests(6, loops: loops) { live in
      let (first, second) = (try await live.signIn("alice"), try await live.signIn("alice"))
      for client in [first, second, second, first] { #expect(try await code(of: client) == nil) }
      #expect(try await code(of: first) == 7008)
      #expect(try await code(of: second) == 7008)
      #expect(try await code(of: live.signIn("bob")) == nil, "another user is not affected")
    }
  }

  @Test func aRenewalIsOneRequest() async throws {
    try await withRequests(3) { live in
      let alice = try await live.signIn("alice")
      #expect(try await alice.call("login", #"{"token":"alice"}"#)["error"] == nil)
      #expect(try await code(of: alice) == nil)
      #expect(try await alice.call("login", #"{"token":"alice"}"#)["error"]["code"] == 7008)
      #expect(try await code(of: alice) == 7008, "the session lives on")
    }
  }

  @Test func comingAgainBringsNothingNew() async throws {
    try await withRequests(3) { live in
      for _ in 0..<3 {
        try await live.signIn("alice").leave()
        try await live.gone("alice")
      }
      let late = try await live.connect()
      let error = try await late.call("login", #"{"token":"alice"}"#)["error"]
      #expect(error["code"] == 7008 && error["data"]["retryAfterMs"].integer ?? 0 > 0)
      let end = try await late.closed()
      #expect(end.code == 4004 && end.reason.hasPrefix("7008 retry after "))
      #expect(await live.remains() == [:])
    }
  }

  @Test func anUpgradeThatFindsTheBucketEmptyIsToldByTheReason() async throws {
    try await withRequests(1) { live in
      let alice = try await live.signIn("alice")
      let end = try await Client.open(port: live.port, query: "token=alice").closed()
      #expect(end.code == 4004 && end.reason.wholeMatch(of: /7008 retry after [1-9][0-9]* ms/) != nil, "\(end)")
      #expect(try await code(of: alice) == 7008, "the session that is there stays")
    }
  }

  @Test func aBatchWhoseLoginIsRefusedSignsNobodyIn() async throws {
    try await withRequests(1) { live in
      _ = try await live.signIn("alice")
      let late = try await live.connect()
      let login = #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"token":"alice"}}"#
      try await late.send("[\(login),\(ping)]")
      #expect(try await late.next().elements.map { $0["error"]["code"] } == [7008, 6014])
      #expect(try await late.closed().code == 4004)
    }
  }

  @Test(arguments: ["bad", "wrong", "expired", "adm:alice"]) func aForgedTokenTakesNothing(token: String) async throws {
    try await withRequests(2) { live in
      for _ in 0..<5 {
        #expect(try await Client.open(port: live.port, query: "token=\(token)").closed().code == 4500)
        let client = try await live.connect()
        _ = try await client.call("login", #"{"token":"\#(token)"}"#)
        #expect(try await client.closed().code == 4500)
      }
      #expect(live.services.budgets.count == 0)
      let alice = try await live.signIn("alice")
      #expect(try await code(of: alice) == nil)
    }
  }

  @Test func theApplicationHasNoRateNorWhoItActsAs() async throws {
    try await withRequests(1) { live in
      for _ in 0..<5 { #expect(try await live.backend.code("ping") == 0) }
      for _ in 0..<5 { #expect(try await live.backend.code("getJoinedGroupList", as: "alice") == 0) }
      _ = try await live.signIn("alice")
    }
  }
}
