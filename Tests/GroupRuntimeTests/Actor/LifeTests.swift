import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Loading, retiring, disbanding and making again.
@Suite struct LifeTests {
  @Test func ofConcurrentCreationsOneWins() async throws {
    let scene = ActorScene()
    let params = #"{"groupType":"Work","groupName":"n"}"#
    let codes = try await withThrowingTaskGroup(of: Int.self) { tasks in
      for name in ["olga", "adam", "mary", "oscar", "olga", "adam", "mary", "oscar"] {
        tasks.addTask { try await scene.ask("createGroup", params, by: name).code }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.sorted() == [0, 10021, 10021, 10021, 10021, 10021, 10021, 10025])
    #expect(try await scene.store.groupCounts() == [.work: 1])
  }

  /// A group that is not in memory, and the gate in front of its reading.
  private func unloadedGroup() async throws -> (scene: ActorScene, gate: ReadGate) {
    let store = InMemoryStore()
    let gate = ReadGate(store)
    let scene = ActorScene(store: store, groups: gate)
    try await scene.makeGroup()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    return (scene, gate)
  }

  @Test func requestsWhileLoadingAreAnsweredInOrderByOneRead() async throws {
    let (scene, gate) = try await unloadedGroup()
    let reads = gate.reads
    gate.hold()
    let pending = try (1...5).map { try scene.begin("sendGroupTextMessage", #"{"text":"\#($0)"}"#, by: "mary") }
    let info = try scene.begin("info", by: "olga")
    scene.settle()
    #expect(pending.allSatisfy { !$0.isAnswered })
    gate.release()
    for (number, sent) in pending.enumerated() { #expect(try await sent.answer().result["seq"] == .number(Double(number + 1))) }
    #expect(try await info.answer().result["lastSeq"] == 5)
    #expect(gate.reads == reads + 1)
    #expect(scene.events("olga").count == 5, "members with sessions were attached before")
  }

  @Test func aLoadIsReadInTheTurnOfTheFirstRequesterWhoMayLeave() async throws {
    let (scene, gate) = try await unloadedGroup()
    let reads = gate.reads
    gate.hold()
    let session = Requester("mary")
    let caller = Caller.user("mary", platform: .web, session: nil, requester: session)
    let pending = Pending()
    scene.registry.group("g").enqueue(
      .request(try groupRequest("info", by: caller), by: caller) { pending.complete($0) })
    let second = try scene.begin("info", by: "olga")
    scene.settle()
    session.leave()
    gate.release()
    #expect(try await second.answer().code == 0)
    let requesters = gate.requesters.dropFirst(reads)
    #expect(requesters.map { $0?.userID } == ["mary"])
    #expect(requesters.allSatisfy { $0?.isGone == false }, "olga waits for it, too")
  }

  @Test func aLoadForAReturningUserIsReadInThatUsersTurn() async throws {
    let (scene, gate) = try await unloadedGroup()
    await withCheckedContinuation { continuation in
      scene.registry.group("g").enqueue(.presence(Group.Presence(of: "adam", awaySince: 1)) { continuation.resume() })
    }
    #expect(gate.requesters.last??.userID == "adam")
  }

  @Test func aGroupLoadsAsManyFormerMembersAsItKeeps() async throws {
    let (scene, gate) = try await unloadedGroup()
    _ = try await scene.ask("info", by: "olga")
    #expect(gate.mostFormer == FormerMembers.maxCount)
  }

  /// Asks for the list of members, which is answered as soon as it is taken, and for something else
  /// from within the answer.
  private func ask(_ method: String, _ params: String, by name: String, whenAListIsAnswered scene: ActorScene) throws -> Pending {
    let (group, caller, pending) = (scene.registry.group("g"), scene.caller(name), Pending())
    let request = try groupRequest(method, params, by: caller)
    group.enqueue(
      .request(try groupRequest("getGroupMemberList", by: caller), by: caller) { _ in
        group.enqueue(.request(request, by: caller) { pending.complete($0) })
      })
    return pending
  }

  @Test func requestsFromACompletionStandBehindTheBacklog() async throws {
    let (scene, gate) = try await unloadedGroup()
    gate.hold()
    let late = try ask("sendGroupTextMessage", #"{"text":"late"}"#, by: "mary", whenAListIsAnswered: scene)
    let early = try (1...3).map { _ in try scene.begin("sendGroupTextMessage", #"{"text":"early"}"#, by: "adam") }
    scene.settle()
    gate.release()
    for (number, sent) in early.enumerated() { #expect(try await sent.answer().result["seq"] == .number(Double(number + 1))) }
    #expect(try await late.answer().result["seq"] == 4)
  }

  @Test func requestsFromACompletionStandBehindTheBacklogWithoutAGroup() async throws {
    let store = InMemoryStore()
    let gate = ReadGate(store)
    let scene = ActorScene(store: store, groups: gate)
    gate.hold()
    let params = #"{"groupType":"Work","groupName":"n"}"#
    let late = try ask("createGroup", params, by: "mary", whenAListIsAnswered: scene)
    let early = try scene.begin("createGroup", params, by: "adam")
    scene.settle()
    gate.release()
    #expect(try await early.answer().code == 0)
    #expect(try await late.answer().code == 10021)
    #expect(gate.reads == 1, "the actor stays while somebody waits for it")
  }

  @Test func anActorOfAGroupThatIsNotThereDoesNotStay() async throws {
    let scene = ActorScene()
    for number in 0..<20 {
      let id = GroupID(stringLiteral: "no\(number)")
      for method in ["info", "joinGroup", "dismissGroup"] {
        #expect(try await scene.ask(method, by: "olga", of: id).code == 10010)
      }
    }
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    try await scene.makeGroup()
    #expect(scene.registry.residentCount == 1)
    try await scene.ask("dismissGroup", by: "olga")
    scene.settle()
    #expect(scene.registry.residentCount == 0)
  }

  @Test func aRetiredActorForwards() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    let old = scene.registry.group("g")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0 && scene.registry.resident("g") == nil)
    let pending = try (1...3).map { _ in try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary", of: old) }
    for (number, sent) in pending.enumerated() { #expect(try await sent.answer().result["seq"] == .number(Double(number + 1))) }
    let successor = try #require(scene.registry.resident("g"))
    #expect(successor !== old && scene.registry.residentCount == 1)
    #expect(scene.events("olga") == ["onRecvNewMessage", "onRecvNewMessage", "onRecvNewMessage"])
    scene.signIn("olga", as: "olga/2")
    await withCheckedContinuation { continuation in old.enqueue(.presence(Group.Presence(of: "olga")) { continuation.resume() }) }
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(scene.events("olga/2") == ["onRecvNewMessage"])
  }

  private final class Weak: Sendable {
    weak let group: Group?
    init(_ group: Group?) { self.group = group }
  }

  /// The closures by which callers on the executor enter an actor are its own, and do not keep it.
  @Test func aRetiredActorIsFreed() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    let old = Weak(scene.registry.resident("g"))
    try #require(old.group != nil)
    scene.registry.retireGroups(unusedFor: .zero)
    try await scene.wait { old.group == nil }
  }

  @Test func onlyUnusedGroupsRetire() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.clocks.advance(by: 1000)
    scene.registry.retireGroups(unusedFor: .milliseconds(1001))
    scene.settle()
    #expect(scene.registry.residentCount == 1)
    try await scene.ask("info", by: "olga")
    scene.registry.retireGroups(unusedFor: .milliseconds(1000))
    scene.settle()
    #expect(scene.registry.residentCount == 1, "used since")
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 1, "not while something is on its way to the disk")
    scene.store.release()
    #expect(try await sent.answer().code == 0)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    #expect(scene.broker.topics(of: "g").allSatisfy { $0.calls.last == .close && $0.attachedUsers.isEmpty })
  }

  @Test(arguments: [-3_600_000, 3_600_000] as [Int64])
  func aClockThatIsSetNeitherKeepsAnIdleGroupNorRetiresOneInUse(step: Int64) async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.clocks.moveWall(by: step)
    scene.clocks.advance(by: 599_999)
    scene.registry.retireGroups(unusedFor: .seconds(600))
    scene.settle()
    #expect(scene.registry.residentCount == 1)
    scene.clocks.advance(by: 1)
    scene.registry.retireGroups(unusedFor: .seconds(600))
    scene.settle()
    #expect(scene.registry.residentCount == 0)
  }

  @Test func aGroupMadeAgainHasAnotherEpochEvenWhileTheOldOneGoes() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    let epoch = try await scene.ask("info", by: "olga").result["epoch"]
    try await scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    _ = scene.events("olga")
    scene.store.hold()
    let dismissed = try scene.begin("dismissGroup", by: "olga")
    let gone = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let made = try scene.begin("createGroup", #"{"groupType":"Public","groupName":"m"}"#, by: "mary")
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    scene.settle()
    scene.store.release()
    #expect(try await dismissed.answer().code == 0)
    #expect(try await gone.answer().code == 10010)
    #expect(try await made.answer().code == 0)
    #expect(try await sent.answer().result["seq"] == 1)
    let info = try await scene.ask("info", by: "mary").result
    #expect(info["epoch"] != epoch && info["groupName"] == "m" && info["memberCount"] == 1)
    #expect(scene.events("olga") == ["onGroupDismissed"], "those of the old group hear nothing of the new one")
    #expect(scene.events("mary") == ["onGroupDismissed", "onGroupCreated"])
  }

  @Test func theQuitterIsToldAndThenHearsNothing() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    try await scene.ask("quitGroup", by: "mary")
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(scene.events("mary") == ["onQuitFromGroup"])
    let calls = try #require(scene.broker.topics(of: "g").last).calls
    let told = try #require(calls.firstIndex { if case .send(_, to: ["mary"], except: nil) = $0 { true } else { false } })
    let detached = try #require(calls.firstIndex(of: .detach("mary")))
    let published = try #require(calls.firstIndex { if case .publish = $0 { true } else { false } })
    #expect(told < detached && detached < published)
  }
}
