import Foundation
import Testing

@testable import ThrongClient

/// What events change in a store, besides the vectors that all clients share.
@Suite struct StoreRulesTests {
  @Test func theSceneIsAsItSays() {
    let scene = StoreScene()
    #expect(scene.window == Array(4...10) && scene.row()?.firstStored == 4 && scene.unread == 2)
    #expect(scene.draft.state.positions["g"] == PositionRow(epoch: "e", seq: 10, changeSeq: 1, own: []))
  }

  // MARK: Messages

  @Test func anOwnMessageIsTheLastAndNotUnread() {
    var scene = StoreScene()
    var own = StoreScene.text(11, by: "alice")
    own.replyTo = GroupMessage.ReplyToRow(seq: 10, sender: "")
    scene.apply(.own(own))
    #expect(scene.unread == 2 && scene.row()?.info.lastMessage?.seq == 11)
    #expect(scene.draft.message(11, in: "g")?.replyTo?.sender == "bob", "the store knows who is answered")
    #expect(scene.draft.state.positions["g"]?.seq == 11)
  }

  /// The server's answer may overtake the events of messages before.
  @Test func whatComesBehindAnOwnMessageCountsAllTheSame() {
    var scene = StoreScene()
    scene.apply(.own(StoreScene.text(13, by: "alice")))
    #expect(scene.draft.state.positions["g"] == PositionRow(epoch: "e", seq: 10, changeSeq: 1, own: [13]))
    scene.apply(StoreScene.message(11), StoreScene.message(12), StoreScene.message(12))
    #expect(scene.unread == 4 && scene.row()?.info.lastMessage?.seq == 13 && scene.row()?.info.lastSeq == 13)
    #expect(scene.draft.state.positions["g"]?.seq == 13 && scene.window == Array(4...13))
  }

  /// The answer to an own message may come behind the news of its recall.
  @Test func changesBeforeTheirOwnMessage() {
    var scene = StoreScene()
    scene.apply(StoreScene.recall(12, changeSeq: 3), StoreScene.recall(12, changeSeq: 3))
    #expect(scene.draft.message(12, in: "g") == nil && scene.row()?.info.changeSeq == 3)
    scene.apply(.own(StoreScene.text(12, by: "alice")), StoreScene.message(11))
    let recalled = scene.draft.message(12, in: "g")
    #expect(recalled?.isRevoked == true && recalled?.text == nil && recalled?.changeSeq == 3)
    #expect(scene.row()?.info.lastMessage == recalled && scene.unread == 3, "the message before it is news")
  }

  @Test func changesOfWhatIsNotStoredAreBounded() {
    var missed = MissedChanges()
    for number in 0..<1_500 {
      missed.keep(MissedChanges.Change(changeSeq: number, bytes: 1, edit: { _ in }), of: "\(number)")
      missed.keep(MissedChanges.Change(changeSeq: number, bytes: 1, edit: { _ in }), of: "last")
    }
    let (oldest, newest) = (missed.take("0"), missed.take("last"))
    #expect(oldest.isEmpty && newest.count == ClientLimits.changesPerMessage)
    for number in 0..<2 {
      let change = MissedChanges.Change(changeSeq: 1, bytes: ClientLimits.heldBytes, edit: { _ in })
      missed.keep(change, of: "large \(number)")
    }
    let (first, second) = (missed.take("large 0"), missed.take("large 1"))
    #expect(first.isEmpty && second.count == 1)
  }

  /// What the server has counted is not counted once more, though its event comes behind the answer to an own message.
  @Test func anInfoCountsWhatAnswersHaveOvertaken() {
    var scene = StoreScene()
    var info = StoreScene.info(lastSeq: 12, changeSeq: 1)
    info.selfInfo?.readSeq = 8
    info.selfInfo?.unreadCount = 3
    scene.apply(.own(StoreScene.text(12, by: "alice")), .info(info), StoreScene.message(11))
    #expect(scene.unread == 3 && scene.draft.state.positions["g"]?.seq == 12)
  }

