import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Requests and replies on real connections: order, bounds and close codes (Protocol.md,
/// "Transport" and "Rate limits").
@Suite struct SessionTests {
  private let create = #"{"groupType":"Public","groupName":"g","groupID":"g"}"#
  private let logout = #"{"jsonrpc":"2.0","id":"o","method":"logout"}"#
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  private func message(_ id: Int, _ text: String = "x") -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"sendGroupTextMessage","params":{"groupID":"g","text":"\#(text)"}}"#
  }

  @Test func repliesComeInTheOrderOfRequestsAlsoWhereOneWaitsForTheDisk() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      live.store.inner.hold()
      try await alice.send(message(1), ping, message(2), ping)
      try await live.waitForCommits(2)
      live.store.inner.release()
      var ids: [JSON] = []
      for _ in 0..<4 { ids.append(try await alice.reply { $0["id"] != nil }["id"]) }
      #expect(ids == [1, "p", 2, "p"])
    }
  }

  @Test func logoutWaitsForWhatWasAskedBeforeIt() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      live.store.inner.hold()
      try await alice.send(message(1), logout, message(2))
      try await waitUntil("the session has ended") { live.services.sessionCount == 0 }
      #expect(live.store.inner.pendingCount == 1, "what stood behind the logout did not run")
      live.store.inner.release()
      #expect(try await alice.reply { $0["id"] == 1 }["result"]["seq"] == 1)
      #expect(try await alice.next() == ["jsonrpc": "2.0", "id": "o", "result": [:]])
      #expect(try await alice.closed().code == 1000)
      #expect(live.store.inner.allMessages(of: "g").count == 1)
      #expect(await live.remains() == [:])
    }
  }

  @Test func behindALogoutOfABatchNobodyIsSignedIn() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      let login = #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"token":"alice"}}"#
      try await alice.send("[\(message(1)),\(logout),\(message(2)),\(login)]")
      let rows = try await alice.reply { !$0.elements.isEmpty }.elements
      #expect(rows.map { $0["error"]["code"] } == [nil, nil, 6014, 6014])
      #expect(try await alice.closed().code == 1000)
      #expect(live.store.inner.allMessages(of: "g").count == 1)
      #expect(await live.remains() == [:])
    }
  }

  @Test func aLogoutWithoutAnIDClosesToo() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      try await alice.send(#"{"jsonrpc":"2.0","method":"logout"}"#)
      #expect(try await alice.closed().code == 1000)
      #expect(await alice.events.isEmpty)
    }
  }

  // MARK: Bounds

  @Test func beforeSignInTheEleventhRequestClosesWhateverItIs() async throws {
    try await LiveGateway.with { live in
      let lasts: [(text: String, codes: [JSON])] = [
        (ping, [6014]), ("[]", [-32600]), ("5", [-32600]),
        (#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"alice"}}"#, [7008]),
        (#"{"jsonrpc":"2.0","id":1,"method":"pong"}"#, [-32601]), (#"{"jsonrpc":"2.0","method":"ping"}"#, []),
      ]
      for last in lasts {
        let client = try await live.connect()
        for _ in 0..<10 { try await client.send(ping) }
        for _ in 0..<10 { #expect(try await client.next()["error"]["code"] == 6014) }
        try await client.send(last.text, ping)
        #expect(try await client.closed().code == 4004, "\(last.text)")
        #expect(await client.events.map { $0["error"]["code"] } == last.codes, "\(last.text)")
      }
      #expect(await live.remains() == [:])
    }
  }

  @Test func aBatchBeforeSignInCountsEachOfItsRequests() async throws {
    try await LiveGateway.with { live in
      let client = try await live.connect()
      try await client.send("[" + Array(repeating: ping, count: 12).joined(separator: ",") + "]")
      #expect(try await client.next().elements.map { $0["error"]["code"] } == Array(repeating: 6014, count: 12))
      #expect(try await client.closed().code == 4004)
    }
  }

  @Test func theTenthBadTextInARowIsAnsweredAndCloses() async throws {
    try await LiveGateway.with { live in
      let client = try await live.signIn("alice")
      for _ in 0..<9 { try await client.send("{") }
      try await client.send(ping)
      for _ in 0..<10 { try await client.send("\"") }
      try await client.send(ping)
      #expect(try await client.closed().code == 4501)
      #expect(
        await client.events.map { $0["error"]["code"].integer ?? 0 } == Array(repeating: -32700, count: 9) + [0]
          + Array(repeating: -32700, count: 10))
    }
  }

  @Test func aFloodIsRefusedAndThenCloses() async throws {
    try await LiveGateway.with {
      $0.requestsPerSecond = 1
      $0.requestBurst = 11
    } _: { live in
      let alice = try await live.signIn("alice")
      let texts = Array(repeating: "[" + Array(repeating: ping, count: 20).joined(separator: ",") + "]", count: 60)
      for text in texts { try await alice.send(text) }
      #expect(try await alice.closed().code == 4004)
      let rows = await alice.events.flatMap(\.elements)
      let refused = rows.filter { $0["error"]["code"] == 7008 }
      // The sign-in and ten more pass; the batch of the thousandth refusal is answered whole.
      #expect(refused.count == 1010)
      #expect(refused.allSatisfy { $0["error"]["data"]["retryAfterMs"] == 1000 })
    }
  }

  /// More than a session may have under way is read later, and none is lost.
  @Test func thousandsOfRequestsInOneWriteAreAllAnsweredInOrder() async throws {
    try await LiveGateway.with {
      $0.requestsPerSecond = 1_000_000
      $0.requestBurst = 1_000_000
    } _: { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("createGroup", create)
      live.store.inner.hold()
      try await alice.send(message(-1))
      try await live.waitForCommits(1)
      let silent = Array(repeating: #"{"jsonrpc":"2.0","method":"ping"}"#, count: 9)
      try await alice.send((0..<400).flatMap { silent + [#"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"#] })
      live.store.inner.release()
      #expect(try await alice.reply { $0["id"] == -1 }["result"]["seq"] == 1)
      for id in 0..<400 { #expect(try await alice.next()["id"].integer == Int64(id)) }
    }
  }

  // MARK: Being closed

  @Test func oneConnectionTooManyIsTold() async throws {
    try await LiveGateway.with {
      $0.connections = 2
    } _: { live in
      let first = try await live.signIn("alice")
      let second = try await live.connect()
      for _ in 0..<3 {
        let third = try await Client.open(port: live.port, query: "token=bob")
        #expect(try await third.closed().code == 4005)
        #expect(await third.events.isEmpty)
      }
      try await second.leave()
      #expect(try await first.call("ping")["result"] != nil)
      try await first.leave()
      #expect(await live.remains() == [:])
      let again = try await live.signIn("alice")
      #expect(try await again.call("ping")["result"] != nil)
    }
  }

  @Test func upgradesElsewhereAndFromElsewhereAreRefused() async throws {
    try await LiveGateway.with {
      $0.allowedOrigins = ["https://Shop.example"]
    } _: { live in
      let expected = [
        ("https://other.example", 403), ("null", 403), ("https://shop.example", 101), ("http://localhost:\(live.port)", 101),
      ]
      for (origin, status) in expected {
        let client = try Client(port: live.port, headers: ["Origin: \(origin)"])
        #expect(try await client.status() == status, "\(origin)")
      }
    }
  }

  // MARK: Presence

  @Test func aUserIsOnlineFromTheFirstSessionToTheLast() async throws {
    try await LiveGateway.with { live in
      let olga = try await live.signIn("olga")
      _ = try await olga.call("createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","joinMode":"Any"}"#)
      let mary = try await live.signIn("mary")
      _ = try await mary.call("joinGroup", #"{"groupID":"g"}"#)
      func count() async throws -> Int64? {
        try await olga.call("getGroupOnlineMemberCount", #"{"groupID":"g"}"#)["result"]["count"].integer
      }
      #expect(try await count() == 2)
      let second = try await live.signIn("mary")
      try await mary.leave()
      #expect(try await count() == 2)
      _ = try await second.call("logout")
      #expect(try await count() == 1, "a logout ends it at once")
      let third = try await live.signIn("mary")
      #expect(try await count() == 2)
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"g","text":"hello"}"#)
      #expect(try await third.event("onRecvNewMessage")["message"]["text"] == "hello")
    }
  }
}
