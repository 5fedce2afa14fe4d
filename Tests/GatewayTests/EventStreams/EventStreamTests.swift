import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport
import WireProtocol

@testable import Gateway

/// Sessions without a WebSocket: events on a stream, requests by HTTP (Protocol.md, "Event streams").
@Suite struct EventStreamTests {
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  @Test func aStreamIsASessionThatIsAskedByHTTP() async throws {
    try await LiveGateway.with(loops: 3) { live in
      let (alice, key) = try await live.openStream("alice", "platform=Web&deviceID=d")
      let bob = try await live.signIn("bob")
      let made = try await live.call(
        "createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g","joinMode":"Any"}"#, key: key)
      #expect(made["result"]["groupID"] == "g")
      #expect(try await bob.call("joinGroup", #"{"groupID":"g"}"#)["result"]["status"] == "Joined")
      #expect(try await alice.event("onMemberEnter")["memberList"][0]["userID"] == "bob")
      _ = try await bob.call("sendGroupTextMessage", #"{"groupID":"g","text":"one\ntwo"}"#)
      _ = try await alice.reply { $0["params"]["message"]["text"] == "one\ntwo" }
      let said = try await live.call("sendGroupTextMessage", #"{"groupID":"g","text":"mine"}"#, key: key)
      #expect(said["result"]["seq"].integer != nil)
      _ = try await bob.reply { $0["params"]["message"]["text"] == "mine" }
      let rows = try await live.backend.result("listSessions", #""userID":"alice""#)["sessionList"].elements
      #expect(rows.count == 1 && rows[0]["platform"] == "Web" && rows[0]["deviceID"] == "d")
    }
  }

  /// "answer is the HTTP answer; 204 without id; batches".
  @Test func eachRequestHasAnAnswerOfItsOwn() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      let one = try await live.post(ping, key: key)
      #expect(one.status == 200 && one.head.contains("Content-Type: application/json"))
      #expect(one.head.contains("Cache-Control: no-store"))
      #expect(try one.json["id"] == "p")
      #expect(try await live.post("[\(ping),\(ping)]", key: key).json.elements.map { $0["id"] } == ["p", "p"])
      let silent = try await live.post(#"{"jsonrpc":"2.0","method":"ping"}"#, key: key)
      #expect(silent.status == 204 && silent.body.isEmpty)
      #expect(try await live.post(#"[{"jsonrpc":"2.0","method":"ping"}]"#, key: key).status == 204)
      #expect(try await live.post("[]", key: key).json["error"]["code"] == -32600)
      #expect(try await live.post("", key: key).json["error"]["code"] == -32700)
      #expect(try await live.call("nonsense", key: key)["error"]["code"] == -32601)
      // None of them came over the stream.
      await alice.cut()
      await #expect(throws: Client.Failed.self) { try await alice.next() }
      #expect(await alice.events.isEmpty)
    }
  }

  @Test func answersDoNotWaitForEachOther() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      live.store.hold()
      async let slow = live.call("getJoinedGroupList", key: key)
      try await live.store.arrival()
      #expect(try await live.post(ping, key: key).status == 200)
      live.store.release()
      let groups = try await slow["result"]["groupList"]
      #expect(groups == .array([]))
    }
  }

  // MARK: Sign-in

  @Test(arguments: [
    ("", "70003"), ("token=", "70003"), ("token=bad", "70003"), ("token=expired", "70001"), ("token=adm:alice", "70003"),
    ("token=alice&platform=Amiga", "10004"),
  ])
  func aBadSignInIsToldByTheLastEvent(query: String, code: String) async throws {
    try await LiveGateway.with { live in
      let stream = try await Client.openStream(port: live.port, query: query)
      let close = try await stream.closed()
      #expect(close.code == 4500 && close.reason.hasPrefix(code + " "), "\(close)")
      #expect(await stream.events.isEmpty)
      #expect(await live.remains(failures: 1).isEmpty)
    }
  }

  @Test func theTokenMayComeInTheHeader() async throws {
    try await LiveGateway.with { live in
      let stream = try await Client.openStream(port: live.port, headers: ["Authorization: Bearer alice"])
      #expect(try await stream.event("onConnectSuccess")["userID"] == "alice")
    }
  }

