import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "Nothing vanishes silently": the events for senders, and the counts.
@Suite struct ReceiptTests {
  private func room(_ limit: Int = 1, _ type: GroupType = .avChatRoom) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [type: limit]
    return try Scene(type, rules: GroupRules(limits: limits))
  }

  @discardableResult
  private func send(
    _ scene: Scene, _ text: String, by name: String = "mary", _ priority: Priority = .normal, id: String? = nil
  ) throws -> Scene.Outcome {
    let mark = id.map { #","clientMsgID":"\#($0)""# } ?? ""
    return try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)","priority":"\#(priority.rawValue)"\#(mark)}"#, by: name)
  }

  private func texts(_ outcome: Scene.Outcome, to session: String) -> [String] {
    (outcome.events[session] ?? []).compactMap { $0["params"]["message"]["text"].string }
  }

  /// Queues a Low message at a limit of 2, which is too old 1911 ms later.
  private func leaveOneTooOld(_ scene: Scene, by name: String) throws -> Scene.Outcome {
    try send(scene, "0", by: "adam")
    scene.clocks.advance(by: 900)
    try send(scene, "1", by: "adam")
    scene.clocks.advance(by: 10)
    let old = try send(scene, "old", by: name, .low, id: "o")
    try send(scene, "2", by: "adam", .high)
    scene.clocks.advance(by: 90)
    try scene.wake()
    try send(scene, "3", by: "adam", .high)
    scene.clocks.advance(by: 900)
    #expect(try texts(scene.wake(), to: "olga") == ["3"])
    scene.clocks.advance(by: 11)
    return old
  }

  @Test func theSenderOfATooOldMessageIsNotified() throws {
    let scene = try room(2)
    let old = try leaveOneTooOld(scene, by: "mary")
    let woken = try scene.wake()
    #expect(woken.heard == ["onMessageDropped": ["mary"]])
    let event = try woken.params("onMessageDropped", to: "mary")
    #expect(event.names == ["clientMsgID", "groupID", "msgID", "opTime", "priority", "reason"])
    #expect(event["msgID"] == old.result["msgID"] && event["opTime"].instant == scene.clocks.wall)
    #expect(woken.decision.counts.map(\.steps) == [.dropped] && woken.decision.counts.map(\.priority) == [.low])
    #expect(scene.state?.nextWake == nil)
    #expect(try send(scene, "again", id: "o").result["msgID"] != old.result["msgID"], "dropped, so not remembered")
  }

  @Test func aDropWithoutASessionIsCounted() throws {
    let scene = try room(2)
    _ = try leaveOneTooOld(scene, by: "administrator")
    let woken = try scene.wake()
    #expect(woken.events.isEmpty && woken.decision.counts.map(\.steps) == [.dropped])
  }

  @Test func withoutAClientMsgIDTheReceiptHasNone() throws {
    let scene = try room()
    for text in ["0", "1"] { try send(scene, text) }
    let event = try send(scene, "2", by: "adam", .high).params("onMessageDropped", to: "mary")
    #expect(event.names == ["groupID", "msgID", "opTime", "priority", "reason"])
  }

  @Test func aDisplacedMessageSentAgainIsANewOne() throws {
    let scene = try room()
    try send(scene, "0")
    let first = try send(scene, "1", .low, id: "m")
    try send(scene, "2", .normal)
    let again = try send(scene, "1", .high, id: "m")
    #expect(again.result["status"] == "Queued" && again.result["msgID"] != first.result["msgID"])
    #expect(try send(scene, "1", .high, id: "m").result == again.result)
    scene.clocks.advance(by: 1000)
    #expect(try texts(scene.wake(), to: "olga") == ["1"])
  }

  /// The mark was used twice; it is the second message's five minutes that count.
  @Test func aMarkUsedAgainIsRememberedFromThenOn() throws {
    let scene = try room()
    try send(scene, "0")
    try send(scene, "1", .low, id: "m")
    try send(scene, "2", .high)
    scene.clocks.advance(by: 200_000)
    try scene.wake()
    scene.clocks.advance(by: 1000)
    let second = try send(scene, "1", id: "m")
    #expect(second.result["status"] == "Delivered")
    scene.clocks.advance(by: 150_000)
    #expect(try send(scene, "3", id: "other").result["status"] == "Delivered", "what is five minutes old is forgotten")
    #expect(try send(scene, "1", id: "m").result == second.result)
  }

  @Test func repeatedMessagesAreNeitherCountedNorQueued() throws {
    let scene = try room()
    try send(scene, "0", id: "m")
    for _ in 0..<5 { #expect(try send(scene, "0", id: "m").decision.counts.isEmpty) }
    #expect(scene.state?.nextWake == nil)
  }

  @Test func refusedMessagesAreNeitherCountedNorQueued() throws {
    let scene = try room()
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar")
    #expect(try send(scene, "x", by: "adam").result["status"] == "Delivered")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(scene.state?.nextWake == nil)
  }

  @Test(arguments: ["muteGroupMember", "muteGroup", "quitGroup"])
  func queuedMessagesSurviveTheirSendersRemoval(method: String) throws {
    let scene = try room(2)
    for text in ["0", "1", "2"] { try send(scene, text) }
    switch method {
    case "muteGroupMember": try scene.ask(method, #"{"userID":"mary","muteTime":60}"#, by: "olga")
    case "muteGroup": try scene.ask(method, #"{"mode":"All"}"#, by: "olga")
    default: try scene.ask(method, by: "mary")
    }
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(texts(woken, to: "olga") == ["2"] && texts(woken, to: "mary").isEmpty)
  }

  @Test func aFormerMemberIsNotifiedOfADrop() throws {
    let scene = try room()
    for text in ["0", "1"] { try send(scene, text) }
    try scene.ask("quitGroup", by: "mary")
    #expect(try send(scene, "2", by: "adam", .high).receivers(of: "onMessageDropped") == ["mary"])
  }

  @Test func theReceiveOptionAtDeliveryDecides() throws {
    let scene = try room()
    for text in ["0", "1"] { try send(scene, text) }
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "carl")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().receivers(of: "onRecvNewMessage") == ["adam", "olga"])
  }

  @Test func theOtherSessionOfTheSenderGetsTheMessage() throws {
    let scene = try room()
    scene.signIn("mary", as: "mary/2")
    for text in ["0", "1"] { try send(scene, text) }
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary/2", "olga"])
  }

  @Test func textsAndCustomDataOfMembersAndAdministratorsCountTogether() throws {
    let scene = try room(2)
    let custom = #"{"data":"x","priority":"Normal"}"#
    #expect(try scene.ask("sendGroupCustomMessage", custom, by: "mary").result["status"] == "Delivered")
    #expect(try send(scene, "1", by: "administrator").result["status"] == "Delivered")
    let last = #"{"data":"x","priority":"Normal","onlineUserOnly":true}"#
    #expect(try scene.ask("sendGroupCustomMessage", last, by: "carl").result["status"] == "Queued")
    #expect(try send(scene, "3", by: "administrator").result["status"] == "Queued")
    #expect(try send(scene, "4", by: "administrator").result["status"] == "Dropped")
  }

  @Test func aMessageIsDatedByItsAcceptanceAndItsEventByTheDelivery() throws {
    let scene = try room()
    try send(scene, "0")
    let accepted = scene.clocks.wall
    let queued = try send(scene, "1")
    #expect(queued.result["timestamp"].instant == accepted && queued.result["seq"] == nil)
    scene.clocks.advance(by: 1000)
    let event = try scene.wake().params("onRecvNewMessage", to: "olga")
    #expect(event["opTime"].instant == accepted + 1000 && event["message"]["timestamp"].instant == accepted)
    #expect(event["message"]["msgID"] == queued.result["msgID"])
  }

  @Test func aBChatRoomHasItsLimitToo() throws {
    let scene = try room(1, .bChatRoom)
    #expect(try send(scene, "0", by: "olga").result["status"] == "Delivered")
    #expect(try send(scene, "1", by: "adam").result["status"] == "Queued")
    let displacing = try send(scene, "2", by: "administrator", .high)
    #expect(displacing.receivers(of: "onMessageDropped") == ["adam"])
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary", "olga", "oscar"])
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func withoutALimitEverythingIsDelivered(type: GroupType) throws {
    let scene = try room(0, type)
    for _ in 0..<60 { #expect(try send(scene, "x", by: "olga").result["status"] == "Delivered") }
    #expect(scene.state?.nextWake == nil)
  }

  @Test(arguments: ["dismissGroup", "recycleGroup"]) func whatWaitsIsCountedWhenTheRoomEnds(method: String) throws {
    let scene = try room(2)
    for text in ["0", "1", "2"] { try send(scene, text) }
    try send(scene, "3", by: "administrator", .high)
    let gone = try scene.ask(method, by: method == "dismissGroup" ? "olga" : "administrator")
    #expect(gone.decision.counts.map(\.priority) == [.high, .normal] && gone.decision.counts.allSatisfy { $0.steps == .dropped })
    #expect(gone.receivers(of: "onMessageDropped") == ["mary"])
  }
}
