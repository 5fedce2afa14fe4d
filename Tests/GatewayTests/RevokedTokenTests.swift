import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// revokeTokens (Protocol.md, "Revoked tokens").
@Suite struct RevokedTokenTests {
  /// The wall clock of tests stands at 1,700,000,000,000.
  private static let now: Int64 = 1_700_000_000_000

  private func revoke(_ live: LiveGateway, before: Int64? = nil) async throws {
    let more = before.map { #","before":\#($0)"# } ?? ""
    let answer = try await live.backend.result("revokeTokens", #""userID":"mary"\#(more)"#)
    #expect(answer == [:])
  }

  private func login(_ token: String, by client: Client) async throws -> JSON {
    try await client.call("login", #"{"token":"\#(token)"}"#)
  }

  private func isSignedIn(_ client: Client) async throws -> Bool {
    try await client.call("ping")["result"]["serverTime"].integer != nil
  }

  // MARK: Sessions

  @Test(arguments: [1, 2]) func sessionsOfSuchTokensAreClosedAndOthersGoOn(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let now = Self.now
      let (olga, new) = (try await live.signIn("iat1:olga"), try await live.signIn("iat\(now):mary", "platform=Web"))
      var old: [Client] = []
      for token in ["iat\(now - 1):mary", "iat0:mary", "iat-5:mary", "noiat:mary"] {
        old.append(try await live.signIn(token, "platform=Web"))
      }
      try await revoke(live)
      #expect(live.services.directory.sessions(of: "mary").count == 1, "the answer comes when they are gone")
      for client in old {
        #expect(try await client.closed() == (4006, "token revoked"))
        #expect(await client.events == [], "no kick is told")
      }
      for client in [new, olga] {
        #expect(try await isSignedIn(client))
        #expect(await client.events == [])
      }
    }
  }

  @Test func theTokenOfTheLastRenewalCounts() async throws {
    try await LiveGateway.with { live in
      let now = Self.now
      let newer = try await live.signIn("iat\(now - 1):mary", "platform=Web")
      let older = try await live.signIn("iat\(now):mary", "platform=Web")
      #expect(try await login("iat\(now):mary", by: newer)["result"]["userID"] == "mary")
      #expect(try await login("iat\(now - 1):mary", by: older)["result"]["userID"] == "mary")
      try await revoke(live)
      #expect(try await older.closed().code == 4006)
      #expect(try await isSignedIn(newer))
    }
  }

  // MARK: Sign-in

  @Test(arguments: ["iat1699999999999:mary", "noiat:mary"]) func aRevokedTokenDoesNotSignIn(token: String) async throws {
    try await LiveGateway.with { live in
      try await revoke(live)
      let client = try await live.connect()
      let error = try await login(token, by: client)["error"]
      #expect(error["code"] == 70021 && error["data"]["temporary"] == false)
      let (code, reason) = try await client.closed()
      #expect(code == 4500 && reason.hasPrefix("70021"))
      let upgrade = try await Client.open(port: live.port, query: "token=\(token)")
      let (closed, why) = try await upgrade.closed()
      #expect(closed == 4500 && why.hasPrefix("70021"))
      #expect(await upgrade.events == [])
      let mary = try await live.signIn("iat\(Self.now):mary")
      #expect(try await isSignedIn(mary), "a token of that instant and later")
    }
  }

  @Test func theLatestInstantCounts() async throws {
    try await LiveGateway.with { live in
      try await revoke(live, before: 5000)
      try await revoke(live, before: 3000)
      #expect(try await login("iat4999:mary", by: try await live.connect())["error"]["code"] == 70021)
      try await live.signIn("iat5000:mary").leave()
      try await revoke(live, before: 7000)
      #expect(try await login("iat6999:mary", by: try await live.connect())["error"]["code"] == 70021)
      // Also tokens of then on, until that instant has come.
      try await revoke(live, before: Self.now + 1)
      #expect(try await login("mary", by: try await live.connect())["error"]["code"] == 70021)
      await live.advance(by: 1)
      try await live.signIn("mary").leave()
    }
  }

  /// Nothing is issued before it, and what is issued at no known time is revoked by any instant.
  @Test func theFirstInstantRevokesTokensThatDoNotSayWhen() async throws {
    try await LiveGateway.with { live in
      let silent = try await live.signIn("noiat:mary", "platform=Web")
      let first = try await live.signIn("iat1:mary", "platform=Web")
      try await revoke(live, before: 0)
      #expect(try await silent.closed().code == 4006)
      #expect(try await login("noiat:mary", by: try await live.connect())["error"]["code"] == 70021)
      #expect(try await isSignedIn(first))
    }
  }

  /// "A token's own faults come first: 70003, 70009, 70001, then 70021, then 70020."
  @Test func aTokensOwnFaultsComeFirst() async throws {
    try await LiveGateway.with { live in
      let now = live.backend.clocks.wall
      for user in ["mary", "alice"] {
        _ = try await live.backend.result("blockUser", #""userID":"\#(user)""#)
        _ = try await live.backend.result("revokeTokens", #""userID":"\#(user)""#)
      }
      #expect(now.milliseconds == Self.now)
      for (token, code) in [("bad", 70003), ("wrong", 70009), ("stale", 70001), ("noiat:mary", 70021), ("mary", 70020)] {
        #expect(try await login(token, by: try await live.connect())["error"]["code"] == .number(Double(code)), "\(token)")
      }
    }
  }

  /// Twenty failures pass; further ones wait. A block is no failure of the token.
  @Test(arguments: [true, false]) func aRevokedTokenCountsAsABadOne(isRevoked: Bool) async throws {
    try await LiveGateway.with { live in
      let method = isRevoked ? "revokeTokens" : "blockUser"
      _ = try await live.backend.result(method, #""userID":"mary""#)
      let limiter = live.services.connectionLimiter
      for _ in 0..<19 { _ = limiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      let code = try await login("noiat:mary", by: try await live.connect())["error"]["code"]
      #expect(code == (isRevoked ? 70021 : 70020))
      #expect(limiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) == isRevoked)
    }
  }

  /// The answer waits as that to any bad token; what the user's groups say meanwhile is not sent.
  @Test func theAnswerToARevokedTokenWaitsBehindManyFailures() async throws {
    try await LiveGateway.with {
      $0.failureDelay = .milliseconds(300)
    } _: { live in
      try await live.backend.create("g", "Public", memberList("mary", "olga"))
      try await revoke(live)
      let limiter = live.services.connectionLimiter
      for _ in 0..<20 { _ = limiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      let mary = try await Client.open(port: live.port, query: "token=noiat:mary")
      let session = try #require(await live.openSessions()[0].first?.session)
      try await waitUntil("the answer is delayed") { await session.waits == .refusal }
      try await live.say("secret", in: "g", as: "olga")
      #expect(live.services.sessionCount == 0)
      await live.advance(by: 299)
      #expect(await session.waits == .refusal)
      await live.advance(by: 101)
      #expect(try await mary.closed().reason.hasPrefix("70021"))
      #expect(await mary.events == [])
    }
  }

  // MARK: While the user signs in

  @Test func aSessionThatIsSigningInIsClosedToo() async throws {
    try await LiveGateway.with { live in
      live.store.hold()
      let old = try await Client.open(port: live.port, query: "token=iat1:mary&platform=Web")
      let new = try await Client.open(port: live.port, query: "token=mary&platform=Web")
      try await live.waitForReads(2)
      try await revoke(live)
      live.store.release()
      #expect(try await old.closed() == (4006, "token revoked"))
      #expect(await old.events == [])
      #expect(try await new.event("onConnectSuccess")["userID"] == "mary")
    }
  }

  // MARK: Renewal

  @Test func aRevokedTokenDoesNotRenewAndTheSessionLivesOn() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("iat\(Self.now):mary~60000")
      try await revoke(live)
      let limiter = live.services.connectionLimiter
      for token in ["iat1:mary", "noiat:mary"] { #expect(try await login(token, by: mary)["error"]["code"] == 70021) }
      for _ in 0..<18 { _ = limiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      #expect(limiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic), "both were failures of the address")
      #expect(try await isSignedIn(mary))
      await live.advance(by: 100)
      _ = try await mary.event("onUserSigExpired")
      await live.advance(by: 60_000)
      #expect(try await mary.closed() == (4006, "token expired"), "when the old token ends")
    }
  }

  /// The store is read before the revocation is durable: the session has heard of that meanwhile.
  @Test func aRenewalDoesNotOvertakeARevocation() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("iat\(Self.now):mary")
      live.store.hold()
      try await mary.send(#"{"jsonrpc":"2.0","id":"r","method":"login","params":{"token":"iat1:mary"}}"#)
      try await live.store.arrival()
      try await revoke(live)
      live.store.release()
      #expect(try await mary.reply { $0["id"] == "r" }["error"]["code"] == 70021)
      #expect(try await isSignedIn(mary), "its own token is good")
      try await revoke(live)
      #expect(try await isSignedIn(mary), "and counts")
    }
  }

  @Test func aSessionOfARevokedTokenIsClosedWhileItRenews() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("iat1:mary")
      live.store.hold()
      try await mary.send(#"{"jsonrpc":"2.0","id":"r","method":"login","params":{"token":"mary"}}"#)
      try await live.store.arrival()
      try await revoke(live)
      live.store.release()
      #expect(try await mary.closed().code == 4006)
      #expect(await mary.events == [])
      #expect(await live.remains() == [:])
    }
  }

  // MARK: What an ending concerns

  @Test func onlyARevocationAsksForTheToken() {
    let instants: [WallInstant?] = [nil, 0, 4, 5, 6]
    for issued in instants {
      for ending in [SessionEnding.administrator(message: nil), .blocked(message: nil), .deleted] {
        #expect(ending.concerns(tokenIssued: issued))
      }
    }
    #expect(
      instants.map { SessionEnding.tokensRevoked(before: 5).concerns(tokenIssued: $0) } == [true, true, true, false, false])
  }
}