  /// Messages for others leave no gap, but where some do not come at all, nobody knows what is missing.
  @Test(arguments: [ReceiveOption.receive, .receiveNotNotify, .notifyFromManagers, .receiveFromManagers, .notReceive])
  func aGapIsOneWhereMessagesDoNotCome(option: ReceiveOption) {
    var scene = StoreScene()
    scene.apply(.server(.onReceiveMessageOptChanged(.init(groupID: "g", opTime: 1, opt: option.rawValue)), bytes: 0))
    scene.apply(StoreScene.message(20))
    let isInPart = option == .receiveFromManagers || option == .notReceive
    #expect(scene.window == (isInPart ? [20] : Array(4...10) + [20]))
    // Under NotReceive nothing is unread.
    #expect(scene.row()?.firstStored == (isInPart ? 20 : 4) && scene.unread == (option == .notReceive ? 0 : 3))
    #expect(scene.draft.doubtful == (option == .notReceive ? ["g"] : []))
  }

  @Test func aRecallCountsOnce() {
    var scene = StoreScene()
    scene.apply(StoreScene.recall(10, changeSeq: 2), StoreScene.recall(10, changeSeq: 2), StoreScene.recall(10, changeSeq: 3))
    #expect(scene.unread == 1 && scene.row()?.info.lastMessage?.isRevoked == true && scene.row()?.info.changeSeq == 3)
  }

  /// The server's count is the truth: a recall that it knows of is not counted once more.
  @Test func aRecallThatTheServerHasCounted() {
    var scene = StoreScene()
    var info = StoreScene.info(lastSeq: 10, changeSeq: 2)
    info.selfInfo?.readSeq = 8
    info.selfInfo?.unreadCount = 1
    scene.apply(.info(info), StoreScene.recall(10, changeSeq: 2))
    #expect(scene.unread == 1 && scene.draft.message(10, in: "g")?.isRevoked == true)
  }

  @Test func ownReactionsStayOnes() {
    var scene = StoreScene()
    func reaction(_ changeSeq: Int, by user: String, _ word: String, _ isAdded: Bool, _ counts: [String: Int]) -> StoreEvent {
      let rows = counts.sorted { $0.key < $1.key }
        .map { ServerEvent.RecvMessageReactionsChanged.ReactionRow(reaction: $0.key, count: $0.value) }
      return .server(
        .onRecvMessageReactionsChanged(
          .init(
            groupID: "g", opTime: 1, opUser: MemberInfo(userID: user), platform: "Web", seq: 9, changeSeq: changeSeq,
            reactions: rows, reaction: word, isAdded: isAdded)), bytes: 0)
    }
    scene.apply(reaction(2, by: "alice", "a", true, ["a": 1]), reaction(3, by: "bob", "b", true, ["a": 1, "b": 1]))
    #expect(scene.draft.message(9, in: "g")?.reactions?.map(\.byMe) == [true, false])
    scene.apply(reaction(4, by: "bob", "a", true, ["a": 2, "b": 1]), reaction(5, by: "alice", "a", false, ["a": 1, "b": 1]))
    #expect(scene.draft.message(9, in: "g")?.reactions?.map(\.byMe) == [false, false])
    scene.apply(reaction(6, by: "bob", "b", false, [:]))
    #expect(scene.draft.message(9, in: "g")?.reactions == nil)
  }

  /// What is not stored may have counted: the server is asked.
  @Test func aRecallOfAMessageThatIsNotStored() {
    var scene = StoreScene(limits: StorageLimits(messagesPerGroup: 1))
    #expect(scene.window == [10] && scene.unread == 2)
    #expect(scene.draft.doubtful == ["g"], "9 was not there to be looked at when 8 became read")
    scene.draft.doubtful = []
    scene.apply(StoreScene.message(11), StoreScene.recall(8, changeSeq: 2))
    #expect(scene.draft.doubtful.isEmpty && scene.unread == 3, "it was read")
    scene.apply(StoreScene.recall(10, changeSeq: 3))
    #expect(scene.draft.doubtful == ["g"] && scene.unread == 3, "whether it counted is not known")
  }

