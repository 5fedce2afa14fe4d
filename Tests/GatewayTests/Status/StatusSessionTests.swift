import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Statuses on real sessions (Protocol.md, "Presence"): rows, subscriptions, and who is told.
@Suite struct StatusSessionTests {
  private static let start: Int64 = 1_700_000_000_000

  private func row(
    _ user: String, _ platforms: [JSON] = [], _ customStatus: String = "", lastOnline: Int64 = 0
  ) -> JSON {
    [
      "userID": .string(user), "isOnline": .bool(!platforms.isEmpty), "platformList": .array(platforms),
      "customStatus": .string(customStatus), "lastOnlineTime": .number(Double(lastOnline)),
    ]
  }

  private func list(_ users: [String]) -> String {
    #"{"userIDList":[\#(users.map { "\"\($0)\"" }.joined(separator: ","))]}"#
  }

  private func rows(_ client: Client, _ users: String...) async throws -> JSON {
    try await client.call("getUsersStatus", list(users))["result"]["userList"]
  }

  private func subscribe(_ client: Client, _ users: String...) async throws -> JSON {
    try await client.call("subscribeUsersStatus", list(users))["result"]["userList"]
  }

  /// Returns when what the server has for these clients is among their events.
  private func settled(_ clients: Client...) async throws {
    for client in clients { _ = try await client.call("ping") }
  }

  /// Ends a session, and returns when the server has noticed.
  private func leave(_ client: Client, _ user: UserID, _ live: LiveGateway) async throws {
    try await client.leave()
    try await live.gone(user)
  }

  // MARK: Rows

  @Test(arguments: [1, 2]) func rowsAreThoseOfTheRequest(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let olga = try await live.signIn("olga", "platform=Mac")
      let phone = try await live.signIn("mary", "platform=iOS")
      let web = try await live.signIn("mary", "platform=Web")
      let other = try await live.signIn("mary", "platform=Web")
      _ = try await live.backend.result("importUsers", #""userIDList":["ivan"]"#)
      let found = try await rows(olga, "ghost", "mary", "ivan", "olga", "mary")
      #expect(found == [row("mary", ["iOS", "Web"]), row("ivan"), row("olga", ["Mac"])], "each once, the unknown left out")
      try await other.leave()
      try await waitUntil("one has ended") { live.services.directory.sessions(of: "mary").count == 2 }
      #expect(try await rows(olga, "mary") == [row("mary", ["iOS", "Web"])], "the platform has a session still")
      #expect(try await live.backend.result("getUsersStatus", #""userIDList":["mary"]"#)["userList"][0]["isOnline"] == true)
      _ = (phone, web)
    }
  }

