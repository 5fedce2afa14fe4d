import Testing

@testable import ThrongClient

/// Own messages from sending to their end; calls.
@Suite struct MessageTests {
  private func message(_ id: String, to groupID: String = "g", _ text: String = "hello") -> ClientInput {
    .send(LocalMessage(.text(text), to: groupID, options: SendOptions(), clientMsgID: id))
  }

  private func sent(_ status: String, seq: Int? = nil) -> String {
    "{\"msgID\":\"m\",\"timestamp\":5,\"status\":\"\(status)\"\(seq.map { ",\"seq\":\($0)" } ?? "")}"
  }

  private func states(_ effects: [ClientEffect]) -> [LocalMessage.State] { effects.messages.map(\.state) }

  private func online() -> Scene {
    var scene = Scene()
    scene.connect(in: "g")
    return scene
  }

  @Test func aStoredMessage() {
    var scene = online()
    scene.feed(message("a"))
    #expect(scene.asked("sendGroupTextMessage") == [["groupID": "g", "text": "hello", "clientMsgID": "a"]])
    scene.answer("sendGroupTextMessage", sent("Stored", seq: 11))
    let effects = scene.takeEffects()
    #expect(states(effects) == [.sending, .stored])
    #expect(effects.messages.last?.seq == 11 && effects.messages.last?.msgID == "m" && effects.messages.last?.timestamp == 5)
    #expect(scene.state.tracker.place(of: "g")?.seq == 11, "no event brings it")
  }

  @Test func customDataAndChoices() {
    var scene = online()
    let options = SendOptions(priority: .high, atUserIDList: ["bob"], onlineUserOnly: true, needReadReceipt: false)
    scene.feed(.send(LocalMessage(.custom("{}"), to: "g", options: options, clientMsgID: "a")))
    #expect(
      scene.asked("sendGroupCustomMessage") == [
        [
          "groupID": "g", "data": "{}", "clientMsgID": "a", "priority": "High", "atUserIDList": ["bob"], "onlineUserOnly": true,
          "needReadReceipt": false,
        ]
      ])
  }

  /// A choice that the server gets is one of the client's too.
  @Test func everyChoiceOfTheServerIsThere() {
    let method = Mirror(reflecting: Methods.SendGroupTextMessage(groupID: "", text: "")).children.compactMap(\.label)
    let options = Mirror(reflecting: SendOptions()).children.compactMap(\.label)
    // The client itself says when a message was sent first.
    #expect(Set(method) == Set(options + ["groupID", "text", "firstSentAt"]))
    let params = Mirror(reflecting: LocalMessage(.text(""), to: "", options: SendOptions(), clientMsgID: "").params())
    #expect(Set(params.children.compactMap(\.label)) == Set(method + ["data"]))
  }

  @Test func nothingLeavesBeforeTheGroupsAreInStep() {
    var scene = Scene()
    scene.feed(message("a"))
    scene.connect()
    #expect(scene.asked("sendGroupTextMessage").isEmpty)
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("sendGroupTextMessage").count == 1)
  }

  /// Slow mode of a group is no matter of other groups.
  @Test func aGroupThatTakesNoMessageYetHoldsNoOtherUp() {
    var scene = online()
    scene.feed(message("a", to: "slow"))
    scene.feed(message("b", to: "slow"))
    scene.refuse("sendGroupTextMessage", code: 10_023, temporary: true, retryAfterMs: 60_000)
    let effects = scene.takeEffects()
    #expect(effects.delay(of: .groupPause(groupID: "slow")) == .seconds(60) && effects.delay(of: .pause) == nil)
    scene.refuse("sendGroupTextMessage", code: 10_023, temporary: true, retryAfterMs: 60_000)
    scene.feed(message("c", to: "quick"))
    scene.answer("sendGroupTextMessage", sent("Stored", seq: 1))
    #expect(scene.takeEffects().messages.last.map { [$0.clientMsgID, $0.state.rawValue] } == ["c", "stored"])
    #expect(scene.requests.isEmpty)
    #expect(scene.state.outbox.writeDelay(of: "slow", at: scene.now) == .seconds(60))
    #expect(scene.state.outbox.writeDelay(of: "quick", at: scene.now) == .zero)
    scene.pass(.seconds(60))
    scene.feed(.fired(.groupPause(groupID: "slow")))
    #expect(scene.asked("sendGroupTextMessage").count == 2)
    #expect(scene.state.outbox.writeDelay(of: "slow", at: scene.now) == .zero)
  }

  /// The message would come when nobody expects it any more.
  @Test func aGroupThatTakesNoMessageForLongFailsIt() {
    for (wait, state) in [(120_000, LocalMessage.State.sending), (120_001, LocalMessage.State.failed)] {
      var scene = online()
      scene.feed(message("a", to: "slow"))
      _ = scene.takeEffects()
      scene.refuse("sendGroupTextMessage", code: 10_023, temporary: true, retryAfterMs: wait)
      #expect(scene.state.outbox.message("a")?.state == state)
    }
  }

  @Test func messagesKeepTheirOrderAcrossConnections() {
    var scene = online()
    for id in ["a", "b", "c"] { scene.feed(message(id)) }
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(message("d"))
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", sync("[]"))
    let ids = scene.requests.compactMap { request -> JSONValue? in
      guard request.method == "sendGroupTextMessage", case .object(let params) = request.params else { return nil }
      return params["clientMsgID"]
    }
    #expect(ids == ["a", "b", "c", "d"])
  }

  private func sync(_ messages: String, epoch: String = "e", lastSeq: Int = 10, changeSeq: Int = 0) -> String {
    """
    {"groups":[{"groupID":"g","code":0,"epoch":"\(epoch)","lastSeq":\(lastSeq),"recovered":true,"changeList":[],"changeSeq":\(changeSeq),
    "messageList":\(messages),"more":false}]}
    """
  }

  @Test func anAnswerThatIsLostIsFoundInTheHistory() {
    var scene = online()
    scene.feed(message("a"))
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    scene.answer("syncGroups", sync("[\(Scene.message("g", seq: 11, sender: "alice", clientMsgID: "a"))]", lastSeq: 11))
    let effects = scene.takeEffects()
    #expect(states(effects) == [.stored] && effects.messages.last?.seq == 11)
    #expect(effects.syncs.map(\.messageList.count) == [0], "the application has it already")
    #expect(scene.asked("sendGroupTextMessage").isEmpty)
  }

  @Test func aSyncBeginsWhereTheMessageWasSent() {
    var scene = online()
    scene.feed(message("a"))
    // An event from behind the message moves the position on, before the answer is lost.
    scene.newMessage("g", seq: 12)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 10, "changeSeq": 0]]]])
  }

  @Test func whatTheHistoryDoesNotHoldIsSentAgainAtAnyTime() {
    var scene = online()
    scene.feed(message("a"))
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.pass(.seconds(300))
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", sync("[]"))
    #expect(scene.asked("sendGroupTextMessage").count == 1)
  }

  private static let inRoom =
    "{\"resultList\":[{\"groupID\":\"room\",\"code\":0,\"info\":\(Scene.info("room", type: "AVChatRoom"))}]}"

  /// A message to a live room whose connection was lost before the answer, on the next connection.
  private func uncertain(after duration: Duration = .seconds(300)) -> Scene {
    var scene = Scene()
    scene.connect(in: "room", type: "AVChatRoom", lastSeq: 0)
    scene.pass(.seconds(7))
    scene.feed(message("a", to: "room"))
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.pass(duration)
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("getGroupsInfo", MessageTests.inRoom)
    _ = scene.takeEffects()
    return scene
  }

  private func firstSentAt(_ scene: Scene) -> [JSONValue?] {
    scene.asked("sendGroupTextMessage").map { params -> JSONValue? in
      if case .object(let members) = params { members["firstSentAt"] } else { nil }
    }
  }

  /// By the server's clock, which the client's own goes on from.
  @Test func aRepeatSaysWhenTheFirstTryWas() {
    #expect(firstSentAt(uncertain()) == [.integer(1_007_000)])
  }

  @Test(arguments: [10_004, 10_033]) func whatTheServerCannotTellIsNotSentTwice(code: Int) throws {
    var scene = uncertain()
    scene.refuse("sendGroupTextMessage", code: code, field: "firstSentAt")
    let failed = try #require(scene.takeEffects().messages.last)
    let error = try #require(failed.error as? ClientError)
    #expect(failed.state == .failed && error.reason == .outcomeUnknown && error.cause?.code.rawValue == code)
    // The user decides, and it is a new message.
    scene.feed(.resend(failed))
    #expect(firstSentAt(scene) == [nil])
  }

  /// A refusal of a repeat says nothing of the try that was not answered.
  @Test func aRepeatThatIsRefusedStaysOne() {
    var scene = uncertain()
    scene.refuse("sendGroupTextMessage", code: 7008, temporary: true)
    scene.pass(.seconds(20))
    scene.feed(.fired(.pause))
    #expect(firstSentAt(scene) == [.integer(1_007_000)])
  }

  @Test func aFirstTryThatIsRefusedIsNone() {
    var scene = online()
    scene.feed(message("a"))
    scene.refuse("sendGroupTextMessage", code: 7008, temporary: true)
    scene.feed(.fired(.pause))
    #expect(firstSentAt(scene) == [nil])
  }

  @Test func whatTheHistoryDoesNotHoldIsANewMessage() {
    var scene = online()
    scene.feed(message("a"))
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", sync("[]"))
    #expect(firstSentAt(scene) == [nil])
  }

  /// The places of another epoch tell of nothing.
  @Test func aHistoryThatIsGoneProvesNothing() {
    var scene = online()
    scene.feed(message("a"))
    for _ in 0..<2 {
      scene.reconnect()
      scene.answer("getJoinedGroupList", Scene.noGroups)
      scene.answer(
        "syncGroups",
        "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"f\",\"lastSeq\":3,\"recovered\":false,\"changeSeq\":1}]}")
      #expect(firstSentAt(scene) == [.integer(1_000_000)])
    }
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "f", "seq": 3, "changeSeq": 1]]]])
    scene.answer("syncGroups", sync("[]", epoch: "f", lastSeq: 3, changeSeq: 1))
    #expect(firstSentAt(scene) == [.integer(1_000_000)])
  }

  /// Nobody expects it any more.
  @Test(arguments: [(120, 1), (121, 0)]) func aMessageToALiveRoomThatHasWaitedIsNotSent(seconds: Int, sent: Int) {
    var scene = Scene()
    scene.connect(in: "room", type: "AVChatRoom", lastSeq: 0)
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(message("a", to: "room"))
    scene.feed(message("b", to: "g"))
    scene.pass(.seconds(seconds))
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("getGroupsInfo", MessageTests.inRoom)
    #expect(scene.asked("sendGroupTextMessage").count == sent + 1, "a stored one may wait for ever")
    #expect((scene.state.outbox.message("a")?.error as? ClientError)?.reason == (sent == 0 ? .expired : nil))
  }

  // MARK: Conversations that have ended

  @Test func aGroupThatWasLeftTakesNoMessage() {
    var scene = online()
    scene.event("onQuitFromGroup", "{\"groupID\":\"g\",\"opTime\":1,\"platform\":\"Web\"}")
    scene.feed(message("a"))
    #expect((scene.takeEffects().messages.last?.error as? ClientError)?.reason == .conversationEnded)
    #expect(scene.asked("sendGroupTextMessage").isEmpty)
    scene.feed(.joined(groupID: "g"))
    scene.feed(message("b"))
    #expect(scene.asked("sendGroupTextMessage").count == 1)
  }

  @Test func whatWaitsForAGroupThatWasLeftMeanwhileFails() {
    var scene = online()
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(message("a"))
    scene.feed(message("b", to: "elsewhere"))
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", Scene.groups(left: ["g"]))
    #expect((scene.state.outbox.message("a")?.error as? ClientError)?.reason == .conversationEnded)
    #expect(scene.asked("sendGroupTextMessage").count == 1)
  }

  /// The answer was lost, and the room has remembered the message.
  @Test func anOwnMessageOfALiveRoomIsDelivered() {
    let room = Scene.info("room", type: "AVChatRoom", lastSeq: 10, firstSeq: nil)
    let answer = "{\"resultList\":[{\"groupID\":\"room\",\"code\":0,\"info\":\(room)}]}"
    var scene = Scene()
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.groups(room))
    scene.feed(message("a", to: "room"))
    scene.feed(message("b", to: "room"))
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("getGroupsInfo", answer)
    _ = scene.takeEffects()
    let own = Scene.message("room", seq: 11, sender: "alice", clientMsgID: "a")
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"room\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":11,\"recovered\":true,\"changeList\":[],"
        + "\"changeSeq\":0,\"messageList\":[\(own)],\"more\":false}]}")
    let effects = scene.takeEffects()
    #expect(states(effects).first == .delivered && effects.messages.first?.seq == 11)
    // The other may still wait for its place: the server is asked by sending it again.
    #expect(scene.asked("sendGroupTextMessage").count == 1)
  }

  @Test func queuedThenDelivered() {
    var scene = online()
    scene.feed(message("a"))
    scene.answer("sendGroupTextMessage", sent("Queued"))
    let timer = ClientTimer.queued(clientMsgID: "a")
    let effects = scene.takeEffects()
    #expect(states(effects) == [.sending, .queued] && effects.delay(of: timer) == .milliseconds(1_500))
    scene.feed(.fired(timer))
    scene.answer("ping", "{\"serverTime\":1}")
    #expect(states(scene.takeEffects()) == [.delivered])
  }

  @Test func queuedThenDropped() {
    var scene = online()
    scene.feed(message("a"))
    scene.answer("sendGroupTextMessage", sent("Queued"))
    let params =
      "{\"groupID\":\"g\",\"opTime\":1,\"msgID\":\"m\",\"clientMsgID\":\"a\",\"priority\":\"Low\",\"reason\":\"RateLimit\"}"
    scene.event("onMessageDropped", params)
    #expect(states(scene.takeEffects()) == [.sending, .queued, .dropped])
  }

  @Test func whatWasDroppedBeforeItsAnswerIsNotSentAgain() {
    var scene = online()
    scene.feed(message("a"))
    let params =
      "{\"groupID\":\"g\",\"opTime\":1,\"msgID\":\"m\",\"clientMsgID\":\"a\",\"priority\":\"Low\",\"reason\":\"RateLimit\"}"
    scene.event("onMessageDropped", params)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", sync("[]"))
    #expect(states(scene.takeEffects()) == [.sending, .dropped] && scene.asked("sendGroupTextMessage").isEmpty)
  }

  @Test func aQuestionThatIsRefusedIsAskedAgain() {
    var scene = online()
    scene.feed(message("a"))
    scene.answer("sendGroupTextMessage", sent("Queued"))
    scene.feed(.fired(.queued(clientMsgID: "a")))
    _ = scene.takeEffects()
    scene.refuse("ping", code: 7008, temporary: true, retryAfterMs: 2_000)
    #expect(scene.takeEffects().delay(of: .queued(clientMsgID: "a")) == .seconds(2))
  }

  @Test func droppedAtOnceAndSentAgain() throws {
    var scene = online()
    scene.feed(message("a"))
    scene.answer("sendGroupTextMessage", sent("Dropped"))
    let dropped = try #require(scene.takeEffects().messages.last)
    #expect(dropped.state == .dropped)
    scene.feed(.resend(dropped))
    scene.answer("sendGroupTextMessage", sent("Delivered"))
    #expect(states(scene.takeEffects()) == [.sending, .delivered])
  }

  @Test func aMessageUnderWayIsNotSentTwice() {
    var scene = online()
    scene.feed(message("a"))
    scene.feed(message("a"))
    scene.answer("sendGroupTextMessage", sent("Stored", seq: 11))
    scene.feed(message("a"))
    #expect(states(scene.takeEffects()) == [.sending, .stored] && scene.requests.isEmpty)
  }

  @Test func aMessageThatArrivedIsNotSentAgain() throws {
    var scene = online()
    scene.feed(message("a"))
    let first = try #require(scene.takeEffects().messages.last)
    scene.answer("sendGroupTextMessage", sent("Stored", seq: 11))
    let stored = try #require(scene.takeEffects().messages.last)
    for number in 0...Outbox.remembered {
      scene.feed(message("\(number)"))
      scene.answer("sendGroupTextMessage", sent("Stored", seq: 12 + number))
      for copy in [first, stored] { scene.feed(.resend(copy)) }
      #expect(scene.requests.isEmpty)
    }
    #expect(scene.state.outbox.message("a") == nil)
  }

  @Test func aRefusalEndsAMessage() {
    var scene = online()
    scene.feed(message("a"))
    scene.refuse("sendGroupTextMessage", code: 10017)
    let effects = scene.takeEffects()
    #expect(states(effects) == [.sending, .failed] && (effects.messages.last?.error as? ThrongError)?.code == .muted)
  }

  @Test func aTemporaryRefusalPausesAll() {
    var scene = online()
    scene.feed(message("a"))
    scene.feed(message("b"))
    scene.refuse("sendGroupTextMessage", code: 7008, temporary: true, retryAfterMs: 4_000)
    scene.refuse("sendGroupTextMessage", code: 7008, temporary: true, retryAfterMs: 4_000)
    #expect(scene.takeEffects().delay(of: .pause) == .seconds(4))
    scene.feed(message("c"))
    #expect(scene.requests.isEmpty)
    scene.feed(.fired(.pause))
    #expect(scene.asked("sendGroupTextMessage").count == 3)
  }

  @Test func temporaryRefusalsEndAfterTwoMinutes() {
    var scene = online()
    scene.feed(message("a"))
    for _ in 0..<3 {
      scene.refuse("sendGroupTextMessage", code: 10002, temporary: true)
      scene.pass(.seconds(59))
      scene.feed(.fired(.pause))
    }
    scene.pass(.seconds(4))
    scene.refuse("sendGroupTextMessage", code: 10002, temporary: true)
    #expect(states(scene.takeEffects()) == [.sending, .failed])
  }

  @Test func atMostAWindowIsUnderWay() {
    var scene = online()
    for number in 0..<40 { scene.feed(message("\(number)")) }
    #expect(scene.requests.count == Outbox.windowSize)
    scene.answer("sendGroupTextMessage", sent("Delivered"))
    #expect(scene.requests.count == Outbox.windowSize)
  }

  @Test func theQueueHasABound() {
    var scene = Scene(options: ClientOptions(queueLimit: 2))
    for id in ["a", "b", "c"] { scene.feed(message(id)) }
    let effects = scene.takeEffects()
    #expect(states(effects) == [.sending, .sending, .failed])
    #expect((effects.messages.last?.error as? ClientError)?.reason == .queueFull)
  }

  @Test func aTextThatIsTooLongFails() {
    var scene = online()
    scene.feed(message("a", to: "g", String(repeating: "x", count: 65_400)))
    #expect((scene.takeEffects().messages.last?.error as? ClientError)?.reason == .tooLarge)
    #expect(scene.requests.isEmpty)
  }

  @Test func theEndFailsWhatIsUnderWay() {
    var scene = online()
    scene.feed(message("a"))
    scene.feed(.ended(attempt: 1, .closed(code: 4502, reason: "replaced"), didOpen: true))
    scene.feed(message("b"))
    let failed = scene.takeEffects().messages.filter { $0.state == .failed }
    #expect(failed.map(\.clientMsgID) == ["a", "b"])
    #expect(failed.allSatisfy { ($0.error as? ClientError)?.reason == .closed })
  }

  @Test func settledMessagesAreForgottenInTheEnd() {
    var scene = online()
    for number in 0...Outbox.remembered {
      scene.feed(message("\(number)"))
      scene.answer("sendGroupTextMessage", sent("Delivered"))
    }
    #expect(scene.state.outbox.message("0") == nil && scene.state.outbox.message("1") != nil)
  }

  // MARK: Calls

  private let ping = EncodedRequest(Methods.Ping())

  @Test func aCallWaitsForAConnection() {
    var scene = Scene()
    scene.feed(.call(1, ping, waits: true))
    #expect((scene.takeEffects().error(of: 1) as? ClientError)?.reason == .notConnected, "nobody connects")
    scene.feed(.connect)
    scene.feed(.call(2, ping, waits: true))
    scene.feed(.call(3, ping, waits: false))
    #expect((scene.takeEffects().error(of: 3) as? ClientError)?.reason == .notConnected)
    scene.open()
    #expect(scene.asked("ping").count == 1)
    scene.answer("ping", "{\"serverTime\":1}")
    #expect(scene.takeEffects().contains { if case .answer(2, .success) = $0 { true } else { false } })
  }

  @Test func aCallWhoseAnswerIsLostIsNotRepeated() {
    var scene = online()
    scene.feed(.call(1, ping, waits: true))
    scene.reconnect()
    #expect((scene.takeEffects().error(of: 1) as? ClientError)?.reason == .connectionLost)
    #expect(scene.asked("ping").isEmpty)
  }

  @Test func anErrorOfTheServer() throws {
    var scene = online()
    scene.feed(.call(1, EncodedRequest(Methods.JoinGroup(groupID: "x")), waits: true))
    scene.refuse("joinGroup", code: 10010)
    let error = try #require(scene.takeEffects().error(of: 1) as? ThrongError)
    #expect(error.code == .noSuchGroup && error.method == "joinGroup" && !error.isTemporary)
  }

  @Test func callsThatWaitForAConnectionHaveABound() {
    var scene = Scene(options: ClientOptions(queueLimit: 2))
    scene.feed(.connect)
    for number in 1...3 { scene.feed(.call(number, ping, waits: true)) }
    #expect((scene.takeEffects().error(of: 3) as? ClientError)?.reason == .queueFull)
    scene.feed(.cancelCall(1))
    scene.feed(.call(4, ping, waits: true))
    #expect(scene.takeEffects().error(of: 4) == nil)
    // With a connection they leave at once.
    scene.open()
    for number in 5...9 { scene.feed(.call(number, ping, waits: true)) }
    #expect(scene.asked("ping").count == 7)
  }

  @Test func aCancelledCallIsNotSent() {
    var scene = Scene()
    scene.feed(.connect)
    scene.feed(.call(1, ping, waits: true))
    scene.feed(.cancelCall(1))
    scene.open()
    #expect(scene.asked("ping").isEmpty)
  }

  @Test func waitingCallsFailAtTheEnd() {
    var scene = Scene()
    scene.feed(.connect)
    scene.feed(.call(1, ping, waits: true))
    scene.feed(.close)
    scene.feed(.call(2, ping, waits: true))
    let effects = scene.takeEffects()
    #expect([1, 2].allSatisfy { (effects.error(of: $0) as? ClientError)?.reason == .closed })
  }
}
