import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "BChatRoom: every user is a Member without a record".
@Suite struct BChatRoomTests {
  private let everybody = ["adam", "carl", "mary", "olga", "oscar"]

  private func room() throws -> Scene { try Scene(.bChatRoom, members: [:]) }

  @Test(arguments: [
    ("joinGroup", "{}"), ("quitGroup", "{}"), ("inviteUserToGroup", #"{"userIDList":["mary"]}"#),
    ("kickGroupMember", #"{"userIDList":["mary"]}"#), ("getGroupMemberList", "{}"), ("getGroupMutedMembers", "{}"),
    ("getGroupMembersInfo", #"{"userIDList":["mary"]}"#), ("getGroupMemberInviters", #"{"userIDList":["mary"]}"#),
    ("getGroupHistoryMessageList", "{}"), ("muteGroupMember", #"{"userID":"mary","muteTime":1}"#),
    ("muteGroup", #"{"mode":"All"}"#), ("setGroupInfo", #"{"allMuted":true}"#),
    ("transferGroupOwner", #"{"userID":"mary"}"#), ("transferGroupOwner", #"{"userID":"mary","quit":true}"#),
    ("setGroupMemberInfo", #"{"userID":"mary","muteUntil":1}"#), ("getGroupAttributes", "{}"),
    ("setGroupAttributes", #"{"attributes":{"k":"v"}}"#), ("setUnreadCount", #"{"userID":"mary","unreadCount":1}"#),
    ("setConversation", #"{"isPinned":true}"#), ("clearGroupHistory", "{}"), ("sendGroupSignal", #"{"name":"typing"}"#),
    ("importGroupMembers", #"{"memberList":[{"userID":"mary"}]}"#),
    ("importGroupMessages", #"{"messageList":[{"sender":"mary","timestamp":1,"text":"x"}]}"#),
  ])
  func unsupportedMethodsAreRefusedToTheOwnerToo(method: String, params: String) throws {
    let scene = try Scene(.bChatRoom)
    for name in ["olga", "adam", "oscar", "administrator"] { try scene.expectRefused(10007, method, params, by: name) }
  }

  @Test func nothingCanBeRecalled() throws {
    for name in ["olga", "oscar", "administrator"] {
      try Scene(.bChatRoom).expectRefused(10033, "revokeGroupMessage", #"{"seq":1}"#, by: name)
    }
  }

  @Test func aRoleCreatesARecordForAnyUser() throws {
    let scene = try room()
    let granted = try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#, by: "olga")
    #expect(granted.heard == ["onGrantAdministrator": everybody])
    #expect(
      try granted.params("onGrantAdministrator", to: "mary")["memberList"] == [
        ["userID": "oscar", "nameCard": "", "role": "Admin"]
      ])
    #expect(granted.notifications.isEmpty && scene.messages.isEmpty)
    #expect(scene.state?.roster["oscar"]?.role == .admin)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar").code == 0)
    let revoked = try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Member"}"#, by: "olga")
    #expect(revoked.heard == ["onRevokeAdministrator": everybody])
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar")
  }

  @Test func aCustomRoleIsAChangeOfTheMember() throws {
    let scene = try room()
    let changed = try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"300"}"#, by: "olga")
    #expect(changed.heard == ["onGroupMemberInfoChanged": everybody])
    #expect(
      try changed.params("onGroupMemberInfoChanged", to: "mary")["changeInfoList"] == [["userID": "oscar", "role": "300"]])
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar")
  }

  @Test func settingThePresentRoleCreatesNoRecord() throws {
    let scene = try room()
    try scene.expectNothing("setGroupMemberRole", #"{"userID":"oscar","role":"Member"}"#, by: "olga")
    #expect(scene.state?.roster["oscar"] == nil)
  }

  @Test func onlyTheOwnerSetsRolesOfOthers() throws {
    let scene = try Scene(.bChatRoom)
    for name in ["adam", "oscar"] {
      try scene.expectRefused(10007, "setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: name)
    }
    for name in ["olga", "administrator"] {
      try scene.expectRefused(10007, "setGroupMemberRole", #"{"userID":"olga","role":"Member"}"#, by: name)
    }
    #expect(try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#, by: "administrator").code == 0)
  }

  @Test(arguments: [
    ("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#), ("setGroupMemberInfo", #"{"userID":"oscar","nameCard":"x"}"#),
  ])
  func anUnknownUserIsRefusedWhereUsersMustBeKnown(method: String, params: String) throws {
    try room().expectRefused(10019, method, params, by: "olga", UserFacts(unknown: ["oscar"]))
    let known = try Scene(.bChatRoom, members: ["adam": .admin])
    let params = params.replacing("oscar", with: "adam")
    #expect(try known.ask(method, params, by: "olga", UserFacts(unknown: ["adam"])).code == 0, "who has a record is known")
  }

  @Test func settingTheOwnNameCardCreatesARecordAndMessagesCarryIt() throws {
    let scene = try room()
    let named = try scene.ask("setGroupMemberInfo", #"{"userID":"oscar","nameCard":"Ossi"}"#, by: "oscar")
    #expect(named.heard == ["onGroupMemberInfoChanged": everybody])
    let opUser: JSON = ["userID": "oscar", "nameCard": "Ossi", "role": "Member"]
    #expect(try named.params("onGroupMemberInfoChanged", to: "mary")["opUser"] == opUser)
    try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#, by: "olga")
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar")
    #expect(try sent.params("onRecvNewMessage", to: "mary")["message"]["nameCard"] == "Ossi")
    #expect(try scene.ask("info", by: "oscar").result["selfInfo"]["nameCard"] == "Ossi")
  }

  @Test func aRecordChangesNeitherMembershipNorCounts() throws {
    let scene = try Scene(.bChatRoom)
    scene.signOut("adam")
    let info = try scene.ask("info", by: "oscar").result
    #expect(info["memberCount"] == 4 && info["onlineCount"] == 4)
    #expect(try scene.ask("getGroupOnlineMemberCount", by: "oscar").result["count"] == 4)
  }

  @Test func selfInfoOfAnUnrecordedUserIsAnOrdinaryMember() throws {
    let info = try room().ask("info", by: "oscar").result["selfInfo"]
    #expect(
      info == [
        "role": "Member", "joinTime": 0, "nameCard": "", "muteUntil": 0, "receiveMessageOpt": "ReceiveNotNotify", "readSeq": 0,
        "unreadCount": 0, "customInfo": [:],
      ])
  }

  @Test func readMarksDoNothingWithoutHistory() throws {
    let scene = try room()
    try scene.expectNothing("markGroupMessageAsRead", by: "oscar")
    #expect(try scene.ask("unreadCount", by: "oscar").result == 0)
  }

  @Test func aReceiveOptionIsKeptInARecord() throws {
    let scene = try room()
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "oscar")
    #expect(
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").receivers(of: "onRecvNewMessage")
        == ["adam", "carl", "mary"])
    #expect(try scene.ask("info", by: "oscar").result["selfInfo"]["receiveMessageOpt"] == "NotReceive")
  }
}
