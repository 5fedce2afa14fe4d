import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Invitations where the invited are asked first: beInviteMode Auth.
@Suite struct InvitationConsentTests {
  private static let types = [GroupType.work, .public, .meeting]

  private func scene(_ type: GroupType = .public, notification: Bool = true, maxMemberNum: Int? = nil) throws -> Scene {
    try Scene(type, maxMemberNum: maxMemberNum) {
      $0.inviteMode = .any; $0.beInviteMode = .auth; $0.memberChangeNotification = notification
    }
  }

  private func invite(_ scene: Scene, _ user: String = "oscar", by name: String = "mary") throws -> GroupApplication {
    try scene.ask("inviteUserToGroup", Scene.users([user], #""message":"come","attach":"data""#), by: name).application()
  }

  @Test(arguments: types, [true, false])
  func onlyTheInvitedUserGetsTheInvitation(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    scene.signIn("oscar", as: "oscar/2")
    let invited = try scene.ask("inviteUserToGroup", Scene.users(["oscar"], #""message":"come","attach":"data""#), by: "mary")
    #expect(invited.rows == ["oscar Pending"])
    #expect(invited.heardBesidesLists == ["onReceiveGroupInvitation": ["oscar", "oscar/2"]])
    let application = try invited.application()
    let event = try invited.params("onReceiveGroupInvitation", to: "oscar")
    #expect(
      event.names == [
        "applicationID", "attach", "faceURL", "groupID", "groupName", "groupType", "memberCount", "opReason", "opTime", "opUser",
        "platform",
      ])
    #expect(event["groupName"] == "n" && event["groupType"] == .string(type.rawValue) && event["faceURL"] == "")
    #expect(event["memberCount"] == 4)
    #expect(event["applicationID"] == .string(application.id) && event["opUser"] == Person.mary)
    #expect(event["opReason"] == "come" && event["attach"] == "data" && event["platform"] == "Web")
    #expect(application.fromUser == "mary" && application.toUser == "oscar" && application.handling == nil)
    #expect(application.requestMsg == "come" && application.attach == "data" && application.addTime == scene.clocks.wall)
    #expect(invited.notifications == [.inviteRequest: ["oscar"]])
    let kept = try invited.notification(.inviteRequest)
    #expect(kept.reason == "come" && kept.data == "data")
    #expect(try JSON(kept.opUser) == Person.mary)
    #expect(scene.messages.isEmpty && scene.state?.roster["oscar"] == nil)
  }

  @Test func anotherInvitationRenewsTheFirst() async throws {
    let scene = try scene()
    let first = try invite(scene)
    scene.clocks.advance(by: 5000)
    let again = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "carl")
    #expect(again.rows == ["oscar Pending"] && again.heardBesidesLists == ["onReceiveGroupInvitation": ["oscar"]])
    let event = try again.params("onReceiveGroupInvitation", to: "oscar")
    #expect(event["opUser"] == Person.carl && event["opReason"] == "" && event["attach"] == "")
    let renewed = try again.application()
    #expect(renewed.id == first.id && renewed.fromUser == "carl" && renewed.addTime == first.addTime + 5000)
    #expect(renewed.requestMsg.isEmpty && renewed.attach == nil)
    let listed = try await scene.store.applications(decidableBy: "oscar", before: 0, limit: 10)
    #expect(listed.map(\.application) == [renewed])
  }

  @Test(arguments: types, [true, false])
  func acceptingAddsTheUserInTheInvitersName(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let application = try invite(scene)
    scene.clocks.advance(by: 1000)
    let accepted = try scene.decide(application, true, reason: "gladly", by: "oscar")
    let everybody = ["adam", "carl", "mary", "olga", "oscar"]
    #expect(
      accepted.heardBesidesLists == [
        "onMemberInvited": notification ? everybody : ["mary", "oscar"], "onApplicationProcessed": ["mary"],
      ])
    let event = try accepted.params("onMemberInvited", to: "oscar")
    #expect(event["opUser"] == Person.mary && event["memberList"] == [Person.oscar] && event["memberCount"] == 5)
    #expect(event["isAccepted"] == true)
    let told = try accepted.params("onApplicationProcessed", to: "mary")
    #expect(told["applicationID"] == .string(application.id) && told["isAgreeJoin"] == true && told["opReason"] == "gladly")
    #expect(told["opUser"]["userID"] == "oscar")
    let tip: JSON = [
      "type": "Invite", "opUser": Person.mary, "memberList": [Person.oscar], "memberCount": 5, "isAccepted": true,
    ]
    #expect(try scene.tips == (notification ? [tip] : []))
    #expect(accepted.notifications == [.inviteAccept: ["mary"], .invitedToGroup: ["oscar"]])
    let kept = try accepted.notification(.inviteAccept)
    #expect(kept.reason == "gladly")
    #expect(try JSON(kept.opUser)["userID"] == "oscar")
    let handling = try #require(try accepted.application().handling)
    #expect(handling.isAgreed && handling.by == "oscar" && handling.message == "gladly" && handling.time == scene.clocks.wall)
    #expect(scene.state?.roster["oscar"]?.inviter == "mary")
  }

  @Test(arguments: types, [true, false])
  func refusingNotifiesTheInviter(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let application = try invite(scene)
    let refused = try scene.decide(application, false, reason: "no", by: "oscar")
    #expect(refused.heardBesidesLists == ["onApplicationProcessed": ["mary"]])
    let told = try refused.params("onApplicationProcessed", to: "mary")
    #expect(told["isAgreeJoin"] == false && told["opReason"] == "no" && told["opUser"] == Person.outside("oscar"))
    #expect(refused.notifications == [.inviteRefuse: ["mary"]])
    #expect(scene.messages.isEmpty && scene.state?.roster["oscar"] == nil)
    #expect(try invite(scene).id != application.id)
  }

  @Test(arguments: [true, false])
  func onlyTheInvitedUserDecides(agrees: Bool) throws {
    let scene = try scene()
    let application = try invite(scene)
    for name in ["olga", "adam", "mary", "carl", "petra", "administrator"] {
      let before = scene.fingerprint
      scene.expectNothingDone(try scene.decide(application, agrees, by: name), code: 10007, before: before, name)
    }
    #expect(try scene.decide(application, agrees, by: "oscar").code == 0)
    let before = scene.fingerprint
    scene.expectNothingDone(try scene.decide(application, agrees, by: "oscar"), code: 10024, before: before, "handled")
    scene.expectNothingDone(try scene.decide(application, agrees, by: "mary"), code: 10007, before: before, "not hers")
  }

  @Test(arguments: [true, false])
  func itStaysValidWhenTheInviterHasLeft(notification: Bool) throws {
    let scene = try scene(notification: notification)
    let application = try invite(scene)
    try scene.ask("quitGroup", by: "mary")
    let tips = try scene.tips.count
    let accepted = try scene.decide(application, true, by: "oscar")
    // A former member gets the decision on the invitation, and no event of the group.
    #expect(
      accepted.heardBesidesLists == [
        "onMemberInvited": notification ? ["adam", "carl", "olga", "oscar"] : ["oscar"], "onApplicationProcessed": ["mary"],
      ])
    #expect(try accepted.params("onMemberInvited", to: "oscar")["opUser"] == Person.outside("mary"))
    #expect(try scene.tips.count == tips + (notification ? 1 : 0))
    #expect(accepted.notifications == [.inviteAccept: ["mary"], .invitedToGroup: ["oscar"]])
  }

