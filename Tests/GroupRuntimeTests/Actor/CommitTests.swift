import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "Nothing is acknowledged before it is durable, nothing is fanned out before it is committed."
@Suite struct CommitTests {
  @Test func aReplyAndItsEventsWaitForTheCommit() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let joined = try scene.begin("joinGroup", by: "oscar")
    scene.settle()
    #expect(!sent.isAnswered && !joined.isAnswered)
    #expect(scene.events("olga").isEmpty && scene.events("oscar").isEmpty)
    #expect(scene.store.pendingCount == 2, "the second is decided while the first is on its way")
    scene.store.release()
    #expect(try await sent.answer().result["seq"] == 1)
    #expect(try await joined.answer().result == ["status": "Joined"])
    #expect(scene.events("olga") == ["onRecvNewMessage", "onMemberEnter"])
    #expect(scene.events("oscar") == ["onMemberEnter"])
  }

  @Test func aQuestionIsAnsweredAfterWhatItWasDecidedUpon() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let info = try scene.begin("info", by: "olga")
    let refused = try scene.begin("quitGroup", by: "olga")
    let outside = try scene.begin("quitGroup", by: "oscar")
    scene.settle()
    #expect(!sent.isAnswered && !info.isAnswered && !refused.isAnswered && !outside.isAnswered)
    scene.store.release()
    #expect(try await info.answer().result["lastSeq"] == 1)
    #expect(try await refused.answer().code == 10009)
    #expect(try await outside.answer().code == 10007)
    #expect(sent.isAnswered)
  }

  @Test func whatIsOnItsWayWhenAnotherNodeDecidesMayHaveBeenPerformed() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let info = try scene.begin("info", by: "olga")
    scene.settle()
    scene.registry.abandonGroups()
    scene.settle()
    #expect(try await sent.answer().code == -32603, "10002 would say that nothing was changed")
    #expect(try await info.answer().code == 10002)
    scene.store.release()
    scene.settle()
    #expect(scene.events("olga").isEmpty)
  }

  @Test func theSameClientMsgIDWaitsForTheFirst() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let first = try scene.begin("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    let again = try scene.begin("sendGroupTextMessage", #"{"text":"x","clientMsgID":"c"}"#, by: "mary")
    scene.settle()
    #expect(!again.isAnswered)
    scene.store.release()
    #expect(try await again.answer() == (try await first.answer()))
    #expect(scene.events("olga") == ["onRecvNewMessage"])
    #expect(scene.store.allMessages(of: "g").count == 1)
    #expect(scene.observer.counts.count == 1)
  }

  @Test func chatOfALiveRoomDoesNotWaitForTheStoreButForWhatWasDecidedBefore() async throws {
    let scene = ActorScene()
    try await scene.makeGroup("AVChatRoom")
    try await scene.ask("joinGroup", by: "mary")
    scene.store.hold()
    scene.advance(by: 1000)
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["status"] == "Delivered")
    let joined = try scene.begin("joinGroup", by: "oscar")
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar")
    scene.settle()
    #expect(!joined.isAnswered && !sent.isAnswered)
    _ = scene.events("olga")
    scene.store.release()
    #expect(try await sent.answer().code == 0)
    #expect(scene.events("olga") == ["onMemberEnter", "onRecvNewMessage"])
  }

  @Test func ofManyRequestsEverySeqIsGivenOnceAndEventsLeaveInOrder() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    let pending = try (0..<200).map { try scene.begin("sendGroupTextMessage", #"{"text":"\#($0)"}"#, by: "mary") }
    var seqs: [Int64?] = []
    for sent in pending { seqs.append(try await sent.answer().result["seq"].integer) }
    #expect(seqs == (1...200).map { $0 })
    #expect(scene.events("olga").count == 200)
    let calls = try #require(scene.broker.topics(of: "g").last).calls
    let published = calls.compactMap { call -> Int64? in
      guard case .publish(let frame, _, _) = call else { return nil }
      return (try? JSON(frame))?["params"]["message"]["seq"].integer
    }
    #expect(published == Array(1...200))
  }

  @Test func aCompletionThatAsksAgainStandsBehindWhatWasDecidedBefore() async throws {
    let scene = ActorScene()
    try await scene.makeGroup("AVChatRoom")
    let group = scene.registry.group("g")
    scene.store.hold()
    let (first, again) = (Pending(), Pending())
    let caller = scene.caller("mary")
    let later = try groupRequest("sendGroupTextMessage", #"{"text":"later"}"#, by: caller)
    group.enqueue(
      .request(try groupRequest("joinGroup", by: caller), by: caller) { reply in
        first.complete(reply)
        group.enqueue(.request(later, by: caller) { again.complete($0) })
      })
    let before = try scene.begin("sendGroupTextMessage", #"{"text":"before"}"#, by: "mary")
    scene.settle()
    scene.store.release()
    #expect(try await again.answer().code == 0)
    #expect(before.isAnswered && first.isAnswered)
    let topic = try #require(scene.broker.topics(of: "g").last)
    let texts = topic.calls.compactMap { call -> String? in
      guard case .publish(let frame, _, _) = call else { return nil }
      return (try? JSON(frame))?["params"]["message"]["text"].string
    }
    #expect(texts == ["before", "later"])
  }

  @Test func aPageEndsEarlyWhereTheRepliesRoomEnds() async throws {
    let scene = ActorScene(limits: GroupLimits(maxMemberNum: [.public: 10], pageBytes: 600))
    try await scene.makeGroup()
    for _ in 0..<5 { try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
    var all: [Int64] = []
    var isFinished = false
    while !isFinished {
      let page = try await scene.ask(
        "getGroupHistoryMessageList", #"{"direction":"Newer","fromSeq":\#(all.last ?? 0)}"#, by: "olga"
      ).result
      let seqs = page["messageList"].elements.compactMap { $0["seq"].integer }
      try #require((1...4).contains(seqs.count), "at least one, and not all at once")
      all += seqs
      isFinished = page["isFinished"] == true
    }
    #expect(all == [1, 2, 3, 4, 5])
    let epoch = try await scene.ask("info", by: "olga").result["epoch"].string ?? ""
    let row = try await scene.ask("sync", #"{"epoch":"\#(epoch)","seq":0}"#, by: "olga").result
    #expect(
      row["recovered"] == true && row["more"] == true && row["messageList"][0]["seq"] == 1 && row["groupID"] == "g"
        && row["code"] == 0)
  }

  @Test func unreadIsCountedByTheStore() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    for name in ["mary", "adam", "olga"] { try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: name) }
    try await scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "adam")
    #expect(try await scene.ask("info", by: "olga").result["selfInfo"]["unreadCount"] == 2)
  }
}
