import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "A store failure answers 10002, throws the group's in-memory state away and reloads it: memory
/// never runs ahead of the disk."
@Suite struct CommitFailureTests {
  @Test func allThatWasDecidedSinceIsTemporary() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let decided = [
      try scene.begin("sendGroupTextMessage", #"{"text":"lost"}"#, by: "mary"), try scene.begin("joinGroup", by: "oscar"),
      try scene.begin("info", by: "oscar"), try scene.begin("setGroupInfo", #"{"groupName":"lost"}"#, by: "olga"),
      try scene.begin("quitGroup", by: "mary"), try scene.begin("quitGroup", by: "olga"),
    ]
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    for pending in decided { #expect(try await pending.answer().code == 10002) }
    for name in ["olga", "adam", "mary", "oscar"] { #expect(scene.events(name).isEmpty, "\(name)") }
    #expect(scene.observer.failures.count == 1 && scene.observer.failures.first?.group == "g")
    #expect(scene.observer.counts.isEmpty)
    for pending in decided { #expect(pending.count == 1) }
  }

  @Test func theGroupIsAsTheStoreKnowsItAndWorksAgain() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    try await scene.ask("sendGroupTextMessage", #"{"text":"kept"}"#, by: "mary")
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"lost","clientMsgID":"c"}"#, by: "mary").code == 10002)
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10002)
    #expect(try await scene.ask("dismissGroup", by: "olga").code == 10002)
    let info = try await scene.ask("info", by: "mary")
    #expect(
      info.code == 0 && info.result["lastSeq"] == 1 && info.result["memberCount"] == 3, "questions are answered all the same")
    #expect(try await scene.ask("joinGroup", by: "mary").code == 10013)
    scene.store.fail(with: nil)
    _ = scene.events("olga")
    let sent = try await scene.ask("sendGroupTextMessage", #"{"text":"found","clientMsgID":"c"}"#, by: "mary")
    #expect(sent.result["seq"] == 2, "no gap, and the lost clientMsgID is forgotten")
    #expect(scene.events("olga") == ["onRecvNewMessage"], "sessions are attached again")
    #expect(scene.events("oscar").isEmpty)
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 0)
    #expect(scene.store.allMessages(of: "g").map(\.seq) == [1, 2, 3])
  }

  @Test func aCreationThatFailsLeavesNoGroup() async throws {
    let scene = ActorScene()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "olga").code == 10002)
    #expect(try await scene.ask("info", by: "olga").code == 10010)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "mary").code == 0)
    #expect(scene.events("olga").isEmpty)
  }

  @Test func aDisbandingThatFailsLeavesTheGroup() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let dismissed = try scene.begin("dismissGroup", by: "olga")
    let created = try scene.begin("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "mary")
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await dismissed.answer().code == 10002)
    #expect(try await created.answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "mary").result["groupType"] == "Public")
    #expect(scene.events("mary").isEmpty)
  }

  @Test func aCompletionThatAsksAgainAfterAFailureIsAnswered() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    let group = scene.registry.group("g")
    let caller = scene.caller("mary")
    let (first, again) = (Pending(), Pending())
    let info = try groupRequest("info", by: caller)
    let message = try groupRequest("sendGroupTextMessage", #"{"text":"x"}"#, by: caller)
    group.enqueue(
      .request(message, by: caller) { reply in
        first.complete(reply)
        group.enqueue(.request(info, by: caller) { again.complete($0) })
      })
    #expect(try await first.answer().code == 10002)
    #expect(try await again.answer().result["lastSeq"] == 0)
    #expect(scene.broker.topics(of: "g").count == 2, "loaded once")
  }

  @Test func aFailedReadIsTemporaryAndTriedAgain() async throws {
    let store = InMemoryStore()
    let gate = ReadGate(store)
    let scene = ActorScene(store: store, groups: gate)
    gate.fail(with: StoreError(.unavailable, "disk gone"))
    #expect(try await scene.ask("info", by: "olga").code == 10002)
    #expect(try await scene.ask("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "olga").code == 10002)
    gate.fail(with: nil)
    #expect(try await scene.ask("info", by: "olga").code == 10010)
    #expect(scene.observer.failures.count == 2)
  }
}
