import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// kickGroupMember.
@Suite struct KickTests {
  private static let types = [GroupType.work, .public, .meeting]

  private func scene(_ type: GroupType = .public, notification: Bool = true) throws -> Scene {
    try Scene(type) { $0.memberChangeNotification = notification }
  }

  @Test(arguments: types, [true, false])
  func allMembersGetTheEventAndTheRemovedNoneAfter(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    scene.signIn("mary", as: "mary/2")
    let kicked = try scene.ask("kickGroupMember", Scene.users(["carl", "mary"], #""reason":"spam""#), by: "olga")
    #expect(kicked.rows == ["carl Success", "mary Success"])
    #expect(
      kicked.heard == [
        "onMemberKicked": notification ? ["adam", "carl", "mary", "mary/2", "olga"] : ["carl", "mary", "mary/2", "olga"]
      ])
    let event = try kicked.params("onMemberKicked", to: "mary/2")
    #expect(event["memberList"] == [Person.carl, Person.mary] && event["memberCount"] == 2 && event["reason"] == "spam")
    #expect(event["opUser"] == Person.olga && event["platform"] == "Web")
    let tip: JSON = ["type": "Kicked", "opUser": Person.olga, "memberList": [Person.carl, Person.mary], "memberCount": 2]
    #expect(try scene.tips == (notification ? [tip] : []))
    #expect((event["seq"], event["msgID"].string) == (notification ? 1 : .null, scene.messages.first?.msgID))
    #expect(kicked.notifications == [.kickedOff: ["carl", "mary"]])
    let kept = try kicked.notification(.kickedOff)
    #expect(kept.reason == "spam")
    #expect(try JSON(kept.opUser) == Person.olga)
    #expect(scene.state?.roster.userIDs.sorted() == ["adam", "olga"])
    let after = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(after.receivers(of: "onRecvNewMessage") == ["adam"])
    #expect(
      try scene.ask("kickGroupMember", Scene.users(["adam"]), by: "olga").params("onMemberKicked", to: "adam")["reason"] == "")
  }

  @Test func eachTargetHasARowOfItsOwn() throws {
    let scene = try scene()
    scene.state?.roster.update("carl") { $0.role = .admin }
    let kicked = try scene.ask("kickGroupMember", Scene.users(["olga", "adam", "carl", "oscar", "mary"]), by: "adam")
    #expect(kicked.rows == ["olga Fail", "adam Fail", "carl Fail", "oscar Invalid", "mary Success"])
    #expect(try kicked.params("onMemberKicked", to: "olga")["memberList"] == [Person.mary])
    #expect(kicked.notifications == [.kickedOff: ["mary"]])
  }

  @Test func withoutARemovalThereIsNoEvent() throws {
    let answer = try scene().expectNothing(
      "kickGroupMember", Scene.users(["olga", "adam", "oscar"], #""banTime":60"#), by: "adam")
    #expect(answer["memberList"].elements.map { $0["result"] } == ["Fail", "Fail", "Invalid"])
  }

  @Test func anApplicationAdministratorRemovesAllButTheOwner() throws {
    let scene = try scene(notification: false)
    let kicked = try scene.ask("kickGroupMember", Scene.users(["olga", "adam", "mary"]), by: "administrator")
    #expect(kicked.rows == ["olga Fail", "adam Success", "mary Success"])
    #expect(kicked.heard == ["onMemberKicked": ["adam", "mary"]])
    let event = try kicked.params("onMemberKicked", to: "adam")
    #expect(event["opUser"] == Person.administrator && event["platform"] == "RESTful API")
  }

  @Test(arguments: GroupType.allCases)
  func removalFollowsTheTable(type: GroupType) throws {
    let removers =
      switch type {
      case .work: ["olga", "administrator"]
      case .public, .meeting: ["olga", "adam", "administrator"]
      case .avChatRoom, .bChatRoom: [] as [String]
      }
    for name in ["olga", "adam", "mary", "carl", "oscar", "administrator"] {
      let scene = try Scene(type)
      let target = Scene.users([name == "mary" ? "carl" : "mary"])
      if removers.contains(name) {
        #expect(try scene.ask("kickGroupMember", target, by: name).rows.first?.hasSuffix("Success") == true, "\(type) \(name)")
      } else {
        try scene.expectRefused(10007, "kickGroupMember", target, by: name)
      }
    }
  }

  @Test func withoutABanARemovedUserCanRejoinAtOnce() throws {
    let scene = try Scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga")
    #expect(try scene.ask("joinGroup", by: "mary").result == ["status": "Joined"])
    #expect(scene.state?.roster["mary"]?.inviter == nil)
  }

  @Test(arguments: [JoinMode.any, .auth])
  func aBannedUserCannotRejoinBeforeTheEnd(mode: JoinMode) async throws {
    let scene = try Scene(.public) {
      $0.joinMode = mode; $0.inviteMode = .any
    }
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":60"#), by: "adam")
    for wait in [0, 59_999] as [Int64] {
      scene.clocks.advance(by: wait)
      try scene.expectRefused(10007, "joinGroup", by: "mary")
      for name in ["olga", "administrator"] {
        let answer = try scene.expectNothing("inviteUserToGroup", Scene.users(["mary"]), by: name)
        #expect(answer["memberList"] == [["userID": "mary", "result": "Fail"]], "\(name)")
      }
      try await scene.reload()
    }
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
    #expect(
      try scene.ask("inviteUserToGroup", Scene.users(["mary"]), by: "olga").rows == [
        "mary \(mode == .any ? "Invalid" : "Success")"
      ])
  }

  @Test func theLongestBanLasts136Years() throws {
    let scene = try scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":4294967295"#), by: "olga")
    scene.clocks.advance(by: 4_294_967_294_999)
    try scene.expectRefused(10007, "joinGroup", by: "mary")
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
  }

  @Test func aBanEndsWithRejoiningAndAppliesToOneUser() throws {
    let scene = try scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary", "carl"], #""banTime":60"#), by: "olga")
    scene.clocks.advance(by: 60_000)
    for name in ["mary", "carl", "oscar"] { #expect(try scene.ask("joinGroup", by: name).code == 0) }
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.moveWall(by: -30_000)
    #expect(try scene.ask("joinGroup", by: "mary").code == 0, "forgotten, whatever the clock says")
  }

  @Test func afterRejoiningMessagesOfTheAbsenceStayHidden() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try scene.ask("sendGroupTextMessage", #"{"text":"seen"}"#, by: "olga")
    try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"missed"}"#, by: "olga")
    try scene.ask("joinGroup", by: "mary")
    let history = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"]
    #expect(history.elements.map { $0["seq"] } == [4, 1], "neither the removal nor what came after")
  }
}