  // MARK: Reading

  @Test(arguments: [(9, 1), (10, 0), (99, 0), (5, 2)]) func aMarkLeavesWhatIsBehindIt(place: Int, unread: Int) {
    var scene = StoreScene()
    scene.apply(.server(.onConversationRead(.init(groupID: "g", opTime: 1, readSeq: place)), bytes: 0))
    #expect(scene.unread == unread && scene.row()?.info.selfInfo?.readSeq == min(max(8, place), 10))
  }

  private func answer(_ method: String, _ params: String, _ result: String) -> StoreEvent {
    let frame = Data("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(result)}".utf8)
    return .answered(StoredAnswer(method: method, params: Data(params.utf8), frame: frame, time: 5_000))
  }

  /// No event tells the session of what it has asked for itself.
  @Test func theUsersOwnCallsCount() {
    var scene = StoreScene()
    scene.apply(
      answer("setConversation", "{\"groupID\":\"g\",\"isPinned\":true,\"isMarkedUnread\":true}", "{}"),
      answer("setGroupReceiveMessageOpt", "{\"groupID\":\"g\",\"opt\":\"ReceiveNotNotify\"}", "{}"))
    #expect(scene.row()?.info.selfInfo?.isPinned == true && scene.row()?.info.selfInfo?.isMarkedUnread == true)
    #expect(scene.row()?.info.selfInfo?.receiveMessageOpt == .receiveNotNotify)
    scene.apply(answer("markGroupMessageAsRead", "{\"groupID\":\"g\"}", "{}"))
    #expect(scene.unread == 0 && scene.row()?.info.selfInfo?.readSeq == 10)
    #expect(scene.row()?.info.selfInfo?.isMarkedUnread == nil)
    scene.apply(answer("clearGroupHistory", "{\"groupID\":\"g\"}", "{\"clearedSeq\":9}"))
    #expect(scene.window == [10] && scene.row()?.firstStored == 10 && scene.row()?.info.firstSeq == 10)
    // What no server answers changes nothing.
    scene.apply(answer("clearGroupHistory", "{\"groupID\":\"g\"}", "[]"), answer("ping", "{}", "{}"))
    #expect(scene.window == [10])
  }

  @Test func whatTheUserNoLongerSeesIsNotKept() {
    var scene = StoreScene()
    var info = StoreScene.info(lastSeq: 10, changeSeq: 1)
    info.firstSeq = 8
    scene.apply(.info(info))
    #expect(scene.window == [8, 9, 10] && scene.row()?.firstStored == 8)
  }

  @Test func whatIsOlderIsNotTakenOver() {
    var scene = StoreScene()
    var info = StoreScene.info(lastSeq: 9, changeSeq: 1)
    info.groupName = "older"
    scene.apply(.info(info))
    #expect(scene.row()?.info.groupName == "group")
    info.lastSeq = 10
    info.groupName = "newer"
    scene.apply(.info(info))
    #expect(scene.row()?.info.groupName == "newer")
    info.selfInfo = nil
    info.groupName = "as somebody else sees it"
    scene.apply(.info(info), .info(StoreScene.info("unknown")))
    #expect(scene.row()?.info.groupName == "newer" && scene.row("unknown") == nil)
  }

  // MARK: Histories

  private func page(_ seqs: [Int], before: Int?, isFinished: Bool = false) -> StoreEvent {
    let list = seqs.sorted(by: >).map { StoreScene.text($0) }
    return .page(groupID: "g", before: before, .init(messageList: list, isFinished: isFinished))
  }

