import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Coalesced join and leave notices.
@Suite struct NoticeTests {
  private func room(
    _ limit: Int = 40, _ type: GroupType = .avChatRoom, policy: (inout GroupPolicy) -> Void = { _ in }
  ) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [type: limit]
    return try Scene(type, rules: GroupRules(limits: limits), policy: policy)
  }

  private func named(_ event: JSON) -> [String] { event["memberList"].elements.compactMap { $0["userID"].string } }

  private func join(_ scene: Scene, _ names: String...) throws {
    for name in names {
      scene.signIn(name)
      try scene.ask("joinGroup", by: name)
    }
  }

  @Test func theJoinerHearsOnceWithAllSessionsWhenTheNoticeGoesOutAtOnce() throws {
    let scene = try room()
    scene.signIn("oscar", as: "oscar/2")
    let joined = try scene.ask("joinGroup", by: "oscar")
    for session in ["oscar", "oscar/2", "olga"] {
      let event = try joined.params("onMemberEnter", to: session)
      #expect(named(event) == ["oscar"] && event["memberCount"] == 5)
    }
  }

  @Test func theJoinerHearsAtOnceWithAllSessionsWhenTheNoticeWaits() throws {
    let scene = try room()
    try join(scene, "u1")
    scene.signIn("oscar", as: "oscar/2")
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.heard == ["onMemberEnter": ["oscar", "oscar/2"]])
    #expect(try joined.params("onMemberEnter", to: "oscar")["memberCount"] == 6)
    #expect(try joined.params("onMemberEnter", to: "oscar")["memberList"] == [Person.oscar])
  }

  @Test func aSecondOfQuietIsAWholeOne() throws {
    for (gap, everybody) in [(999, false), (1000, true)] as [(Int64, Bool)] {
      let scene = try room()
      try join(scene, "u1")
      scene.clocks.advance(by: gap)
      #expect(try scene.ask("joinGroup", by: "oscar").receivers(of: "onMemberEnter").contains("olga") == everybody)
    }
  }

  @Test func noticesAreASecondApartHoweverManyComeInBetween() throws {
    let scene = try room()
    var instants: [Int64] = []
    let start = scene.clocks.wall
    for number in 0..<50 {
      let woken = try scene.wake()
      scene.signIn("u\(number)")
      let joined = try scene.ask("joinGroup", by: "u\(number)")
      for outcome in [woken, joined] where outcome.names("olga").contains("onMemberEnter") {
        instants.append(scene.clocks.wall.milliseconds(since: start))
      }
      scene.clocks.advance(by: 100)
    }
    #expect(instants == [0, 1000, 2000, 3000, 4000])
  }

  @Test func theMemberCountIsOfTheInstantOfSending() throws {
    let scene = try room()
    try join(scene, "u1", "u2")
    try scene.ask("quitGroup", by: "carl")
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.names("olga") == ["onMemberEnter", "onMemberLeave"])
    let (entered, left) = (try woken.params("onMemberEnter", to: "olga"), try woken.params("onMemberLeave", to: "olga"))
    #expect(named(entered) == ["u2"] && entered["memberCount"] == 4)
    #expect(named(left) == ["mary"] && left["memberCount"] == 4)
    #expect(left.names == ["groupID", "memberCount", "memberList", "opTime", "platform"])
  }

  @Test(arguments: [Platform.web, .mac]) func aNoticeOfSeveralHasTheirPlatformWhereItIsTheSame(other: Platform) throws {
    let scene = try room()
    try join(scene, "u1", "u2")
    scene.signIn("u3")
    let caller = Caller.user("u3", platform: other, session: scene.caller("u3").session)
    let joined = try scene.ask(try groupRequest("joinGroup", by: caller), by: caller)
    #expect(try joined.params("onMemberEnter", to: "u3")["platform"].string == other.rawValue)
    scene.clocks.advance(by: 1000)
    let entered = try scene.wake().params("onMemberEnter", to: "olga")
    #expect(named(entered) == ["u2", "u3"] && entered["platform"] == (other == .web ? "Web" : .null))
    try scene.ask("quitGroup", by: "u1")
    for caller in [caller, scene.caller("u2")] { try scene.ask(try groupRequest("quitGroup", by: caller), by: caller) }
    scene.clocks.advance(by: 1000)
    let left = try scene.wake().params("onMemberLeave", to: "olga")
    #expect(named(left) == ["u3", "u2"] && left["platform"] == (other == .web ? "Web" : .null))
  }

  @Test func aLeaveNoticeNamesTheNewestFifty() throws {
    let scene = try room()
    let users = (0..<70).map { "u\($0)" }
    for user in users { try join(scene, user) }
    scene.clocks.advance(by: 1000)
    try scene.wake()
    for user in users { try scene.ask("quitGroup", by: user) }
    scene.clocks.advance(by: 1000)
    let left = try scene.wake().params("onMemberLeave", to: "olga")
    #expect(named(left) == Array(users.suffix(50)) && left["memberCount"] == 4)
  }

  @Test func eachNoticeOccupiesOneSlot() throws {
    let scene = try room(3)
    try join(scene, "u1")
    try scene.ask("quitGroup", by: "carl")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["status"] == "Delivered")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["status"] == "Queued")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().names("olga") == ["onRecvNewMessage"])
  }

  @Test func theJoinersOwnEventOccupiesNoSlot() throws {
    let scene = try room(2)
    try join(scene, "u1", "u2", "u3", "u4")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["status"] == "Delivered")
  }

  @Test func theSecondOfTwoDueNoticesWaitsForASlot() throws {
    let scene = try room(1)
    try join(scene, "u1")
    scene.clocks.advance(by: 500)
    let left = try scene.ask("quitGroup", by: "carl")
    #expect(left.receivers(of: "onMemberLeave").isEmpty)
    try join(scene, "u2")
    scene.clocks.advance(by: 500)
    #expect(try scene.wake().names("olga") == ["onMemberEnter"])
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 501, "until then the other could have had a place")
    scene.clocks.advance(by: 501)
    #expect(try scene.wake().events.isEmpty && scene.state?.nextWake == nil)
  }

  @Test func theNoticeAfterAnExpiredOneIsSentAtOnce() throws {
    let scene = try room(1)
    for _ in 0..<2 { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
    try join(scene, "u1")
    scene.clocks.advance(by: 1000)
    try scene.wake()
    scene.clocks.advance(by: 1)
    try scene.wake()
    scene.clocks.advance(by: 999)
    scene.signIn("u2")
    let joined = try scene.ask("joinGroup", by: "u2")
    #expect(try named(joined.params("onMemberEnter", to: "olga")) == ["u2"], "u1 is only counted")
    #expect(try joined.params("onMemberEnter", to: "olga")["memberCount"] == 6)
  }

  @Test func acceptedApplicantsAreInTheNotice() throws {
    let scene = try room { $0.joinMode = .auth }
    let applications = try ["oscar", "petra"].map { name in
      scene.signIn(name)
      return try scene.ask("joinGroup", by: name).application()
    }
    let first = try scene.decide(applications[0], true, by: "olga")
    #expect(first.receivers(of: "onMemberEnter") == ["adam", "carl", "mary", "olga", "oscar"])
    #expect(try scene.decide(applications[1], true, by: "olga").receivers(of: "onMemberEnter") == ["petra"])
    scene.clocks.advance(by: 1000)
    #expect(try named(scene.wake().params("onMemberEnter", to: "olga")) == ["petra"])
  }

  @Test func membersWhoseGraceHasEndedAreInTheNotice() throws {
    let scene = try room()
    for name in ["mary", "carl"] {
      scene.signOut(name)
      scene.clocks.advance(by: 100)
    }
    scene.clocks.advance(by: 300_000 - 200)
    #expect(try named(scene.wake().params("onMemberLeave", to: "olga")) == ["mary"])
    scene.clocks.advance(by: 100)
    #expect(try scene.wake().events.isEmpty)
    scene.clocks.advance(by: 900)
    #expect(try named(scene.wake().params("onMemberLeave", to: "olga")) == ["carl"])
  }

  /// "limits.avChatRoom.messagesPerSecond: 0 lifts the limit for messages alone."
  @Test func noticesOfARoomWithoutALimitOfMessagesAreMerged() throws {
    let scene = try room(0)
    var told: [Int] = []
    for number in 0..<3000 {
      if number % 1000 == 999 { scene.clocks.advance(by: 1000) }
      let woken = try scene.wake()
      scene.signIn("u\(number)")
      let joined = try scene.ask("joinGroup", by: "u\(number)")
      #expect(try joined.params("onMemberEnter", to: "u\(number)")["memberList"].elements.last?["userID"].string == "u\(number)")
      told += [woken, joined].flatMap { $0.events["olga"] ?? [] }.map { $0["params"]["memberList"].elements.count }
      scene.signOut("u\(number)")
    }
    #expect(told == [1, 50, 50, 50], "of the first joiner at once, and then each second of the newest")
    try scene.ask("quitGroup", by: "carl")
    for name in ["mary", "adam"] { try scene.ask("quitGroup", by: name) }
    scene.clocks.advance(by: 1000)
    #expect(try named(scene.wake().params("onMemberLeave", to: "olga")) == ["mary", "adam"])
    #expect(scene.state?.nextWake.map { $0 > scene.clocks.monotonic } ?? true, "nothing is due any more")
  }

  /// Nothing keeps a notice from its place, so none is dropped.
  @Test func aLateNoticeOfARoomWithoutALimitIsSent() throws {
    let scene = try room(0)
    try join(scene, "u1", "u2")
    scene.clocks.advance(by: 5000)
    #expect(try named(scene.wake().params("onMemberEnter", to: "olga")) == ["u2"])
  }

  @Test(arguments: [(GroupType.public, 1), (.meeting, 1)])
  func otherGroupsCoalesceNothing(type: GroupType, limit: Int) throws {
    let scene = try room(limit, type) { policy in
      policy.joinMode = .any
      policy.memberChangeNotification = true
    }
    for number in 0..<5 {
      scene.signIn("u\(number)")
      #expect(try named(scene.ask("joinGroup", by: "u\(number)").params("onMemberEnter", to: "olga")) == ["u\(number)"])
    }
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 0)
  }

  @Test func afterAClockThatWasSetBackASecondOfQuietIsASecond() throws {
    let scene = try room()
    try join(scene, "u1")
    scene.clocks.moveWall(by: -3_600_000)
    try scene.wake()
    scene.clocks.advance(by: 1000)
    #expect(try scene.ask("joinGroup", by: "oscar").receivers(of: "onMemberEnter").contains("olga"))
  }

  @Test func aClockThatWasSetBackKeepsNoNoticeWaiting() throws {
    let scene = try room()
    try join(scene, "u1", "u2")
    scene.clocks.moveWall(by: -3_600_000)
    try scene.wake()
    scene.clocks.advance(by: 1000)
    #expect(try named(scene.wake().params("onMemberEnter", to: "olga")) == ["u2"])
    #expect(scene.state?.nextWake == nil)
  }
}
