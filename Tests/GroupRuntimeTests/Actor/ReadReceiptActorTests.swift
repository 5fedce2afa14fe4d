import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Read receipts are looked up before they are decided, durable before they are answered, and told
/// in rounds.
@Suite(.timeLimit(.minutes(10))) struct ReadReceiptActorTests {
  private let gate: MessageReadGate
  private let scene: ActorScene

  /// A Public group of olga, adam, mary and oscar with ten messages of mary's, the join's tip before.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(store: store, messages: gate)
    try await scene.makeGroup()
    try await scene.ask("joinGroup", by: "oscar")
    for _ in 0..<10 { try await scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "mary") }
    for name in ["olga", "adam", "mary", "oscar"] { _ = scene.events(name) }
  }

  private func confirm(_ seqs: [Int], by user: String) async throws -> Int {
    try await scene.ask("sendMessageReadReceipts", #"{"seqList":\#(seqs)}"#, by: user).code
  }

  /// The rows of the next event to mary.
  private func told() async throws -> [[Int]] {
    var events: [JSON] = []
    try await scene.wait {
      events += (try? scene.params("onRecvMessageReadReceipts", to: "mary")) ?? []
      return !events.isEmpty
    }
    try #require(events.count == 1)
    return events[0]["receiptList"].elements.map { [$0["seq"].int!, $0["readCount"].int!, $0["unreadCount"].int!] }
  }

  private func reads(_ seq: Int) async throws -> JSON {
    try await scene.ask("getMessageReadReceipts", #"{"seqList":[\#(seq)]}"#, by: "mary").result["receiptList"][0]["readCount"]
  }

  @Test func theFirstReceiptIsToldAtOnceAndLaterOnesTogether() async throws {
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
    #expect(try await confirm([2, 3], by: "adam") == 0)
    #expect(try await confirm([3], by: "olga") == 0)
    #expect(try await confirm([2], by: "oscar") == 0)
    scene.advance(by: 249)
    #expect(scene.events("mary").isEmpty)
    scene.advance(by: 1)
    #expect(try await told() == [[2, 3, 0], [3, 2, 1]])
    for name in ["olga", "adam", "oscar"] { #expect(scene.events(name).isEmpty, "\(name)") }
  }

  @Test func nothingIsAnsweredOrToldBeforeItIsDurable() async throws {
    scene.store.hold()
    let pending = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "olga")
    try await scene.wait { scene.store.pendingCount > 0 }
    scene.advance(by: 1000)
    #expect(!pending.isAnswered && scene.events("mary").isEmpty)
    scene.store.release()
    #expect(try await pending.answer().code == 0)
    #expect(try await told() == [[2, 1, 2]])
  }

  @Test func aReceiptWhoseCommitFailsIsNotToldAndCanBeRepeated() async throws {
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await confirm([2], by: "olga") == 10002)
    scene.store.fail(with: nil)
    #expect(try await reads(2) == 0)
    #expect(scene.events("mary").isEmpty)
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
  }

  @Test func twoOfTheSameAtOnceCountOnce() async throws {
    gate.hold()
    let pending = try (0..<2).map { _ in try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "olga") }
    // The second waits for the first of its session.
    await gate.waitForReadings(1)
    gate.release()
    for confirmed in pending { #expect(try await confirmed.answer().code == 0) }
    #expect(try await reads(2) == 1)
  }

  @Test func receiptsThatCannotBeLookedUpAreTemporary() async throws {
    gate.fail(with: StoreError(.unavailable, "disk gone"))
    #expect(try await confirm([2], by: "olga") == 10002)
    #expect(try await scene.ask("getMessageReadReceipts", #"{"seqList":[2]}"#, by: "mary").code == 10002)
    #expect(try await scene.ask("getGroupMessageReadMemberList", #"{"seq":2}"#, by: "mary").code == 10002)
    #expect(scene.observer.failures.count == 3)
    gate.fail(with: nil)
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
  }

  @Test func aRoundThatCannotReadIsRepeatedASecondLater() async throws {
    scene.store.hold()
    let pending = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "olga")
    try await scene.wait { scene.store.pendingCount > 0 }
    gate.fail(with: StoreError(.unavailable, "disk gone"))
    scene.store.release()
    #expect(try await pending.answer().code == 0)
    try await scene.wait { scene.observer.failures.count == 1 && !scene.alarms.instants.isEmpty }
    gate.fail(with: nil)
    scene.advance(by: 999)
    #expect(scene.events("mary").isEmpty)
    scene.advance(by: 1)
    #expect(try await told() == [[2, 1, 2]])
  }

  @Test func aFailedCommitOfTheGroupLosesNoRound() async throws {
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
    #expect(try await confirm([3], by: "olga") == 0)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "adam").code == 10002)
    scene.store.fail(with: nil)
    scene.advance(by: 250)
    // The group may still be loading: then the round comes a second later.
    try await scene.wait {
      scene.advance(by: 250)
      return scene.events("mary").contains("onRecvMessageReadReceipts")
    }
  }

  @Test func whoQuitsBehindTheReceiptHasReadTheMessage() async throws {
    gate.hold()
    let confirmed = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "oscar")
    await gate.waitForReadings(1)
    let quit = try scene.begin("quitGroup", by: "oscar")
    gate.release()
    #expect(try await confirmed.answer().code == 0)
    #expect(try await quit.answer().code == 0)
    #expect(try await reads(2) == 1)
  }

  @Test func aMessageThatIsRecalledMeanwhileHasNoReceipts() async throws {
    gate.hold()
    let confirmed = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "oscar")
    let listed = try scene.begin("getGroupMessageReadMemberList", #"{"seq":2}"#, by: "mary")
    let recalled = try scene.begin("revokeGroupMessage", #"{"seq":2}"#, by: "adam")
    await gate.waitForReadings(3)
    scene.store.hold()
    // All three have read the message as it was.
    gate.releaseOne()
    gate.releaseOne()
    gate.release()
    scene.store.release()
    #expect(try await confirmed.answer().code == 0)
    #expect([0, 10030].contains(try await listed.answer().code))
    #expect(try await recalled.answer().code == 0)
    #expect(try await scene.ask("getMessageReadReceipts", #"{"seqList":[2]}"#, by: "mary").result["receiptList"] == [])
    #expect(try await scene.ask("getGroupMessageReadMemberList", #"{"seq":2}"#, by: "mary").code == 10030)
  }

  @Test func aGroupThatGoesMeanwhileIsNotThere() async throws {
    gate.hold()
    let confirmed = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "oscar")
    await gate.waitForReadings(1)
    try await scene.ask("dismissGroup", by: "olga")
    gate.release()
    #expect(try await confirmed.answer().code == 10010)
  }

  @Test func theNewGroupOfThatNameGetsNoReceiptsOfTheFormerOne() async throws {
    gate.hold()
    let confirmed = try scene.begin("sendMessageReadReceipts", #"{"seqList":[2]}"#, by: "oscar")
    await gate.waitForReadings(1)
    try await scene.ask("dismissGroup", by: "olga")
    try await scene.ask("createGroup", #"{"groupType":"Work","groupName":"m","memberList":[{"userID":"oscar"}]}"#, by: "mary")
    for _ in 0..<3 { try await scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "mary") }
    gate.release()
    #expect(try await confirmed.answer().code == 10010)
    #expect(try await reads(2) == 0)
    #expect(scene.observer.failures.isEmpty)
  }

  @Test func aSenderWhoLeavesBeforeTheRoundIsNotTold() async throws {
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
    #expect(try await confirm([2], by: "adam") == 0)
    try await scene.ask("kickGroupMember", #"{"userIDList":["mary"]}"#, by: "olga")
    let after = scene.events("mary")
    #expect(after.contains("onMemberKicked") && !after.contains("onRecvMessageReadReceipts"))
    scene.advance(by: 250)
    // The actor retires when the round has ended.
    try await scene.wait {
      scene.registry.retireGroups(unusedFor: .zero)
      return scene.registry.residentCount == 0
    }
    #expect(scene.events("mary").isEmpty)
  }

  @Test func anActorDoesNotRetireWhileARoundWaits() async throws {
    #expect(try await confirm([2], by: "olga") == 0)
    #expect(try await told() == [[2, 1, 2]])
    #expect(try await confirm([2], by: "adam") == 0)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 1)
    scene.advance(by: 250)
    #expect(try await told() == [[2, 2, 1]])
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
  }
}