  @Test func aPageDirectlyBeforeTheStoreBelongsToIt() {
    var scene = StoreScene()
    scene.apply(page([1, 2], before: 3))
    #expect(scene.window == Array(4...10), "there may be one between")
    scene.apply(page([2, 3], before: 4))
    #expect(scene.window == Array(2...10) && scene.row()?.firstStored == 2)
    scene.apply(page([], before: 2, isFinished: true))
    #expect(scene.row()?.firstStored == 1, "nothing is before it")
  }

  @Test func aPageTakesAsMuchAsThereIsRoomFor() {
    var scene = StoreScene(limits: StorageLimits(messagesPerGroup: 8))
    scene.apply(page([1, 2, 3, 4, 5], before: nil, isFinished: true))
    #expect(scene.window == Array(3...10) && scene.row()?.firstStored == 3)
    scene.apply(StoreScene.message(11))
    #expect(scene.window == Array(4...11) && scene.row()?.firstStored == 4)
  }

  // MARK: Tips

  @Test func aTipIsAMessageOfTheHistory() throws {
    var scene = StoreScene()
    let carol = MemberInfo(userID: "carol", nickName: "C", role: "Member")
    scene.apply(
      .server(
        .onMemberEnter(
          .init(groupID: "g", opTime: 2_000, platform: "iOS", memberList: [carol], memberCount: 4, seq: 11, msgID: "e-11")),
        bytes: 0))
    let tip = try #require(scene.draft.message(11, in: "g"))
    #expect(tip.type == .groupTips && tip.tips?.type == .join && tip.sender == "carol" && tip.timestamp == 2_000)
    #expect(scene.row()?.info.memberCount == 4 && scene.row()?.info.lastMessage?.msgID == "e-11" && scene.unread == 2)
    #expect(scene.draft.members[StoreKeys.member("carol", of: "g")]?.nickName == "C")
    scene.apply(
      .server(
        .onMemberLeave(.init(groupID: "g", opTime: 3_000, memberList: [carol], memberCount: 3, seq: 12, msgID: "e-12")),
        bytes: 0))
    #expect(scene.draft.message(12, in: "g")?.tips?.type == .quit && scene.row()?.info.memberCount == 3)
    #expect(scene.draft.members[StoreKeys.member("carol", of: "g")] == nil)
  }

  @Test func aGroupIsAsItsChangesSay() {
    var scene = StoreScene()
    func changed(_ type: String, _ value: JSONValue, key: String? = nil) -> StoreEvent {
      .server(
        .onGroupInfoChanged(
          .init(
            groupID: "g", opTime: 1, opUser: MemberInfo(userID: "bob"), platform: "Web",
            changeInfoList: [.init(type: type, key: key, value: value)])), bytes: 0)
    }
    scene.apply(
      changed("GroupName", "new"), changed("CustomInfo", "red", key: "color"), changed("AllMuted", true),
      changed("Mute", ["mode": "Custom", "roles": ["Guest"], "muteUntil": 9]), changed("joinMode", "Forbid"),
      changed("slowMode", 5), changed("ofALaterServer", [1, 2]))
    let info = scene.row()?.info
    #expect(info?.groupName == "new" && info?.customInfo == ["color": "red"] && info?.allMuted == true)
    #expect(info?.mute == GroupMute(mode: .custom, roles: ["Guest"], muteUntil: 9) && info?.joinMode == .forbid)
    #expect(info?.slowMode == 5)
    scene.apply(.members(groupID: "g", [MemberInfo(userID: "bob", role: "Owner"), MemberInfo(userID: "alice")], left: []))
    scene.apply(changed("CustomInfo", "", key: "color"), changed("Owner", "alice"))
    #expect(scene.row()?.info.customInfo == [:] && scene.row()?.info.owner == "alice")
    #expect(scene.row()?.info.selfInfo?.role == "Owner")
    #expect(scene.draft.members[StoreKeys.member("bob", of: "g")]?.role == "Member")
  }

