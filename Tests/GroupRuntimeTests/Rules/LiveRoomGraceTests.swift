import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "AVChatRoom: membership outlives a lost connection".
@Suite struct LiveRoomGraceTests {
  private static let grace: Int64 = 300_000

  private func count(_ scene: Scene) throws -> JSON { try scene.ask("info", by: "olga").result["memberCount"] }

  @Test func afterTheGraceTheMemberIsRemovedWithAnEvent() throws {
    let scene = try Scene(.avChatRoom)
    scene.signOut("mary")
    #expect(scene.state?.nextWake == scene.clocks.wall + LiveRoomGraceTests.grace)
    #expect(try count(scene) == 4 && scene.ask("info", by: "olga").result["onlineCount"] == 3)
    scene.clocks.advance(by: LiveRoomGraceTests.grace - 1)
    #expect(try scene.wake().decision.changes.isEmpty && count(scene) == 4)
    scene.clocks.advance(by: 1)
    let left = try scene.wake()
    #expect(left.heard == ["onMemberLeave": ["adam", "carl", "olga"]])
    let event = try left.params("onMemberLeave", to: "olga")
    #expect(event.names == ["groupID", "memberCount", "memberList", "opTime"])
    #expect(event["memberList"] == [Person.mary] && event["memberCount"] == 3)
    #expect(left.notifications.isEmpty && scene.messages.isEmpty)
    #expect(scene.state?.nextWake == nil)
    scene.signIn("mary")
    #expect(
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").receivers(of: "onRecvNewMessage") == ["adam", "carl"])
  }

  @Test func withNotificationOffThereIsNoEvent() throws {
    let scene = try Scene(.avChatRoom) { $0.memberChangeNotification = false }
    scene.signOut("mary")
    scene.clocks.advance(by: LiveRoomGraceTests.grace)
    let left = try scene.wake()
    #expect(left.events.isEmpty && !left.decision.changes.isEmpty)
    #expect(try count(scene) == 3)
  }

  @Test func theGraceBeginsWithTheEndOfTheLastSession() throws {
    let scene = try Scene(.avChatRoom)
    scene.signIn("mary", as: "mary/2")
    scene.signOut("mary")
    #expect(scene.state?.nextWake == nil)
    scene.clocks.advance(by: 5000)
    scene.signOut("mary/2")
    #expect(scene.state?.nextWake == scene.clocks.wall + LiveRoomGraceTests.grace)
  }

  @Test func signingInAgainEndsTheGrace() throws {
    let scene = try Scene(.avChatRoom)
    scene.signOut("mary")
    scene.clocks.advance(by: LiveRoomGraceTests.grace - 1)
    scene.signIn("mary")
    #expect(scene.state?.nextWake == nil)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").events["mary"]?.count == 1)
    scene.signOut("mary")
    scene.clocks.advance(by: LiveRoomGraceTests.grace - 1)
    _ = try scene.wake()
    #expect(try count(scene) == 4)
  }

  @Test func theOwnerIsNeverRemoved() throws {
    let scene = try Scene(.avChatRoom, members: ["mary": .member])
    scene.signOut("olga")
    #expect(scene.state?.nextWake == nil)
    scene.signOut("mary")
    scene.clocks.advance(by: 100 * LiveRoomGraceTests.grace)
    _ = try scene.wake()
    #expect(scene.state?.roster.userIDs.sorted() == ["olga"])
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .bChatRoom])
  func otherTypesHaveNoGrace(type: GroupType) throws {
    let scene = try Scene(type)
    scene.signOut("mary")
    #expect(scene.state?.nextWake == nil)
    scene.clocks.advance(by: 100 * LiveRoomGraceTests.grace)
    #expect(try scene.wake().decision.changes.isEmpty)
    #expect(scene.state?.roster["mary"] != nil)
  }

  @Test func theEventNamesTheNewestFifty() throws {
    let scene = try Scene(.avChatRoom, members: [:])
    scene.signOut("oscar")
    for number in 1...120 {
      try scene.ask("joinGroup", by: "u\(number)")
      scene.clocks.advance(by: 1)
    }
    scene.clocks.advance(by: LiveRoomGraceTests.grace)
    let left = try scene.wake()
    let event = try left.params("onMemberLeave", to: "olga")
    let names = event["memberList"].elements.compactMap { $0["userID"].string }
    #expect(names == (71...120).map { "u\($0)" } && event["memberCount"] == 1)
    #expect(scene.state?.roster.count == 1)
  }

  @Test func moreThanAThousandAreRemovedInSeveralSteps() throws {
    let now: WallInstant = 1_700_000_000_000
    let members = (0...1001).map { number in
      Member(
        userID: UserID(stringLiteral: "u\(number)"), role: number == 0 ? .owner : .member, joinTime: 0, ordinal: Int64(number),
        receiveOption: .receiveNotNotify)
    }
    let record = GroupRecord(
      id: "g", type: .avChatRoom, epoch: "e", createTime: 0, owner: "u0", name: "n", maxMemberNum: 0,
      policy: .defaults(for: .avChatRoom))
    let since = Dictionary(uniqueKeysWithValues: members.dropFirst().map { ($0.userID, now - LiveRoomGraceTests.grace) })
    var state = GroupState(
      StoredGroup(record: record, members: members, lastMessage: nil, recentlySent: [], offlineSince: since), at: now,
      rules: GroupRules())
    _ = state.wake(at: now)
    #expect(state.roster.count == 2)
    #expect(try #require(state.nextWake) <= now, "the rest is due at once")
    _ = state.wake(at: now)
    #expect(state.roster.userIDs.sorted() == ["u0"])
    #expect(state.nextWake == now + 1000, "the second notice, when the second of the first has ended")
    _ = state.wake(at: now + 1000)
    #expect(state.nextWake == nil)
  }

  @Test func quittingEndsTheGrace() throws {
    let scene = try Scene(.avChatRoom)
    scene.signOut("mary")
    try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.nextWake == nil)
    scene.clocks.advance(by: LiveRoomGraceTests.grace)
    #expect(try scene.wake().decision.changes.isEmpty)
  }

  @Test func aReturnAfterTheGraceIsTooLate() throws {
    let scene = try Scene(.avChatRoom)
    scene.clocks.advance(by: LiveRoomGraceTests.grace)
    let changes = scene.state?.removeAfterGrace("mary", at: scene.clocks.wall).changes
    #expect(changes == [.removeMember("mary", from: "g", at: scene.clocks.wall)])
    for name in ["mary", "olga", "oscar"] {
      let changes = scene.state?.removeAfterGrace(UserID(stringLiteral: name), at: scene.clocks.wall).changes
      #expect(changes == [], "\(name) is owner, or out")
    }
    #expect(scene.state?.roster.userIDs.sorted() == ["adam", "carl", "olga"])
  }

  @Test func aMuteOutlivesTheRemoval() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":3600}"#, by: "olga")
    scene.signOut("mary")
    scene.clocks.advance(by: LiveRoomGraceTests.grace)
    _ = try scene.wake()
    scene.signIn("mary")
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 10017)
  }
}
