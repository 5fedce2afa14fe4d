import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// revokeGroupMessage needs the stored message, so much can happen between asking and deciding.
@Suite(.timeLimit(.minutes(10))) struct RecallActorTests {
  private let gate: MessageReadGate
  private let scene: ActorScene

  /// A Public group with a message of mary's at seq 1.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(store: store, messages: gate)
    try await scene.makeGroup()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    for name in ["olga", "adam", "mary"] { _ = scene.events(name) }
  }

  private let recall = #"{"seq":1}"#

  private func isRevoked() async throws -> JSON {
    try await scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"].elements.last?["isRevoked"] ?? .null
  }

  @Test func twoRecallsAtOnceTellOnce() async throws {
    gate.hold()
    let pending = try ["mary", "adam", "olga"].map { try scene.begin("revokeGroupMessage", recall, by: $0) }
    await gate.waitForReadings(3)
    gate.release()
    for recalled in pending { #expect(try await recalled.answer().result == [:] as JSON) }
    for name in ["olga", "adam", "mary"] { #expect(scene.events(name) == ["onRecvMessageRevoked"], "\(name)") }
    #expect(try await isRevoked() == true)
    #expect(scene.store.allMessages(of: "g")[0].content == .text(""))
  }

  @Test func aRecallWhileAnotherIsOnItsWayToTheDiskTellsOnceAndWaitsForIt() async throws {
    scene.store.hold()
    let first = try scene.begin("revokeGroupMessage", recall, by: "mary")
    try await scene.wait { scene.store.pendingCount > 0 }
    let second = try scene.begin("revokeGroupMessage", recall, by: "adam")
    scene.settle()
    #expect(!first.isAnswered && !second.isAnswered && scene.events("olga").isEmpty)
    scene.store.release()
    #expect(try await first.answer().code == 0)
    #expect(try await second.answer().code == 0)
    #expect(scene.events("olga") == ["onRecvMessageRevoked"])
  }

  @Test func aRecallWithoutTheRightIsRefusedDuringAnotherRecall() async throws {
    try await scene.ask("joinGroup", by: "oscar")
    try await scene.ask("sendGroupTextMessage", #"{"text":"y"}"#, by: "mary")
    scene.store.hold()
    let first = try scene.begin("revokeGroupMessage", #"{"seq":3}"#, by: "mary")
    try await scene.wait { scene.store.pendingCount > 0 }
    let second = try scene.begin("revokeGroupMessage", #"{"seq":3}"#, by: "oscar")
    scene.store.release()
    #expect(try await first.answer().code == 0)
    #expect(try await second.answer().code == 10032, "the message is not oscar's, recalled or not")
  }

  @Test func aMessageThatCannotBeReadIsTemporary() async throws {
    gate.fail(with: StoreError(.unavailable, "disk gone"))
    #expect(try await scene.ask("revokeGroupMessage", recall, by: "mary").code == 10002)
    #expect(scene.observer.failures.map(\.group) == ["g"])
    #expect(scene.events("olga").isEmpty)
    gate.fail(with: nil)
    #expect(try await scene.ask("revokeGroupMessage", recall, by: "mary").code == 0)
    #expect(scene.events("olga") == ["onRecvMessageRevoked"])
  }

  @Test func aRecallWhoseCommitFailsIsNotPublishedAndCanBeRepeated() async throws {
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("revokeGroupMessage", recall, by: "mary").code == 10002)
    #expect(try await isRevoked() == .null)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("revokeGroupMessage", recall, by: "mary").code == 0)
    #expect(scene.events("olga") == ["onRecvMessageRevoked"])
    #expect(try await isRevoked() == true)
  }

  @Test func theRightIsAskedAgainWhenTheMessageIsThere() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", recall, by: "adam")
    await gate.waitForReadings(1)
    try await scene.ask("setGroupMemberRole", #"{"userID":"adam","role":"Member"}"#, by: "olga")
    gate.release()
    #expect(try await recalled.answer().code == 10032)
    #expect(try await isRevoked() == .null)
  }

  @Test func aGroupThatGoesMeanwhileIsNotThere() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", recall, by: "mary")
    await gate.waitForReadings(1)
    try await scene.ask("dismissGroup", by: "olga")
    gate.release()
    #expect(try await recalled.answer().code == 10010)
  }

  @Test func aMessageOfTheFormerGroupIsUnknownToTheNewOneOfThatName() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", recall, by: "mary")
    await gate.waitForReadings(1)
    try await scene.ask("dismissGroup", by: "olga")
    try await scene.ask("createGroup", #"{"groupType":"Public","groupName":"m"}"#, by: "mary")
    try await scene.ask("sendGroupTextMessage", #"{"text":"new"}"#, by: "mary")
    gate.release()
    #expect(try await recalled.answer().code == 10030)
    #expect(scene.store.allMessages(of: "g").map(\.content) == [.text("new")])
    #expect(scene.observer.failures.isEmpty)
  }

  @Test func anActorDoesNotRetireWhileAMessageIsBeingRead() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", recall, by: "mary")
    await gate.waitForReadings(1)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 1)
    gate.release()
    #expect(try await recalled.answer().code == 0)
  }

  @Test func anUnreadCountThatCannotBeReadIsTemporary() async throws {
    gate.fail(with: StoreError(.unavailable, "disk gone"))
    #expect(try await scene.ask("unreadCount", by: "olga").code == 10002)
    #expect(try await scene.ask("info", by: "olga").code == 10002)
    #expect(try await scene.ask("info", by: "mary").code == 10002)
    gate.fail(with: nil)
    #expect(try await scene.ask("unreadCount", by: "olga").result == 1)
  }
}
