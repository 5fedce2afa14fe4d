import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// A clock that is set back prolongs nothing and shortens nothing: no limit of calls, no wait, no
/// memory, no grace.
@Suite struct ClockSetBackTests {
  private static let hour: Int64 = 3_600_000

  /// A Work group with attributes that has a message, so that its history waits for the clock to
  /// catch up.
  private func work() throws -> Scene {
    let scene = try Scene(.work, rules: GroupRules(permissions: GroupPermissions(attributeTypes: [.work])))
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.clocks.moveWall(by: -ClockSetBackTests.hour)
    return scene
  }

  private func write(_ value: Int, _ scene: Scene, by name: String = "mary") throws -> Scene.Outcome {
    try scene.ask("setGroupAttributes", #"{"attributes":{"k":"\#(value)"}}"#, by: name)
  }

  @Test(arguments: [("mary", 10, 5000), ("administrator", 5, 1000)] as [(String, Int, Int64)])
  func attributeWritesKeepTheirRate(name: String, limit: Int, window: Int64) throws {
    let scene = try work()
    for number in 1...limit { #expect(try write(number, scene, by: name).code == 0) }
    scene.clocks.advance(by: window - 1)
    #expect(try write(0, scene, by: name).retryAfterMs == 1)
    scene.clocks.advance(by: 1)
    #expect(try write(0, scene, by: name).code == 0)
  }

  @Test func attributeReadsKeepTheirRate() throws {
    let scene = try work()
    for _ in 0..<20 { #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0) }
    scene.clocks.advance(by: 4999)
    #expect(try scene.ask("getGroupAttributes", by: "mary").retryAfterMs == 1)
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0)
  }

  @Test func attributeEventsComeWhenDue() throws {
    let scene = try work()
    #expect(try write(1, scene).receivers(of: "onGroupAttributeChanged").contains("olga"))
    #expect(try write(2, scene).events.isEmpty)
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 50)
    scene.clocks.moveWall(by: -ClockSetBackTests.hour)
    #expect(try scene.wake().events.isEmpty && scene.state?.nextWake == scene.clocks.monotonic + 50)
    scene.clocks.advance(by: 50)
    #expect(try scene.wake().receivers(of: "onGroupAttributeChanged").contains("olga"))
    #expect(scene.state?.nextWake == nil)
  }

  @Test(arguments: [GroupType.public, .avChatRoom])
  func aClientMsgIDIsRememberedForFiveMinutes(type: GroupType) throws {
    let scene = try Scene(type)
    let marked = #"{"text":"x","clientMsgID":"c"}"#
    func send() throws -> JSON { try scene.ask("sendGroupTextMessage", marked, by: "mary").result["msgID"] }
    let first = try send()
    scene.clocks.moveWall(by: -ClockSetBackTests.hour)
    #expect(try send() == first)
    scene.clocks.advance(by: 299_999)
    #expect(try send() == first)
    scene.clocks.advance(by: 1)
    #expect(try send() != first)
    #expect(scene.state?.messages.receiptCount == 1, "the first is forgotten")
  }

  @Test func gracesBeforeAndAfterTheCorrectionEndInTime() throws {
    let scene = try Scene(.avChatRoom)
    scene.signOut("mary")
    scene.clocks.advance(by: 1000)
    _ = try scene.wake()
    scene.clocks.moveWall(by: -ClockSetBackTests.hour)
    scene.signOut("carl")
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 299_000)
    scene.clocks.advance(by: 299_000)
    #expect(scene.state?.isGraceExceeded(by: "mary", at: scene.clocks.monotonic) == false)
    #expect(scene.state?.isGraceExceeded(by: "mary", at: scene.clocks.monotonic + 1) == true)
    _ = try scene.wake()
    #expect(scene.state?.roster["mary"] == nil && scene.state?.roster["carl"] != nil)
    scene.clocks.advance(by: 999)
    _ = try scene.wake()
    #expect(scene.state?.roster["carl"] != nil)
    scene.clocks.advance(by: 1)
    _ = try scene.wake()
    #expect(scene.state?.roster["carl"] == nil)
  }

