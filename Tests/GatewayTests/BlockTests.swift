import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport
import WireProtocol

@testable import Gateway

/// blockUser, unblockUser and getBlockedUsers (Protocol.md, "Blocked users").
@Suite struct BlockTests {
  private let login = #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"token":"mary"}}"#
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  private func block(_ user: String, _ live: LiveGateway, _ more: String = "") async throws -> JSON {
    try await live.backend.result("blockUser", #""userID":"\#(user)"\#(more)"#)
  }

  /// How a connection ends that asks for a session of a user at the upgrade.
  private func refusal(of user: String, _ live: LiveGateway) async throws -> (code: Int, reason: String) {
    let client = try await Client.open(port: live.port, query: "token=\(user)")
    let end = try await client.closed()
    #expect(await client.events == [], "nothing else is told")
    return end
  }

  /// A block in the store that nobody was told of.
  private func commit(_ change: StoreChange, to live: LiveGateway) async throws {
    let answer: Commit.Answer = await withCheckedContinuation { continuation in
      live.store.commit(Commit(changes: [change], generation: CommitGeneration()) { continuation.resume(returning: $0) })
    }
    _ = try answer.get()
  }

  // MARK: Sessions

  @Test(arguments: [1, 2]) func allSessionsAreToldAndClosed(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let olga = try await live.signIn("olga")
      var clients: [Client] = []
      for _ in 0..<6 { clients.append(try await live.signIn("mary", "platform=Web")) }
      #expect(try await block("mary", live, #","reason":"spam""#) == ["blockedUntil": 0])
      // No waiting: the answer comes when they are gone.
      #expect(live.services.directory.sessions(of: "mary").isEmpty)
      for client in clients {
        #expect(try await client.closed() == (4503, "removed by an administrator"))
        #expect(await client.events.map { $0["method"] } == ["onKickedOffline"])
        #expect(await client.heard("onKickedOffline") == [["reason": "Blocked", "message": "spam"]])
      }
      #expect(try await olga.call("ping")["error"] == nil, "nobody else")
      #expect(await olga.events == [])
    }
  }

  @Test(arguments: ["", #","reason":"""#]) func withoutAReasonThereIsNoMessage(more: String) async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      _ = try await block("mary", live, more)
      #expect(try await mary.event("onKickedOffline") == ["reason": "Blocked"])
    }
  }

  // MARK: Sign-in

