import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// inviteUserToGroup where the invited are not asked, and who may invite.
@Suite struct InvitationTests {
  private func scene(_ type: GroupType = .public, notification: Bool = true, maxMemberNum: Int? = nil) throws -> Scene {
    let scene = try Scene(type, maxMemberNum: maxMemberNum) {
      $0.inviteMode = .any; $0.memberChangeNotification = notification
    }
    scene.signIn("petra")
    return scene
  }

  /// Every type with invitations, inviteMode, beInviteMode and caller, and what comes of it by the
  /// page.
  private static let table: [(GroupType, InviteMode, BeInviteMode, String, String)] = {
    let ranks = ["petra": 0, "mary": 1, "carl": 1, "adam": 2, "olga": 3, "administrator": 4]
    var rows: [(GroupType, InviteMode, BeInviteMode, String, String)] = []
    for type in [GroupType.work, .public, .meeting] {
      for (mode, lowest) in [(InviteMode.any, 1), (.admin, 2), (.nobody, 4)] {
        for asks in BeInviteMode.allCases {
          for (name, rank) in ranks.sorted(by: { $0.key < $1.key }) {
            let allowed = asks == .auth && name != "administrator" ? "oscar Pending" : "oscar Success"
            rows.append((type, mode, asks, name, rank < lowest ? "10007" : allowed))
          }
        }
      }
    }
    return rows
  }()

  @Test func theModesAndTheRoleDecide() throws {
    for (type, mode, asks, name, expected) in InvitationTests.table {
      let scene = try Scene(type) {
        $0.inviteMode = mode; $0.beInviteMode = asks
      }
      let before = scene.fingerprint
      let invited = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: name)
      let what = "\(type) \(mode) \(asks) \(name)"
      if expected == "10007" {
        scene.expectNothingDone(invited, code: 10007, before: before, what)
      } else {
        #expect(invited.rows == [expected], "\(what)")
      }
      #expect((scene.state?.roster["oscar"] != nil) == (expected == "oscar Success"), "\(what)")
    }
    #expect(InvitationTests.table.count == 108)
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom], ["olga", "mary", "oscar", "administrator"])
  func someTypesHaveNoInvitations(type: GroupType, name: String) throws {
    let scene = try Scene(type) { $0.inviteMode = .any }
    try scene.expectRefused(10007, "inviteUserToGroup", Scene.users(["petra"]), by: name)
  }

  @Test(arguments: [GroupType.work, .public, .meeting], [true, false])
  func everyMemberGetsTheEventOfAnInvitation(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    scene.signIn("mary", as: "mary/2")
    let invited = try scene.ask("inviteUserToGroup", Scene.users(["petra", "oscar"], #""message":"come""#), by: "mary")
    #expect(invited.rows == ["petra Success", "oscar Success"])
    let everybody = ["adam", "carl", "mary", "mary/2", "olga", "oscar", "petra"]
    #expect(invited.heard == ["onMemberInvited": notification ? everybody : ["mary", "mary/2", "oscar", "petra"]])
    let event = try invited.params("onMemberInvited", to: "oscar")
    let petra: JSON = ["userID": "petra", "nameCard": "", "role": "Member"]
    #expect(event["memberList"] == [petra, Person.oscar] && event["memberCount"] == 6)
    #expect(event["opUser"] == Person.mary && event["platform"] == "Web")
    #expect(!event.names.contains("isAccepted"), "nobody was asked")
    let tip: JSON = ["type": "Invite", "opUser": Person.mary, "memberList": [petra, Person.oscar], "memberCount": 6]
    #expect(try scene.tips == (notification ? [tip] : []))
    #expect(scene.messages.allSatisfy { $0.sender == "mary" })
    #expect((event["seq"], event["msgID"].string) == (notification ? 1 : .null, scene.messages.first?.msgID))
    #expect(invited.notifications == [.invitedToGroup: ["petra", "oscar"]])
    #expect(try JSON(invited.notification(.invitedToGroup).opUser) == Person.mary)
  }

  @Test func historyOfInvitedMembersBeginsWithTheirTip() throws {
    let scene = try scene(.work)
    try scene.ask("sendGroupTextMessage", #"{"text":"before"}"#, by: "olga")
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary")
    let told = try scene.ask("sendGroupTextMessage", #"{"text":"after"}"#, by: "olga")
    #expect(told.receivers(of: "onRecvNewMessage").contains("oscar"))
    let history = try scene.ask("getGroupHistoryMessageList", by: "oscar").result["messageList"]
    #expect(history.elements.map { $0["seq"] } == [3, 2])
    #expect(try scene.ask("unreadCount", by: "oscar").result == 1)
    let inviters = try scene.ask("getGroupMemberInviters", Scene.users(["oscar", "mary", "quinn"]), by: "carl").result
    #expect(
      inviters["inviterList"] == [["userID": "oscar", "inviter": "mary"], ["userID": "mary"], ["userID": "quinn"]])
    #expect(scene.state?.roster["oscar"]?.role == .member)
  }

  @Test func anApplicationAdministratorIsNamedAndNotCountedAmongTheMembers() throws {
    let scene = try scene(notification: false)
    let invited = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    #expect(invited.heard == ["onMemberInvited": ["oscar"]])
    #expect(try invited.params("onMemberInvited", to: "oscar")["opUser"] == Person.administrator)
    let members = try scene.ask("getGroupMembersInfo", Scene.users(["oscar"]), by: "oscar").result["memberList"]
    #expect(members[0]["inviter"] == "administrator")
  }

  @Test func eachTargetHasARowOfItsOwn() throws {
    let scene = try scene()
    try scene.ask("inviteUserToGroup", Scene.users(["quinn"]), by: "olga")
    try scene.ask("kickGroupMember", Scene.users(["quinn"], #""banTime":60"#), by: "olga")
    let facts = UserFacts(unknown: ["nobody"], atGroupLimit: ["busy"])
    let invited = try scene.ask(
      "inviteUserToGroup", Scene.users(["mary", "adam", "quinn", "nobody", "busy", "oscar"]), by: "mary", facts)
    #expect(invited.rows == ["mary Invalid", "adam Invalid", "quinn Fail", "nobody Fail", "busy OverLimit", "oscar Success"])
    #expect(try invited.params("onMemberInvited", to: "olga")["memberList"] == [Person.oscar])
    #expect(invited.notifications == [.invitedToGroup: ["oscar"]])
  }

  @Test(arguments: BeInviteMode.allCases)
  func withoutASuccessThereIsNoEvent(asks: BeInviteMode) throws {
    let scene = try Scene(.public) {
      $0.inviteMode = .any; $0.beInviteMode = asks
    }
    let answer = try scene.expectNothing("inviteUserToGroup", Scene.users(["olga", "mary", "carl"]), by: "mary")
    #expect(answer["memberList"].elements.map { $0["result"] } == ["Invalid", "Invalid", "Invalid"])
  }

  @Test func invitationsFillTheGroupAndNoMore() throws {
    let scene = try scene(maxMemberNum: 6)
    let names = ["oscar", "petra", "quinn"]
    let invited = try scene.ask("inviteUserToGroup", Scene.users(names), by: "olga")
    #expect(invited.rows == ["oscar Success", "petra Success", "quinn OverLimit"])
    #expect(try invited.params("onMemberInvited", to: "oscar")["memberCount"] == 6)
    let full = try scene.expectNothing("inviteUserToGroup", Scene.users(["quinn", "mary"]), by: "olga")
    #expect(full["memberList"].elements.map { $0["result"] } == ["OverLimit", "Invalid"])
  }
}
