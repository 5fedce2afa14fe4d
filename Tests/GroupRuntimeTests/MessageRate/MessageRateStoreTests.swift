import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The rate of a room whose store is slow or fails: deliveries keep the limit, and each accepted
/// message is delivered or dropped.
@Suite struct MessageRateStoreTests {
  private func begin(_ scene: ActorScene, _ priority: String = "Normal") throws -> Pending {
    try scene.begin("sendGroupTextMessage", #"{"text":"x","priority":"\#(priority)"}"#, by: "mary")
  }

  private func expectBalance(_ scene: ActorScene, accepted: Int, delivered: Int, dropped: Int) {
    func count(_ step: MessageCount.Steps) -> Int { scene.observer.counts.count { $0.steps.contains(step) } }
    #expect(count(.accepted) == accepted)
    #expect(count(.delivered) == delivered)
    #expect(count(.dropped) == dropped)
  }

  @Test func dropsWithoutASessionAreCounted() async throws {
    let scene = try await ActorScene.liveRoom(2)
    _ = try await scene.say()
    scene.advance(by: 900)
    _ = try await scene.say()
    scene.advance(by: 10)
    #expect(try await scene.say(by: "administrator", "Low") == "Queued")
    #expect(try await scene.say(by: "mary", "High") == "Queued")
    scene.advance(by: 90)
    #expect(try await scene.say(by: "mary", "High") == "Queued")
    for _ in 0..<30 { scene.advance(by: 100) }
    expectBalance(scene, accepted: 5, delivered: 4, dropped: 1)
  }

  @Test func postponedDeliveriesAreDroppedWhenTheCommitFails() async throws {
    let scene = try await ActorScene.liveRoom(1)
    #expect(try await scene.say() == "Delivered")
    #expect(try await scene.say() == "Queued")
    scene.store.hold()
    let joining = try scene.begin("joinGroup", by: "oscar")
    scene.advance(by: 1000)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await joining.answer().code == 10002)
    scene.settle()
    #expect(scene.events("mary") == ["onMessageDropped"])
    expectBalance(scene, accepted: 2, delivered: 1, dropped: 1)
  }

  @Test func messagesAnswered10002AreNotCounted() async throws {
    let scene = try await ActorScene.liveRoom(1)
    scene.store.hold()
    let joining = try scene.begin("joinGroup", by: "oscar")
    let sent = try [begin(scene), begin(scene), begin(scene, "High"), begin(scene, "Low")]
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    for pending in [joining] + sent { #expect(try await pending.answer().code == 10002) }
    scene.settle()
    #expect(scene.events("mary").isEmpty)
    expectBalance(scene, accepted: 0, delivered: 0, dropped: 0)
  }

  @Test func queuedMessagesAreDroppedWhenADisbandingFails() async throws {
    let scene = try await ActorScene.liveRoom(1)
    for _ in 0..<2 { _ = try await scene.say() }
    scene.store.hold()
    let dismissed = try scene.begin("dismissGroup", by: "olga")
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await dismissed.answer().code == 10002)
    scene.settle()
    #expect(scene.events("mary") == ["onMessageDropped"])
    expectBalance(scene, accepted: 2, delivered: 1, dropped: 1)
  }

  /// "Measured at the hand-over to the fan-out".
  @Test func aSlowStoreLetsNoMoreThroughInASecond() async throws {
    let scene = try await ActorScene.liveRoom(2)
    scene.store.hold()
    let joining = try scene.begin("joinGroup", by: "oscar")
    var sent: [Pending] = []
    for _ in 0..<10 {
      sent.append(try begin(scene))
      scene.settle()
      scene.advance(by: 300)
    }
    var delivered = 0
    func note() { delivered += scene.events("olga").count { $0 == "onRecvNewMessage" || $0 == "onMemberEnter" } }
    scene.store.release()
    #expect(try await joining.answer().code == 0)
    for pending in sent { _ = try await pending.answer() }
    scene.settle()
    note()
    #expect(delivered <= 2, "all at once")
    _ = try [begin(scene), begin(scene)]
    scene.settle()
    scene.advance(by: 999)
    note()
    #expect(delivered <= 2, "within a second")
    scene.advance(by: 1)
    #expect(try await scene.say() == "Delivered", "and then it goes on")
    func count(_ step: MessageCount.Steps) -> Int { scene.observer.counts.count { $0.steps.contains(step) } }
    #expect(count(.accepted) == 13 && count(.accepted) == count(.delivered) + count(.dropped))
  }

  @Test func aDeliveryAfterTheClockWasSetBackOccupiesASlotForASecond() async throws {
    let scene = try await ActorScene.liveRoom(1)
    try await scene.ask("info", by: "olga")
    scene.clocks.moveWall(by: -3_600_000)
    scene.store.hold()
    let joining = try scene.begin("joinGroup", by: "oscar")
    scene.settle()
    scene.advance(by: 400)
    scene.store.release()
    #expect(try await joining.answer().code == 0)
    #expect(try await scene.say() == "Queued")
    scene.advance(by: 999)
    #expect(scene.events("olga") == ["onMemberEnter"])
    scene.advance(by: 1)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
  }

  @Test func aClockThatIsSetBackWhileTheRoomRestsDoesNotProlongTheRest() async throws {
    let scene = try await ActorScene.liveRoom()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10002)
    scene.store.fail(with: nil)
    scene.moveWall(by: -3_600_000)
    #expect(try await scene.say() == "Delivered")
    #expect(try await scene.say() == "Queued")
    _ = scene.events("olga")
    scene.advance(by: 1000)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
  }
}