  @Test func aBlockedUserDoesNotSignIn() async throws {
    try await LiveGateway.with { live in
      _ = try await block("mary", live, #","reason":"spam""#)
      let mary = try await live.connect()
      try await mary.send(login, ping)
      let error = try await mary.next()["error"]
      #expect(error["code"] == 70020 && error["data"]["temporary"] == false)
      #expect(error["message"].string == ErrorCode.userBlocked.title, "the reason is for the sessions that it ends")
      let (code, reason) = try await mary.closed()
      #expect(code == 4500 && reason.hasPrefix("70020"))
      #expect(await mary.events == [], "what stood behind it was not handled")
      let atOnce = try await refusal(of: "mary", live)
      #expect(atOnce.code == 4500 && atOnce.reason.hasPrefix("70020"))
      let olga = try await live.signIn("olga")
      try await olga.leave()
      #expect(await live.remains() == [:], "and it is no bad token")
    }
  }

  @Test func aBatchBehindARefusedSignInIsNotHandled() async throws {
    try await LiveGateway.with { live in
      _ = try await block("mary", live)
      let mary = try await live.connect()
      try await mary.send("[\(login),\(login),\(ping)]")
      #expect(try await mary.next().elements.map { $0["error"]["code"] } == [70020, 6014, 6014])
      #expect(try await mary.closed().code == 4500)
      #expect(live.services.sessionCount == 0)
    }
  }

  @Test func anUnblockedUserSignsInAtOnce() async throws {
    try await LiveGateway.with { live in
      _ = try await block("mary", live)
      #expect(try await refusal(of: "mary", live).code == 4500)
      #expect(try await live.backend.result("unblockUser", #""userID":"mary""#) == [:])
      let mary = try await live.signIn("mary")
      #expect(try await live.backend.result("unblockUser", #""userID":"mary""#) == [:], "who is not blocked")
      #expect(try await mary.call("ping")["error"] == nil)
    }
  }

  @Test func aBlockEndsByItself() async throws {
    try await LiveGateway.with { live in
      let start = live.backend.clocks.wall
      let answer = try await block("mary", live, #","blockTime":60"#)
      #expect(answer["blockedUntil"].instant == start + .seconds(60))
      await live.advance(by: 59_999)
      #expect(try await refusal(of: "mary", live).code == 4500)
      await live.advance(by: 1)
      let mary = try await live.signIn("mary")
      #expect(try await mary.call("ping")["error"] == nil)
    }
  }

  @Test func aSecondBlockRenewsEndAndReason() async throws {
    try await LiveGateway.with { live in
      func listed() async throws -> JSON { try await live.backend.result("getBlockedUsers")["userList"] }
      _ = try await block("mary", live, #","reason":"spam""#)
      #expect(try await listed() == [["userID": "mary", "blockedUntil": 0, "reason": "spam"]])
      let end = live.backend.clocks.wall + .seconds(1)
      #expect(try await block("mary", live, #","blockTime":1"#)["blockedUntil"].instant == end)
      #expect(try await listed() == [["userID": "mary", "blockedUntil": .instant(end), "reason": ""]])
      await live.advance(by: 1000)
      #expect(try await listed() == [], "one that has ended")
    }
  }

  /// "asUser is not bound."
  @Test func theApplicationActsForABlockedUser() async throws {
    try await LiveGateway.with { live in
      _ = try await block("mary", live)
      try await live.backend.create("g", "Public", by: "mary")
      #expect(try await live.backend.code("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"t""#) == 0)
      #expect(try await refusal(of: "mary", live).code == 4500)
    }
  }

  /// "None of these methods makes a user known", and a sign-in that is refused does not either.
  @Test func nobodyIsKnownByABlock() async throws {
    try await LiveGateway.with { live in
      _ = try await block("mary", live)
      _ = try await live.backend.result("revokeTokens", #""userID":"rita""#)
      _ = try await live.backend.result("unblockUser", #""userID":"vera""#)
      #expect(try await refusal(of: "mary", live).code == 4500)
      #expect(try await refusal(of: "noiat:rita", live).reason.hasPrefix("70021"))
      #expect(try await live.store.inner.known(among: ["mary", "rita", "vera"]) == [])
      #expect(try await live.backend.result("getStats")["users"] == 0)
      let vera = try await live.signIn("vera")
      #expect(try await live.store.inner.known(among: ["mary", "rita", "vera"]) == ["vera"])
      try await vera.leave()
    }
  }

  /// A group finds a session that is signing in, and sends it events. They are not for a blocked user.
  @Test func noEventReachesAUserWhoseSignInIsRefused() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Public", memberList("mary", "olga"))
      _ = try await block("mary", live)
      for isUpgrade in [true, false] {
        live.store.hold()
        let mary = try await Client.open(port: live.port, query: isUpgrade ? "token=mary" : "")
        if !isUpgrade { try await mary.send(login) }
        try await live.store.arrival()
        let group = try #require(live.services.registry.resident("g"))
        await withCheckedContinuation { continuation in
          group.enqueue(.presence(Group.Presence(of: "mary")) { continuation.resume() })
        }
        try await live.say("secret", in: "g", as: "olga")
        // What the group has said has reached the loop before what this asks it.
        await live.on(live.transport.loops[0]) {}
        live.store.release()
        #expect(try await mary.closed().code == 4500)
        #expect(await mary.events.map { $0["id"] } == (isUpgrade ? [] : ["l"]))
      }
    }
  }

  // MARK: While the user signs in

  /// What has happened of a sign-in when the block is durable and sessions are ended.
  enum Progress: CaseIterable {
    /// The store was read before the block was durable, and has not answered.
    case read
    /// It has answered, and the session has signed in.
    case signedIn
    /// The sign-in comes behind the commit and before the sessions are ended.
    case behindTheCommit
  }

  @Test(arguments: Progress.allCases) func noSignInOvertakesABlock(progress: Progress) async throws {
    try await LiveGateway.with { live in
      let mary: Client
      switch progress {
      case .read:
        live.store.hold()
        mary = try await Client.open(port: live.port, query: "token=mary")
        try await live.store.arrival()
        _ = try await block("mary", live)
        live.store.release()
      case .signedIn:
        live.store.inner.hold()
        async let blocked = block("mary", live)
        try await live.waitForCommits(1)
        mary = try await live.signIn("mary")
        live.store.inner.release()
        _ = try await blocked
      case .behindTheCommit:
        try await commit(.putBlock("mary", UserAccess.Block(until: nil, reason: ""), at: live.backend.clocks.wall), to: live)
        mary = try await Client.open(port: live.port, query: "token=mary")
        #expect(try await mary.closed().code == 4500)
        _ = try await block("mary", live)
      }
      #expect(live.services.directory.sessions(of: "mary").isEmpty)
      if progress != .behindTheCommit {
        #expect(try await mary.closed().code == 4503)
        #expect(await mary.heard("onKickedOffline") == [["reason": "Blocked"]])
        #expect(await mary.events == [], "nothing of a sign-in that has not ended")
      }
      #expect(try await refusal(of: "mary", live).code == 4500)
      #expect(await live.remains() == [:])
    }
  }

  /// However sign-ins and a block meet: behind its answer each connection has been closed, or will be.
  @Test(arguments: [1, 2]) func noSessionOutlivesABlock(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      let port = live.port
      try await withThrowingTaskGroup(of: Int.self) { tasks in
        for number in 0..<24 {
          tasks.addTask {
            let client = try await Client.open(port: port, query: "token=mary&platform=Unknown&deviceID=\(number)")
            return try await client.closed().code
          }
        }
        _ = try await block("mary", live)
        for try await code in tasks { #expect([4500, 4502, 4503].contains(code)) }
      }
      #expect(await live.remains() == [:])
      #expect(try await refusal(of: "mary", live).code == 4500)
    }
  }

  // MARK: Renewal

  @Test func aRenewalThatMeetsABlockIsAnsweredAndCloses() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      try await commit(.putBlock("mary", UserAccess.Block(until: nil, reason: ""), at: live.backend.clocks.wall), to: live)
      try await mary.send(login, ping)
      let error = try await mary.next()["error"]
      #expect(error["code"] == 70020 && error["data"]["temporary"] == false)
      let (code, reason) = try await mary.closed()
      #expect(code == 4500 && reason.hasPrefix("70020"))
      #expect(await mary.events == [])
      #expect(await live.remains() == [:])
    }
  }

  @Test func aSessionThatIsBlockedWhileItRenewsIsClosed() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      live.store.hold()
      try await mary.send(login, ping)
      try await live.store.arrival()
      _ = try await block("mary", live)
      live.store.release()
      #expect(try await mary.closed().code == 4503)
      #expect(await mary.events.map { $0["method"] } == ["onKickedOffline"])
      #expect(await live.remains() == [:])
    }
  }

  @Test func textsBehindARenewalWaitForIt() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      live.store.hold()
      try await mary.send(login, ping, "[\(login),\(ping)]", ping)
      try await live.store.arrival()
      live.store.release()
      #expect(try await mary.next()["result"]["userID"] == "mary")
      #expect(try await mary.next()["id"] == "p")
      #expect(try await mary.next().elements.map { $0["id"] } == ["l", "p"])
      #expect(try await mary.next()["id"] == "p")
    }
  }

  @Test func withoutTheStoreARenewalIsRefusedAndTheSessionLivesOn() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      live.store.release(failing: StoreError(.unavailable, "test"))
      let error = try await mary.call("login", #"{"token":"mary"}"#)["error"]
      #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
      live.store.release()
      #expect(try await mary.call("login", #"{"token":"mary"}"#)["result"]["userID"] == "mary")
      #expect(live.services.sessionCount == 1)
    }
  }

  @Test func aTokenThatEndsWhileTheStoreIsReadIsRenewedInTime() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary~1000")
      live.store.hold()
      try await mary.send(login)
      try await live.store.arrival()
      await live.advance(by: 3000)
      live.store.release()
      #expect(try await mary.reply { $0["id"] == "l" }["result"]["userID"] == "mary")
      await live.advance(by: 3000)
      #expect(try await mary.call("ping")["error"] == nil)
    }
  }

  @Test func aTokenThatEndsWhileARenewalFailsEndsTheSession() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary~1000")
      live.store.hold()
      try await mary.send(login)
      try await live.store.arrival()
      await live.advance(by: 3000)
      live.store.release(failing: StoreError(.unavailable, "test"))
      #expect(try await mary.reply { $0["id"] == "l" }["error"]["code"] == 10002)
      await live.advance(by: 2000)
      #expect(try await mary.closed().code == 4006)
      live.store.release()
    }
  }

  @Test func aSessionThatGoesWhileItRenewsLeavesNothing() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      let session = try #require(await live.openSessions()[0].first)
      live.store.hold()
      try await mary.send(login, ping)
      try await live.store.arrival()
      await mary.cut()
      #expect(await live.remains() == [:])
      live.store.release()
      try await session.waitUntilReleased()
    }
  }

  // MARK: The store fails

  @Test func aBlockThatIsNotDurableIsNone() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      live.store.inner.fail(with: StoreError(.unavailable, "test"))
      for method in ["blockUser", "unblockUser", "revokeTokens"] {
        let error = try await live.backend.rpc(method, #"{"userID":"mary"}"#)["error"]
        #expect(error["code"] == 10002 && error["data"]["temporary"] == true, "\(method)")
      }
      live.store.inner.fail(with: nil)
      #expect(try await mary.call("ping")["error"] == nil)
      #expect(await mary.events == [])
      #expect(try await live.backend.result("getBlockedUsers")["userList"] == [])
      let again = try await live.signIn("mary", "platform=Web")
      #expect(try await again.call("ping")["error"] == nil)
    }
  }

  // MARK: The list

  @Test func theListIsByUserIDInPages() async throws {
    let backend = Backend()
    let users = (0..<250).map { String("u\(1000 + $0)".reversed()) }
    for user in users { _ = try await backend.result("blockUser", #""userID":"\#(user)","reason":"\#(user)""#) }
    _ = try await backend.result("blockUser", #""userID":"free""#)
    _ = try await backend.result("unblockUser", #""userID":"free""#)
    var (found, place): ([String], Int64) = ([], 0)
    repeat {
      let page = try await backend.result("getBlockedUsers", #""nextSeq":\#(place),"count":100"#)
      let names = page["userList"].column("userID").compactMap(\.string)
      #expect(names.count <= 100 && page["userList"].column("reason").compactMap(\.string) == names)
      found += names
      place = try #require(page["nextSeq"].integer)
      // The place of a page stays where its last user is unblocked.
      if let last = names.last { _ = try await backend.result("unblockUser", #""userID":"\#(last)""#) }
    } while place != 0
    #expect(found == users.sorted())
    #expect(try await backend.result("getBlockedUsers")["userList"].elements.count == 50, "by default")
    let error = try await backend.rpc("getBlockedUsers", #"{"nextSeq":9007199254740992}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "nextSeq")
  }

  @Test func aReasonHasItsLength() async throws {
    let backend = Backend()
    let most = String(repeating: "é", count: 512)
    _ = try await backend.result("blockUser", #""userID":"mary","reason":"\#(most)""#)
    #expect(try await backend.result("getBlockedUsers")["userList"][0]["reason"].string == most)
    let error = try await backend.rpc("blockUser", #"{"userID":"mary","reason":"\#(most)x"}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "reason")
    for name in ["", "administrator", "@mary", "a b"] {
      for method in ["blockUser", "unblockUser", "revokeTokens"] {
        #expect(try await backend.code(method, #""userID":"\#(name)""#) == 10004, "\(method) of \(name)")
      }
    }
  }

  /// The decisions about a user are made one after the other, each with its sessions.
  @Test func anUnblockWaitsForTheBlockBefore() async throws {
    try await LiveGateway.with { live in
      live.store.inner.hold()
      async let blocked = block("mary", live)
      try await live.waitForCommits(1)
      async let unblocked = live.backend.result("unblockUser", #""userID":"mary""#)
      // It cannot have come to the store: the commit before it is not done.
      for _ in 0..<200 { #expect(live.store.inner.pendingCount == 1) }
      live.store.inner.release()
      _ = try await blocked
      #expect(try await unblocked == [:])
      let mary = try await live.signIn("mary")
      #expect(try await mary.call("ping")["error"] == nil)
    }
  }
}
