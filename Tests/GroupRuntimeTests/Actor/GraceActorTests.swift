import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Members of an AVChatRoom without a session: the alarm, the restart, the late return.
@Suite struct GraceActorTests {
  private static let grace: Int64 = 300_000
  private let scene = ActorScene()

  /// A room of olga's with mary and adam.
  init() async throws {
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary", "adam"] { try await scene.ask("joinGroup", by: name) }
    scene.waitForNotices()
    forgetEvents(scene)
  }

  private func forgetEvents(_ scene: ActorScene) { for name in ["olga", "adam", "mary", "oscar"] { _ = scene.events(name) } }

  private func leave(_ name: String) async {
    scene.signOut(name)
    await scene.refresh(name)
  }

  private func memberCount(_ scene: ActorScene) async throws -> JSON {
    try await scene.ask("info", by: "olga").result["memberCount"]
  }

  @Test func anAlarmEndsTheGraceAndNotifiesTheOthers() async throws {
    await leave("mary")
    let end = scene.clocks.wall + GraceActorTests.grace
    #expect(scene.alarms.instants == [end])
    scene.advance(by: GraceActorTests.grace - 1)
    #expect(try await memberCount(scene) == 3)
    scene.advance(by: 1)
    #expect(try await memberCount(scene) == 2)
    let told = try scene.params("onMemberLeave", to: "olga")
    #expect(told.count == 1 && told.first?["memberList"][0]["userID"] == "mary" && told.first?["memberCount"] == 2)
    #expect(scene.events("adam") == ["onMemberLeave"])
    #expect(try await scene.store.memberships(of: "mary").isEmpty)
    #expect(scene.alarms.instants.isEmpty)
  }

  @Test func aMemberWhoComesBackInTimeStays() async throws {
    await leave("mary")
    scene.advance(by: GraceActorTests.grace - 1)
    scene.signIn("mary")
    await scene.refresh("mary")
    scene.advance(by: 10_000)
    #expect(try await memberCount(scene) == 3)
    #expect(scene.events("olga").isEmpty)
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(scene.events("mary") == ["onRecvNewMessage"])
  }

  @Test func eachAbsenceEndsForItself() async throws {
    await leave("mary")
    scene.advance(by: 1000)
    await leave("adam")
    scene.advance(by: GraceActorTests.grace - 1000)
    #expect(try await memberCount(scene) == 2)
    #expect(scene.alarms.instants == [scene.clocks.wall + 1000], "the next one is waited for")
    scene.advance(by: 1000)
    #expect(try await memberCount(scene) == 1)
    #expect(scene.events("olga") == ["onMemberLeave", "onMemberLeave"])
  }

  @Test func theOwnerStaysWithoutEnd() async throws {
    await leave("olga")
    #expect(scene.alarms.instants.isEmpty)
    scene.advance(by: 10 * GraceActorTests.grace)
    #expect(try await memberCount(scene) == 3)
    #expect(scene.events("mary").isEmpty)
  }

  @Test func aGroupThatWaitsForAGraceToEndDoesNotRetire() async throws {
    await leave("mary")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 1)
    scene.advance(by: GraceActorTests.grace)
    #expect(try await memberCount(scene) == 2)
    for name in ["olga", "adam"] { await leave(name) }
    scene.advance(by: GraceActorTests.grace)
    #expect(try await memberCount(scene) == 1)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
  }

  /// The same store in another process, long after everybody joined.
  private func restart(users: [String]) -> ActorScene {
    let later = ActorScene(users: users, store: scene.store)
    later.clocks.advance(by: 10 * GraceActorTests.grace)
    return later
  }

  @Test func loadingARoomPublishesGracesThatHaveEnded() async throws {
    let later = restart(users: ["olga", "adam"])
    scene.store.notePresence(of: "mary", offlineSince: later.clocks.wall - GraceActorTests.grace)
    scene.store.notePresence(of: "adam", offlineSince: nil)
    #expect(try await memberCount(later) == 2)
    #expect(later.events("adam") == ["onMemberLeave"])
    #expect(try later.params("onMemberLeave", to: "olga").first?["memberList"][0]["userID"] == "mary")
  }

  @Test func theGraceSpansARestart() async throws {
    let later = restart(users: ["olga"])
    scene.store.notePresence(of: "mary", offlineSince: later.clocks.wall - GraceActorTests.grace + 500)
    #expect(try await memberCount(later) == 3)
    #expect(later.alarms.instants.first == later.clocks.wall + 500)
    later.advance(by: 500)
    #expect(try await memberCount(later) == 2)
  }

  @Test func aMemberWhoComesBackTooLateHasLeft() async throws {
    let later = restart(users: ["olga", "mary"])
    let since: WallInstant = later.clocks.wall - GraceActorTests.grace - 1
    scene.store.notePresence(of: "mary", offlineSince: since)
    try await later.welcome("mary", awaySince: since)
    #expect(try await later.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 10007)
    #expect(later.events("olga") == ["onMemberLeave"])
    try await later.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(later.events("mary").isEmpty)
    #expect(try await later.ask("joinGroup", by: "mary").code == 0)
  }

  @Test func aMemberWhoComesBackInTimeAfterARestartStays() async throws {
    let later = restart(users: ["olga", "mary"])
    try await later.welcome("mary", awaySince: later.clocks.wall - GraceActorTests.grace + 1)
    try await later.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(later.events("mary") == ["onRecvNewMessage"])
    #expect(later.events("olga").isEmpty)
  }

  @Test func anAbsenceFromBeforeJoiningDoesNotCount() async throws {
    let long = scene.clocks.wall - 10 * GraceActorTests.grace
    scene.signOut("oscar")
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 0, "by asUser, without a session")
    scene.advance(by: 1000)
    scene.signIn("oscar")
    try await scene.welcome("oscar", awaySince: long)
    #expect(try await memberCount(scene) == 4, "the grace is from joining on")
    _ = scene.events("oscar")
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(scene.events("oscar") == ["onRecvNewMessage"])
  }

  @Test func anAbsenceFromBeforeJoiningDoesNotCountAfterLoading() async throws {
    scene.signOut("oscar")
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 0)
    scene.store.notePresence(of: "oscar", offlineSince: scene.clocks.wall - 10 * GraceActorTests.grace)
    let later = ActorScene(users: ["olga"], store: scene.store)
    #expect(try await memberCount(later) == 4)
  }

  @Test func aLeaveWhoseCommitFailsIsNotPublished() async throws {
    await leave("mary")
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.notePresence(of: "mary", offlineSince: scene.clocks.wall)
    scene.advance(by: GraceActorTests.grace)
    try await scene.wait { !scene.observer.failures.isEmpty }
    #expect(scene.events("olga").isEmpty)
    scene.store.fail(with: nil)
    _ = try await memberCount(scene)
    scene.advance(by: Group.backoffTime.wholeMilliseconds)
    #expect(try await memberCount(scene) == 2)
  }
}
