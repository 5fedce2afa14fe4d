import Testing

@testable import ThrongClient

/// Resuming: what was missed is told once, in order, or said to be lost.
@Suite struct ResumeTests {
  private func row(
    _ groupID: String = "g", lastSeq: Int, changeSeq: Int = 0, messages: [Int] = [], changes: [(seq: Int, changeSeq: Int)] = [],
    more: Bool = false
  ) -> String {
    let list = messages.map { Scene.message(groupID, seq: $0) }.joined(separator: ",")
    let changed = changes.map { Scene.message(groupID, seq: $0.seq, changeSeq: $0.changeSeq) }.joined(separator: ",")
    return """
      {"groups":[{"groupID":"\(groupID)","code":0,"epoch":"e","lastSeq":\(lastSeq),"recovered":true,"changeList":[\(changed)],
      "changeSeq":\(changeSeq),"messageList":[\(list)],"more":\(more)}]}
      """
  }

  /// A client in group g at seq 10, whose connection was lost and is made again; it lists its
  /// groups.
  private func back() -> Scene {
    var scene = Scene()
    scene.connect(in: "g")
    scene.reconnect()
    _ = scene.takeEffects()
    return scene
  }

  @Test func theFirstResumeOnlyBegins() {
    var scene = Scene()
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("g", lastSeq: 10, changeSeq: 3)))
    let ready = scene.takeEffects().readies
    #expect(ready.map(\.joined) == [["g"]] && ready.map(\.groups.count) == [1])
    #expect(scene.state.tracker.positions == [GroupPosition(groupID: "g", epoch: "e", seq: 10, changeSeq: 3)])
  }

  @Test func pagesOfGroups() {
    var scene = Scene()
    scene.connect()
    scene.answer("getJoinedGroupList", "{\"groupList\":[\(Scene.info("a"))],\"leftGroupIDList\":[],\"nextSeq\":7}")
    #expect(scene.asked("getJoinedGroupList") == [["count": 200, "nextSeq": 7]])
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("b")))
    #expect(scene.takeEffects().readies.map(\.joined) == [["a", "b"]])
  }

  @Test func theNextResumeLooksBackFromTheLastClock() {
    var scene = Scene()
    scene.connect(in: "g")
    scene.event("onGroupCreated", "{\"groupID\":\"g\",\"opTime\":5000000,\"platform\":\"Web\"}")
    scene.reconnect()
    #expect(scene.asked("getJoinedGroupList") == [["updatedSince": 4_940_000, "count": 200, "nextSeq": 0]])
  }

  @Test func aSessionThatWasNeverInStepDoesNotCount() {
    var scene = Scene()
    scene.connect()
    scene.reconnect()
    #expect(scene.asked("getJoinedGroupList") == [["count": 200, "nextSeq": 0]])
  }

  @Test func whatWasMissedComesInPages() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 10, "changeSeq": 0]]]])
    scene.answer("syncGroups", row(lastSeq: 13, changeSeq: 2, messages: [11, 12], changes: [(4, 2)], more: true))
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 12, "changeSeq": 2]]]])
    #expect(scene.takeEffects().readies.isEmpty)
    scene.answer("syncGroups", row(lastSeq: 13, changeSeq: 2, messages: [13]))
    let effects = scene.takeEffects()
    #expect(effects.syncs.map { $0.messageList.map(\.seq) } == [[13]] && effects.readies.map(\.recovered) == [["g"]])
    #expect(scene.state.tracker.place(of: "g") == Place(seq: 13, changeSeq: 2))
  }

  @Test func eventsWaitForTheSyncAndAreToldOnce() {
    var scene = back()
    scene.newMessage("g", seq: 12)
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.newMessage("g", seq: 13)
    #expect(scene.takeEffects().newMessages.isEmpty)
    scene.answer("syncGroups", row(lastSeq: 12, messages: [11, 12]))
    let effects = scene.takeEffects()
    #expect(effects.syncs.flatMap { $0.messageList.map(\.seq) } == [11, 12] && effects.newMessages == [13])
  }

  @Test func aResumeThatIsCutGoesOn() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", row(lastSeq: 300, messages: Array(11...110), more: true))
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 110, "changeSeq": 0]]]])
  }

  @Test func aHistoryThatIsGoneIsSaidToBe() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"f\",\"lastSeq\":3,\"recovered\":false,\"changeSeq\":1}]}")
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.recovered) == [false] && effects.readies.map(\.notRecovered) == [["g"]])
    #expect(scene.state.tracker.positions == [GroupPosition(groupID: "g", epoch: "f", seq: 3, changeSeq: 1)])
  }

  @Test func aGroupThatWasLeft() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.groups(left: ["g", "unknown"]))
    #expect(scene.takeEffects().readies.map(\.left) == [["g"]] && scene.state.tracker.positions.isEmpty)
  }

  @Test func aGroupWhoseRowIsAnError() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", "{\"groups\":[{\"groupID\":\"g\",\"code\":10010,\"message\":\"gone\"}]}")
    #expect(scene.takeEffects().readies.map(\.left) == [["g"]])
  }

  /// The answer about a live room that remembers its last messages.
  private func room(lastSeq: Int, changeSeq: Int = 0, epoch: String = "e", firstSeq: Int? = nil) -> String {
    let info = Scene.info("room", type: "AVChatRoom", lastSeq: lastSeq, changeSeq: changeSeq, epoch: epoch, firstSeq: firstSeq)
    return "{\"resultList\":[{\"groupID\":\"room\",\"code\":0,\"info\":\(info)}]}"
  }

  /// A client in a live room that remembers, at seq 10.
  private func inRoom() -> Scene {
    var scene = Scene()
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.event(
      "onMemberEnter", "{\"groupID\":\"room\",\"opTime\":1,\"memberList\":[{\"userID\":\"alice\"}],\"memberCount\":2}")
    scene.answer("getGroupsInfo", room(lastSeq: 10))
    _ = scene.takeEffects()
    return scene
  }

  @Test func aLiveRoomThatRemembersIsRecovered() {
    var scene = inRoom()
    #expect(scene.state.tracker.positions.isEmpty, "it does not outlive the client")
    scene.newMessage("room", seq: 11)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    // Events wait for the sync.
    scene.newMessage("room", seq: 14)
    scene.answer("getGroupsInfo", room(lastSeq: 14, changeSeq: 2))
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "room", "epoch": "e", "seq": 11, "changeSeq": 0]]]])
    scene.answer("syncGroups", row("room", lastSeq: 13, changeSeq: 2, messages: [12, 13], changes: [(11, 2)]))
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.recovered) == [true] && effects.syncs.allSatisfy { $0.info?.lastSeq == 14 })
    #expect(effects.syncs.flatMap { $0.messageList.map(\.seq) } == [12, 13])
    #expect(effects.syncs.flatMap { $0.changeList.map(\.seq) } == [11] && effects.newMessages == [14])
    #expect(effects.readies.map(\.recovered) == [["room"]] && effects.readies.map(\.groups.count) == [0])
  }

  @Test func aRoomWhoseMemoryWasLostMeanwhileIsNotRecovered() {
    var scene = inRoom()
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("getGroupsInfo", room(lastSeq: 2, epoch: "f"))
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"room\",\"code\":0,\"epoch\":\"f\",\"lastSeq\":2,\"recovered\":false,\"changeSeq\":0}]}")
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.recovered) == [false] && effects.readies.map(\.notRecovered) == [["room"]])
    #expect(scene.state.tracker.place(of: "room")?.seq == 2)
  }

  @Test func aServerThatRemembersNoMoreIsNotAsked() {
    var scene = inRoom()
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.event("onGroupAttributeChanged", "{\"groupID\":\"room\",\"opTime\":1,\"groupAttributeMap\":{}}")
    #expect(scene.takeEffects().events.allSatisfy { if case .server = $0 { false } else { true } })
    scene.answer("getGroupsInfo", room(lastSeq: 0, epoch: "other", firstSeq: 1))
    let effects = scene.takeEffects()
    #expect(scene.asked("syncGroups").isEmpty && effects.readies.map(\.notRecovered) == [["room"]])
    #expect(effects.events.contains { if case .server = $0 { true } else { false } }, "what has waited is told")
  }

  @Test func aMemoryThatIsLostWhileConnectedIsTold() {
    var scene = inRoom()
    scene.newMessage("room", seq: 1)
    #expect(scene.takeEffects().newMessages.isEmpty && scene.asked("getGroupsInfo").count == 1)
    scene.newMessage("room", seq: 2)
    scene.newMessage("room", seq: 3)
    scene.answer("getGroupsInfo", room(lastSeq: 2, epoch: "f"))
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.recovered) == [false] && effects.readies.isEmpty)
    #expect(effects.newMessages == [3], "the history that the application reads holds those before")
    scene.newMessage("room", seq: 4)
    #expect(scene.takeEffects().newMessages == [4] && scene.asked("getGroupsInfo").isEmpty)
  }

  @Test func anEventBehindAnAnswerThatKnowsItIsTold() {
    var scene = inRoom()
    scene.newMessage("room", seq: 10)
    scene.newMessage("room", seq: 11)
    scene.answer("getGroupsInfo", room(lastSeq: 11))
    let effects = scene.takeEffects()
    #expect(effects.newMessages == [10, 11] && effects.syncs.isEmpty)
  }

  @Test func moreEventsThanMayWaitForARoomThatBeginsAnew() {
    var scene = inRoom()
    for seq in 1...ClientLimits.waitingEvents + 5 { scene.newMessage("room", seq: seq) }
    scene.answer("getGroupsInfo", room(lastSeq: 100, epoch: "f"))
    #expect(scene.takeEffects().syncs.isEmpty && scene.asked("getGroupsInfo").count == 1)
    scene.answer("getGroupsInfo", room(lastSeq: ClientLimits.waitingEvents + 5, epoch: "f"))
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.recovered) == [false] && effects.newMessages.isEmpty)
  }

  @Test func aRoomThatIsReadAnewMayBeLeft() {
    var scene = inRoom()
    scene.newMessage("room", seq: 1)
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"room\",\"code\":10010}]}")
    #expect(!scene.state.tracker.isTracked("room"))
  }

  @Test func conversationsOfTheListAreAsTheyWereToldLast() throws {
    var scene = back()
    scene.event(
      "onConversationChanged",
      "{\"groupID\":\"g\",\"opTime\":1,\"isPinned\":true,\"isHidden\":false,\"marks\":[\"work\"],\"clearedSeq\":10}")
    // It was read before the change.
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("g", lastSeq: 10)))
    scene.answer("syncGroups", row(lastSeq: 10))
    let ready = try #require(scene.takeEffects().readies.first?.groups.first)
    #expect(ready.selfInfo?.isPinned == true && ready.selfInfo?.isHidden == nil && ready.selfInfo?.marks == ["work"])
    #expect(ready.firstSeq == 11 && ready.selfInfo?.unreadCount == 0)
  }

  @Test(arguments: [true, false]) func liveRoomsThatKeepNothingAreNeverRecovered(isMember: Bool) {
    var scene = Scene()
    scene.connect(in: "room", type: "AVChatRoom", lastSeq: 0)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    // Events of live rooms do not wait.
    scene.event("onGroupAttributeChanged", "{\"groupID\":\"room\",\"opTime\":1,\"groupAttributeMap\":{}}")
    #expect(scene.takeEffects().events.count == 1)
    let info = Scene.info("room", type: "AVChatRoom")
    scene.answer(
      "getGroupsInfo", "{\"resultList\":[{\"groupID\":\"room\",\"code\":\(isMember ? "0,\"info\":\(info)" : "10010")}]}")
    let ready = scene.takeEffects().readies
    #expect(ready.map(\.notRecovered) == [isMember ? ["room"] : []] && ready.map(\.left) == [isMember ? [] : ["room"]])
  }

  @Test func aTemporaryErrorIsTriedAgain() {
    var scene = back()
    scene.refuse("getJoinedGroupList", code: 10002, temporary: true, retryAfterMs: 3_000)
    #expect(scene.takeEffects().delay(of: .resume) == .seconds(3))
    scene.feed(.fired(.resume))
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", row(lastSeq: 10))
    #expect(scene.takeEffects().readies.count == 1)
  }

  @Test func anErrorThatStaysIsTold() {
    var scene = back()
    scene.newMessage("g", seq: 11)
    scene.refuse("getJoinedGroupList", code: -32603)
    let effects = scene.takeEffects()
    #expect(effects.events.contains { if case .resumeFailed = $0 { true } else { false } })
    #expect(effects.newMessages == [11], "nothing is held back for ever")
  }

  @Test func moreEventsThanMayWaitAreAskedForOnceMore() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    let count = ClientLimits.waitingEvents + 5
    for seq in 11..<11 + count { scene.newMessage("g", seq: seq) }
    scene.answer("syncGroups", row(lastSeq: 12, messages: [11, 12]))
    #expect(scene.takeEffects().readies.isEmpty)
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 12, "changeSeq": 0]]]])
    scene.newMessage("g", seq: 14)
    scene.answer("syncGroups", row(lastSeq: 13, messages: [13]))
    let effects = scene.takeEffects()
    #expect(effects.newMessages == [14] && effects.readies.map(\.recovered) == [["g"]])
  }

  @Test func aGroupThatIsEnteredIsReadOnce() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", row(lastSeq: 10))
    scene.event(
      "onMemberEnter",
      "{\"groupID\":\"h\",\"opTime\":1,\"memberList\":[{\"userID\":\"alice\"}],\"memberCount\":2,\"seq\":1,\"msgID\":\"m\"}")
    scene.newMessage("h", seq: 2)
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["h"]]])
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"h\",\"code\":0,\"info\":\(Scene.info("h", lastSeq: 1))}]}")
    #expect(scene.state.tracker.place(of: "h")?.seq == 2)
  }

  /// With a tip of its creation a group begins at its first place.
  @Test func aGroupThatWasCreatedHasAPlace() {
    var scene = back()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer("syncGroups", row(lastSeq: 10))
    scene.event("onGroupCreated", "{\"groupID\":\"h\",\"opTime\":1,\"platform\":\"Web\",\"seq\":1,\"msgID\":\"m\"}")
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"h\",\"code\":0,\"info\":\(Scene.info("h", lastSeq: 0))}]}")
    #expect(scene.state.tracker.place(of: "h")?.seq == 1)
  }

  @Test func somebodyElsesEntryIsNone() {
    var scene = back()
    scene.event("onMemberEnter", "{\"groupID\":\"h\",\"opTime\":1,\"memberList\":[{\"userID\":\"bob\"}],\"memberCount\":2}")
    #expect(scene.asked("getGroupsInfo").isEmpty)
  }

  @Test(arguments: [
    ("onQuitFromGroup", "{\"groupID\":\"g\",\"opTime\":1,\"platform\":\"Web\"}", false),
    ("onGroupDismissed", "{\"groupID\":\"g\",\"opTime\":1,\"opUser\":{\"userID\":\"bob\"},\"platform\":\"Web\"}", false),
    (
      "onMemberKicked",
      "{\"groupID\":\"g\",\"opTime\":1,\"opUser\":{\"userID\":\"bob\"},\"platform\":\"Web\",\"memberList\":[{\"userID\":\"alice\"}],"
        + "\"reason\":\"\",\"memberCount\":1}", false
    ),
    (
      "onMemberKicked",
      "{\"groupID\":\"g\",\"opTime\":1,\"opUser\":{\"userID\":\"bob\"},\"platform\":\"Web\",\"memberList\":[{\"userID\":\"carol\"}],"
        + "\"reason\":\"\",\"memberCount\":1}", true
    ),
  ]) func theEndOfAMembership(name: String, params: String, isMember: Bool) {
    var scene = Scene()
    scene.connect(in: "g")
    scene.event(name, params)
    #expect(scene.state.tracker.isTracked("g") == isMember)
  }

  @Test func positionsOfAnEarlierClientAreResumed() {
    let position = GroupPosition(groupID: "g", epoch: "e", seq: 4, changeSeq: 2)
    var scene = Scene(options: ClientOptions(positions: [position]))
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("g", lastSeq: 5)))
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 4, "changeSeq": 2]]]])
    scene.answer("syncGroups", row(lastSeq: 5, changeSeq: 2, messages: [5]))
    let effects = scene.takeEffects()
    #expect(effects.syncs.flatMap { $0.messageList.map(\.seq) } == [5] && effects.readies.map(\.joined) == [[]])
  }

  @Test func ownMessagesFillTheirPlaces() {
    var group = TrackedGroup(epoch: "e", place: Place(seq: 10))
    group.addOwn(12)
    #expect(group.place.seq == 10, "11 may still come")
    group.reach(Place(seq: 11))
    #expect(group.place.seq == 12)
    group.addOwn(9)
    #expect(group.place.seq == 12)
    // A group that is received in part: an event tells that those before it have been.
    group.addOwn(30)
    group.reach(Place(seq: 40))
    #expect(group.place.seq == 40 && group.own.isEmpty)
  }

  @Test func anEventOfALaterServer() {
    var scene = Scene()
    scene.connect(in: "g")
    scene.event("onSomethingNew", "{\"groupID\":\"g\",\"what\":[1,2.5,true,null]}")
    scene.event("onQuitFromGroup", "{\"group\":\"g\"}")
    let names = scene.takeEffects().events.compactMap { event -> String? in
      if case .server(.other(let name, _)) = event { name } else { nil }
    }
    #expect(names == ["onSomethingNew", "onQuitFromGroup"] && scene.state.isOnline)
  }
}
