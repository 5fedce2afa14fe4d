import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The rows of getGroupsInfo and getJoinedGroupList for one group.
@Suite struct GroupInfoTests {
  static let publicNames = [
    "createTime", "customInfo", "faceURL", "groupID", "groupName", "groupType", "introduction", "joinMode", "maxMemberNum",
    "memberCount",
    "onlineCount", "owner",
  ]
  static let policyNames = [
    "attributeMode", "beInviteMode", "historyVisibility", "inviteMode", "isMemberVisible", "isSearchable",
    "memberChangeNotification",
    "ownerQuitMode", "slowMode", "updateCustomMode",
    "updateInfoMode",
  ]
  static let innerNames = [
    "allMuted", "changeSeq", "epoch", "firstSeq", "lastInfoTime", "lastMessageTime", "lastSeq", "mute", "notification",
    "serverCustomInfo",
  ]

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom])
  func anOutsiderReadsThePublicFieldsOnly(type: GroupType) throws {
    let scene = try Scene(type)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(try scene.ask("info", by: "oscar").result.names == GroupInfoTests.publicNames)
  }

  @Test func anOutsiderReadsNothingOfAWorkGroup() throws {
    #expect(try Scene(.work).ask("info", by: "oscar").code == 10007)
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func aMemberReadsEverything(type: GroupType) throws {
    let scene = try Scene(type)
    let names = GroupInfoTests.publicNames + GroupInfoTests.policyNames + GroupInfoTests.innerNames
    #expect(try scene.ask("info", by: "mary").result.names == (names + ["selfInfo"]).sorted())
    #expect(try scene.ask("info", by: "administrator").result.names == names.sorted())
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(
      try scene.ask("info", by: "mary").result.names
        == (names + ["selfInfo"] + (type.storesMessages ? ["lastMessage"] : [])).sorted())
  }

  @Test func selfInfoHasTheMembersOwnView() throws {
    let scene = try Scene(.public)
    let info = try scene.ask("info", by: "carl").result
    let joined = try #require(info["createTime"].integer) + 3000
    #expect(
      info["selfInfo"] == [
        "role": "200", "joinTime": .number(Double(joined)), "nameCard": "", "muteUntil": 0, "receiveMessageOpt": "Receive",
        "readSeq": 0,
        "unreadCount": 0, "customInfo": [:],
      ])
  }

  @Test func aNewGroupHasNoMessageAndNoMute() throws {
    let info = try Scene(.meeting).ask("info", by: "mary").result
    #expect(info["lastSeq"] == 0 && info["lastMessageTime"] == 0 && info["lastMessage"] == .null)
    #expect(info["allMuted"] == false && info["mute"] == ["mode": "None"])
    #expect(info["owner"] == "olga" && info["lastInfoTime"] == info["createTime"] && info["epoch"] == "e")
    #expect(info["selfInfo"]["receiveMessageOpt"] == "ReceiveNotNotify")
  }

  @Test func lastMessageIsShownWhereItIsVisible() throws {
    let scene = try Scene(.public) {
      $0.joinMode = .any; $0.memberChangeNotification = false
    }
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.ask("joinGroup", by: "oscar")
    let info = try scene.ask("info", by: "oscar").result
    #expect(info["lastMessage"] == .null && info["lastSeq"] == 1)
    #expect(try scene.ask("info", by: "adam").result["lastMessage"]["text"] == "x")
    let meeting = try Scene(.meeting)
    try meeting.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try meeting.ask("joinGroup", by: "oscar")
    #expect(try meeting.ask("info", by: "oscar").result["lastMessage"]["text"] == "x")
  }

  @Test func aLastMessageOfAnEarlierMembershipIsShown() throws {
    let scene = try Scene(.public) {
      $0.joinMode = .any; $0.memberChangeNotification = false
    }
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("info", by: "mary").result["lastMessage"]["text"] == "x")
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"y"}"#, by: "olga")
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("info", by: "mary").result["lastMessage"] == .null, "sent between the stays")
  }

  @Test func unreadCountsTheChatOfOthersWhereTheTypeCounts() throws {
    for (type, expected) in [(GroupType.work, 2), (.public, 2), (.meeting, 0)] as [(GroupType, JSON)] {
      let scene = try Scene(type)
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
      try scene.ask("sendGroupCustomMessage", #"{"data":"x"}"#, by: "olga")
      try scene.ask("setGroupInfo", #"{"groupName":"other"}"#, by: "olga")
      try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "mary")
      #expect(try scene.ask("info", by: "adam").result["selfInfo"]["unreadCount"] == expected, "\(type)")
      #expect(try scene.ask("info", by: "oscar").result["selfInfo"] == .null)
    }
  }

  @Test func aBChatRoomCountsTheUsersSignedIn() throws {
    let scene = try Scene(.bChatRoom, members: [:])
    scene.signIn("mary", as: "mary/2")
    let info = try scene.ask("info", by: "oscar").result
    #expect(info["memberCount"] == 5 && info["onlineCount"] == 5)
    #expect(
      info.names == (GroupInfoTests.publicNames.filter { $0 != "joinMode" } + GroupInfoTests.innerNames + ["selfInfo"]).sorted())
    scene.signOut("oscar")
    #expect(try scene.ask("info", by: "mary").result["memberCount"] == 4)
  }

  @Test func aJoinedGroupIsListedIfItChangedSince() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    let created = try #require(scene.state).record.createTime
    func isListed(_ since: WallInstant, _ user: String) throws -> Bool {
      try scene.ask("joinedInfo", #"{"updatedSince":\#(since)}"#, by: user).result != .null
    }
    // mary's membership began 2 s later than the group.
    #expect(try isListed(created + 2000, "mary") && !isListed(created + 2001, "mary"))
    #expect(try isListed(0, "mary") && !isListed(0, "oscar"))
    let sent = scene.clocks.wall
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(try isListed(sent, "mary") && !isListed(sent + 1, "mary"))
    scene.clocks.advance(by: 500)
    try scene.ask("setGroupInfo", #"{"groupName":"other"}"#, by: "olga")
    #expect(try isListed(sent + 500, "mary") && !isListed(sent + 501, "mary"))
  }

  @Test(arguments: ReceiveOption.allCases)
  func aMessageThatAMemberDoesNotReceiveIsNoChangeOfTheList(option: ReceiveOption) throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"\#(option.rawValue)"}"#, by: "mary")
    scene.clocks.advance(by: 1000)
    let sent = scene.clocks.wall
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    func isListed(_ name: String) throws -> Bool {
      try scene.ask("joinedInfo", #"{"updatedSince":\#(sent)}"#, by: name).result != .null
    }
    #expect(try isListed("mary") == (option != .notReceive) && isListed("carl"))
    try scene.ask("setGroupInfo", #"{"groupName":"other"}"#, by: "olga")
    #expect(try isListed("mary"), "the group itself has changed")
  }
}