  @Test func itStaysValidWhenTheModesChange() throws {
    let scene = try scene()
    let application = try invite(scene)
    try scene.ask("setGroupInfo", #"{"inviteMode":"Nobody","beInviteMode":"None","joinMode":"Forbid"}"#, by: "olga")
    #expect(try scene.decide(application, true, by: "oscar").receivers(of: "onMemberInvited").contains("oscar"))
  }

  @Test func forAMemberItClosesAsAgreeWithoutAnEvent() throws {
    let scene = try scene()
    let application = try invite(scene)
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    let stored = scene.messages.count
    let accepted = try scene.decide(application, true, by: "oscar")
    #expect(accepted.code == 0 && accepted.heardBesidesLists.isEmpty && accepted.notifications.isEmpty)
    #expect(try accepted.application().handling?.isAgreed == true)
    #expect(scene.messages.count == stored && scene.state?.roster["oscar"]?.inviter == .administrator)
  }

  @Test func openInvitationsDoNotCountAndAFullGroupKeepsThemOpen() throws {
    let scene = try scene(maxMemberNum: 5)
    let (oscar, petra) = (try invite(scene), try invite(scene, "petra"))
    #expect(try scene.decide(oscar, true, by: "oscar").code == 0)
    let before = scene.fingerprint
    scene.expectNothingDone(try scene.decide(petra, true, by: "petra"), code: 10014, before: before, "full")
    let answer = try scene.expectNothing("inviteUserToGroup", Scene.users(["quinn", "petra"]), by: "mary")
    #expect(answer["memberList"].elements.map { $0["result"] } == ["OverLimit", "OverLimit"])
    try scene.ask("quitGroup", by: "carl")
    #expect(try scene.decide(petra, true, by: "petra").code == 0)
  }

  @Test func aBannedUserCannotAccept() throws {
    let scene = try scene()
    let application = try invite(scene)
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    try scene.ask("kickGroupMember", Scene.users(["oscar"], #""banTime":60"#), by: "olga")
    let before = scene.fingerprint
    scene.expectNothingDone(try scene.decide(application, true, by: "oscar"), code: 10007, before: before, "banned")
    scene.clocks.advance(by: 60_000)
    #expect(try scene.decide(application, true, by: "oscar").code == 0)
  }

  @Test func anApplicationAndAnInvitationOfOneUserAreTwo() throws {
    let scene = try Scene(.public) {
      $0.inviteMode = .any; $0.beInviteMode = .auth; $0.joinMode = .auth
    }
    let invitation = try invite(scene)
    let application = try scene.ask("joinGroup", by: "oscar").application()
    #expect(application.id != invitation.id)
    #expect(try scene.decide(application, true, by: "adam").receivers(of: "onMemberEnter").contains("oscar"))
    #expect(scene.state?.applications.application(.invite, of: "oscar") == invitation)
    #expect(try scene.decide(invitation, false, by: "oscar").heardBesidesLists == ["onApplicationProcessed": ["mary"]])
  }

  @Test func beyondTheMaximumTheRowIsOverLimit() throws {
    let scene = try scene()
    let others = (0..<OpenApplications.maxCount).map { number in
      GroupApplication(
        id: "\(number)", groupID: "g", epoch: "e", kind: .invite, fromUser: "mary", toUser: UserID(stringLiteral: "u\(number)"),
        addTime: 1, requestMsg: "")
    }
    scene.state?.applications = OpenApplications(others)
    let answer = try scene.expectNothing("inviteUserToGroup", Scene.users(["oscar"]), by: "mary")
    #expect(answer["memberList"] == [["userID": "oscar", "result": "OverLimit"]])
  }
}
