import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

/// The memory of a live room beside its actor: what outlives the actor and failed commits, what does
/// not, and what is on its way meanwhile.
@Suite(.timeLimit(.minutes(10))) struct RecentActorTests {
  private let scene: ActorScene

  /// An AVChatRoom of olga's with mary and adam, without a limit of messages, that remembers.
  init() async throws {
    scene = RecentActorTests.makeScene()
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary", "adam"] { try await scene.ask("joinGroup", by: name) }
    rest()
  }

  private static func makeScene(
    store: InMemoryStore = InMemoryStore(), recent: RecentMessages = RecentMessages(messages: 100, bytes: 1 << 20, duration: nil),
    profileStore: (any UserStore)? = nil, messagesPerSecond: [GroupType: Int] = [:]
  ) -> ActorScene {
    var configuration = RightsConfiguration()
    configuration.remembersLiveMessages = true
    var limits = GroupLimits.standard
    limits.messagesPerSecond = messagesPerSecond
    return ActorScene(
      store: store, profileStore: profileStore, limits: limits, permissions: GroupPermissions(configuration), recent: recent)
  }

  /// Lets notices be sent, and forgets what was heard.
  private func rest() {
    scene.waitForNotices()
    for name in ["olga", "adam", "mary", "oscar"] { _ = scene.events(name) }
  }

  @discardableResult
  private func say(_ text: String = "x", by name: String = "mary") async throws -> JSON {
    try await scene.ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: name).result
  }

  private func begin(_ text: String, by name: String = "mary") throws -> Pending {
    try scene.begin("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: name)
  }

  private func texts() async throws -> [String?] {
    try await scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"].elements.map { $0["text"].string }
  }

  private func epoch() async throws -> String? { try await scene.ask("info", by: "olga").result["epoch"].string }

  /// Lets the next commit wait, behind which other requests are decided.
  private func holdACommit() async throws -> Pending {
    scene.store.hold()
    let joined = try scene.begin("joinGroup", by: "oscar")
    try await scene.wait { scene.store.pendingCount > 0 }
    return joined
  }

  private func failCommits() {
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
  }

  // MARK: Leaving memory

  @Test func aRoomThatLeavesMemoryRemembers() async throws {
    let first = try await say("a")
    try await say("b")
    try await scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    let before = try await epoch()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    #expect(try await texts() == ["b", nil])
    let info = try await scene.ask("info", by: "olga").result
    #expect(info["lastSeq"] == 2 && info["changeSeq"] == 1 && info["epoch"].string == before)
    let sent = try await say("c")
    #expect(sent["seq"] == 3 && sent["msgID"] != first["msgID"])
    #expect(try await scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary").code == 0)
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 2)
  }

  @Test func aProcessThatBeginsAnewRemembersNothing() async throws {
    try await say()
    let before = try await epoch()
    let next = RecentActorTests.makeScene(store: scene.store)
    let info = try await next.ask("info", by: "olga").result
    #expect(info["lastSeq"] == 0 && info["epoch"].string != before)
    #expect(try await next.ask("sendGroupTextMessage", #"{"text":"y"}"#, by: "mary").result["seq"] == 1)
  }

  /// Another node decides, and may say something: what is remembered here would have a gap.
  @Test(arguments: [true, false], [true, false])
  func aRoomThatAnotherNodeTakesOverBeginsAnew(isResident: Bool, isAbandoned: Bool) async throws {
    try await say()
    let before = try #require(try await epoch())
    if !isResident {
      scene.registry.retireGroups(unusedFor: .zero)
      scene.settle()
    }
    if isAbandoned {
      scene.registry.abandonGroups()
      scene.settle()
    } else {
      await scene.registry.release { $0 == "g" }
    }
    let info = try await scene.ask("info", by: "olga").result
    #expect(info["lastSeq"] == 0 && info["changeSeq"] == 0 && info["epoch"].string != before)
    let row = try await scene.ask("sync", #"{"epoch":"\#(before)","seq":1}"#, by: "olga").result
    #expect(row["recovered"] == false && row["messageList"] == [] as JSON)
    #expect(try await say("y")["seq"] == 1)
    #expect(scene.recent?.messageCount == 1)
  }

  @Test func otherGroupsAreNotForgottenWithIt() async throws {
    try await say()
    await scene.registry.release { $0 == "h" }
    #expect(try await texts() == ["x"])
  }

  // MARK: Commits

  /// Nobody has heard of what a failed commit discards, so its places are given again.
  @Test func placesOfDiscardedMessagesAreGivenAgain() async throws {
    try await say("a")
    let before = try await epoch()
    _ = scene.events("olga")
    let joined = try await holdACommit()
    let lost = try begin("lost")
    scene.settle()
    #expect(!lost.isAnswered && scene.events("olga").isEmpty)
    failCommits()
    #expect(try await joined.answer().code == 10002)
    #expect(try await lost.answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await say("b")["seq"] == 2)
    #expect(try await texts() == ["b", "a"])
    #expect(try await epoch() == before)
  }

  /// A question is answered behind all that was decided before it.
  @Test func readingWaitsForWhatWasDecidedBefore() async throws {
    let joined = try await holdACommit()
    let sent = try begin("a")
    let read = try scene.begin("getGroupHistoryMessageList", by: "olga")
    scene.settle()
    #expect(!read.isAnswered && scene.recent?.messageCount == 0)
    scene.store.release()
    #expect(try await joined.answer().code == 0)
    #expect(try await sent.answer().result["seq"] == 1)
    #expect(try await read.answer().result["messageList"][0]["text"] == "a")
  }

  // MARK: Recalls

  @Test func twoRecallsBehindACommitTellOnce() async throws {
    try await say("a")
    _ = scene.events("olga")
    let joined = try await holdACommit()
    let recalls = try ["mary", "mary", "administrator"].map { try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: $0) }
    scene.settle()
    #expect(recalls.allSatisfy { !$0.isAnswered } && scene.events("olga").isEmpty)
    scene.store.release()
    #expect(try await joined.answer().code == 0)
    for recall in recalls { #expect(try await recall.answer().result == [:] as JSON) }
    #expect(scene.events("olga").filter { $0 == "onRecvMessageRevoked" }.count == 1)
    #expect(try await texts() == [nil])
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 1)
  }

  @Test func aDiscardedRecallHasTakenNothingAway() async throws {
    try await say("a")
    _ = scene.events("olga")
    let joined = try await holdACommit()
    let recall = try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    scene.settle()
    failCommits()
    #expect(try await joined.answer().code == 10002)
    #expect(try await recall.answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await texts() == ["a"])
    #expect(!scene.events("olga").contains("onRecvMessageRevoked"))
    #expect(try await scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").code == 0)
    #expect(try await texts() == [nil])
    #expect(try await scene.ask("info", by: "olga").result["changeSeq"] == 1)
  }

  /// Requests of one session are answered in their order, also where one is decided over the memory.
  @Test func aRecallKeepsTheOrderOfReplies() async throws {
    try await say("a")
    let joined = try await holdACommit()
    let recall = try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    let sent = try begin("b")
    scene.settle()
    #expect(!recall.isAnswered && !sent.isAnswered)
    scene.store.release()
    #expect(try await joined.answer().code == 0)
    #expect(try await sent.answer().result["seq"] == 2)
    #expect(recall.isAnswered)
    #expect(try await texts() == ["b", nil])
  }

  /// A message that has left the queue waits for the commits before it, and its sender knows its ID.
  @Test func aMessageOnItsWayFromTheQueueIsRecalled() async throws {
    let scene = RecentActorTests.makeScene(messagesPerSecond: [.avChatRoom: 1])
    try await scene.makeGroup("AVChatRoom")
    try await scene.ask("joinGroup", by: "mary")
    scene.waitForNotices()
    try await scene.ask("sendGroupTextMessage", #"{"text":"a"}"#, by: "mary")
    let queued = try await scene.ask("sendGroupTextMessage", #"{"text":"b"}"#, by: "mary").result
    #expect(queued["status"] == "Queued")
    let id = try #require(queued["msgID"].string)
    _ = scene.events("olga")
    scene.store.hold()
    let named = try scene.begin("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    try await scene.wait { scene.store.pendingCount > 0 }
    scene.advance(by: 1000)
    let recalls = try (0..<2).map { _ in try scene.begin("revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: "mary") }
    let unknown = try scene.begin("revokeGroupMessage", #"{"msgID":"none"}"#, by: "mary")
    scene.settle()
    #expect(scene.events("olga").isEmpty)
    scene.store.release()
    #expect(try await named.answer().code == 0)
    for recall in recalls { #expect(try await recall.answer().result == [:] as JSON) }
    #expect(try await unknown.answer().code == 10030)
    #expect(scene.events("olga") == ["onGroupInfoChanged", "onRecvNewMessage", "onRecvMessageRevoked"])
    let messages = try await scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"]
    #expect(messages.elements.map { $0["seq"].integer } == [2, 1] && messages[0]["isRevoked"] == true)
  }

  // MARK: The end of the room

  @Test func aDisbandedRoomIsForgotten() async throws {
    try await say("a")
    let before = try await epoch()
    #expect(scene.recent?.messageCount == 1)
    try await scene.ask("dismissGroup", by: "olga")
    #expect(scene.recent?.messageCount == 0 && scene.recent?.byteCount == 0)
    try await scene.makeGroup("AVChatRoom")
    #expect(try await epoch() != before)
    #expect(try await texts() == [])
    #expect(try await say("b", by: "olga")["seq"] == 1)
  }

  /// The former room's messages may still wait for the store when the next one is decided.
  @Test func aRoomThatIsMadeAgainAtOnceSharesNothing() async throws {
    try await say("a")
    let before = try await epoch()
    _ = scene.events("adam")
    let joined = try await holdACommit()
    let last = try begin("last")
    let gone = try scene.begin("dismissGroup", by: "olga")
    let made = try scene.begin("createGroup", #"{"groupType":"AVChatRoom","groupName":"n"}"#, by: "olga")
    // Of another room, which has no message at that place.
    let recall = try scene.begin("revokeGroupMessage", #"{"seq":1}"#, by: "administrator")
    let first = try begin("first", by: "olga")
    let read = try scene.begin("getGroupHistoryMessageList", by: "olga")
    scene.settle()
    scene.store.release()
    for pending in [joined, gone, made] { #expect(try await pending.answer().code == 0) }
    #expect(try await last.answer().result["seq"] == 2)
    #expect(try await recall.answer().code == 10030)
    #expect(try await first.answer().result["seq"] == 1)
    #expect(try await read.answer().result["messageList"].elements.map { $0["text"].string } == ["first"])
    #expect(try await epoch() != before)
    #expect(try await texts() == ["first"])
    #expect(scene.recent?.messageCount == 1)
    let heard = scene.events("adam")
    #expect(heard.contains("onGroupDismissed") && heard.filter { $0 == "onRecvNewMessage" }.count == 1)
  }

  @Test func aRoomThatIsMadeAgainInVainIsForgotten() async throws {
    try await say("a")
    try await scene.ask("dismissGroup", by: "olga")
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(
      try await scene.ask("createGroup", #"{"groupType":"AVChatRoom","groupName":"n"}"#, by: "olga").code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "olga").code == 10010)
    try await scene.makeGroup("AVChatRoom")
    #expect(try await texts() == [])
  }

  /// Groups that store messages never ask the memory.
  @Test func otherGroupsAreNotRemembered() async throws {
    let stored = RecentActorTests.makeScene()
    try await stored.makeGroup()
    try await stored.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(try await stored.ask("info", by: "mary").result["firstSeq"] == 1)
    #expect(stored.recent?.messageCount == 0)
  }

  // MARK: Profiles

  /// "Lists have the profile of the reading" (10.1), which the store has where memory has not.
  @Test func aPageShowsTheProfilesOfNow() async throws {
    let gate = ProfileGate()
    gate.set(.make(nickName: "The mary", faceURL: "f"), of: "mary")
    let scene = RecentActorTests.makeScene(profileStore: gate)
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary", "adam"] { try await scene.ask("joinGroup", by: name) }
    for name in ["mary", "adam", "administrator"] {
      try await scene.ask("sendGroupTextMessage", #"{"text":"\#(name)"}"#, by: name)
    }
    let page = try await scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"]
    #expect(page.elements.map { $0["nickName"].string } == [nil, nil, "The mary"] && page[2]["faceURL"] == "f")
    let epoch = try #require(try await scene.ask("info", by: "olga").result["epoch"].string)
    let row = try await scene.ask("sync", #"{"epoch":"\#(epoch)","seq":0}"#, by: "olga").result
    #expect(row["messageList"][0]["nickName"] == "The mary")
    scene.profiles.removeAll()
    gate.fail(with: StoreError(.unavailable, "test"))
    #expect(try await scene.ask("getGroupHistoryMessageList", by: "olga").code == 10002)
    #expect(scene.observer.failures.count == 1)
  }
}
