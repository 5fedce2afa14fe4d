import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// How often a page asks the store: a group that never had a reply or a targeted message pays for
/// neither.
@Suite(.timeLimit(.minutes(10))) struct ReadCostTests {
  private let gate: MessageReadGate
  private let scene: ActorScene

  /// A Public group with three messages of mary's.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(store: store, messages: gate)
    try await scene.makeGroup()
    for _ in 0..<3 { try await scene.ask("sendGroupTextMessage", #"{"text":"x","extension":"e"}"#, by: "mary") }
  }

  private func reads(_ method: String, _ params: String = "{}", by name: String = "olga") async throws -> [String] {
    _ = gate.takeReads()
    #expect(try await scene.ask(method, params, by: name).code == 0)
    return gate.takeReads()
  }

  @Test func aPageOfPlainMessagesIsOneRead() async throws {
    #expect(try await reads("getGroupHistoryMessageList") == ["messages in a range"])
    #expect(try await reads("getGroupMessages", #"{"seqList":[1,2]}"#) == ["messages"])
    #expect(try await reads("info") == [])
  }

  @Test func aGroupWithRepliesPaysOneReadMore() async throws {
    try await scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1}"#, by: "mary")
    #expect(try await reads("getGroupHistoryMessageList") == ["messages in a range", "replyCounts"])
    #expect(try await reads("getGroupMessages", #"{"seqList":[1,2]}"#) == ["messages", "replyCounts"])
    #expect(try await reads("getGroupMessageReplies", #"{"seq":1}"#) == ["messages", "replies", "replyCounts"])
    #expect(try await reads("info") == [], "the newest message has no reply yet")
    try await scene.ask(
      "sendGroupTextMessage", #"{"text":"r","replyTo":4,"isExcludedFromLastMessage":true}"#, by: "mary")
    #expect(try await reads("info") == ["replyCounts"])
  }

  @Test func aGroupWithTargetedMessagesPaysOneReadMoreForThoseWhoMayBeLeftOut() async throws {
    try await scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["adam"]}"#, by: "mary")
    #expect(try await reads("getGroupHistoryMessageList") == ["hiddenSeqs", "messages in a range"])
    #expect(try await reads("getGroupHistoryMessageList", by: "administrator") == ["messages in a range"])
    #expect(try await reads("getGroupMessages", #"{"seqList":[1,4]}"#) == ["messages"])
  }

  /// Many messages for others make many short ranges, which are one read all the same.
  @Test func aPageBetweenManyMessagesForOthersIsOneRead() async throws {
    for _ in 0..<10 {
      try await scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["adam"]}"#, by: "mary")
      try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    }
    #expect(try await reads("getGroupHistoryMessageList") == ["hiddenSeqs", "messages"])
    let page = try await scene.ask("getGroupHistoryMessageList", #"{"count":5}"#, by: "olga").result
    #expect(page["messageList"].elements.map { $0["seq"] } == [23, 21, 19, 17, 15] && page["isFinished"] == false)
  }
}
