import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// What has changed among the members, from a group's actor (Protocol.md, "Member lists").
@Suite struct MemberChangesActorTests {
  private func changes(_ scene: ActorScene, since: WallInstant) async throws -> JSON {
    try await scene.ask("getGroupMemberList", #"{"updatedSince":\#(since.milliseconds)}"#, by: "olga").result
  }

  @Test func theNextActorKnowsWhoHasLeft() async throws {
    let store = InMemoryStore()
    let first = ActorScene(store: store)
    try await first.makeGroup()
    first.clocks.advance(by: 1000)
    let since = first.clocks.wall
    try await first.ask("quitGroup", by: "mary")
    try await first.ask("setGroupMemberInfo", #"{"userID":"adam","nameCard":"Adam"}"#, by: "adam")
    let before = try await changes(first, since: since)
    let second = ActorScene(store: store)
    second.clocks.advance(by: 5000)
    let after = try await changes(second, since: since)
    for found in [before, after] {
      #expect(found["leftUserIDList"] == ["mary"] && found["isComplete"] == true)
      #expect(found["memberList"].elements.map { $0["userID"] } == ["adam"])
    }
  }

  @Test func aDepartureThatWasNotStoredIsNone() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.clocks.advance(by: 1000)
    let since = scene.clocks.wall
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("quitGroup", by: "mary").code == 10002)
    scene.store.fail(with: nil)
    let found = try await changes(scene, since: since)
    #expect(found["leftUserIDList"].elements.isEmpty && found["memberList"].elements.isEmpty && found["isComplete"] == true)
  }
}
