import Dispatch
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// kickUser and listSessions (Protocol.md, "Application methods").
@Suite struct KickUserTests {
  private func kick(_ user: String, _ live: LiveGateway, _ more: String = "") async throws -> JSON {
    try await live.backend.result("kickUser", #""userID":"\#(user)"\#(more)"#)["kicked"]
  }

  private func sessions(_ user: String, _ live: LiveGateway) async throws -> JSON {
    try await live.backend.result("listSessions", #""userID":"\#(user)""#)["sessionList"]
  }

  @Test func sessionsAreListed() async throws {
    try await LiveGateway.with { live in
      let phone = try await Client.open(port: live.port, query: "token=mary&platform=iOS&deviceID=d")
      let login = try await phone.event("onConnectSuccess")
      live.backend.clocks.advance(by: 5)
      let web = try await live.signIn("mary", "platform=Web")
      let list = try await sessions("mary", live)
      #expect(
        list[0] == [
          "sessionID": login["sessionID"], "platform": "iOS", "deviceID": "d", "address": "127.0.0.1",
          "loginTime": 1_700_000_000_000,
        ])
      #expect(list[1].names == ["address", "loginTime", "platform", "sessionID"])
      #expect(list[1]["platform"] == "Web" && list[1]["loginTime"] == 1_700_000_000_005)
      #expect(list.elements.count == 2)
      #expect(try await sessions("olga", live) == [])
      #expect(try await live.backend.result("getStats")["sessions"] == 2)
      try await web.leave()
      await phone.cut()
    }
  }

  @Test(arguments: [1, 2]) func allSessionsOfTheUserAreTakenOut(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await live.backend.create("g", "Public", memberList("mary"))
      let olga = try await live.signIn("olga")
      var clients: [Client] = []
      for _ in 0..<6 { clients.append(try await live.signIn("mary", "platform=Web")) }
      func online() async throws -> JSON {
        try await live.backend.result("getGroupOnlineMemberCount", as: "olga", #""groupID":"g""#)["count"]
      }
      #expect(try await online() == 2)
      #expect(try await kick("mary", live, #","reason":"enough""#) == 6)
      // No waiting: the answer comes when they are gone.
      #expect(try await sessions("mary", live) == [])
      #expect(try await online() == 1)
      let info = try await live.backend.result("getGroupMembersInfo", as: "olga", #""groupID":"g","userIDList":["mary","olga"]"#)
      #expect(info["memberList"].column("isOnline") == [false, true])
      for client in clients {
        #expect(try await client.closed() == (4503, "removed by an administrator"))
        #expect(await client.events.map { $0["method"] } == ["onKickedOffline"])
        #expect(await client.heard("onKickedOffline") == [["reason": "Administrator", "message": "enough"]])
      }
      #expect(try await kick("mary", live) == 0)
      #expect(try await olga.call("ping")["error"] == nil, "nobody else")
      let again = try await live.signIn("mary")
      #expect(try await online() == 2, "it is no ban")
      #expect(try await kick("mary", live) == 1)
      #expect(try await again.event("onKickedOffline") == ["reason": "Administrator"])
    }
  }

  @Test func theAnswerWaitsUntilTheyAreGone() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      let gate = DispatchSemaphore(value: 0)
      live.transport.loops[0].enqueue { gate.wait() }
      let isAnswered = Flag()
      async let kicked = {
        defer { isAnswered.set() }
        return try await kick("mary", live)
      }()
      // The loop stands still, so there is no end to wait for: however often one looks, she is
      // there and nothing is answered.
      for _ in 0..<200 { #expect(try await sessions("mary", live).elements.count == 1) }
      let isEarly = isAnswered.isSet
      gate.signal()
      #expect(try await kicked == 1)
      #expect(!isEarly)
      #expect(try await mary.closed().code == 4503)
    }
  }

  @Test func aReasonHasItsLength() async throws {
    let backend = Backend()
    let most = String(repeating: "é", count: 256)
    #expect(try await backend.result("kickUser", #""userID":"mary","reason":"\#(most)""#) == ["kicked": 0])
    #expect(try await backend.code("kickUser", #""userID":"mary","reason":"\#(most)x""#) == 10004)
  }

  @Test func aSessionThatIsSigningInIsRemovedToo() async throws {
    try await LiveGateway.with { live in
      live.store.hold()
      let mary = try await Client.open(port: live.port, query: "token=mary")
      try await live.store.arrival()
      #expect(try await kick("mary", live) == 1)
      #expect(try await mary.closed().code == 4503)
      #expect(await mary.heard("onKickedOffline") == [["reason": "Administrator"]])
      #expect(await mary.events == [], "it was never told that it had signed in")
      live.store.release()
      #expect(await live.remains() == [:])
    }
  }

  /// A session that has logged out has ended by itself, though replies are still under way.
  @Test func aSessionAfterLogoutIsNotRemoved() async throws {
    try await LiveGateway.with { live in
      let mary = try await live.signIn("mary")
      _ = try await mary.call("createGroup", #"{"groupType":"Public","groupName":"g","groupID":"g"}"#)
      let session = try #require(live.services.directory.sessions(of: "mary").first?.session)
      live.store.inner.hold()
      try await mary.send(
        #"{"jsonrpc":"2.0","id":"m","method":"sendGroupTextMessage","params":{"groupID":"g","text":"x"}}"#,
        #"{"jsonrpc":"2.0","id":"o","method":"logout"}"#)
      try await live.gone("mary")
      #expect(await session.end(.administrator(message: nil)) == false)
      live.store.inner.release()
      #expect(try await mary.reply { $0["id"] == "m" }["result"]["seq"] == 1)
      #expect(try await mary.reply { $0["id"] == "o" }["result"] == [:])
      #expect(try await mary.closed().code == 1000)
      #expect(await mary.heard("onKickedOffline") == [])
      #expect(await session.end(.administrator(message: nil)) == false, "nor once the connection has gone")
    }
  }
}
