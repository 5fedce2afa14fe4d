import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// A reply reads the message that it answers, so much can happen between asking and deciding; and what
/// names its readers stays theirs whatever fails.
@Suite(.timeLimit(.minutes(10))) struct ReplyActorTests {
  private let gate: MessageReadGate
  private let scene: ActorScene
  private let reply = #"{"text":"r","replyTo":1,"clientMsgID":"c"}"#

  /// A Public group with a message of mary's at seq 1.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(store: store, messages: gate)
    try await scene.makeGroup()
    try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    for name in ["olga", "adam", "mary"] { _ = scene.events(name) }
  }

  private var stored: [Message] { scene.store.allMessages(of: "g") }

  @Test func aReplyDuringARecallIsRefused() async throws {
    gate.hold()
    let recalled = try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    await gate.waitForReadings(1)
    let answered = try scene.begin("sendGroupTextMessage", reply, by: "adam")
    await gate.waitForReadings(2)
    // The reply has read the message as it was.
    gate.releaseOne()
    #expect(try await recalled.answer().code == 0)
    gate.release()
    #expect(try await answered.answer().code == 10030)
    #expect(stored.count == 1 && scene.events("olga") == ["onRecvMessageRevoked"])
    // A refusal is not remembered: the same clientMsgID is a new message.
    try await scene.ask("sendGroupTextMessage", #"{"text":"y"}"#, by: "mary")
    let other = try await scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":2,"clientMsgID":"c"}"#, by: "adam")
    #expect(other.code == 0 && other.result["seq"] == 3)
  }

  @Test func theSameReplyTwiceAtOnceIsOneMessage() async throws {
    gate.hold()
    let first = try scene.begin("sendGroupTextMessage", reply, by: "adam")
    // Not of that session, whose requests wait for each other.
    let (adam, second) = (Caller.user("adam", platform: .web, session: nil), Pending())
    scene.registry.group("g").enqueue(
      .request(try groupRequest("sendGroupTextMessage", reply, by: adam), by: adam) { second.complete($0) })
    await gate.waitForReadings(2)
    gate.release()
    let (one, two) = (try await first.answer(), try await second.answer())
    #expect(one.code == 0 && one == two && stored.count == 2)
  }

  @Test func messagesOfASessionKeepTheirOrderBehindAReply() async throws {
    gate.hold()
    let answered = try scene.begin("sendGroupTextMessage", #"{"text":"r","replyTo":1}"#, by: "mary")
    let next = try scene.begin("sendGroupTextMessage", #"{"text":"next"}"#, by: "mary")
    let others = try scene.begin("sendGroupTextMessage", #"{"text":"other"}"#, by: "adam")
    await gate.waitForReadings(1)
    #expect(try await others.answer().result["seq"] == 2, "others do not wait")
    gate.release()
    #expect(try await answered.answer().result["seq"] == 3)
    #expect(try await next.answer().result["seq"] == 4)
  }

  @Test func aReplyToAMessageThatIsBeingStoredIsOne() async throws {
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let answered = try scene.begin("sendGroupTextMessage", #"{"text":"r","replyTo":2}"#, by: "adam")
    #expect(try await sent.answer().code == 0)
    #expect(try await answered.answer().code == 0)
    #expect(stored.last?.extras?.replyTo == ReplyReference(seq: 2, sender: "mary"))
  }

  @Test func whoLeavesMeanwhileHasNotReplied() async throws {
    gate.hold()
    let answered = try scene.begin("sendGroupTextMessage", reply, by: "adam")
    await gate.waitForReadings(1)
    try await scene.ask("kickGroupMember", #"{"userIDList":["adam"]}"#, by: "olga")
    gate.release()
    #expect(try await answered.answer().code == 10007)
    #expect(stored.allSatisfy { $0.extras == nil })
  }

  @Test func aStoreThatFailsRefusesTheReply() async throws {
    gate.fail(with: StoreError(.unavailable, "disk"))
    #expect(try await scene.ask("sendGroupTextMessage", reply, by: "adam").code == 10002)
    gate.fail(with: nil)
    #expect(try await scene.ask("sendGroupTextMessage", reply, by: "adam").code == 0)
  }

  /// An event that was lost with the state is made again, for the same readers.
  @Test func aFailedCommitTellsNobodyElseOfATargetedMessage() async throws {
    try await scene.ask("sendGroupTextMessage", #"{"text":"x","toUserIDList":["adam"]}"#, by: "mary")
    for text in ["1", "2"] { try await scene.ask("modifyGroupMessage", #"{"seq":2,"text":"\#(text)"}"#, by: "mary") }
    for name in ["olga", "adam", "mary"] { _ = scene.events(name) }
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("modifyGroupMessage", #"{"seq":2,"text":"3"}"#, by: "mary").code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "adam").result["changeSeq"] == 2)
    var told: [JSON] = []
    try await scene.wait {
      scene.settle()
      told += (try? scene.params("onRecvMessageModified", to: "adam")) ?? []
      return !told.isEmpty
    }
    #expect(told.map { $0["message"]["text"] } == ["2"])
    #expect(scene.events("olga") == [])
  }

  @Test func aGroupThatIsLoadedAgainKnowsWhoSeesWhat() async throws {
    try await scene.ask("sendGroupTextMessage", #"{"text":"x","toUserIDList":["adam"],"replyTo":1}"#, by: "mary")
    let again = ActorScene(store: scene.store)
    let counted = try await again.ask("getGroupMessages", #"{"seqList":[1,2]}"#, by: "adam").result["messageList"].elements
    #expect(counted.map { $0["replyCount"] } == [1, .null])
    let hidden = try await again.ask("getGroupHistoryMessageList", by: "olga").result
    #expect(hidden["messageList"].elements.map { $0["seq"] } == [1] && hidden["isFinished"] == true)
    let info = try await again.ask("info", by: "olga").result
    #expect(info["lastMessage"]["seq"] == 1 && info["lastSeq"] == 2)
    #expect(try await again.ask("unreadCount", by: "adam").result == 1)
  }
}