  @Test func onlyAStreamHasAKey() async throws {
    try await LiveGateway.with { live in
      let socket = try await Client.open(port: live.port, query: "token=alice")
      #expect(try await socket.next()["params"]["streamKey"] == .null)
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      #expect(try await live.call("login", #"{"token":"alice"}"#, key: key)["result"].names.contains("streamKey") == false)
    }
  }

  @Test func aRenewalCountsForTheStream() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice~70000")
      await live.advance(by: 11_000)
      #expect(try await alice.next()["method"] == "onUserSigExpired")
      #expect(try await live.call("login", #"{"token":"alice~300000"}"#, key: key)["result"]["userID"] == "alice")
      #expect(try await live.call("login", #"{"token":"bob"}"#, key: key)["error"]["code"] == 6015)
      await live.advance(by: 100_000)
      #expect(try await live.post(ping, key: key).status == 200)
      await live.advance(by: 300_000)
      #expect(try await alice.closed().code == 4006)
    }
  }

  @Test func aStreamTakesThePlaceOfAnotherSessionOfItsPlatform() async throws {
    try await LiveGateway.with { live in
      let (first, key) = try await live.openStream("alice", "platform=iOS")
      let second = try await live.signIn("alice", "platform=iOS")
      #expect(try await first.event("onKickedOffline")["reason"] == "OtherDevice")
      #expect(try await first.closed().code == 4502)
      #expect(try await live.post(ping, key: key).status == 401)
      _ = try await live.openStream("alice", "platform=iOS")
      #expect(try await second.closed().code == 4502)
    }
  }

  // MARK: The key

  @Test func withoutAKeyOfALivingStreamARequestIs401() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      for wrong in [nil, "", "alice", key + "0", String(key.dropLast()), "0." + key] as [String?] {
        let answer = try await live.post(ping, key: wrong)
        #expect(answer.status == 401 && answer.head.contains("WWW-Authenticate: Bearer"), "\(wrong ?? "none")")
      }
      #expect(try await live.post(ping, key: key).status == 200)
      await alice.cut()
      #expect(await live.remains().isEmpty)
      #expect(try await live.post(ping, key: key).status == 401)
    }
  }

  @Test func aLogoutIsAnsweredAndEndsTheStream() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      #expect(try await live.call("logout", key: key)["result"] == .object([:]))
      #expect(try await alice.closed().code == 1000)
      #expect(try await live.post(ping, key: key).status == 401)
    }
  }

  /// A client whose connection is lost learns nothing of what was under way, and neither does this one.
  @Test func requestsUnderWayAre401WhenTheStreamEnds() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      live.store.hold()
      async let read = live.post(#"{"jsonrpc":"2.0","id":1,"method":"getJoinedGroupList"}"#, key: key)
      try await live.store.arrival()
      let batch = #"[{"jsonrpc":"2.0","id":1,"method":"getJoinedGroupList"},\#(ping)]"#
      async let second = live.post(batch, key: key)
      try await live.waitForReads(2)
      async let third = live.post(ping, key: key)
      try await waitUntil("three requests are under way") { live.services.eventStreams.underWay == 3 }
      await alice.cut()
      let statuses = try await [read.status, second.status, third.status]
      #expect(statuses == [401, 401, 401])
      live.store.release()
      #expect(await live.remains().isEmpty)
      try await waitUntil("nothing is kept") { live.services.eventStreams.underWay == 0 }
    }
  }

  // MARK: Limits

  @Test func theTenthInvalidTextIsAnsweredAndEndsTheStream() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      for _ in 0..<10 { #expect(try await live.post("{", key: key).json["error"]["code"] == -32700) }
      #expect(try await alice.closed().code == 4501)
    }
  }

  @Test func theUsersRateCounts() async throws {
    try await LiveGateway.with { configuration in
      configuration.requestsPerSecond = 1
      configuration.requestBurst = 3
    } _: { live in
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      let codes = [
        try await live.call("ping", key: key)["error"]["code"], try await live.call("ping", key: key)["error"]["code"],
        try await live.call("ping", key: key)["error"]["code"],
      ]
      // The sign-in was the first of three.
      #expect(codes == [.null, .null, 7008])
    }
  }

  @Test func aStreamIsAConnectionAndItsRequestsAreNone() async throws {
    try await LiveGateway.with {
      $0.connections = 2
    } _: { live in
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      let bob = try await live.openStream("bob")
      defer { withExtendedLifetime(bob) {} }
      #expect(try await live.post(ping, key: key).status == 200)
      let third = try await Client.openStream(port: live.port, query: "token=carl")
      #expect(try await third.closed().code == 4005)
    }
  }

  // MARK: HTTP

  @Test func refusalsComeInTheirOrder() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      func ask(_ method: String, _ path: String, _ headers: [String] = [], bytes: Int = 0) async throws -> HTTPAnswer {
        try await HTTPAnswer.to(
          method, path, port: live.port, headers: headers, body: [UInt8](repeating: 0x20, count: bytes))
      }
      let foreign = "Origin: https://evil.example", own = "Origin: http://localhost:\(live.port)"
      #expect(try await ask("POST", "/rpc/", [foreign], bytes: 70_000).status == 404)
      let get = try await ask("GET", "/rpc", [foreign])
      #expect(get.status == 405 && get.head.contains("Allow: POST, OPTIONS"))
      #expect(!get.head.contains("Access-Control-Allow-Origin"))
      let posted = try await ask("POST", "/events", [own])
      #expect(posted.status == 405 && posted.head.contains("Allow: GET, OPTIONS"))
      #expect(try await ask("HEAD", "/events").status == 405)
      #expect(try await ask("POST", "/rpc", [foreign], bytes: 70_000).status == 403)
      #expect(try await ask("GET", "/events?token=alice", [foreign]).status == 403)
      #expect(try await ask("POST", "/rpc", [own], bytes: 70_000).status == 401)
      let bearer = "Authorization: Bearer \(key)"
      #expect(try await ask("POST", "/rpc", [own, bearer], bytes: 65_537).status == 413)
      #expect(try await ask("POST", "/rpc", [own, bearer], bytes: 65_536).status == 200, "blanks, which are no JSON")
    }
  }

  @Test func pagesOfAllowedOriginsMayAsk() async throws {
    try await LiveGateway.with {
      $0.allowedOrigins = ["https://page.example"]
    } _: { live in
      let (alice, key) = try await live.openStream("alice")
      defer { withExtendedLifetime(alice) {} }
      let page = "Origin: https://page.example"
      for path in ["/events", "/rpc"] {
        let allowed = try await HTTPAnswer.to("OPTIONS", path, port: live.port, headers: [page])
        #expect(allowed.status == 204 && allowed.head.contains("Access-Control-Allow-Origin: https://page.example"))
        #expect(allowed.head.contains("Access-Control-Allow-Headers: Authorization,"))
        #expect(allowed.head.contains("Vary: Origin"))
        let other = try await HTTPAnswer.to("OPTIONS", path, port: live.port, headers: ["Origin: https://evil.example"])
        #expect(other.status == 403 && !other.head.contains("Access-Control-Allow"))
      }
      for (credential, status) in [(key, 200), ("none", 401)] {
        let answer = try await live.post(ping, key: credential, headers: [page])
        #expect(answer.status == status && answer.head.contains("Access-Control-Allow-Origin: https://page.example"))
      }
      _ = try await Client.openStream(port: live.port, query: "token=bob", headers: [page])
    }
  }

  // MARK: The end

  @Test func aDrainTellsStreamsAndServesTheirRequestsMeanwhile() async throws {
    try await LiveGateway.with { live in
      let (alice, key) = try await live.openStream("alice")
      live.gateway.drain(over: .seconds(10), on: live.transport.loops)
      #expect(try await alice.event("onServerDraining")["retryAfterMs"].integer != nil)
      #expect(try await live.post(ping, key: key).status == 200)
      let late = try await HTTPAnswer.to("GET", "/events?token=bob", port: live.port)
      #expect(late.status == 503)
      await live.advance(by: 10_100)
      #expect(try await alice.closed().code == 4001)
      #expect(await live.remains().isEmpty)
    }
  }

  @Test func sessionsOfStreamsAreFreed() async throws {
    try await LiveGateway.with { live in
      let (alice, _) = try await live.openStream("alice")
      let sessions = await live.openSessions().flatMap { $0 }
      #expect(sessions.count == 1 && live.services.streams.count == 1)
      await alice.cut()
      for session in sessions { try await session.waitUntilReleased() }
      #expect(live.services.streams.count == 0)
    }
  }
}
