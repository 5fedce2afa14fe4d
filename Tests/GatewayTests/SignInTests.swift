import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Sign-in on real connections (Protocol.md, "Sign-in").
@Suite struct SignInTests {
  private let login = #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"token":"alice"}}"#
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  @Test func requestsBehindALoginWaitForIt() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.connect()
      live.store.hold()
      try await alice.send(login, ping, ping)
      try await live.store.arrival()
      live.store.release()
      #expect(try await alice.next()["result"]["userID"] == "alice")
      #expect(try await alice.next()["id"] == "p")
      #expect(try await alice.next()["result"]["serverTime"] != nil)
    }
  }

  @Test func anUpgradeIsAnsweredBeforeWhatItsClientAsks() async throws {
    try await LiveGateway.with { live in
      live.store.hold()
      let alice = try await Client.open(port: live.port, query: "token=alice&platform=Web&deviceID=d")
      try await alice.send(ping)
      try await live.store.arrival()
      live.store.release()
      #expect(try await alice.next()["method"] == "onConnectSuccess")
      #expect(try await alice.next()["id"] == "p")
    }
  }

  /// "A `login` first in a batch signs in the rest"; it is answered by one array.
  @Test func aBatchMaySignItselfIn() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.connect()
      try await alice.send("[\(login),\(ping)]", ping)
      let rows = try await alice.next().elements
      #expect(rows.map { $0["id"] } == ["l", "p"] && rows.allSatisfy { $0["error"] == nil })
      #expect(try await alice.next()["id"] == "p")
    }
  }

  /// Events of the time of the sign-in come after the reply.
  @Test func eventsOfTheUsersGroupsComeBehindTheAnswer() async throws {
    try await LiveGateway.with { live in
      _ = try await live.backend.rpc(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","joinMode":"Any","asUser":"olga"}"#)
      _ = try await live.backend.rpc("joinGroup", #"{"groupID":"g","asUser":"alice"}"#)
      let alice = try await live.connect()
      live.store.hold()
      try await alice.send(login)
      try await live.store.arrival()
      // Her group hears of her by the session that is signing in, and says something.
      let online = try #require(live.services.registry.resident("g"))
      await withCheckedContinuation { continuation in
        online.enqueue(.presence(Group.Presence(of: "alice")) { continuation.resume() })
      }
      _ = try await live.backend.rpc("sendGroupTextMessage", #"{"groupID":"g","text":"early","asUser":"olga"}"#)
      live.store.release()
      #expect(try await alice.next()["id"] == "l")
      #expect(try await alice.event("onRecvNewMessage")["message"]["text"] == "early")
    }
  }

  // MARK: The store fails

  @Test func aFailedStoreChangesNothingAndAsksToComeAgain() async throws {
    try await LiveGateway.with { live in
      let phone = try await live.signIn("alice", "platform=iOS")
      _ = try await live.backend.rpc(
        "createGroup", #"{"groupType":"Work","groupName":"g","groupID":"g","asUser":"bob","memberList":[{"userID":"alice"}]}"#)
      let second = try await live.connect()
      live.store.release(failing: StoreError(.unavailable, "test"))
      let error = try await second.call("login", #"{"token":"alice","platform":"iOS"}"#)["error"]
      #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
      #expect(try await phone.call("ping")["result"] != nil, "nothing was changed: nobody was replaced")
      #expect(try await second.closed().code == 1013)
      live.store.release()
      let third = try await live.connect()
      #expect(try await third.call("login", #"{"token":"alice","platform":"iOS"}"#)["result"]["userID"] == "alice")
      #expect(try await phone.event("onKickedOffline")["reason"] == "OtherDevice")
      #expect(try await phone.closed().code == 4502)
    }
  }

  @Test func afterAFailedStoreNobodyIsOnlineWhoIsNot() async throws {
    try await LiveGateway.with { live in
      _ = try await live.backend.rpc(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","joinMode":"Any","asUser":"olga"}"#)
      let alice = try await live.connect()
      live.store.hold()
      try await alice.send(login)
      try await live.store.arrival()
      _ = try await live.backend.rpc("joinGroup", #"{"groupID":"g","asUser":"alice"}"#)
      let count = #"{"groupID":"g","asUser":"olga"}"#
      #expect(try await live.backend.rpc("getGroupOnlineMemberCount", count)["result"]["count"] == 1)
      live.store.release(failing: StoreError(.unavailable, "test"))
      #expect(try await alice.reply { $0["id"] == "l" }["error"]["code"] == 10002)
      #expect(try await live.backend.rpc("getGroupOnlineMemberCount", count)["result"]["count"] == 0)
    }
  }

  @Test func aFailedStoreAtTheUpgradeAsksToComeAgain() async throws {
    try await LiveGateway.with { live in
      live.store.release(failing: StoreError(.unavailable, "test"))
      let alice = try await Client.open(port: live.port, query: "token=alice")
      #expect(try await alice.closed().code == 1013)
      #expect(await live.remains() == [:])
    }
  }

  // MARK: Gone meanwhile

  @Test func aConnectionThatGoesWhileItSignsInLeavesNothing() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.connect()
      live.store.hold()
      try await alice.send(login, ping)
      try await live.store.arrival()
      await alice.cut()
      #expect(await live.remains() == [:])
      live.store.release()
      let again = try await live.signIn("alice")
      try await again.leave()
      #expect(await live.remains() == [:])
    }
  }

  @Test func aSessionThatIsReplacedWhileSigningInIsClosed() async throws {
    try await LiveGateway.with { live in
      let first = try await live.connect()
      live.store.hold()
      try await first.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"alice","platform":"iOS"}}"#)
      try await live.store.arrival()
      let second = try await live.connect()
      try await second.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"alice","platform":"iOS"}}"#)
      // Both are answered at once; which comes first is open, who stays is not.
      try await waitUntil("both have signed in") { live.services.sessionCount >= 2 }
      live.store.release()
      #expect(try await first.closed().code == 4502)
      #expect(try await second.reply { $0["id"] == 1 }["result"]["userID"] == "alice")
      #expect(try await second.call("ping")["result"] != nil)
      #expect(live.services.sessionCount == 1)
    }
  }

  // MARK: Bad tokens

  @Test(arguments: [("bad", "70003"), ("expired", "70001"), ("wrong", "70009"), ("adm:alice", "70003")])
  func aBadTokenIsAnsweredAndCloses(token: String, code: String) async throws {
    try await LiveGateway.with { live in
      let client = try await live.connect()
      try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"\#(token)"}}"#, login, ping)
      #expect(try await client.next()["error"]["code"].integer == Int64(code))
      let (closed, reason) = try await client.closed()
      #expect(closed == 4500 && reason.hasPrefix(code))
      #expect(await client.events.isEmpty, "what stood behind it was not handled")
      #expect(await live.remains(failures: 1) == [:], "the failure is remembered for a while")

      let upgrade = try await Client.open(port: live.port, query: "token=\(token)")
      let (closedAtOnce, why) = try await upgrade.closed()
      #expect(closedAtOnce == 4500 && why.hasPrefix(code))
      #expect(await upgrade.events.isEmpty)
    }
  }

  @Test func behindABadTokenOfABatchNobodySignsIn() async throws {
    try await LiveGateway.with { live in
      let client = try await live.connect()
      try await client.send(#"[{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"bad"}},\#(login),\#(ping)]"#)
      #expect(try await client.next().elements.map { $0["error"]["code"] } == [70003, 6014, 6014])
      #expect(try await client.closed().code == 4500)
      #expect(live.services.sessionCount == 0)
    }
  }

  @Test func aPlatformThatIsRefusedLeavesTheConnectionOpen() async throws {
    try await LiveGateway.with {
      $0.sessionsPerPlatform[.mac] = 0
    } _: { live in
      let client = try await live.connect()
      for params in [#"{"token":"alice","platform":"Mac"}"#, #"{"token":"alice","platform":"Amiga"}"#] {
        #expect(try await client.call("login", params)["error"]["code"] == 10004)
      }
      #expect(try await client.call("login", #"{"token":"alice","platform":"iOS"}"#)["result"]["userID"] == "alice")
      let upgrade = try await Client.open(port: live.port, query: "token=alice&platform=Mac")
      let (code, reason) = try await upgrade.closed()
      #expect(code == 4500 && reason.hasPrefix("10004"))
    }
  }

  @Test func afterTwentyFailuresTheAnswerWaitsAndNothingBehindItIsHandled() async throws {
    try await LiveGateway.with {
      $0.failureDelay = .milliseconds(300)
    } _: { live in
      for _ in 0..<19 { _ = live.services.connectionLimiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      let last = try await live.connect()
      #expect(try await last.call("login", #"{"token":"bad"}"#)["error"]["code"] == 70003)
      let batch = try await live.connect()
      let upgrade = try await Client.open(port: live.port, query: "token=expired")
      try await batch.send(#"[{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"bad"}},\#(login)]"#, login)
      try await letDelaysPass(2, in: live)
      #expect(try await batch.next().elements.map { $0["error"]["code"] } == [70003, 6014])
      #expect(try await batch.closed().code == 4500)
      #expect(await batch.events.isEmpty)
      #expect(try await upgrade.closed().reason.hasPrefix("70001"))
      #expect(live.services.sessionCount == 0)
    }
  }

  /// On a session that is signed in the answer is all that happens; what was sent behind it keeps
  /// its place.
  @Test func afterTwentyFailuresTheAnswerToABadRenewalWaitsToo() async throws {
    try await LiveGateway.with {
      $0.failureDelay = .milliseconds(300)
    } _: { live in
      let alice = try await live.signIn("alice")
      let bad = #"{"jsonrpc":"2.0","id":"r","method":"login","params":{"token":"bad"}}"#
      try await alice.send((0..<20).map { _ in bad })
      for _ in 0..<20 { #expect(try await alice.next()["error"]["code"] == 70003) }
      let isCounted = live.services.connectionLimiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic)
      #expect(isCounted, "each was a failure of the address")
      try await alice.send(bad, ping)
      try await letDelaysPass(1, in: live)
      #expect(try await alice.next()["id"] == "r")
      #expect(try await alice.next()["id"] == "p")
      try await alice.send("[\(bad),\(ping)]", ping)
      try await letDelaysPass(1, in: live)
      #expect(try await alice.next().elements.map { $0["id"] } == ["r", "p"])
      #expect(try await alice.next()["id"] == "p")
      #expect(try await alice.call("login", #"{"token":"alice"}"#)["result"]["userID"] == "alice")
    }
  }

  /// Waits until so many answers are delayed, and lets the 300 ms pass that they are delayed for.
  private func letDelaysPass(_ count: Int, in live: LiveGateway) async throws {
    try await waitUntil("\(count) answers are delayed") { await delayedCount(in: live) == count }
    await live.advance(by: 299)
    #expect(await delayedCount(in: live) == count)
    // The loop's timers are as fine as 100 ms.
    await live.advance(by: 101)
    #expect(await delayedCount(in: live) == 0)
  }

  private func delayedCount(in live: LiveGateway) async -> Int {
    var count = 0
    for entry in await live.openSessions()[0] {
      if let session = entry.session, await session.waits.contains(.refusal) { count += 1 }
    }
    return count
  }

  @Test func aSessionThatEndsWhileTheAnswerWaitsLeavesNothing() async throws {
    try await LiveGateway.with {
      $0.failureDelay = .seconds(60)
    } _: { live in
      let alice = try await live.signIn("alice")
      for _ in 0..<20 { _ = live.services.connectionLimiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      try await alice.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"bad"}}"#, ping)
      let session = try #require(await live.openSessions()[0].first?.session)
      try await waitUntil("the answer is delayed") { await session.waits == .refusal }
      let kicked = try await live.backend.result("kickUser", #""userID":"alice""#)["kicked"]
      #expect(kicked == 1)
      #expect(try await alice.closed().code == 4503)
      #expect(await alice.events.map { $0["method"] } == ["onKickedOffline"])
      #expect(await live.remains(failures: 1) == [:])
    }
  }

  @Test func aClientThatLeavesDuringTheDelayLeavesNothing() async throws {
    try await LiveGateway.with {
      $0.failureDelay = .seconds(60)
    } _: { live in
      for _ in 0..<20 { _ = live.services.connectionLimiter.noteBadToken(from: "127.0.0.1", at: live.backend.clocks.monotonic) }
      let client = try await Client.open(port: live.port, query: "token=bad")
      let session = try #require(await live.openSessions()[0].first)
      await client.cut()
      #expect(await live.remains(failures: 1) == [:])
      try await session.waitUntilReleased()
    }
  }

  @Test func aConnectionWithoutSignInInTimeIsClosed() async throws {
    try await LiveGateway.with {
      $0.signInTime = .seconds(10)
    } _: { live in
      let client = try await live.connect()
      let alice = try await live.signIn("alice")
      await live.advance(by: 9900)
      #expect(try await client.call("ping")["error"]["code"] == 6014)
      await live.advance(by: 200)
      #expect(try await client.closed().code == 4007)
      #expect(try await alice.call("ping")["error"] == nil, "nobody who has")
    }
  }

  // MARK: Renewal and expiry

  @Test func aTokenThatHasExpiredIsToldOfAndThenCloses() async throws {
    try await LiveGateway.with { live in
      let expiry = live.backend.clocks.wall
      let alice = try await live.signIn("alice~0")
      await live.advance(by: 100)
      #expect(try await alice.event("onUserSigExpired")["expiresAt"].instant == expiry)
      #expect(try await alice.closed().code == 4006)
    }
  }

  @Test func aRenewalCarriesTheSessionOn() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.connect()
      let first = try await alice.call("login", #"{"token":"alice~60000"}"#)["result"]
      await live.advance(by: 100)
      _ = try await alice.event("onUserSigExpired")
      let again = try await alice.call("login", #"{"token":"alice~59000","platform":"Amiga"}"#)["result"]
      #expect(again["sessionID"] == first["sessionID"])
      #expect(again["tokenExpiresAt"].instant == live.backend.clocks.wall + 59_000)
      await live.advance(by: 100)
      _ = try await alice.event("onUserSigExpired")
      #expect(try await alice.call("login", #"{"token":"bob"}"#)["error"]["code"] == 6015)
      #expect(try await alice.call("login", #"{"token":"bad"}"#)["error"]["code"] == 70003)
      #expect(try await alice.call("login", #"{"token":"adm:alice"}"#)["error"]["code"] == 70003)
      #expect(try await alice.call("ping")["result"] != nil)
      #expect(live.services.sessionCount == 1)
    }
  }
}