  @Test func aMemberIsAsItWasSeenLast() {
    var scene = StoreScene()
    let key = StoreKeys.member("bob", of: "g")
    let seen = MemberInfo(userID: "bob", nickName: "B", role: "Owner", joinTime: 7, isOnline: true)
    scene.apply(.members(groupID: "g", [seen], left: []))
    #expect(scene.draft.members[key]?.isOnline == nil, "whether somebody is online is not kept")
    scene.apply(
      .server(
        .onGroupMemberInfoChanged(
          .init(
            groupID: "g", opTime: 10_000, opUser: MemberInfo(userID: "bob"), platform: "Web",
            changeInfoList: [
              MemberChange(userID: "bob", muteTime: 60, nameCard: "card"),
              MemberChange(userID: "alice", muteTime: 0, role: "Guest"),
            ])), bytes: 0))
    let bob = scene.draft.members[key]
    #expect(bob?.nameCard == "card" && bob?.muteUntil == 70_000 && bob?.nickName == "B" && bob?.joinTime == 7)
    #expect(scene.row()?.info.selfInfo?.role == "Guest" && scene.row()?.info.selfInfo?.muteUntil == 0)
    scene.apply(.members(groupID: "g", [], left: ["bob"]))
    #expect(scene.draft.members[key] == nil)
  }

  @Test func peopleHaveBounds() {
    var scene = StoreScene()
    let members = (0..<StoreDraft.mostMembers + 5).map { MemberInfo(userID: "\($0)") }
    scene.apply(.members(groupID: "g", members, left: []))
    #expect(scene.draft.members[StoreKeys.member("999", of: "g")] != nil)
    #expect(scene.draft.members[StoreKeys.member("1000", of: "g")] == nil)
    scene.apply(.members(groupID: "g", [MemberInfo(userID: "1", nameCard: "known")], left: ["0"]))
    scene.apply(.members(groupID: "g", [MemberInfo(userID: "1000")], left: []))
    #expect(scene.draft.members[StoreKeys.member("1", of: "g")]?.nameCard == "known")
    #expect(scene.draft.members[StoreKeys.member("1000", of: "g")] != nil, "there is room again")
  }

  @Test func aProfileIsOfItsLastMessage() {
    var scene = StoreScene()
    func said(_ nickName: String?, at time: Int, _ seq: Int) -> StoreEvent {
      var message = StoreScene.text(seq)
      message.nickName = nickName
      message.timestamp = time
      return .server(.onRecvNewMessage(.init(groupID: "g", opTime: time, message: message)), bytes: 0)
    }
    let key = StoreKeys.profile("bob")
    scene.apply(said("B", at: 5_000, 11))
    #expect(scene.draft.profiles[key] == StoredProfile(userID: "bob", nickName: "B", faceURL: "", seenAt: 5_000))
    scene.apply(said("B", at: 6_000, 12), said(nil, at: 7_000, 13))
    #expect(scene.draft.profiles[key]?.seenAt == 5_000, "the same is not written again")
    scene.apply(said("Bob", at: 8_000, 14), said("B", at: 7_500, 15))
    #expect(scene.draft.profiles[key]?.nickName == "Bob", "the later one counts")
    scene.apply(.profiles([UserInfo(userID: "bob", nickName: "", faceURL: "u", customInfo: [:])], at: 9_000))
    #expect(scene.draft.profiles[key] == StoredProfile(userID: "bob", nickName: "", faceURL: "u", seenAt: 9_000))
  }

  // MARK: Beginnings and ends

