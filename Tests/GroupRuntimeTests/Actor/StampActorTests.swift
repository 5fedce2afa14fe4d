import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The stamp of a group at work: what the store has of it, and what is told with the events.
@Suite(.timeLimit(.minutes(10))) struct StampActorTests {
  private let scene: ActorScene

  init() async throws {
    scene = ActorScene(permissions: GroupPermissions(attributeTypes: [.public]), keepsStamps: true)
    try await scene.makeGroup()
  }

  private func topic() throws -> RecordingTopic { try #require(scene.broker.topics(of: "g").last) }

  /// What the members know.
  private func told() throws -> GroupStamp {
    let last: GroupStamp? = try topic().stamps.last ?? nil
    return try #require(last)
  }

  private func stored() async throws -> GroupStamp { try #require(try await scene.store.stamps(of: ["g"])["g"]) }

  /// Both, which are the same where nothing is pending.
  private func settled(sourceLocation: SourceLocation = #_sourceLocation) async throws -> GroupStamp {
    scene.settle()
    let (told, stored) = (try told(), try await stored())
    #expect(told == stored, sourceLocation: sourceLocation)
    return stored
  }

  private func ask(_ method: String, _ params: String = "{}", by name: String) async throws {
    #expect(try await scene.ask(method, params, by: name).code == 0, "\(method)")
  }

  // MARK: What raises what

  @Test func aNewGroupIsToldAsItIs() async throws {
    let stamp = try await settled()
    #expect(stamp.revision == 0 && stamp.board == 0 && stamp.changeSeq == 0)
  }

  @Test func messagesAndTheirChangesRaiseTheirOwnNumbers() async throws {
    let before = try await settled()
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    var expected = before
    expected.seq += 1
    #expect(try await settled() == expected)
    let seq = expected.seq
    try await ask("addMessageReaction", #"{"seq":\#(seq),"reaction":"a"}"#, by: "adam")
    try await ask("pinGroupMessage", #"{"seq":\#(seq),"isPinned":true}"#, by: "olga")
    expected.changeSeq += 2
    #expect(try await settled() == expected)
    try await ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "mary")
    expected.changeSeq += 1
    #expect(try await settled() == expected)
  }

  @Test func membersAndInfoRaiseTheRevision() async throws {
    let before = try await settled()
    try await ask("joinGroup", by: "oscar")
    let joined = try await settled()
    #expect(joined.revision == before.revision + 1)
    try await ask("setGroupInfo", #"{"groupName":"new"}"#, by: "olga")
    #expect(try await settled().revision == joined.revision + 1)
  }

  @Test func whatAUsersOnlySessionDoesCostsNothing() async throws {
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    let before = try await settled()
    try await ask("markGroupMessageAsRead", #"{"seq":\#(before.seq)}"#, by: "mary")
    #expect(try await settled() == before)
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    scene.signIn("mary", as: "mary/2")
    await scene.refresh("mary")
    let second = try await settled()
    try await ask("markGroupMessageAsRead", #"{"seq":\#(second.seq)}"#, by: "mary")
    #expect(scene.events("mary/2") == ["onConversationRead"])
    #expect(try await settled().revision == second.revision + 1)
  }

  @Test func questionsTellNothing() async throws {
    _ = try await settled()
    let calls = try topic().tellings.count
    try await ask("getGroupMemberList", by: "mary")
    try await ask("info", by: "mary")
    #expect(try topic().tellings.count == calls)
  }

  @Test func aLiveRoomHasNoStamp() async throws {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup("AVChatRoom")
    #expect(try await scene.ask("joinGroup", by: "mary").code == 0)
    #expect(try await scene.ask("setGroupCounters", #"{"counters":{"k":1}}"#, by: "olga").code == 0)
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(!topic.stamps.isEmpty && topic.stamps.allSatisfy { $0 == nil })
    let stored = try await scene.store.stamps(of: ["g"])["g"]
    #expect(stored?.revision == 0 && stored?.board == 0)
  }

  @Test func withoutOtherNodesNothingIsRaisedOrTold() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 0)
    #expect(try await scene.store.stamps(of: ["g"])["g"]?.revision == 0)
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(topic.stamps.isEmpty && topic.calls == topic.tellings)
  }

  // MARK: Telling

  /// All that a decision tells stands between a beginning and an end, with the stamp at the end.
  @Test func whatBelongsTogetherIsToldTogether() async throws {
    try await ask("joinGroup", by: "oscar")
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    await scene.refresh("mary")
    try await ask("setGroupCounters", #"{"counters":{"k":1}}"#, by: "olga")
    _ = try await settled()
    try await ask("dismissGroup", by: "olga")
    scene.settle()
    var isTelling = false
    for call in try topic().tellings {
      switch call {
      case .beginTelling:
        #expect(!isTelling)
        isTelling = true
      case .didTell:
        #expect(isTelling)
        isTelling = false
      default: #expect(isTelling, "\(call)")
      }
    }
    #expect(!isTelling)
    #expect(try topic().tellings.suffix(2) == [.close, .didTell(nil)])
  }

  @Test func nothingIsToldBeforeItIsDurable() async throws {
    let before = try await settled()
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let joined = try scene.begin("joinGroup", by: "oscar")
    scene.settle()
    // A signal passes both, and tells no more than was told.
    try await ask("sendGroupSignal", #"{"name":"typing"}"#, by: "adam")
    await scene.refresh("adam")
    #expect(try told() == before)
    scene.store.release()
    #expect(try await sent.answer().code == 0)
    #expect(try await joined.answer().code == 0)
    let stamps = try topic().stamps.compactMap { $0 }
    #expect(stamps.contains { $0.seq == before.seq + 1 && $0.revision == before.revision }, "each is told for itself")
    #expect(try await settled().revision == before.revision + 1)
  }

  @Test func attributesThatWaitAreNotTold() async throws {
    let before = try await settled()
    try await ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "mary")
    #expect(try await settled().board == before.board + 1)
    try await ask("setGroupAttributes", #"{"attributes":{"k":"b"}}"#, by: "mary")
    try await ask("setGroupAttributes", #"{"attributes":{"k":"c"}}"#, by: "mary")
    #expect(try await stored().board == before.board + 2)
    #expect(try told().board == before.board + 1)
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let sent = try told()
    #expect(sent.board == before.board + 1 && sent.seq == before.seq + 1)
    scene.advance(by: 50)
    #expect(try await settled().board == before.board + 2)
  }

  @Test func countersRaiseTheBoardOnceWhileTheyAreTold() async throws {
    let before = try await settled()
    for value in 1...5 { try await ask("setGroupCounters", #"{"counters":{"k":\#(value)}}"#, by: "olga") }
    #expect(try await stored().board <= before.board + 2)
    scene.advance(by: 220)
    #expect(try await settled().board == before.board + 2, "the first is told at once, and the others together")
  }

  @Test func eventsOfChangesThatWaitAreNotTold() async throws {
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let before = try await settled()
    for reaction in ["a", "b", "c"] {
      try await ask("addMessageReaction", #"{"seq":\#(before.seq),"reaction":"\#(reaction)"}"#, by: "adam")
    }
    let (stored, known) = (try await stored(), try told())
    #expect(stored.changeSeq == before.changeSeq + 3 && known.changeSeq < stored.changeSeq)
    scene.advance(by: 55)
    #expect(try await settled().changeSeq == before.changeSeq + 3)
  }

  // MARK: Failures

  @Test func afterAFailedCommitTheMembersAreToldWhatIsStored() async throws {
    try await ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "mary")
    let before = try await settled()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("setGroupAttributes", #"{"attributes":{"k":"lost"}}"#, by: "mary").code == 10002)
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10002)
    scene.store.fail(with: nil)
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.advance(by: 1000)
    var expected = before
    expected.seq += 1
    #expect(try await settled() == expected)
    for topic in scene.broker.topics(of: "g") {
      for stamp in topic.stamps.compactMap({ $0 }) { #expect(!stamp.exceeds(expected), "\(stamp)") }
    }
  }

  /// A decision that was made before an event is made again, and is delivered behind it, tells no more than
  /// was known when it was made.
  @Test func changesAreToldWhenTheirEventsAreMadeAgainThoughDecisionsWait() async throws {
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let seq = try await settled().seq
    for reaction in ["a", "b"] {
      try await ask("addMessageReaction", #"{"seq":\#(seq),"reaction":"\#(reaction)"}"#, by: "adam")
    }
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await scene.ask("joinGroup", by: "oscar").code == 10002)
    scene.store.fail(with: nil)
    scene.store.hold()
    var pending: [Pending] = []
    for text in ["1", "2", "3", "4"] {
      pending.append(try scene.begin("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "administrator"))
      try await scene.wait { scene.store.pendingCount == pending.count }
    }
    scene.store.release()
    for sent in pending { #expect(try await sent.answer().code == 0) }
    try await scene.wait { scene.broker.topics(of: "g").last?.stamps.last == scene.store.stamp(of: "g") }
    #expect(try await settled().seq == seq + 4)
  }

  @Test func aGroupThatIsLoadedAgainIsToldAsItWas() async throws {
    try await ask("joinGroup", by: "oscar")
    try await ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "mary")
    let before = try await settled()
    scene.advance(by: 1000)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try await ask("info", by: "mary")
    #expect(scene.broker.topics(of: "g").count == 2)
    #expect(try await settled() == before)
  }

  // MARK: Followers

  private func unload() {
    scene.advance(by: 1000)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
  }

  @Test func nothingIsStoredBeforeThoseWhoFollowKnowIt() async throws {
    let before = try await settled()
    unload()
    scene.broker.holdFollowers()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let counted = try scene.begin("setGroupCounters", #"{"counters":{"k":1}}"#, by: "olga")
    try await scene.wait { scene.broker.topics(of: "g").count == 2 }
    #expect(try told() == before, "they are told the stamp")
    #expect(scene.store.pendingCount == 0 && !sent.isAnswered && !counted.isAnswered)
    #expect(try await stored() == before)
    try topic().follow()
    #expect(try await sent.answer().code == 0)
    #expect(try await counted.answer().code == 0)
    #expect(try await settled().seq == before.seq + 1)
  }

  @Test func nobodyWaitsLongForThem() async throws {
    let before = try await settled()
    unload()
    scene.broker.holdFollowers()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try await scene.wait { scene.broker.topics(of: "g").count == 2 }
    scene.advance(by: 499)
    #expect(!sent.isAnswered)
    scene.advance(by: 1)
    #expect(try await sent.answer().code == 0)
    try topic().follow()
    #expect(try await settled().seq == before.seq + 1)
  }

  @Test func aGroupWithoutMembersWhoAreSignedInWaitsForNobody() async throws {
    _ = try await settled()
    for name in ["olga", "adam", "mary"] { scene.signOut(name) }
    unload()
    scene.broker.holdFollowers()
    try await ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "administrator")
    #expect(try await stored().seq == 1)
  }

  @Test func refreshingLoadsAGroupAndTellsItsEpoch() async throws {
    let before = try await settled()
    unload()
    let epoch = await refresh("g")
    #expect(epoch == before.epoch && scene.broker.topics(of: "g").count == 2)
    #expect(try await settled() == before)
    let none = await refresh("none")
    #expect(none == nil)
  }

  private func refresh(_ group: GroupID) async -> String? {
    await withCheckedContinuation { continuation in
      scene.registry.group(group).enqueue(.refresh { continuation.resume(returning: $0) })
    }
  }
}
