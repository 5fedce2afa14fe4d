import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// getGroupMemberList with `updatedSince`: who joined or changed, and who has left (Protocol.md,
/// "Member lists").
@Suite struct MemberChangesTests {
  private struct Changes {
    let names: [String]
    let left: [String]
    let isComplete: Bool?
    let next: Int64
    /// The names of the answer's members.
    let members: [String]
  }

  private func changes(
    _ scene: Scene, since: WallInstant, _ more: String = "", by user: String = "olga"
  ) throws -> Changes {
    let params = #"{"updatedSince":\#(since.milliseconds)\#(more)}"#
    let result = try scene.ask("getGroupMemberList", params, by: user).result
    return Changes(
      names: result["memberList"].elements.compactMap { $0["userID"].string },
      left: result["leftUserIDList"].elements.compactMap(\.string), isComplete: result["isComplete"].bool,
      next: try #require(result["nextSeq"].integer), members: result.names)
  }

  /// A group to which nothing has happened for a second, and the instant from which on something may.
  private func quiet(
    _ type: GroupType = .public, _ policy: (inout GroupPolicy) -> Void = { _ in }
  ) throws -> (scene: Scene, since: WallInstant) {
    let scene = try Scene(type) { rules in
      if type != .work { rules.joinMode = .any }
      rules.inviteMode = .any
      policy(&rules)
    }
    scene.clocks.advance(by: 1000)
    return (scene, scene.clocks.wall)
  }

  // MARK: Members

  @Test(arguments: [GroupType.work, .public, .meeting])
  func withoutAChangeThereIsNobody(type: GroupType) throws {
    let (scene, since) = try quiet(type)
    for user in ["olga", "mary", "administrator"] {
      let found = try changes(scene, since: since, by: user)
      #expect(found.names.isEmpty && found.left.isEmpty && found.isComplete == true && found.next == 0)
    }
    #expect(try changes(scene, since: 0).names == ["olga", "adam", "mary", "carl"])
  }

  private static let changesOfMary: [(method: String, params: String, by: String)] = [
    ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"Mary"}"#, "mary"),
    ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"Mary"}"#, "adam"),
    ("setGroupMemberInfo", #"{"userID":"mary","customInfo":{"k":"v"}}"#, "mary"),
    ("setGroupMemberInfo", #"{"userID":"mary","muteUntil":9007199254740992}"#, "adam"),
    ("setGroupMemberInfo", #"{"userID":"mary","role":"100"}"#, "olga"),
    ("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, "olga"),
    ("setGroupMemberRole", #"{"userIDList":["mary"],"role":"100"}"#, "olga"),
    ("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, "adam"),
  ]

  @Test(arguments: 0..<changesOfMary.count)
  func aMemberWhoChangesIsListed(index: Int) throws {
    let change = Self.changesOfMary[index]
    let (scene, since) = try quiet()
    #expect(try scene.ask(change.method, change.params, by: change.by).code == 0)
    #expect(try changes(scene, since: since).names == ["mary"], "at or after it")
    #expect(try changes(scene, since: since + 1).names.isEmpty)
    #expect(try changes(scene, since: since).left.isEmpty)
  }

  private static let otherRequests: [(method: String, params: String, by: String)] = [
    ("sendGroupTextMessage", #"{"text":"x"}"#, "mary"), ("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, "mary"),
    ("setUnreadCount", #"{"userID":"mary","unreadCount":3}"#, "administrator"),
    ("setGroupInfo", #"{"groupName":"other","allMuted":true}"#, "olga"), ("muteGroup", #"{"mode":"All"}"#, "olga"),
    // What they have already.
    ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"","customInfo":{"k":null}}"#, "mary"),
    ("setGroupMemberRole", #"{"userID":"mary","role":"Member"}"#, "olga"),
    ("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, "adam"),
  ]

  @Test(arguments: 0..<otherRequests.count)
  func nothingElseIsAChangeOfAMember(index: Int) throws {
    let request = Self.otherRequests[index]
    let (scene, since) = try quiet()
    #expect(try scene.ask(request.method, request.params, by: request.by).code == 0)
    #expect(try changes(scene, since: since).names.isEmpty)
  }

  @Test func theEndOfAMuteByItselfIsNoChange() throws {
    let (scene, since) = try quiet()
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "adam")
    scene.clocks.advance(by: 61_000)
    #expect(try changes(scene, since: since + 1).names.isEmpty)
    #expect(try changes(scene, since: since).names == ["mary"])
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "adam")
    scene.clocks.advance(by: 1000)
    let ended = scene.clocks.wall
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, by: "adam")
    #expect(try changes(scene, since: ended).names == ["mary"], "somebody has ended it")
  }

  @Test func whoeverJoinsIsListed() throws {
    let (scene, since) = try quiet()
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("inviteUserToGroup", Scene.users(["petra"]), by: "mary")
    // However long ago it was in the other system.
    try scene.ask("importGroupMembers", #"{"memberList":[{"userID":"quinn","joinTime":5}]}"#, by: "administrator")
    #expect(Set(try changes(scene, since: since).names) == ["oscar", "petra", "quinn"])
    #expect(try changes(scene, since: since + 1).names.isEmpty)
  }

  @Test func bothOwnersOfATransferAreListed() throws {
    let (scene, since) = try quiet()
    try scene.ask("transferGroupOwner", #"{"userID":"mary"}"#, by: "olga")
    #expect(try changes(scene, since: since).names == ["mary", "olga"])
  }

  @Test func whoInheritsAGroupIsListed() throws {
    let (scene, since) = try quiet { $0.ownerQuitMode = .transfer }
    try scene.ask("quitGroup", by: "olga")
    let found = try changes(scene, since: since, by: "mary")
    #expect(found.names == ["adam"] && found.left == ["olga"])
  }

  @Test func aFilterTakesTheChangesOfItsRoles() throws {
    let (scene, since) = try quiet()
    for name in ["adam", "mary"] {
      try scene.ask("setGroupMemberInfo", #"{"userID":"\#(name)","nameCard":"new"}"#, by: name)
    }
    try scene.ask("kickGroupMember", Scene.users(["carl"]), by: "adam")
    for (filter, names) in [("All", ["adam", "mary"]), ("Owner", []), ("Admin", ["adam"]), ("Common", ["mary"])] {
      let found = try changes(scene, since: since, #","filter":"\#(filter)""#)
      #expect(found.names == names && found.left == ["carl"], "\(filter)")
    }
  }

  // MARK: Departures

  @Test(arguments: [GroupType.work, .public, .meeting], [true, false])
  func whoeverHasLeftIsNamedTheLatestFirst(type: GroupType, notification: Bool) throws {
    let (scene, since) = try quiet(type) { $0.memberChangeNotification = notification }
    try scene.ask("quitGroup", by: "carl")
    scene.clocks.advance(by: 1000)
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":60"#), by: "olga")
    scene.clocks.advance(by: 1000)
    try scene.ask("quitGroup", by: "adam")
    #expect(try changes(scene, since: since).left == ["adam", "mary", "carl"], "at or after it")
    #expect(try changes(scene, since: since + 1).left == ["adam", "mary"])
    #expect(try changes(scene, since: since + 2001).left.isEmpty)
    #expect(try changes(scene, since: since).isComplete == true)
  }

  @Test func whoeverIsBackIsAMemberAndHasNotLeft() throws {
    let (scene, since) = try quiet()
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.advance(by: 1000)
    try scene.ask("joinGroup", by: "mary")
    let found = try changes(scene, since: since)
    #expect(found.names == ["mary"] && found.left.isEmpty && found.isComplete == true)
    #expect(try changes(scene, since: since + 1001).names.isEmpty)
  }

  @Test func whoeverCameAndWentHasLeft() throws {
    let (scene, since) = try quiet()
    try scene.ask("joinGroup", by: "oscar")
    scene.clocks.advance(by: 1000)
    try scene.ask("quitGroup", by: "oscar")
    let found = try changes(scene, since: since)
    #expect(found.names.isEmpty && found.left == ["oscar"])
  }

  @Test func onlyTheFirstPageOfChangesTellsWhoHasLeft() throws {
    let (scene, since) = try quiet()
    for name in ["olga", "adam", "mary"] {
      try scene.ask("setGroupMemberInfo", #"{"userID":"\#(name)","nameCard":"new"}"#, by: name)
    }
    try scene.ask("quitGroup", by: "carl")
    let first = try changes(scene, since: since, #","count":2"#)
    #expect(first.names == ["olga", "adam"] && first.left == ["carl"] && first.isComplete == true)
    #expect(first.members == ["isComplete", "leftUserIDList", "memberList", "nextSeq"])
    let second = try changes(scene, since: since, #","count":2,"nextSeq":\#(first.next)"#)
    #expect(second.names == ["mary"] && second.next == 0 && second.members == ["memberList", "nextSeq"])
    // Neither does a list of all, nor of some.
    #expect(try scene.ask("getGroupMemberList", by: "olga").result.names == ["memberList", "nextSeq"])
    #expect(try scene.ask("getGroupMutedMembers", by: "olga").result.names == ["memberList", "nextSeq"])
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func pagesNameEachChangedMemberOnceWhileOthersComeAndGo(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (scene, _) = try quiet()
    for number in 0..<30 { try scene.ask("joinGroup", by: "u\(number)") }
    scene.clocks.advance(by: 1000)
    let since = scene.clocks.wall
    let changed = (0..<30).filter { _ in Bool.random(using: &random) }.map { "u\($0)" }
    for name in changed { try scene.ask("setGroupMemberInfo", #"{"userID":"\#(name)","nameCard":"new"}"#, by: name) }
    let count = Int.random(in: 1...5, using: &random)
    var listed: [String] = []
    var next: Int64 = 0
    repeat {
      let page = try changes(scene, since: since, #","count":\#(count),"nextSeq":\#(next)"#)
      listed += page.names
      next = page.next
      if Bool.random(using: &random) { try scene.ask("joinGroup", by: "new\(listed.count)-\(next)") }
      if Bool.random(using: &random), let last = page.names.last { try scene.ask("quitGroup", by: last) }
    } while next != 0
    #expect(Set(listed).count == listed.count, "seed \(seed): \(listed)")
    #expect(Set(changed).isSubset(of: listed), "seed \(seed)")
  }

  /// Brings users in and removes them, 50 at a time.
  private func depart(_ count: Int, of scene: Scene) throws {
    let names = (0..<count).map { "u\($0)" }
    for start in stride(from: 0, to: count, by: 50) {
      let some = Array(names[start..<min(count, start + 50)])
      try scene.ask("importGroupMembers", "{\(Scene.memberList(some))}", by: "administrator")
      #expect(try scene.ask("kickGroupMember", Scene.users(some), by: "olga").code == 0)
    }
  }

  @Test(arguments: [(999, true), (1000, true), (1001, false)])
  func aThousandDeparturesAreNamed(count: Int, isComplete: Bool) throws {
    let (scene, since) = try quiet(.meeting)
    try depart(count, of: scene)
    let found = try changes(scene, since: since)
    #expect(found.left.count == min(count, 1000) && Set(found.left).count == found.left.count)
    #expect(found.isComplete == isComplete)
  }

  @Test func departuresAreRememberedForThirtyDays() throws {
    let (scene, since) = try quiet()
    try scene.ask("quitGroup", by: "mary")
    let days: Int64 = 30 * 86_400_000
    scene.clocks.advance(by: days - 1)
    let found = try changes(scene, since: since)
    #expect(found.left == ["mary"] && found.isComplete == true)
    scene.clocks.advance(by: 1)
    #expect(try changes(scene, since: since).isComplete == false)
    #expect(try changes(scene, since: since + 1).isComplete == true)
  }

  /// A group from before departures were kept knows of those since it was loaded.
  @Test func whatWasBeforeIsNotWhole() throws {
    let (scene, since) = try quiet()
    #expect(try changes(scene, since: since - 1000).isComplete == true, "since the group was loaded")
    #expect(try changes(scene, since: since - 1001).isComplete == false)
  }

  @Test func departuresSurviveARestart() async throws {
    let scene = Scene()
    try scene.ask(
      "createGroup", #"{"groupType":"Meeting","groupName":"n",\#(Scene.memberList(["mary", "carl"]))}"#, by: "olga")
    scene.clocks.advance(by: 1000)
    let since = scene.clocks.wall
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.advance(by: 1000)
    try await scene.reload()
    let found = try changes(scene, since: since)
    #expect(found.left == ["mary"] && found.names.isEmpty && found.isComplete == true)
  }

  /// The records of 10,000 bans, which are kept rather than that of a user who quits. A ban that is
  /// lifted makes them fewer, so the store's records alone do not tell that one is missing.
  @Test func aDepartureWhoseRecordGaveWayIsMissingAfterARestartToo() async throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"Meeting","groupName":"n",\#(Scene.memberList(["mary"]))}"#, by: "olga")
    let banned = (0..<FormerMembers.maxCount).map { number in
      FormerMember(
        userID: UserID(stringLiteral: "u\(number)"), bannedUntil: scene.clocks.wall + 86_400_000, leftTime: scene.clocks.wall)
    }
    _ = try scene.commit(banned.map { .putFormer($0, in: "g") })
    scene.clocks.advance(by: 1000)
    try await scene.reload()
    let since = scene.clocks.wall
    #expect(try changes(scene, since: since).isComplete == true)
    let quit = try scene.ask("quitGroup", by: "mary")
    #expect(quit.decision.changes.contains(.forgetFormer("mary", in: "g")))
    #expect(try scene.ask("unbanGroupMember", Scene.users(["u0"]), by: "olga").rows == ["u0 Success"])
    scene.clocks.advance(by: 1000)
    for _ in 0..<2 {
      let found = try changes(scene, since: since)
      #expect(found.left.isEmpty && found.isComplete == false, "mary has left")
      #expect(try changes(scene, since: since + 1).isComplete == true)
      try await scene.reload()
    }
  }

  /// Departures that are moved back with the clock lie before the instants that clients have noted.
  @Test func aClockThatIsSetBackMakesTheListIncomplete() async throws {
    let (scene, _) = try quiet()
    let hour: Int64 = 3_600_000
    scene.clocks.advance(by: 3 * hour)
    let noted = scene.clocks.wall
    scene.clocks.advance(by: 1000)
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.moveWall(by: -2 * hour)
    #expect(try changes(scene, since: noted).isComplete == false, "an instant to come")
    try await scene.reload()
    #expect(try changes(scene, since: noted).isComplete == false)
    scene.clocks.advance(by: 3 * hour)
    for _ in 0..<2 {
      #expect(try changes(scene, since: noted).isComplete == false, "it does not name mary")
      #expect(try changes(scene, since: scene.clocks.wall).isComplete == true)
      try await scene.reload()
    }
  }

  // MARK: Refusals

  @Test func aLiveRoomListsNoChanges() throws {
    for (user, code) in [("olga", 10004), ("mary", 10004), ("administrator", 10004), ("oscar", 10007)] {
      let found = try Scene(.avChatRoom).ask("getGroupMemberList", #"{"updatedSince":0}"#, by: user)
      #expect(found.code == code, "\(user)")
      if code == 10004 { #expect(found.field == "updatedSince") }
    }
    #expect(try Scene(.bChatRoom).ask("getGroupMemberList", #"{"updatedSince":0}"#, by: "olga").code == 10007)
    let hidden = try Scene(.avChatRoom) { $0.isMemberVisible = false }
    #expect(try hidden.ask("getGroupMemberList", #"{"updatedSince":0}"#, by: "mary").code == 10007, "rights come first")
  }

  @Test func onlyThoseWhoSeeTheMembersSeeTheirChanges() throws {
    let scene = try Scene(.public) { $0.isMemberVisible = false }
    for (user, code) in [("olga", 0), ("adam", 0), ("mary", 10007), ("administrator", 0), ("oscar", 10007)] {
      #expect(try scene.ask("getGroupMemberList", #"{"updatedSince":0}"#, by: user).code == code, "\(user)")
    }
  }
}