  /// Events may come before the group's row is read.
  @Test func whatComesBeforeAGroupIsKnownCountsOnceItIs() {
    var scene = StoreScene()
    for seq in 5...7 { scene.apply(StoreScene.message(seq, in: "new")) }
    scene.apply(.entered(StoreScene.info("new", lastSeq: 5)))
    #expect(scene.row("new")?.info.lastSeq == 7 && scene.row("new")?.info.selfInfo?.unreadCount == 2)
    #expect(scene.draft.state.windows["new"] == [6, 7] && scene.row("new")?.firstStored == 6)
    scene.apply(.own(StoreScene.text(8, in: "own", by: "alice")), .entered(StoreScene.info("own", lastSeq: 7)))
    #expect(scene.draft.state.windows["own"] == [8] && scene.draft.state.positions["own"]?.seq == 8)
    #expect(scene.row("own")?.info.lastSeq == 8 && scene.row("own")?.info.selfInfo?.unreadCount == 0)
    // A session that has ended left nothing.
    scene.apply(StoreScene.message(1, in: "other"), .signedIn(userID: "alice"), .entered(StoreScene.info("other")))
    #expect(scene.row("other")?.info.lastSeq == 0)
  }

  @Test func earlyEventsHaveABound() {
    var early = EarlyEvents()
    let event = StoreScene.message(1)
    for number in 0...ClientLimits.newGroups { early.keep(event, of: "\(number)", bytes: 1) }
    #expect(early.take("0").isEmpty && early.take("\(ClientLimits.newGroups)").count == 1)
    early.keep(event, of: "large", bytes: ClientLimits.heldBytes + 1)
    #expect(early.take("large").isEmpty)
    for _ in 0..<3 { early.keep(event, of: "half", bytes: ClientLimits.heldBytes / 2) }
    #expect(early.take("half").count == 1)
  }

  @Test func anEndStaysUnlessTheGroupIsGoneAltogether() {
    var scene = StoreScene()
    scene.apply(.ended(groupID: "g", .left, at: 50), .ended(groupID: "g", .removed, at: 60))
    #expect(scene.row()?.status == .left && scene.row()?.endedAt == 50)
    scene.apply(.ended(groupID: "g", .dismissed, at: 70), .ended(groupID: "unknown", .left, at: 70))
    #expect(scene.row()?.status == .dismissed && scene.row()?.endedAt == 50 && scene.row()?.info.selfInfo == nil)
    #expect(scene.window == Array(4...10) && scene.draft.state.positions["g"] == nil, "it stays readable")
    scene.apply(StoreScene.message(11))
    #expect(scene.window == Array(4...10))
  }

  @Test func aGroupThatIsEnteredAgainBeginsAnew() {
    var scene = StoreScene()
    scene.apply(.ended(groupID: "g", .left, at: 50), .entered(StoreScene.info(lastSeq: 30)))
    #expect(scene.row()?.status == .member && scene.row()?.endedAt == nil && scene.row()?.firstStored == 31)
    #expect(scene.window == [] && scene.draft.state.positions["g"]?.seq == 30)
  }

  @Test func aLiveRoomIsThereWhileTheUserIsIn() throws {
    var scene = StoreScene()
    scene.apply(.entered(StoreScene.info("room", type: .avChatRoom, lastSeq: 9)), StoreScene.message(10, in: "room"))
    #expect(scene.row("room")?.status == .member && scene.draft.state.windows["room"] == [])
    #expect(scene.draft.state.positions["room"] == nil)
    scene.apply(.server(.onQuitFromGroup(.init(groupID: "room", opTime: 5, platform: "Web")), bytes: 0))
    #expect(scene.row("room") == nil && scene.draft.changed["room"]?.status == .left)
    #expect(try scene.draft.changes().contains(.delete("g/room")))
    scene.apply(.entered(StoreScene.info("nobody's", type: .bChatRoom)))
    #expect(scene.row("nobody's") == nil)
  }

  // MARK: Syncs

  private func sync(
    _ seqs: ClosedRange<Int>, info: GroupInfo? = nil, changes: [GroupMessage] = [], to changeSeq: Int = 1
  ) -> StoreEvent {
    .sync(
      StoredSync(
        recovered: true, messageList: seqs.map { StoreScene.text($0) }, changeList: changes, info: info, from: 10,
        position: GroupPosition(groupID: "g", epoch: "e", seq: seqs.upperBound, changeSeq: changeSeq)))
  }