  @Test func storedFutureInstantsCountFromLoading() async throws {
    let scene = try Scene(.public)
    let marked = #"{"text":"x","clientMsgID":"c"}"#
    func send() throws -> JSON { try scene.ask("sendGroupTextMessage", marked, by: "mary").result["seq"] }
    #expect(try send() == 1)
    scene.clocks.moveWall(by: -ClockSetBackTests.hour)
    try await scene.reload()
    scene.clocks.advance(by: 299_999)
    #expect(try send() == 1)
    scene.clocks.advance(by: 1)
    #expect(try send() == 2)
  }

  @Test func aStoredFutureAbsenceCountsFromLoading() throws {
    let scene = try Scene(.avChatRoom)
    let state = try #require(scene.state)
    let now = scene.clocks.now
    let stored = StoredGroup(
      record: state.record, members: Array(state.roster.all), lastMessage: nil, recentlySent: [],
      offlineSince: ["mary": now.wall + ClockSetBackTests.hour, "carl": now.wall - 1000])
    let loaded = GroupState(stored, at: now, rules: scene.rules)
    #expect(loaded.roster.absentSince("mary") == now.monotonic && loaded.roster.absentSince("carl") == now.monotonic - 1000)
  }
}

/// A clock that ran days ahead and was put right: mutes and bans last about as long as was asked
/// for.
@Suite struct ClockPutRightTests {
  private static let day: Int64 = 86_400_000
  private static let hour: Int64 = 3_600_000
  private static let jump = 3 * day

  /// A group that every user can join.
  private func scene() throws -> Scene { try Scene(.public) { $0.joinMode = .any } }

  private func muteMary(_ scene: Scene, for time: Int64) throws {
    #expect(try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":\#(time / 1000)}"#, by: "olga").code == 0)
  }

  private func muteGroup(_ scene: Scene, for time: Int64) throws {
    #expect(try scene.ask("muteGroup", #"{"mode":"Ordinary","duration":\#(time / 1000)}"#, by: "olga").code == 0)
  }

  private func ban(_ scene: Scene, for time: Int64) throws {
    #expect(try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":\#(time / 1000)"#), by: "olga").code == 0)
  }

  /// The clock is right again, and the group has looked at it or has been loaded since.
  private func putRight(_ scene: Scene, loading: Bool) async throws {
    scene.clocks.moveWall(by: -Self.jump)
    if loading { try await scene.reload() } else { try scene.ask("info", by: "adam") }
  }

  /// Mary must be refused for about the time, and not for longer.
  private func expectRefused(_ scene: Scene, for time: Int64, _ code: Int, _ method: String, _ params: String) throws {
    #expect(try scene.ask(method, params, by: "mary").code == code)
    scene.clocks.advance(by: time - 60_000)
    #expect(try scene.ask(method, params, by: "mary").code == code)
    scene.clocks.advance(by: 60_001)
    #expect(try scene.ask(method, params, by: "mary").code == 0)
  }

  private static let hello = ("sendGroupTextMessage", #"{"text":"x"}"#)

  @Test(arguments: [false, true])
  func aMuteOfAMember(loading: Bool) async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try muteMary(scene, for: Self.hour)
    try await putRight(scene, loading: loading)
    try expectRefused(scene, for: Self.hour, 10017, Self.hello.0, Self.hello.1)
  }

