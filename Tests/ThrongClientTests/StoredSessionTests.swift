import Foundation
import Testing

@testable import ThrongClient

/// What a session tells the store, and how it begins with one.
@Suite struct StoredSessionTests {
  private func start(_ rows: [ConversationRow], toldUntil: Int = 900_000) -> LocalStore.Start {
    var start = LocalStore.Start(isDurable: true)
    start.conversations = rows
    for row in rows where row.status == .member && row.info.keepsMessages {
      let seq = row.info.lastSeq ?? 0
      start.positions[row.info.groupID] = PositionRow(epoch: "e", seq: seq, changeSeq: 0, own: [seq + 2])
    }
    start.summary.toldUntil = toldUntil
    return start
  }

  private func begin(_ start: LocalStore.Start) -> Scene {
    var scene = Scene(options: ClientOptions(userID: "alice", storage: MemoryStorage()))
    scene.feed(.restored(start))
    return scene
  }

  private func member(_ groupID: String, type: String = "Public", lastSeq: Int = 10) -> ConversationRow {
    ConversationRow(Scene.decoded(groupID, type: type, lastSeq: lastSeq))
  }

  private func left(_ groupID: String) -> ConversationRow {
    var row = member(groupID)
    (row.status, row.endedAt) = (.left, 5)
    return row
  }

  private func ends(_ effects: [ClientEffect]) -> [String] {
    effects.storeEvents.compactMap { event -> String? in
      if case .ended(let groupID, let status, let time) = event { "\(groupID) \(status) \(time)" } else { nil }
    }
  }

  private func syncs(_ effects: [ClientEffect]) -> [StoredSync] {
    effects.storeEvents.compactMap { event -> StoredSync? in if case .sync(let sync) = event { sync } else { nil } }
  }

  // MARK: Beginning with a store

  @Test func aClientShowsWhatIsStoredBeforeItConnects() {
    var hidden = member("hidden")
    hidden.info.selfInfo?.isHidden = true
    var scene = begin(start([member("g"), left("old"), hidden]))
    scene.feed(.connect)
    let events = scene.takeEffects().events
    guard case .stored(let shown) = events.first, case .state(.connecting) = events.dropFirst().first else {
      Issue.record("\(events)")
      return
    }
    #expect(shown.conversations.map(\.groupID) == ["g", "old"] && shown.conversations.map(\.source) == [.stored, .stored])
    #expect(shown.conversations.map(\.canSend) == [true, false] && shown.conversations.map(\.endedAt) == [nil, 5])
  }

