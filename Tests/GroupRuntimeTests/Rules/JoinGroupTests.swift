import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// joinGroup.
@Suite struct JoinGroupTests {
  @Test(arguments: [GroupType.public, .meeting])
  func everyMemberAndTheNewOneGetTheEvent(type: GroupType) throws {
    let scene = try Scene(type) {
      $0.joinMode = .any; $0.memberChangeNotification = true
    }
    scene.signIn("oscar", as: "oscar/2")
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.result == ["status": "Joined"])
    #expect(joined.events.keys.sorted() == ["adam", "carl", "mary", "olga", "oscar", "oscar/2"])
    for session in joined.events.keys { #expect(joined.names(session) == ["onMemberEnter"]) }
    let event = try joined.params("onMemberEnter", to: "mary")
    #expect(event["memberList"] == [["userID": "oscar", "nameCard": "", "role": "Member"]])
    #expect(event["memberCount"] == 5)
    #expect(event["seq"] == 1)
    #expect(scene.messages.map(\.seq) == [1])
    #expect(scene.messages.first?.msgID == event["msgID"].string)
  }

  @Test func theTipHasTheApplicantAsOperator() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try scene.ask("joinGroup", by: "oscar")
    let history = try scene.ask("getGroupHistoryMessageList", by: "oscar").result
    let message = history["messageList"][0]
    #expect(message["type"] == "GroupTips")
    #expect(message["sender"] == "oscar")
    let oscar: JSON = ["userID": "oscar", "nameCard": "", "role": "Member"]
    #expect(message["tips"] == ["type": "Join", "opUser": oscar, "memberList": [oscar], "memberCount": 5])
  }

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom])
  func withNotificationOffOnlyTheNewMemberGetsTheEvent(type: GroupType) throws {
    let scene = try Scene(type) {
      $0.joinMode = .any; $0.memberChangeNotification = false
    }
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.receivers(of: "onMemberEnter") == ["oscar"])
    #expect(joined.events.count == 1)
    #expect(
      try joined.params("onMemberEnter", to: "oscar").names
        == ["groupID", "memberCount", "memberList", "opTime", "platform"])
    #expect(scene.messages.isEmpty)
  }

  @Test func aLiveRoomSendsTheEventAndStoresNothing() throws {
    let scene = try Scene(.avChatRoom)
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.receivers(of: "onMemberEnter") == ["adam", "carl", "mary", "olga", "oscar"])
    #expect(try joined.params("onMemberEnter", to: "olga")["seq"] == .null)
    #expect(scene.messages.isEmpty)
  }

  @Test(arguments: [
    (GroupType.work, 8508), (.public, 0), (.meeting, 0), (.avChatRoom, 0), (.bChatRoom, 10007),
  ])
  func byDefaultTheTypeDecidesAboutAnOutsider(type: GroupType, code: Int) throws {
    let joined = try Scene(type).ask("joinGroup", by: "oscar")
    #expect(joined.code == code)
    if code == 0 { #expect(joined.result == ["status": type == .public ? "Pending" : "Joined"]) }
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func joiningTwiceIsReportedBeforeOtherErrors(type: GroupType) throws {
    let scene = try Scene(type, maxMemberNum: 4) { $0.joinMode = .forbid }
    for user in ["olga", "adam", "mary", "carl"] { #expect(try scene.ask("joinGroup", by: user).code == 10013) }
  }

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom])
  func joinModeForbidIsARefusal(type: GroupType) throws {
    let scene = try Scene(type) { $0.joinMode = .forbid }
    #expect(try scene.ask("joinGroup", by: "oscar").code == 10007)
  }

  @Test(arguments: [GroupType.public, .meeting])
  func aFullGroupIsReportedInAnyMode(type: GroupType) throws {
    for mode in [JoinMode.any, .auth] {
      let scene = try Scene(type, maxMemberNum: 4) { $0.joinMode = mode }
      #expect(try scene.ask("joinGroup", by: "oscar").code == 10014, "\(mode)")
    }
    let scene = try Scene(type, maxMemberNum: 5) { $0.joinMode = .any }
    #expect(try scene.ask("joinGroup", by: "oscar").code == 0)
  }

  @Test func aLiveRoomIsNeverFull() throws {
    let scene = try Scene(.avChatRoom)
    for name in scene.sessions.keys { scene.signOut(name) }
    for number in 0..<400 { #expect(try scene.ask("joinGroup", by: "u\(number)").code == 0) }
    #expect(try scene.ask("info", by: "oscar").result["memberCount"] == 404)
  }

  @Test func everyUserIsAMemberOfABChatRoomAndCannotJoinIt() throws {
    let scene = try Scene(.bChatRoom, members: [:])
    for user in ["olga", "mary"] { #expect(try scene.ask("joinGroup", by: user).code == 10007) }
  }

  @Test func aNewMemberHasNothingUnreadAndNoEarlierHistory() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try scene.ask("sendGroupTextMessage", #"{"text":"before"}"#, by: "mary")
    try scene.ask("joinGroup", by: "oscar")
    let info = try scene.ask("info", by: "oscar").result["selfInfo"]
    #expect(info["unreadCount"] == 0 && info["readSeq"] == 2 && info["role"] == "Member")
    #expect(try scene.ask("info", by: "adam").result["selfInfo"]["unreadCount"] == 1)
  }
}
