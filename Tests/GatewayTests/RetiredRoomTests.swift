import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// A live room that nobody uses leaves memory with its members signed in, and nothing else changes
/// for them.
@Suite(.timeLimit(.minutes(10))) struct RetiredRoomTests {
  private static let grace: Int64 = 300_000

  /// A room of olga that mary is in, with both signed in.
  private func withRoom(
    world: World = World(), log: RecordingLog = RecordingLog(),
    _ body: (LiveGateway, _ olga: Client, _ mary: Client) async throws -> Void
  ) async throws {
    try await LiveGateway.with(world: world, log: log) { live in
      try await live.backend.create("room", "AVChatRoom")
      let (olga, mary) = (try await live.signIn("olga"), try await live.signIn("mary"))
      _ = try await mary.call("joinGroup", #"{"groupID":"room"}"#)
      try await live.say("first", in: "room", as: "olga")
      try await live.heard(of: "room", by: olga, mary)
      #expect(await mary.texts() == ["first"])
      _ = await (olga.texts(), olga.heard("onMemberEnter"), mary.heard("onMemberEnter"))
      try await body(live, olga, mary)
    }
  }

  /// Lets the groups go, in memory no more when this returns.
  private func retire(_ live: LiveGateway) async throws {
    // What a group has still to do keeps it in memory.
    for _ in 0..<3 { await live.advance(by: 1000) }
    try await waitUntil("no group is in memory") {
      live.services.registry.retireGroups(unusedFor: .zero)
      for loop in live.transport.loops { await live.on(loop) {} }
      return live.services.registry.residentCount == 0
    }
  }

  /// Fires all absence timers, and returns when the room was notified.
  private func endGraces(_ live: LiveGateway) async throws {
    live.services.absenceTimers.fireDue(at: live.backend.clocks.monotonic + Self.grace + 60_000)
    try await waitUntil("the room is in memory") { live.services.registry.resident("room") != nil }
  }

  private func leave(_ client: Client, _ user: UserID, _ live: LiveGateway) async throws {
    try await client.leave()
    try await live.gone(user)
  }

  private func info(_ live: LiveGateway) async throws -> JSON {
    try await live.backend.result("getGroupsInfo", #""groupIDList":["room"]"#)["resultList"][0]["info"]
  }

  @Test func messagesAndPresenceWorkWhenItIsLoadedAgain() async throws {
    try await withRoom { live, olga, mary in
      for round in 1...3 {
        try await retire(live)
        try await live.say("\(round)", in: "room", as: "olga")
        try await live.heard(of: "room", by: olga, mary)
        #expect(await mary.texts() == ["\(round)"])
        let info = try await info(live)
        #expect(info["memberCount"] == 2 && info["onlineCount"] == 2)
        #expect(await olga.heard("onMemberLeave") == [])
      }
    }
  }

  @Test func aUserWhoIsOfflineTooLongHasLeftAndTheOthersAreTold() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      live.backend.clocks.advance(by: Self.grace + 1)
      try await endGraces(live)
      let left = try await olga.event("onMemberLeave")
      #expect(left["memberList"].column("userID") == ["mary"] && left["memberCount"] == 1)
      #expect(try await info(live)["memberCount"] == 1)
    }
  }

  @Test func aStoreThatFailedIsAskedAgainTenSecondsLater() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      // First, because a tick may notice the end of the grace from now on.
      live.store.release(failing: StoreError(.unavailable, "disk gone"))
      live.backend.clocks.advance(by: Self.grace + 1)
      let (timers, end) = (live.services.absenceTimers, live.backend.clocks.monotonic + Self.grace + 60_000)
      // An absence that ends later does not hold up the retries.
      timers.start(for: "oscar", since: live.backend.clocks.wall, at: end)
      for attempt in 0..<3 {
        timers.fireDue(at: end + Int64(attempt) * 10_000)
        try await waitUntil("both absences are timed again") { timers.count == 2 }
      }
      #expect(live.services.registry.resident("room") == nil)
      live.store.release()
      timers.fireDue(at: end + 29_999)
      #expect(timers.count == 2)
      timers.fireDue(at: end + 30_000)
      #expect(timers.count == 1)
      let left = try await olga.event("onMemberLeave")
      #expect(left["memberList"].column("userID") == ["mary"] && left["memberCount"] == 1)
    }
  }

  @Test func anAbsenceThatBeganSinceIsNotReplacedByTheOneThatFailed() async throws {
    let log = RecordingLog()
    try await withRoom(log: log) { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      let (timers, end) = (live.services.absenceTimers, live.backend.clocks.monotonic + Self.grace + 60_000)
      live.store.hold()
      timers.fireDue(at: end)
      try await live.store.arrival()
      timers.start(for: "mary", since: live.backend.clocks.wall, at: end)
      live.store.release(failing: StoreError(.unavailable, "disk gone"))
      try await waitUntil("the failure is logged") { log.lines.contains { $0.message == "store failed" } }
      timers.fireDue(at: end + Self.grace)
      #expect(timers.count == 1)
      timers.fireDue(at: end + Self.grace + 1)
      #expect(timers.count == 0)
    }
  }

  @Test func aUserWhoReturnsInTimeHasNotLeft() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      live.backend.clocks.advance(by: Self.grace - 60_000)
      let back = try await live.signIn("mary")
      live.backend.clocks.advance(by: 70_000)
      live.services.absenceTimers.fireDue(at: live.backend.clocks.monotonic + Self.grace + 60_000)
      try await live.say("heard", in: "room", as: "olga")
      try await live.heard(of: "room", by: back, olga)
      #expect(await back.texts() == ["heard"])
      #expect(await olga.heard("onMemberLeave") == [])
      #expect(try await info(live)["memberCount"] == 2)
    }
  }

  @Test func anAbsenceCountsFromWhenTheUserWasHereLast() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      live.backend.clocks.advance(by: Self.grace - 60_000)
      try await leave(try await live.signIn("mary"), "mary", live)
      live.backend.clocks.advance(by: 70_000)
      #expect(live.services.registry.resident("room") == nil)
      try await endGraces(live)
      #expect(try await info(live)["memberCount"] == 2, "away for 70 seconds")
      #expect(try await olga.call("getGroupMemberList", #"{"groupID":"room"}"#)["result"]["memberList"].elements.count == 2)
      // The room is in memory now, and sees to it itself.
      live.backend.clocks.advance(by: Self.grace)
      let back = try await live.signIn("mary")
      #expect(try await back.call("sendGroupTextMessage", #"{"groupID":"room","text":"x"}"#)["error"]["code"] == 10007)
      #expect(try await olga.event("onMemberLeave")["memberCount"] == 1)
    }
  }

  @Test func aUserWhoComesAndGoesWhileItIsNotInMemoryIsNotForgotten() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(mary, "mary", live)
      try await leave(try await live.signIn("mary"), "mary", live)
      live.backend.clocks.advance(by: Self.grace + 1)
      try await endGraces(live)
      #expect(try await olga.event("onMemberLeave")["memberList"].column("userID") == ["mary"])
    }
  }

  @Test func theOwnerStaysAwayAsLongAsWanted() async throws {
    try await withRoom { live, olga, mary in
      try await retire(live)
      try await leave(olga, "olga", live)
      live.backend.clocks.advance(by: 10 * Self.grace)
      try await endGraces(live)
      #expect(try await info(live)["memberCount"] == 2)
      let back = try await live.signIn("olga")
      try await live.say("heard", in: "room", as: "mary")
      try await live.heard(of: "room", by: back, mary)
      #expect(await back.texts() == ["heard"])
    }
  }

  @Test func aGroupThatKeepsHistoryIsHeardAgainAsWell() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Public", memberList("mary"))
      let mary = try await live.signIn("mary")
      for round in 1...2 {
        try await retire(live)
        try await live.say("\(round)", in: "g", as: "olga")
        try await live.heard(of: "g", by: mary)
        #expect(await mary.texts() == ["\(round)"])
      }
    }
  }
}