  /// The list was read before the page: its count has a part of the messages.
  @Test func thePageAndTheListAreCountedOnce() {
    var scene = StoreScene()
    var info = StoreScene.info(lastSeq: 12, changeSeq: 1)
    info.selfInfo?.readSeq = 8
    info.selfInfo?.unreadCount = 4
    scene.apply(sync(11...13, info: info))
    #expect(scene.unread == 5 && scene.window == Array(4...13))
    scene.apply(sync(14...15, info: info))
    #expect(scene.unread == 7 && scene.row()?.info.lastSeq == 15 && scene.draft.state.positions["g"]?.seq == 15)
  }

  @Test func aRecallInAPageTakesOneUnread() {
    var scene = StoreScene()
    var recalled = StoreScene.text(9, changeSeq: 4)
    (recalled.isRevoked, recalled.text) = (true, nil)
    scene.apply(sync(11...11, changes: [recalled], to: 4))
    #expect(scene.unread == 2 && scene.draft.message(9, in: "g")?.text == nil)
    #expect(scene.row()?.info.changeSeq == 4 && scene.draft.state.positions["g"]?.changeSeq == 4)
  }

  /// Who came and went while nobody was told.
  @Test func tipsOfAPageTellOfMembers() throws {
    var scene = StoreScene()
    scene.apply(.members(groupID: "g", [MemberInfo(userID: "bob", role: "Owner"), MemberInfo(userID: "dave")], left: []))
    func tip(_ seq: Int, _ type: TipsKind, members: [MemberInfo]? = nil, changes: JSONValue? = nil, count: Int) -> GroupMessage {
      var message = StoreScene.text(seq)
      (message.type, message.text) = (.groupTips, nil)
      message.tips = GroupTips(
        type: type, opUser: MemberInfo(userID: "bob"), memberList: members, changeInfoList: changes, memberCount: count)
      return message
    }
    let page = [
      tip(11, .join, members: [MemberInfo(userID: "carol", nameCard: "C")], count: 4),
      tip(12, .quit, members: [MemberInfo(userID: "dave")], count: 3),
      tip(13, .groupInfoChange, changes: [["type": "GroupName", "value": "new"]], count: 3),
      tip(14, .memberInfoChange, changes: [["userID": "carol", "nameCard": "card"]], count: 3),
      tip(15, .groupInfoChange, changes: "of a later server", count: 3),
    ]
    scene.apply(
      .sync(
        StoredSync(
          recovered: true, messageList: page, changeList: [], info: nil, from: 10,
          position: GroupPosition(groupID: "g", epoch: "e", seq: 15, changeSeq: 1))))
    #expect(scene.draft.members[StoreKeys.member("carol", of: "g")]?.nameCard == "card")
    #expect(scene.draft.members[StoreKeys.member("dave", of: "g")] == nil)
    #expect(scene.row()?.info.groupName == "new" && scene.row()?.info.memberCount == 3 && scene.unread == 2)
    // Where the list has it already, it is no news of the group.
    var info = StoreScene.info(lastSeq: 16, changeSeq: 1)
    info.groupName = "newest"
    scene.apply(
      .sync(
        StoredSync(
          recovered: true,
          messageList: [tip(16, .groupInfoChange, changes: [["type": "GroupName", "value": "newer"]], count: 3)],
          changeList: [], info: info, from: 15, position: GroupPosition(groupID: "g", epoch: "e", seq: 16, changeSeq: 1))))
    #expect(scene.row()?.info.groupName == "newest")
  }

  @Test func aPageOfAGroupThatTheStoreDoesNotHave() {
    var scene = StoreScene(groupID: "other")
    scene.apply(sync(11...12, info: StoreScene.info(lastSeq: 12)))
    #expect(scene.row()?.firstStored == 11 && scene.window == [11, 12])
    #expect(scene.draft.state.positions["g"] == PositionRow(epoch: "e", seq: 12, changeSeq: 1, own: []))
  }
}
