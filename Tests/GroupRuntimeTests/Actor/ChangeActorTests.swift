import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Edits, pins and reactions need the stored message, so much can happen between asking and
/// deciding.
@Suite(.timeLimit(.minutes(10))) struct ChangeActorTests {
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

  private func reactions() async throws -> JSON {
    try await scene.ask("getMessageReactions", #"{"seqList":[1],"userCount":10}"#, by: "olga").result["resultList"][0][
      "reactions"]
  }

  @Test func reactionsAtOnceCountEachOfThem() async throws {
    gate.hold()
    let give = #"{"seq":1,"reaction":"a"}"#
    let pending = try ["mary", "adam", "olga", "mary"].map { try scene.begin("addMessageReaction", give, by: $0) }
    await gate.waitForReadings(3)
    gate.release()
    for answer in pending { #expect(try await answer.answer().code == 0) }
    let found = try await reactions()
    #expect(found[0]["count"] == 3 && Set(found[0]["userIDList"].strings) == ["mary", "adam", "olga"])
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 3, "twice is once")
  }

  @Test func aReactionDuringARecallIsRefused() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    await gate.waitForReadings(1)
    let given = try scene.begin("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    let pinned = try scene.begin("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    let edited = try scene.begin("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, by: "mary")
    // The edit waits for the recall of the same session; the others have read the message as it was.
    await gate.waitForReadings(3)
    gate.releaseOne()
    #expect(try await recalled.answer().code == 0)
    gate.release()
    for pending in [given, pinned, edited] { #expect(try await pending.answer().code == 10030) }
    #expect(scene.events("olga") == ["onRecvMessageRevoked"])
    #expect(try await reactions() == [])
  }

  @Test func editsOfASessionTakeEffectInTheirOrder() async throws {
    gate.hold()
    let edits = try (1...8).map { try scene.begin("modifyGroupMessage", #"{"seq":1,"text":"\#($0)"}"#, by: "mary") }
    await gate.waitForReadings(1)
    gate.release()
    for edit in edits { #expect(try await edit.answer().code == 0) }
    #expect(scene.store.allMessages(of: "g")[0].content == .text("8"))
  }

  @Test func aSessionReadsItsOwnChangesBehindThem() async throws {
    gate.hold()
    let edit = try scene.begin("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, by: "mary")
    let same = try scene.begin("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, by: "mary")
    let history = try scene.begin("getGroupHistoryMessageList", by: "mary")
    let info = try scene.begin("info", by: "mary")
    let others = try scene.begin("info", by: "adam")
    await gate.waitForReadings(1)
    #expect(try await others.answer().result["changeSeq"] == 0, "others do not wait")
    gate.release()
    #expect(try await edit.answer().result.names == ["editTime"])
    #expect(try await same.answer().result == .object([:]), "the same content")
    #expect(try await history.answer().result["messageList"][0]["text"] == "y")
    #expect(try await info.answer().result["changeSeq"] == 1)
  }

  @Test func aMessageThatIsBeingStoredCanBeChanged() async throws {
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let edit = try scene.begin("modifyGroupMessage", #"{"seq":2,"text":"y"}"#, by: "mary")
    let reaction = try scene.begin("addMessageReaction", #"{"seq":2,"reaction":"a"}"#, by: "adam")
    let recall = try scene.begin("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    for pending in [sent, edit, reaction, recall] { #expect(try await pending.answer().code == 0) }
    #expect(scene.store.allMessages(of: "g")[1].isRevoked)
  }

  @Test func aFailedStoreEndsWhatWaitsForIt() async throws {
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let edit = try scene.begin("modifyGroupMessage", #"{"seq":2,"text":"y"}"#, by: "mary")
    let history = try scene.begin("getGroupHistoryMessageList", by: "mary")
    #expect(try await sent.answer().code == 10002)
    // The group may have been read again before the edit was decided: there is no such message.
    #expect([10002, 10030].contains(try await edit.answer().code))
    scene.store.fail(with: nil)
    #expect(try await history.answer().result["messageList"].elements.count == 1)
  }

  @Test func aFailedCommitDoesNotLoseTheEventsThatWait() async throws {
    for text in ["1", "2"] { try await scene.ask("modifyGroupMessage", #"{"seq":1,"text":"\#(text)"}"#, by: "mary") }
    #expect(try scene.params("onRecvMessageModified", to: "olga").map { $0["message"]["text"] } == ["1"])
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("modifyGroupMessage", #"{"seq":1,"text":"3"}"#, by: "mary").code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 2)
    var told: [JSON] = []
    try await scene.wait {
      scene.settle()
      told += (try? scene.params("onRecvMessageModified", to: "olga")) ?? []
      return !told.isEmpty
    }
    #expect(told.map { $0["message"]["text"] } == ["2"] && told[0]["changeSeq"] == 2, "the last state always arrives")
  }

  @Test func whatWaitsIsSentWhenItIsDue() async throws {
    for text in ["1", "2", "3"] { try await scene.ask("modifyGroupMessage", #"{"seq":1,"text":"\#(text)"}"#, by: "mary") }
    _ = scene.events("olga")
    scene.advance(by: 54)
    #expect(scene.events("olga").isEmpty)
    scene.advance(by: 1)
    #expect(try scene.params("onRecvMessageModified", to: "olga").map { $0["message"]["text"] } == ["3"])
  }

  @Test func changesSurviveLoadingAgain() async throws {
    try await scene.ask("modifyGroupMessage", #"{"seq":1,"text":"1"}"#, by: "mary")
    try await scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    scene.advance(by: 1000)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    let info = try await scene.ask("info", by: "olga").result
    #expect(info["changeSeq"] == 2 && info["lastMessage"]["isPinned"] == true && info["lastMessage"]["text"] == "1")
    #expect(try await scene.ask("getPinnedGroupMessageList", by: "olga").result["messageList"].elements.count == 1)
    try await scene.ask("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 3)
  }
}