  @Test func aStartGoesOnWhereTheStoreEnds() {
    var scene = begin(start([member("g")]))
    scene.connect()
    #expect(scene.asked("getJoinedGroupList") == [["updatedSince": 840_000, "count": 200, "nextSeq": 0]])
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("new", lastSeq: 3)))
    #expect(scene.asked("syncGroups") == [["groups": [["groupID": "g", "epoch": "e", "seq": 10, "changeSeq": 0]]]])
    _ = scene.takeEffects()
    let page =
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":12,\"recovered\":true,\"changeList\":[],"
      + "\"changeSeq\":0,\"messageList\":[\(Scene.message("g", seq: 11)),\(Scene.message("g", seq: 12))],\"more\":false}]}"
    scene.answer("syncGroups", page)
    let effects = scene.takeEffects()
    let ready = effects.readies.first
    #expect(ready?.isFirst == true && ready?.groups.map(\.groupID) == ["new"] && ready?.joined == ["new"] && ready?.left == [])
    #expect(syncs(effects).map { $0.messageList.map(\.seq) } == [[11, 12]] && syncs(effects).map(\.from) == [10])
    #expect(syncs(effects).map(\.position) == [GroupPosition(groupID: "g", epoch: "e", seq: 12, changeSeq: 0)])
    let told = effects.storeEvents.compactMap { event -> Int? in if case .ready(let instant) = event { instant } else { nil } }
    #expect(told == [1_000_000])
  }

  @Test func positionsOfTheApplicationAreForAnEmptyStore() {
    let position = GroupPosition(groupID: "p", epoch: "e", seq: 4, changeSeq: 2)
    for (rows, groupIDs) in [([], ["p"]), ([member("g")], ["g"])] as [([ConversationRow], [String])] {
      var scene = Scene(options: ClientOptions(userID: "alice", positions: [position], storage: MemoryStorage()))
      scene.feed(.restored(start(rows)))
      #expect(scene.state.tracker.positions.map(\.groupID) == groupIDs)
    }
  }

  /// Its memory may be another one: it begins anew, if the user is still in.
  @Test func aStoredLiveRoomIsAskedAbout() {
    var scene = begin(start([member("room", type: "AVChatRoom")]))
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["room"]]])
    _ = scene.takeEffects()
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"room\",\"code\":10010}]}")
    let effects = scene.takeEffects()
    #expect(ends(effects) == ["room left 1000000"] && effects.readies.map(\.left) == [["room"]])
    #expect(scene.asked("getGroupsInfo").isEmpty, "a live room that was left is nobody's conversation")
  }

  // MARK: What the store is told

  private func online() -> Scene {
    var scene = begin(LocalStore.Start(isDurable: true))
    scene.connect(in: "g")
    return scene
  }

  @Test func theFirstListIsEntered() {
    var scene = begin(LocalStore.Start(isDurable: true))
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("a", lastSeq: 10), Scene.info("b")))
    let entered = scene.takeEffects().storeEvents.compactMap { event -> String? in
      if case .entered(let info) = event { info.groupID } else { nil }
    }
    #expect(entered.sorted() == ["a", "b"])
  }

  @Test func whatIsToldIsStoredAndNothingElse() {
    var scene = online()
    scene.newMessage("g", seq: 11)
    scene.event("onGroupAttributeChanged", "{\"groupID\":\"g\",\"opTime\":1,\"groupAttributeMap\":{}}")
    scene.event("onSomethingNew", "{\"groupID\":\"g\"}")
    let effects = scene.takeEffects()
    let stored = effects.storeEvents.compactMap { event -> String? in
      if case .server(let event, _) = event { event.name } else { nil }
    }
    #expect(stored == ["onRecvNewMessage"] && effects.events.count == 3)
    // What waits for a sync is stored when it is told.
    scene.reconnect()
    _ = scene.takeEffects()
    scene.newMessage("g", seq: 12)
    #expect(scene.takeEffects().storeEvents.isEmpty)
  }

  /// The application has an own message already; the store has not.
  @Test func anOwnMessageInAPageIsStored() {
    var scene = online()
    scene.feed(.send(LocalMessage(.text("a"), to: "g", options: SendOptions(), clientMsgID: "a")))
    scene.feed(.outboxWritten(ticket: 100))
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    let own = Scene.message("g", seq: 11, sender: "alice", clientMsgID: "a")
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":11,\"recovered\":true,\"changeList\":[],"
        + "\"changeSeq\":0,\"messageList\":[\(own)],\"more\":false}]}")
    let effects = scene.takeEffects()
    #expect(effects.syncs.map(\.messageList.count) == [0] && syncs(effects).map(\.messageList.count) == [1])
  }

  @Test func aHistoryThatCannotBeHadBeginsAnew() {
    var scene = online()
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"f\",\"lastSeq\":3,\"recovered\":false,\"changeSeq\":1}]}")
    let sync = syncs(scene.takeEffects()).first
    #expect(sync?.recovered == false && sync?.position == GroupPosition(groupID: "g", epoch: "f", seq: 3, changeSeq: 1))
  }

  // MARK: Counts

  /// One question at a time, and none before the groups are in step.
  @Test func whatTheStoreCannotTellIsAskedFor() {
    var scene = online()
    scene.feed(.doubt(["g", "unknown"]))
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["g"]]])
    scene.feed(.doubt(["g"]))
    #expect(scene.asked("getGroupsInfo").count == 1)
    _ = scene.takeEffects()
    let answer = "{\"resultList\":[{\"groupID\":\"g\",\"code\":0,\"info\":\(Scene.info("g", lastSeq: 10))}]}"
    scene.answer("getGroupsInfo", answer)
    let infos = scene.takeEffects().storeEvents.compactMap { event -> String? in
      if case .info(let info) = event { info.groupID } else { nil }
    }
    #expect(infos == ["g"] && scene.asked("getGroupsInfo").count == 1, "there was one more doubt")
    scene.reconnect()
    #expect(scene.asked("getGroupsInfo").isEmpty)
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.answer(
      "syncGroups",
      "{\"groups\":[{\"groupID\":\"g\",\"code\":0,\"epoch\":\"e\",\"lastSeq\":10,\"recovered\":true,\"changeList\":[],"
        + "\"changeSeq\":0,\"messageList\":[],\"more\":false}]}")
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["g"]]], "the answer was lost")
  }

  /// The event of a live room may wait for others.
  @Test func aGroupThatTheApplicationJoinsIsReadOnce() {
    var scene = online()
    scene.feed(.joined(groupID: "room"))
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["room"]]])
    scene.event(
      "onMemberEnter", "{\"groupID\":\"room\",\"opTime\":1,\"memberList\":[{\"userID\":\"alice\"}],\"memberCount\":2}")
    #expect(scene.asked("getGroupsInfo").count == 1)
    let room = Scene.info("room", type: "AVChatRoom", firstSeq: nil)
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"room\",\"code\":0,\"info\":\(room)}]}")
    #expect(scene.state.tracker.isTracked("room"))
    scene.feed(.joined(groupID: "room"))
    scene.feed(.joined(groupID: "b"))
    let chat = Scene.info("b", type: "BChatRoom")
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"b\",\"code\":0,\"info\":\(chat)}]}")
    #expect(!scene.state.tracker.isTracked("b") && scene.asked("getGroupsInfo").isEmpty)
  }

  // MARK: Ends

  /// A sign-in finds that a group is gone, and asks whether anybody is left in it.
  @Test(arguments: [10_010, 10_007, 0]) func whatHasBecomeOfAGroupThatWasLeft(code: Int) {
    var scene = online()
    scene.reconnect()
    _ = scene.takeEffects()
    scene.answer("getJoinedGroupList", Scene.groups(left: ["g"]))
    var effects = scene.takeEffects()
    #expect(ends(effects) == ["g left 1000000"] && effects.readies.count == 1, "nobody waits for the question")
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["g"]]])
    scene.answer("getGroupsInfo", "{\"resultList\":[{\"groupID\":\"g\",\"code\":\(code)},{\"groupID\":\"x\",\"code\":10010}]}")
    effects = scene.takeEffects()
    #expect(ends(effects) == (code == 10_010 ? ["g dismissed 1000000"] : []))
  }

  @Test func aQuestionThatIsNotAnsweredIsAskedOnceMore() {
    var scene = online()
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.groups(left: ["g"]))
    scene.refuse("getGroupsInfo", code: 10_002, temporary: true)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["g"]]])
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("getGroupsInfo") == [["groupIDList": ["g"]]], "a connection that is lost answers nothing")
    scene.refuse("getGroupsInfo", code: -32_603)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.asked("getGroupsInfo").isEmpty)
  }
}