  @Test(arguments: [false, true])
  func aMuteOfTheGroup(loading: Bool) async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try muteGroup(scene, for: Self.hour)
    try await putRight(scene, loading: loading)
    try expectRefused(scene, for: Self.hour, 10017, Self.hello.0, Self.hello.1)
  }

  @Test(arguments: [false, true])
  func aBan(loading: Bool) async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try ban(scene, for: Self.hour)
    try await putRight(scene, loading: loading)
    try expectRefused(scene, for: Self.hour, 10007, "joinGroup", "{}")
  }

  @Test(arguments: [false, true])
  func aMuteOfAFormerMember(loading: Bool) async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try muteMary(scene, for: Self.hour)
    try scene.ask("quitGroup", by: "mary")
    try await putRight(scene, loading: loading)
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
    try expectRefused(scene, for: Self.hour, 10017, Self.hello.0, Self.hello.1)
  }

  @Test(arguments: [false, true])
  func decisionsBeforeTheJumpAreUnchanged(loading: Bool) async throws {
    let scene = try scene()
    try muteMary(scene, for: 10 * Self.day)
    try muteGroup(scene, for: 20 * Self.day)
    try scene.ask("kickGroupMember", Scene.users(["carl"], #""banTime":\#(30 * Self.day / 1000)"#), by: "olga")
    let start = scene.clocks.wall
    scene.clocks.advance(by: Self.jump)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try await putRight(scene, loading: loading)
    #expect(scene.state?.roster["mary"]?.muteUntil == start + 10 * Self.day)
    #expect(scene.state?.record.mute.muteUntil == start + 20 * Self.day)
    #expect(scene.state?.roster.former["carl"]?.bannedUntil == start + 30 * Self.day)
  }

  @Test(arguments: [false, true])
  func decisionsBeforeTheJumpAreUnchangedByOtherChanges(loading: Bool) async throws {
    let scene = try scene()
    try muteMary(scene, for: 10 * Self.day)
    try muteGroup(scene, for: 20 * Self.day)
    let start = scene.clocks.wall
    scene.clocks.advance(by: Self.jump)
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"m"}"#, by: "mary")
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    try await putRight(scene, loading: loading)
    #expect(scene.state?.roster["mary"]?.muteUntil == start + 10 * Self.day)
    #expect(scene.state?.record.mute.muteUntil == start + 20 * Self.day)
  }

  @Test func decisionsBeforeTheJumpAreUnchangedByLeaving() async throws {
    let scene = try scene()
    try muteMary(scene, for: 10 * Self.day)
    let end = scene.clocks.wall + 10 * Self.day
    scene.clocks.advance(by: Self.jump)
    try scene.ask("quitGroup", by: "mary")
    try await putRight(scene, loading: false)
    #expect(scene.state?.roster.former["mary"]?.muteUntil == end)
  }

  @Test(arguments: [60_000, 10 * day], [false, true])
  func laterDecisionsCountFromTheRealClock(time: Int64, loading: Bool) async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try await putRight(scene, loading: false)
    try muteMary(scene, for: time)
    try muteGroup(scene, for: time)
    try scene.ask("kickGroupMember", Scene.users(["carl"], #""banTime":\#(time / 1000)"#), by: "olga")
    let end = scene.clocks.wall + time
    if loading { try await scene.reload() }
    #expect(scene.state?.roster.former["carl"]?.bannedUntil == end)
    #expect(scene.state?.roster["mary"]?.muteUntil == end)
    #expect(scene.state?.record.mute.muteUntil == end)
  }

  @Test func repeatedLoadingProlongsNothing() async throws {
    let scene = try scene()
    scene.clocks.advance(by: Self.jump)
    try ban(scene, for: Self.hour)
    scene.clocks.moveWall(by: -Self.jump)
    for _ in 0..<4 {
      try await scene.reload()
      try scene.ask("info", by: "adam")
      scene.clocks.advance(by: Self.hour / 2)
    }
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
  }

  /// The store must hold the same as memory, or the next loading corrects it once more.
  @Test func eachCorrectedRecordIsStoredOnceAndNoOther() async throws {
    let scene = try scene()
    try scene.ask("muteGroupMember", #"{"userID":"adam","muteTime":600}"#, by: "olga")
    scene.clocks.advance(by: Self.jump)
    try muteMary(scene, for: Self.hour)
    try muteGroup(scene, for: Self.hour)
    try scene.ask("kickGroupMember", Scene.users(["carl"], #""banTime":3600"#), by: "olga")
    scene.clocks.moveWall(by: -Self.jump)
    let stored = try #require(try await scene.store.group("g", sentSince: 0, at: scene.clocks.wall, mostFormer: .max))
    var state = GroupState(stored, at: scene.clocks.now, rules: scene.rules)
    let corrections = state.corrections.popAll()
    let (mary, carl) = (try #require(state.roster["mary"]), try #require(state.roster.former["carl"]))
    #expect(mary.muteUntil == scene.clocks.wall + Self.hour && mary.mutedAt == scene.clocks.wall)
    #expect(
      corrections == [.putMember(mary, in: "g", isKnown: true), .putFormer(carl, in: "g"), .putGroup(state.record, isNew: false)])
    #expect(state.corrections.popAll().isEmpty)
    try scene.commit(corrections)
    try await scene.reload()
    #expect(
      scene.state?.roster["mary"] == mary && scene.state?.roster.former["carl"] == carl && scene.state?.record == state.record)
    let again = try #require(try await scene.store.group("g", sentSince: 0, at: scene.clocks.wall, mostFormer: .max))
    #expect(GroupState(again, at: scene.clocks.now, rules: scene.rules).corrections.isEmpty)
  }
}