  @Test func aUserIsOnlineThroughTheGraceAndOfflineSinceItsBeginning() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      try await leave(try await live.signIn("mary", "platform=iOS"), "mary", live)
      await live.advance(by: 4999)
      #expect(try await rows(olga, "mary") == [row("mary", ["iOS"])])
      await live.advance(by: 1)
      for _ in 0..<3 {
        #expect(try await rows(olga, "mary") == [row("mary", lastOnline: Self.start)])
        await live.advance(by: 5000)
      }
      let mary = try await live.signIn("mary", "platform=Web")
      #expect(try await rows(olga, "mary") == [row("mary", ["Web"])], "0 for who is online")
      _ = mary
    }
  }

  @Test func aSessionThatIsSigningInIsNone() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "mary")
      live.store.hold()
      let mary = try await Client.open(port: live.port, query: "token=mary")
      try await live.store.arrival()
      #expect(try await rows(olga, "mary").elements.allSatisfy { $0["isOnline"] == false })
      await live.advance(by: 2000)
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [])
      live.store.release()
      #expect(try await mary.next()["method"] == "onConnectSuccess")
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"][0]["isOnline"] == true)
    }
  }

  @Test func listsHaveTheirBounds() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      let hundred = (0..<100).map { "u\($0)" }
      for method in ["getUsersStatus", "subscribeUsersStatus"] {
        #expect(try await olga.call(method, list(hundred))["error"] == .null)
        #expect(try await olga.call(method, list(hundred + ["more"]))["error"]["code"] == 10004)
        #expect(try await olga.call(method, list([]))["error"]["code"] == 8510)
        #expect(try await olga.call(method)["error"]["code"] == -32602)
      }
      #expect(try await olga.call("unsubscribeUsersStatus", list(hundred + ["more"]))["error"]["code"] == 10004)
      #expect(try await olga.call("unsubscribeUsersStatus", list(["@x"]))["error"]["data"]["field"] == "userIDList")
      #expect(try await olga.call("unsubscribeUsersStatus", list([]))["result"] == [:], "all")
    }
  }

  // MARK: Subscriptions

  @Test(arguments: [1, 2]) func onlyWhoWatchesIsTold(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let watcher = try await live.signIn("olga", "platform=Web")
      let own = try await live.signIn("olga", "platform=Web")
      let former = try await live.signIn("ivan")
      let never = try await live.signIn("vera")
      let mary = try await live.signIn("mary", "platform=iOS")
      #expect(try await subscribe(watcher, "mary", "ghost") == [row("mary", ["iOS"])])
      _ = try await subscribe(former, "mary")
      _ = try await former.call("unsubscribeUsersStatus", list(["mary", "nobody"]))
      #expect(try await mary.call("setSelfStatus", #"{"customStatus":"at lunch"}"#)["result"] == [:])
      await live.advance(by: 1000)
      let event = try await watcher.event("onUsersStatusChanged")
      #expect(event.names == ["opTime", "userList"], "no groupID")
      #expect(event["userList"] == [row("mary", ["iOS"], "at lunch")])
      #expect((event["opTime"].integer ?? 0) - Self.start <= 1000)
      try await settled(own, former, never, mary)
      for client in [own, former, never, mary] { #expect(await client.heard("onUsersStatusChanged") == []) }
    }
  }

  @Test func unknownUsersAreHeardOfFromTheirFirstSession() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      #expect(try await subscribe(olga, "mary") == [])
      let mary = try await live.signIn("mary", "platform=Web")
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", ["Web"])])
      try await leave(mary, "mary", live)
      await live.advance(by: 5000)
      #expect(
        try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", lastOnline: Self.start + 1000)])
    }
  }

  @Test func aReturnWithinTheGraceTellsNobody() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      var mary = try await live.signIn("mary", "platform=iOS")
      _ = try await subscribe(olga, "mary")
      for _ in 0..<5 {
        try await leave(mary, "mary", live)
        await live.advance(by: 4000)
        mary = try await live.signIn("mary", "platform=iOS")
        await live.advance(by: 2000)
      }
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [])
      let web = try await live.signIn("mary", "platform=Web")
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", ["iOS", "Web"])], "another platform")
      _ = web
    }
  }

  @Test func changesWithinASecondAreOneEvent() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      let mary = try await live.signIn("mary")
      _ = try await subscribe(olga, "mary")
      _ = try await mary.call("setSelfStatus", #"{"customStatus":"a"}"#)
      #expect(try await olga.event("onUsersStatusChanged")["userList"][0]["customStatus"] == "a", "with the next tick")
      for text in ["b", "c"] {
        _ = try await mary.call("setSelfStatus", #"{"customStatus":"\#(text)"}"#)
        await live.advance(by: 400)
      }
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [])
      await live.advance(by: 200)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", ["Unknown"], "c")])
      await live.advance(by: 5000)
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [], "once")
    }
  }

  @Test func aHundredAndOneChangesAreTwoEvents() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      let users = (0..<101).map { "u\($0)" }
      _ = try await olga.call("subscribeUsersStatus", list(Array(users.prefix(100))))
      _ = try await olga.call("subscribeUsersStatus", list(["u100"]))
      _ = try await live.backend.result("setSelfStatus", as: "u0", #""customStatus":"first""#)
      #expect(try await olga.event("onUsersStatusChanged")["userList"].elements.count == 1)
      for user in users { _ = try await live.backend.result("setSelfStatus", as: user, #""customStatus":"s""#) }
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"].elements.count == 100)
      await live.advance(by: 900)
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [])
      await live.advance(by: 100)
      #expect(try await olga.event("onUsersStatusChanged")["userList"].elements.count == 1)
    }
  }

  @Test func asManyAsTheKeyAllows() async throws {
    try await LiveGateway.with({ $0.statusSubscriptions = 3 }) { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "a", "b")
      let error = try await olga.call("subscribeUsersStatus", list(["b", "c", "d"]))["error"]
      #expect(error["code"] == 10060 && error["data"]["temporary"] == false && error["data"]["field"] == "userIDList")
      _ = try await subscribe(olga, "a", "b", "c")
      #expect(try await olga.call("subscribeUsersStatus", list(["d"]))["error"]["code"] == 10060)
      _ = try await olga.call("unsubscribeUsersStatus")
      _ = try await subscribe(olga, "d", "e", "f")
      #expect(live.services.statuses.watchedCount == 3)
    }
  }

  @Test func subscriptionsEndWithTheSession() async throws {
    try await LiveGateway.with(loops: 2) { live in
      let cut = try await live.signIn("olga")
      let out = try await live.signIn("ivan")
      _ = try await subscribe(cut, "mary", "vera")
      _ = try await subscribe(out, "mary", "olga")
      #expect(live.services.statuses.watchedCount == 3)
      _ = try await out.call("logout")
      #expect(live.services.statuses.watchedCount == 2)
      await cut.cut()
      try await live.gone("olga")
      #expect(live.services.statuses.watchedCount == 0)
    }
  }

  /// A renewal is the same session.
  @Test func aRenewalKeepsThem() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "mary")
      #expect(try await olga.call("login", #"{"token":"olga"}"#)["error"] == .null)
      _ = try await live.backend.result("setSelfStatus", as: "mary", #""customStatus":"s""#)
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", [], "s")])
    }
  }

  @Test func oneMayWatchOneself() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga", "platform=Web")
      #expect(try await subscribe(olga, "olga") == [row("olga", ["Web"])])
      _ = try await olga.call("setSelfStatus", #"{"customStatus":"s"}"#)
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("olga", ["Web"], "s")])
    }
  }

  @Test func aFailedStoreAddsNone() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "mary")
      live.backend.users.fail(with: StoreError(.unavailable, "test"))
      #expect(try await olga.call("subscribeUsersStatus", list(["mary", "vera"]))["error"]["code"] == 10002)
      live.backend.users.fail(with: nil)
      #expect(live.services.statuses.watchedUsers == ["mary"])
    }
  }

  /// An event that overtook the reply would be lost to the client: the reply's rows are older.
  @Test func aChangeDuringASubscriptionIsInTheReplyOrBehindIt() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      let mary = try await live.signIn("mary", "platform=Web")
      live.backend.users.hold()
      try await olga.send(#"{"jsonrpc":"2.0","id":"s","method":"subscribeUsersStatus","params":\#(list(["mary", "vera"]))}"#)
      try await live.backend.users.arrival()
      let vera = try await live.signIn("vera", "platform=iOS")
      await live.advance(by: 2000)
      live.backend.users.release()
      let reply = try await olga.next()
      #expect(reply["id"] == "s", "no event has overtaken it")
      #expect(reply["result"]["userList"] == [row("mary", ["Web"]), row("vera", ["iOS"])], "vera was unknown to the store")
      _ = try await mary.call("setSelfStatus", #"{"customStatus":"s"}"#)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", ["Web"], "s")])
      _ = vera
    }
  }

  /// The reply waits for a slower one, and in a batch for the requests behind it.
  @Test(arguments: [true, false]) func anEventWaitsUntilTheReplyIsSent(isBatch: Bool) async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "vera")
      let session = try #require(await live.openSessions()[0].first?.session)
      let slow = #"{"jsonrpc":"2.0","id":"slow","method":"getJoinedGroupList","params":{}}"#
      let watch = #"{"jsonrpc":"2.0","id":"s","method":"subscribeUsersStatus","params":\#(list(["mary"]))}"#
      live.store.hold()
      if isBatch { try await olga.send("[\(watch),\(slow)]") } else { try await olga.send(slow, watch) }
      try await live.store.arrival()
      // By the first subscription it is 1.
      try await waitUntil("the subscription is answered") { await session.statusesFollow > 1 }
      _ = try await live.backend.result("setSelfStatus", as: "mary", #""customStatus":"s""#)
      await live.advance(by: 2000)
      live.store.release()
      let first = try await olga.next()
      #expect(isBatch || first["id"] == "slow", "no event has overtaken it")
      let reply = if isBatch { first[0] } else { try await olga.next() }
      #expect(reply["id"] == "s" && reply["result"]["userList"] == [])
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", [], "s")])
    }
  }

  /// As deleteUser tells it, behind the user's last session and within the grace.
  @Test func whoWatchesADeletedUserIsToldOfTheEnd() async throws {
    try await LiveGateway.with { live in
      let (olga, vera) = (try await live.signIn("olga"), try await live.signIn("vera"))
      let mary = try await live.signIn("mary", "platform=iOS")
      _ = try await mary.call("setSelfStatus", #"{"customStatus":"busy"}"#)
      _ = try await subscribe(olga, "mary", "ghost")
      try await leave(mary, "mary", live)
      for user in ["mary", "ghost"] as [UserID] { live.services.statuses.forget(user) }
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary")], "of a ghost she has not been told")
      await live.advance(by: 10_000)
      try await settled(olga, vera)
      for client in [olga, vera] { #expect(await client.heard("onUsersStatusChanged") == []) }
    }
  }

  @Test func theReplyOfASessionThatLogsOutComesAndWatchesNobody() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      live.backend.users.hold()
      try await olga.send(#"{"jsonrpc":"2.0","id":"s","method":"subscribeUsersStatus","params":\#(list(["olga"]))}"#)
      try await live.backend.users.arrival()
      try await olga.send(#"{"jsonrpc":"2.0","id":"l","method":"logout"}"#)
      try await live.gone("olga")
      live.backend.users.release()
      #expect(try await olga.reply { $0["id"] == "s" }["error"] == .null)
      #expect(live.services.statuses.watchedCount == 0)
    }
  }

  // MARK: setSelfStatus

  @Test func aCustomStatusIsKeptAndTakenBack() async throws {
    let backend = Backend()
    func status() async throws -> JSON {
      try await backend.result("getUsersStatus", #""userIDList":["mary"]"#)["userList"].column("customStatus").first ?? .null
    }
    let longest = String(repeating: "é", count: 50)
    #expect(try await backend.result("setSelfStatus", as: "mary", #""customStatus":"\#(longest)""#) == [:])
    #expect(try await status() == .string(longest))
    for text in [longest + "x", "a\\nb", "\\u007f", "\\u0085"] {
      let error = try await backend.rpc("setSelfStatus", as: "mary", #""customStatus":"\#(text)""#)["error"]
      #expect(error["code"] == 10004 && error["data"]["field"] == "customStatus", "\(text)")
    }
    _ = try await backend.result("setSelfInfo", as: "mary", #""nickName":"M""#)
    #expect(try await status() == .string(longest), "a profile leaves it")
    #expect(try await backend.result("setSelfStatus", as: "mary", #""customStatus":"""#) == [:])
    #expect(try await status() == "")
    #expect(try await backend.result("getUsersInfo", #""userIDList":["mary"]"#)["userList"][0]["nickName"] == "M")
    #expect(try await backend.code("setSelfStatus", as: "mary") == -32602)
  }

  @Test func aStatusThatIsNotStoredIsNotTold() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "mary")
      live.store.inner.fail(with: StoreError(.unavailable, "test"))
      #expect(try await live.backend.code("setSelfStatus", as: "mary", #""customStatus":"s""#) == 10002)
      live.store.inner.fail(with: nil)
      await live.advance(by: 1000)
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [])
    }
  }

  /// The store has kept one whose answer was lost.
  @Test func aStatusThatIsStoredAlreadyIsToldAllTheSame() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await subscribe(olga, "mary")
      let answer: Commit.Answer = await withCheckedContinuation { continuation in
        live.store.commit(
          Commit(changes: [.putStatus("mary", "s")], generation: CommitGeneration()) { continuation.resume(returning: $0) })
      }
      _ = try answer.get()
      for _ in 0..<2 { _ = try await live.backend.result("setSelfStatus", as: "mary", #""customStatus":"s""#) }
      await live.advance(by: 1000)
      #expect(try await olga.event("onUsersStatusChanged")["userList"] == [row("mary", [], "s")])
      await live.advance(by: 1000)
      try await settled(olga)
      #expect(await olga.heard("onUsersStatusChanged") == [], "once")
    }
  }

  // MARK: presence.visibility

  @Test func whereNobodyMaySeeItNobodyDoes() async throws {
    try await LiveGateway.with({ $0.showsPresence = false }) { live in
      let olga = try await live.signIn("olga")
      for (method, params) in [
        ("getUsersStatus", list(["mary"])), ("subscribeUsersStatus", list(["mary"])), ("unsubscribeUsersStatus", "{}"),
        ("setSelfStatus", #"{"customStatus":"s"}"#),
      ] {
        #expect(try await olga.call(method, params)["error"]["code"] == 10007, "\(method)")
        #expect(try await olga.call(method, #"{"userIDList":5,"customStatus":5}"#)["error"]["code"] == -32602, "\(method)")
      }
      #expect(try await live.backend.code("getUsersStatus", #""userIDList":["mary"]"#) == 10007, "administrators, too")
      #expect(try await live.backend.code("getUsersStatus", as: "olga", #""userIDList":["mary"]"#) == 10007)
      #expect(try await live.backend.code("setSelfStatus", as: "olga", #""customStatus":"s""#) == 10007)
      #expect(live.services.statuses.watchedCount == 0 && live.services.statuses.lingeringCount == 0)
    }
  }
}
