import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The actor of a live room: alarms empty its queue, and it is not retired before.
@Suite struct MessageRateActorTests {
  @Test func queuedMessagesAreDeliveredByAnAlarm() async throws {
    let scene = try await ActorScene.liveRoom()
    #expect(try await scene.say() == "Delivered")
    #expect(try await scene.say() == "Queued")
    #expect(scene.events("olga").count == 1)
    scene.advance(by: 999)
    #expect(scene.events("olga").isEmpty)
    scene.advance(by: 1)
    #expect(scene.events("olga") == ["onRecvNewMessage"] && scene.events("mary").isEmpty)
    #expect(scene.observer.counts.map(\.steps) == [[.accepted, .delivered], .accepted, .delivered])
    #expect(scene.alarms.instants.isEmpty)
  }

  @Test func aRoomWithQueuedMessagesIsNotRetired() async throws {
    let scene = try await ActorScene.liveRoom()
    for _ in 0..<2 { _ = try await scene.say(by: "administrator") }
    for name in ["olga", "adam", "mary", "oscar"] {
      scene.signOut(name)
      await scene.refresh(name)
    }
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    scene.advance(by: 1000)
    #expect(scene.observer.counts.map(\.steps) == [[.accepted, .delivered], .accepted, .delivered])
  }

  @Test func queuedMessagesAreDroppedWithTheRoom() async throws {
    let scene = try await ActorScene.liveRoom()
    for _ in 0..<2 { _ = try await scene.say() }
    try await scene.ask("dismissGroup", by: "olga")
    #expect(scene.events("mary") == ["onMessageDropped", "onGroupDismissed"])
    #expect(scene.observer.counts.map(\.steps) == [[.accepted, .delivered], .accepted, .dropped])
    scene.advance(by: 5000)
    #expect(scene.events("olga") == ["onRecvNewMessage", "onGroupDismissed"])
  }

  @Test func queuedMessagesAreDroppedWhenACommitFails() async throws {
    let scene = try await ActorScene.liveRoom()
    for _ in 0..<2 { _ = try await scene.say() }
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10002)
    #expect(scene.events("mary") == ["onMessageDropped"])
    #expect(scene.observer.counts.map(\.steps) == [[.accepted, .delivered], .accepted, .dropped])
    scene.store.fail(with: nil)
    scene.advance(by: 5000)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
  }

  @Test func aNoticeIsSentByAnAlarm() async throws {
    let scene = try await ActorScene.liveRoom(40)
    try await scene.ask("joinGroup", by: "adam")
    try await scene.ask("joinGroup", by: "oscar")
    #expect(scene.events("olga") == ["onMemberEnter"])
    scene.advance(by: 1000)
    let named = try scene.params("onMemberEnter", to: "olga").flatMap { $0["memberList"].elements.map { $0["userID"].string } }
    #expect(named == ["oscar"])
  }
}
