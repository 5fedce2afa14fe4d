import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// What another node has missed is told again from the store. The events that sessions got are the
/// oracle: nobody's clock moves meanwhile, so the texts are the same.
@Suite(.timeLimit(.minutes(10))) struct ReplayActorTests {
  private let scene: ActorScene
  private let gate: MessageReadGate

  /// A Public group with two messages of mary's.
  init() async throws {
    let store = InMemoryStore()
    gate = MessageReadGate(store)
    scene = ActorScene(
      store: store, messages: gate, permissions: GroupPermissions(attributeTypes: [.public]), keepsStamps: true)
    try await scene.makeGroup()
    for text in ["one", "two"] { try await ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "mary") }
    forgetEvents()
  }

  private func ask(_ method: String, _ params: String = "{}", by name: String) async throws {
    #expect(try await scene.ask(method, params, by: name).code == 0, "\(method)")
  }

  private func forgetEvents() { for name in ["olga", "adam", "mary"] { _ = scene.frames(name) } }

  private func told() throws -> GroupStamp {
    scene.settle()
    let last: GroupStamp? = scene.broker.topics(of: "g").last?.stamps.last ?? nil
    return try #require(last)
  }

  private func replay(from: GroupStamp?, through: GroupStamp) async -> GroupReplay {
    await withCheckedContinuation { continuation in
      scene.registry.group("g").enqueue(
        .replay(from: from, through: through) { continuation.resume(returning: $0) })
    }
  }

  private func events(from: GroupStamp, through: GroupStamp) async throws -> [ReplayedEvent] {
    switch await replay(from: from, through: through) {
    case .events(let events): return events
    case .impossible(let reason):
      Issue.record("\(reason)")
      return []
    }
  }

  private func texts(_ events: [ReplayedEvent], to user: UserID) -> [String] {
    events.filter { $0.users?.contains(user) ?? true }.map { String(decoding: $0.frame, as: UTF8.self) }
  }

  private func expectImpossible(
    _ reason: GroupReplay.Reason, from: GroupStamp?, through: GroupStamp, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    let replay = await replay(from: from, through: through)
    guard case .impossible(reason) = replay else {
      Issue.record("\(replay)", sourceLocation: sourceLocation)
      return
    }
  }

  // MARK: Messages

  @Test func messagesAreToldAsTheyWere() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"three","clientMsgID":"c"}"#, by: "mary")
    try await ask("sendGroupCustomMessage", #"{"data":"four"}"#, by: "adam")
    let events = try await events(from: from, through: try told())
    #expect(texts(events, to: "olga") == scene.frames("olga"))
    #expect(events.map(\.kind) == [.storedChat(fromManager: false), .storedChat(fromManager: true)])
    #expect(events[0].sent?.sender == "mary" && events[0].sent?.clientMsgID == "c" && events[1].sent == nil)
  }

  @Test func aMessageForSomeIsToldToThemAlone() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"x","toUserIDList":["adam"]}"#, by: "mary")
    let events = try await events(from: from, through: try told())
    #expect(events.count == 1 && Set(events[0].users ?? []) == ["adam", "mary"])
    #expect(texts(events, to: "adam") == scene.frames("adam") && texts(events, to: "olga").isEmpty)
  }

  @Test func laterMessagesAreNotTold() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"three"}"#, by: "mary")
    let through = try told()
    let seen = scene.frames("olga")
    try await ask("sendGroupTextMessage", #"{"text":"four"}"#, by: "mary")
    #expect(texts(try await events(from: from, through: through), to: "olga") == seen)
    #expect(try await events(from: through, through: through).isEmpty)
  }

  @Test func messagesThatAreRemovedMeanwhileAreNotToldInPart() async throws {
    let from = try told()
    for text in ["three", "four"] { try await ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "mary") }
    let through = try told()
    scene.store.removeMessages(of: "g", before: from.seq + 2)
    await expectImpossible(.retention, from: from, through: through)
  }

  // MARK: Changes

  @Test func changesAreToldAsTheyWere() async throws {
    let from = try told()
    try await ask("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    scene.advance(by: 55)
    try await ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    let events = try await events(from: from, through: try told())
    #expect(try names(events) == ["onRecvMessageReactionsChanged", "onRecvMessageRevoked"])
    let seen = try scene.frames("olga").map { try JSON($0)["params"] }
    for (event, params) in zip(try events.map { try JSON($0.frame)["params"] }, seen) {
      for name in ["seq", "changeSeq", "opUser", "platform", "reactions", "reaction", "isAdded", "msgID"] {
        #expect(event[name] == params[name], "\(name)")
      }
    }
  }

  private func names(_ events: [ReplayedEvent]) throws -> [String?] { try events.map { try JSON($0.frame)["method"].string } }

  @Test(arguments: [
    ("modifyGroupMessage", #"{"seq":1,"text":"new"}"#, "mary"), ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, "olga"),
    ("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, "mary"), ("revokeGroupMessage", #"{"seq":1}"#, "olga"),
  ])
  func eachKindOfChangeIsToldInTheSameText(method: String, params: String, name: String) async throws {
    let from = try told()
    try await ask(method, params, by: name)
    #expect(texts(try await events(from: from, through: try told()), to: "adam") == scene.frames("adam"))
  }

  @Test func aPinThatIsTakenAwayIsTold() async throws {
    try await ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    forgetEvents()
    let from = try told()
    try await ask("pinGroupMessage", #"{"seq":1,"isPinned":false}"#, by: "olga")
    #expect(texts(try await events(from: from, through: try told()), to: "adam") == scene.frames("adam"))
  }

  @Test func ofSeveralChangesOfOneKindTheLastIsTold() async throws {
    let from = try told()
    for text in ["a", "b", "c"] {
      try await ask("modifyGroupMessage", #"{"seq":1,"text":"\#(text)"}"#, by: "mary")
      scene.advance(by: 55)
    }
    let events = try await events(from: from, through: try told())
    #expect(try events.map { try JSON($0.frame)["params"]["message"]["text"].string } == ["c"])
  }

  @Test func changesOfTwoKindsAreNotToldInPart() async throws {
    let from = try told()
    try await ask("modifyGroupMessage", #"{"seq":1,"text":"new"}"#, by: "mary")
    let between = try told()
    try await ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    let through = try told()
    await expectImpossible(.unknownChange, from: from, through: through)
    await expectImpossible(.unknownChange, from: from, through: between)
    #expect(try names(try await events(from: between, through: through)) == ["onGroupMessagePinned"])
    try await ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    #expect(try names(try await events(from: from, through: try told())) == ["onRecvMessageRevoked"], "all else is void")
  }

  @Test func aChangeWhoseEventFollowsIsNotTold() async throws {
    let from = try told()
    try await ask("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    let through = try told()
    try await ask("removeMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    #expect(try await events(from: from, through: through).isEmpty)
  }

  @Test func theReactionsToAMissedMessageAreTold() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"three"}"#, by: "mary")
    try await ask("addMessageReaction", #"{"seq":3,"reaction":"a"}"#, by: "adam")
    let events = try await events(from: from, through: try told())
    #expect(try names(events) == ["onRecvNewMessage", "onRecvMessageReactionsChanged"])
  }

  // MARK: The board

  @Test func attributesAndCountersAreToldAsTheyAre() async throws {
    let from = try told()
    try await ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "mary")
    try await ask("setGroupCounters", #"{"counters":{"n":5}}"#, by: "olga")
    let through = try told()
    let params = try await events(from: from, through: through).map { try JSON($0.frame)["params"] }
    #expect(params.count == 2)
    #expect(params[0]["groupAttributeMap"] == ["k": "a"] && params[1]["counters"] == ["n": 5])
  }

  @Test func aCounterThatIsRemovedIsNotTold() async throws {
    try await ask("setGroupCounters", #"{"counters":{"n":5}}"#, by: "olga")
    scene.advance(by: 220)
    let from = try told()
    try await ask("setGroupCounters", #"{"counters":{"n":null}}"#, by: "olga")
    scene.advance(by: 220)
    await expectImpossible(.revision, from: from, through: try told())
  }

  @Test func nothingIsToldThatIsNotDurable() async throws {
    let from = try told()
    try await ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "mary")
    let through = try told()
    scene.advance(by: 50)
    scene.store.hold()
    let lost = try scene.begin("setGroupAttributes", #"{"attributes":{"k":"b"}}"#, by: "mary")
    async let replayed = replay(from: from, through: through)
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await lost.answer().code == 10002)
    switch await replayed {
    case .events(let events):
      // The loading came first.
      for event in events { #expect(!String(decoding: event.frame, as: UTF8.self).contains(#""b""#)) }
    case .impossible(let reason): #expect(reason == .storeFailed || reason == .noGroup)
    }
  }

  @Test func readReceiptsAreToldToTheirSenders() async throws {
    try await ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "mary")
    let from = try told()
    try await ask("sendMessageReadReceipts", #"{"seqList":[3]}"#, by: "adam")
    var seen: [String] = []
    try await scene.wait {
      seen += scene.frames("mary").filter { $0.contains("onRecvMessageReadReceipts") }
      return !seen.isEmpty
    }
    let events = try await events(from: from, through: try told())
    #expect(texts(events, to: "mary").filter { $0.contains("onRecvMessageReadReceipts") } == seen)
    #expect(!texts(events, to: "adam").contains { $0.contains("onRecvMessageReadReceipts") })
  }

  @Test func aLiveRoomTellsItsLastState() async throws {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup("AVChatRoom")
    #expect(try await scene.ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "olga").code == 0)
    let events = try await lastState(of: scene)
    #expect(events.map { $0["method"].string } == ["onGroupAttributeChanged"])
    #expect(events.first?["params"]["groupAttributeMap"] == ["k": "a"] as JSON)
  }

  private func lastState(of scene: ActorScene) async throws -> [JSON] {
    let epoch = try #require(try await scene.store.stamps(of: ["g"])["g"])
    let replay: GroupReplay = await withCheckedContinuation { continuation in
      scene.registry.group("g").enqueue(.replay(from: nil, through: epoch) { continuation.resume(returning: $0) })
    }
    guard case .events(let events) = replay else { throw StoreError(.inconsistent, "\(replay)") }
    return try events.map { try JSON($0.frame) }
  }

  /// Otherwise members would keep a seat that somebody has left in the former owner's last moment.
  @Test func aLiveRoomTellsThatItHasNoAttributeLeft() async throws {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup("AVChatRoom")
    #expect(try await scene.ask("setGroupAttributes", #"{"attributes":{"k":"a"}}"#, by: "olga").code == 0)
    #expect(try await scene.ask("deleteGroupAttributes", #"{"keys":["k"]}"#, by: "olga").code == 0)
    let events = try await lastState(of: scene)
    #expect(events.map { $0["method"].string } == ["onGroupAttributeChanged"])
    #expect(events.first?["params"]["groupAttributeMap"] == [:] as JSON)
  }

  @Test func aLiveRoomTellsWhoWasMutedLately() async throws {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary", "oscar"] { try await scene.ask("joinGroup", by: name) }
    scene.advance(by: 1000)
    #expect(try await scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":300}"#, by: "olga").code == 0)
    scene.advance(by: 30_000)
    let events = try await lastState(of: scene)
    #expect(events.map { $0["method"].string } == ["onGroupAttributeChanged", "onGroupMemberInfoChanged"])
    let told: JSON = [["userID": "mary", "muteTime": 270, "role": "Member"]]
    #expect(events.last?["params"]["changeInfoList"] == told)
    scene.advance(by: 31_000)
    let later = try await lastState(of: scene)
    #expect(later.map { $0["method"].string } == ["onGroupAttributeChanged"], "it is too long ago")
  }

  /// The node that comes after the owner has loaded the room.
  @Test func aLiveRoomThatIsLoadedTellsWhoWasMutedLately() async throws {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup("AVChatRoom")
    try await scene.ask("joinGroup", by: "mary")
    scene.advance(by: 1000)
    #expect(try await scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":300}"#, by: "olga").code == 0)
    scene.registry.abandonGroups()
    scene.settle()
    try #require(scene.registry.residentCount == 0)
    let events = try await lastState(of: scene)
    let told: JSON = [["userID": "mary", "muteTime": 300, "role": "Member"]]
    #expect(events.last?["params"]["changeInfoList"] == told)
  }

  // MARK: What cannot be told

  @Test func anotherRevisionOrHistoryIsNotTold() async throws {
    let from = try told()
    try await ask("joinGroup", by: "oscar")
    let through = try told()
    await expectImpossible(.revision, from: from, through: through)
    var other = from
    other.epoch = "other"
    await expectImpossible(.epoch, from: other, through: through)
    var beyond = through
    beyond.seq += 5
    await expectImpossible(.ahead, from: beyond, through: through)
    try await ask("dismissGroup", by: "olga")
    await expectImpossible(.noGroup, from: from, through: through)
  }

  @Test func aStoreThatFailsIsToldAsSuch() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"three"}"#, by: "mary")
    let through = try told()
    gate.fail(with: StoreError(.unavailable, "no answer"))
    await expectImpossible(.storeFailed, from: from, through: through)
    #expect(scene.observer.failures.count == 1)
    gate.fail(with: nil)
    #expect(try await events(from: from, through: through).count == 1)
  }

  @Test func aGroupThatIsNotInMemoryIsLoaded() async throws {
    let from = try told()
    try await ask("sendGroupTextMessage", #"{"text":"three"}"#, by: "mary")
    let through = try told()
    let seen = scene.frames("olga")
    scene.advance(by: 1000)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(texts(try await events(from: from, through: through), to: "olga") == seen)
  }

  @Test func tooManyMessagesAreNotTold() async throws {
    let from = try told()
    for number in 0..<201 { try await ask("sendGroupTextMessage", #"{"text":"\#(number)"}"#, by: "administrator") }
    var through = try told()
    await expectImpossible(.tooMuch, from: from, through: through)
    through.seq -= 1
    #expect(try await events(from: from, through: through).count == 200)
  }

  @Test func tooManyBytesAreNotTold() async throws {
    let from = try told()
    let text = String(repeating: "x", count: 8000)
    for _ in 0..<140 { try await ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "administrator") }
    await expectImpossible(.tooMuch, from: from, through: try told())
  }
}
