import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// A message that may have been sent before is looked for in the store, and much can happen meanwhile.
@Suite(.timeLimit(.minutes(10))) struct ResendActorTests {
  private let gate: MessageReadGate
  private let scene: ActorScene
  /// When mary has sent "c" first.
  private let first: WallInstant
  private static let day: Int64 = 86_400_000

  /// A Public group with a message of mary's, sent a day ago.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(store: store, messages: gate)
    first = scene.clocks.wall
    try await scene.makeGroup()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    scene.clocks.advance(by: Self.day)
    for name in ["olga", "adam", "mary"] { _ = scene.events(name) }
    _ = gate.takeReads()
  }

  private var stored: [Message] { scene.store.allMessages(of: "g") }

  private func params(_ id: String = "c") -> String { #"{"text":"x","clientMsgID":"\#(id)","firstSentAt":\#(first)}"# }

  @Test func oneReadFindsIt() async throws {
    let again = try await scene.ask("sendGroupTextMessage", params(), by: "mary")
    #expect(again.code == 0 && again.result["seq"] == 1 && again.result["status"] == "Stored")
    #expect(gate.takeReads() == ["sentMessage"] && stored.count == 1)
    for name in ["olga", "adam", "mary"] { #expect(scene.events(name) == []) }
  }

  /// Ordinary messages cost no reading, and neither does a resend soon after.
  @Test func nothingIsReadWhereReceiptsAreRemembered() async throws {
    try await scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"d"}"#, by: "mary")
    let now = scene.clocks.wall
    scene.clocks.advance(by: 299_999)
    let soon = #"{"text":"x","clientMsgID":"d","firstSentAt":\#(now)}"#
    #expect(try await scene.ask("sendGroupTextMessage", soon, by: "mary").result["seq"] == 2)
    let other = #"{"text":"x","clientMsgID":"e","firstSentAt":\#(now)}"#
    #expect(try await scene.ask("sendGroupTextMessage", other, by: "mary").result["seq"] == 3)
    #expect(gate.takeReads() == [])
  }

  @Test func theSameTwiceAtOnceIsOneMessage() async throws {
    gate.hold()
    let one = try scene.begin("sendGroupTextMessage", params("new"), by: "mary")
    // Not of that session, whose requests wait for each other.
    let (mary, second) = (Caller.user("mary", platform: .web, session: nil), Pending())
    scene.registry.group("g").enqueue(
      .request(try groupRequest("sendGroupTextMessage", params("new"), by: mary), by: mary) { second.complete($0) })
    await gate.waitForReadings(2)
    gate.release()
    let (answer, other) = (try await one.answer(), try await second.answer())
    #expect(answer.code == 0 && answer == other && stored.count == 2)
  }

  /// The first comes late, while it is looked for.
  @Test func oneThatArrivesMeanwhileIsTheFirst() async throws {
    gate.hold()
    let again = try scene.begin("sendGroupTextMessage", params("new"), by: "mary")
    await gate.waitForReadings(1)
    let mary = Caller.user("mary", platform: .web, session: nil)
    let late = await scene.registry.group("g").ask(
      try groupRequest("sendGroupTextMessage", #"{"text":"x","clientMsgID":"new"}"#, by: mary), by: mary)
    gate.release()
    #expect(try await again.answer() == ActorScene.Answer(late) && stored.count == 2)
  }

  @Test func messagesOfASessionKeepTheirOrderBehindIt() async throws {
    gate.hold()
    let again = try scene.begin("sendGroupTextMessage", params("new"), by: "mary")
    let next = try scene.begin("sendGroupTextMessage", #"{"text":"next"}"#, by: "mary")
    let others = try scene.begin("sendGroupTextMessage", #"{"text":"other"}"#, by: "adam")
    await gate.waitForReadings(1)
    #expect(try await others.answer().result["seq"] == 2, "others do not wait")
    gate.release()
    #expect(try await again.answer().result["seq"] == 3)
    #expect(try await next.answer().result["seq"] == 4)
  }

  @Test func whoLeavesMeanwhileHasNotSentIt() async throws {
    gate.hold()
    let again = try scene.begin("sendGroupTextMessage", params("new"), by: "adam")
    await gate.waitForReadings(1)
    try await scene.ask("kickGroupMember", #"{"userIDList":["adam"]}"#, by: "olga")
    gate.release()
    #expect(try await again.answer().code == 10007)
    #expect(stored.allSatisfy { $0.clientMsgID != "new" })
  }

  @Test func aStoreThatFailsRefusesForNow() async throws {
    gate.fail(with: StoreError(.unavailable, "disk"))
    #expect(try await scene.ask("sendGroupTextMessage", params("new"), by: "mary").code == 10002)
    #expect(stored.count == 1)
    gate.fail(with: nil)
    #expect(try await scene.ask("sendGroupTextMessage", params("new"), by: "mary").result["seq"] == 2)
  }
}
