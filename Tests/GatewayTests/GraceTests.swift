import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// `avChatRoom.offlineGrace` on real connections and a clock that the tests move (Protocol.md,
/// "AVChatRoom").
@Suite struct GraceTests {
  /// The default, in milliseconds.
  private static let grace: Int64 = 300_000
  private static let inTime = grace - 1

  /// A room of olga that mary is in, and another group of both, by which they hear that nothing
  /// more is to come.
  private func prepare(_ live: LiveGateway) async throws {
    try await live.backend.create("room", "AVChatRoom")
    try await live.backend.create("g", "Public", memberList("mary"))
    _ = try await live.backend.result("joinGroup", as: "mary", #""groupID":"room""#)
  }

  private func leave(_ client: Client, _ user: UserID, _ live: LiveGateway) async throws {
    try await client.leave()
    try await live.gone(user)
  }

  private func info(_ live: LiveGateway) async throws -> JSON {
    try await live.backend.result("getGroupsInfo", #""groupIDList":["room"]"#)["resultList"][0]["info"]
  }

  @Test(arguments: [1, 2]) func aUserWhoReturnsInTimeKeepsReceiving(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await prepare(live)
      let olga = try await live.signIn("olga")
      try await leave(try await live.signIn("mary"), "mary", live)
      try await live.say("missed", in: "room", as: "olga")
      let away = try await info(live)
      #expect(away["memberCount"] == 2 && away["onlineCount"] == 1)
      live.backend.clocks.advance(by: Self.inTime)
      let mary = try await live.signIn("mary")
      try await live.say("heard", in: "room", as: "olga")
      try await live.heard(of: "room", by: mary, olga)
      #expect(await mary.texts() == ["heard"])
      #expect(await olga.heard("onMemberLeave") == [])
      #expect(try await live.backend.code("joinGroup", as: "mary", #""groupID":"room""#) == 10013)
    }
  }

  @Test(arguments: [1, 2]) func aUserWhoReturnsTooLateHasLeftAndReceivesNothing(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await prepare(live)
      let olga = try await live.signIn("olga")
      try await leave(try await live.signIn("mary"), "mary", live)
      live.backend.clocks.advance(by: Self.grace + 1)
      // The room talks while she signs in.
      let chat = (0..<15).map {
        #"{"jsonrpc":"2.0","method":"sendGroupTextMessage","params":{"groupID":"room","text":"\#($0)"}}"#
      }
      try await olga.send(chat)
      let mary = try await live.signIn("mary")
      try await olga.send(chat)
      #expect(try await mary.call("sendGroupTextMessage", #"{"groupID":"room","text":"x"}"#)["error"]["code"] == 10007)
      try await live.say("after", in: "room", as: "olga")
      try await live.heard(of: "g", by: mary)
      _ = try await mary.call("ping")
      #expect(await mary.events == [])
      try await live.heard(of: "room", by: olga)
      let left = await olga.heard("onMemberLeave")
      #expect(left.map { $0["memberList"].column("userID") } == [["mary"]])
      #expect(left.first?["memberCount"] == 1)

      #expect(try await mary.call("joinGroup", #"{"groupID":"room"}"#)["result"]["status"] == "Joined")
      try await live.say("again", in: "room", as: "olga")
      try await live.heard(of: "room", by: mary)
      #expect(await mary.texts() == ["again"])
    }
  }

  @Test func theOwnerNeverLeavesThatWay() async throws {
    try await LiveGateway.with { live in
      try await prepare(live)
      try await leave(try await live.signIn("olga"), "olga", live)
      live.backend.clocks.advance(by: 10 * Self.grace)
      let olga = try await live.signIn("olga")
      try await live.say("heard", in: "room", as: "mary")
      try await live.heard(of: "room", by: olga)
      #expect(await olga.texts() == ["heard"])
    }
  }

  @Test func aUserWithAnotherSessionIsOnline() async throws {
    try await LiveGateway.with { live in
      try await prepare(live)
      let other = try await live.signIn("mary", "platform=Web")
      try await (try await live.signIn("mary", "platform=Web")).leave()
      live.backend.clocks.advance(by: 10 * Self.grace)
      let mary = try await live.signIn("mary", "platform=Web")
      try await live.say("heard", in: "room", as: "olga")
      try await live.heard(of: "room", by: mary, other)
      for client in [mary, other] { #expect(await client.texts() == ["heard"]) }
    }
  }

  /// The grace starts anew with each absence.
  @Test func absencesDoNotAddUp() async throws {
    try await LiveGateway.with { live in
      try await prepare(live)
      for _ in 0..<4 {
        try await leave(try await live.signIn("mary"), "mary", live)
        live.backend.clocks.advance(by: Self.grace / 2)
      }
      let mary = try await live.signIn("mary")
      live.backend.clocks.advance(by: 10 * Self.grace)
      try await live.say("heard", in: "room", as: "olga")
      try await live.heard(of: "room", by: mary)
      #expect(await mary.texts() == ["heard"])
    }
  }

  /// The grace of a member who is added while offline starts then.
  @Test(arguments: [(inTime, true), (grace + 1, false)]) func aUserWhoIsAddedWhileOfflineHasTheWholeGrace(
    away: Int64, isMember: Bool
  )
    async throws
  {
    try await LiveGateway.with { live in
      try await live.backend.create("room", "AVChatRoom")
      try await live.backend.create("g", "Public", memberList("mary"))
      try await leave(try await live.signIn("mary"), "mary", live)
      live.backend.clocks.advance(by: 2 * Self.grace)
      _ = try await live.backend.result("joinGroup", as: "mary", #""groupID":"room""#)
      live.backend.clocks.advance(by: away)
      let mary = try await live.signIn("mary")
      try await live.say("heard", in: "room", as: "olga")
      try await live.heard(of: "g", by: mary)
      if isMember { try await live.heard(of: "room", by: mary) }
      _ = try await mary.call("ping")
      #expect(await mary.texts() == (isMember ? ["heard"] : []))
      #expect(try await info(live)["memberCount"] == (isMember ? 2 : 1))
    }
  }

  // MARK: "It also spans a server restart"

  @Test(arguments: [(inTime, true), (grace + 1, false)]) func theGraceSpansARestart(away: Int64, isMember: Bool) async throws {
    let world = World()
    try await LiveGateway.with(world: world) { live in
      try await prepare(live)
      let (olga, mary) = (try await live.signIn("olga"), try await live.signIn("mary"))
      try await leave(mary, "mary", live)
      try await leave(olga, "olga", live)
    }
    world.clocks.advance(by: away)
    try await LiveGateway.with(world: world) { live in
      let mary = try await live.signIn("mary")
      try await live.say("first", in: "room", as: "olga")
      try await live.heard(of: "g", by: mary)
      if isMember { try await live.heard(of: "room", by: mary) }
      _ = try await mary.call("ping")
      #expect(await mary.texts() == (isMember ? ["first"] : []))
      #expect(try await info(live)["memberCount"] == (isMember ? 2 : 1))
    }
  }
}
