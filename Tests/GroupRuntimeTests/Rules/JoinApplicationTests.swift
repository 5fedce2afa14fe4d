import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// joinGroup under joinMode Auth, and what the managers make of it.
@Suite struct JoinApplicationTests {
  private static let types = [GroupType.public, .meeting, .avChatRoom]

  private func scene(_ type: GroupType = .public, notification: Bool = true, maxMemberNum: Int? = nil) throws -> Scene {
    try Scene(type, maxMemberNum: maxMemberNum) {
      $0.joinMode = .auth; $0.memberChangeNotification = notification
    }
  }

  private func apply(_ scene: Scene, by name: String = "oscar") throws -> GroupApplication {
    try scene.ask("joinGroup", #"{"message":"please"}"#, by: name).application()
  }

  @Test(arguments: types, [true, false])
  func onlyManagersGetAnApplication(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    scene.signIn("adam", as: "adam/2")
    let asked = try scene.ask("joinGroup", #"{"message":"please"}"#, by: "oscar")
    #expect(asked.result == ["status": "Pending"])
    // An AVChatRoom has no admins: the owner is its only manager.
    #expect(asked.heard == ["onReceiveJoinApplication": (type == .avChatRoom ? [] : ["adam", "adam/2"]) + ["olga"]])
    let application = try asked.application()
    let event = try asked.params("onReceiveJoinApplication", to: "olga")
    #expect(event.names == ["applicationID", "groupID", "member", "opReason", "opTime"])
    #expect(event["applicationID"] == .string(application.id) && event["opReason"] == "please")
    #expect(event["member"] == Person.outside("oscar"))
    #expect(application.fromUser == "oscar" && application.toUser == nil && application.handling == nil)
    #expect(application.requestMsg == "please" && application.addTime == scene.clocks.wall)
    #expect(scene.state?.roster["oscar"] == nil && scene.messages.isEmpty)
    #expect(asked.notifications == (type.storesMessages ? [.addGroupRequest: ["adam", "olga"]] : [:]))
  }

  @Test func theNotificationNamesTheApplicantAndTheMessage() throws {
    let kept = try scene().ask("joinGroup", #"{"message":"please"}"#, by: "oscar").notification(.addGroupRequest)
    #expect(try JSON(kept.opUser) == Person.outside("oscar"))
    #expect(kept.reason == "please" && kept.data == nil)
  }

  @Test func applyingAgainRenewsTheApplicationAndItsEvent() async throws {
    let scene = try scene()
    let first = try apply(scene)
    _ = try apply(scene, by: "petra")
    scene.clocks.advance(by: 5000)
    let again = try scene.ask("joinGroup", #"{"message":"once more"}"#, by: "oscar")
    #expect(again.result == ["status": "Pending"])
    #expect(again.heard == ["onReceiveJoinApplication": ["adam", "olga"]])
    #expect(try again.params("onReceiveJoinApplication", to: "olga")["opReason"] == "once more")
    let renewed = try again.application()
    #expect(renewed.id == first.id && renewed.addTime == first.addTime + 5000 && renewed.requestMsg == "once more")
    let listed = try await scene.store.applications(decidableBy: "olga", before: 0, limit: 10).map(\.application)
    #expect(listed.map(\.fromUser) == ["oscar", "petra"] && listed.first == renewed, "the newest first")
    #expect(try scene.ask("joinGroup", by: "oscar").application().requestMsg.isEmpty)
  }

  @Test(arguments: [true, false])
  func aHandledApplicationKeepsItsPlaceInTheList(agrees: Bool) async throws {
    let scene = try scene()
    let first = try apply(scene)
    _ = try apply(scene, by: "petra")
    try scene.decide(first, agrees, by: "adam")
    let listed = try await scene.store.applications(decidableBy: "olga", before: 0, limit: 10).map(\.application)
    #expect(listed.map(\.fromUser) == ["petra", "oscar"] && listed.last?.handling?.isAgreed == agrees)
  }

  @Test(arguments: types, [true, false])
  func anAcceptedApplicantJoinsLikeAnyOther(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let application = try apply(scene)
    scene.clocks.advance(by: 1000)
    let accepted = try scene.decide(application, true, reason: "welcome", by: "olga")
    #expect(accepted.result == [:] as JSON)
    let everybody = ["adam", "carl", "mary", "olga", "oscar"]
    #expect(
      accepted.heard == ["onMemberEnter": notification ? everybody : ["oscar"], "onApplicationProcessed": ["oscar"]])
    let enter = try accepted.params("onMemberEnter", to: "oscar")
    #expect(enter["memberList"] == [Person.oscar] && enter["memberCount"] == 5)
    let told = try accepted.params("onApplicationProcessed", to: "oscar")
    #expect(
      told.names == ["applicationID", "groupID", "isAgreeJoin", "opReason", "opTime", "opUser", "platform"])
    #expect(told["isAgreeJoin"] == true && told["opReason"] == "welcome" && told["opUser"] == Person.olga)
    #expect(told["applicationID"] == .string(application.id) && told["platform"] == "Web")
    let tip: JSON = ["type": "Join", "opUser": Person.oscar, "memberList": [Person.oscar], "memberCount": 5]
    #expect(try scene.tips == (type.storesMessages && notification ? [tip] : []))
    #expect(scene.messages.allSatisfy { $0.sender == "oscar" })
    #expect(accepted.notifications == (type.storesMessages ? [.addGroupAccept: ["oscar"]] : [:]))
    let handling = try #require(try accepted.application().handling)
    #expect(handling.isAgreed && handling.by == "olga" && handling.time == scene.clocks.wall && handling.message == "welcome")
    #expect(scene.state?.applications.application(.join, of: "oscar") == nil)
    #expect(scene.state?.roster["oscar"]?.inviter == nil)
  }

  @Test(arguments: types, [true, false])
  func aRefusedApplicantGetsTheEventAndMayApplyAgain(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let application = try apply(scene)
    let refused = try scene.decide(application, false, reason: "no", by: "olga")
    #expect(refused.heard == ["onApplicationProcessed": ["oscar"]])
    let told = try refused.params("onApplicationProcessed", to: "oscar")
    #expect(told["isAgreeJoin"] == false && told["opReason"] == "no")
    #expect(refused.notifications == (type.storesMessages ? [.addGroupRefuse: ["oscar"]] : [:]))
    #expect(scene.messages.isEmpty && scene.state?.roster["oscar"] == nil)
    #expect(try refused.application().handling?.isAgreed == false)
    #expect(try apply(scene).id != application.id)
  }

  @Test(arguments: types, [true, false])
  func onlyManagersDecide(type: GroupType, agrees: Bool) throws {
    // "decide applications to join": Admin, in an AVChatRoom Owner.
    let deciders = type == .avChatRoom ? ["olga", "administrator"] : ["olga", "adam", "administrator"]
    for name in ["olga", "adam", "mary", "carl", "oscar", "petra", "administrator"] {
      let scene = try scene(type)
      let application = try apply(scene)
      let before = scene.fingerprint
      let decided = try scene.decide(application, agrees, by: name)
      guard !deciders.contains(name) else {
        #expect(decided.code == 0, "\(name)")
        continue
      }
      scene.expectNothingDone(decided, code: 10007, before: before, name)
    }
  }

  @Test func anApplicationAdministratorDecidesUnderItsOwnName() throws {
    let scene = try scene()
    let accepted = try scene.decide(try apply(scene), true, by: "administrator")
    let told = try accepted.params("onApplicationProcessed", to: "oscar")
    #expect(told["opUser"] == Person.administrator && told["platform"] == "RESTful API" && told["opReason"] == "")
    #expect(try accepted.application().handling?.by == .administrator)
    #expect(try scene.tips.first?["opUser"] == Person.oscar)
  }

  @Test(arguments: [true, false], [true, false])
  func aHandledApplicationCannotBeDecidedAgain(first: Bool, second: Bool) throws {
    let scene = try scene()
    let application = try apply(scene)
    let handled = try scene.decide(application, first, by: "adam").application()
    for stored in [application, handled] {
      for (name, code) in [("olga", 10024), ("adam", 10024), ("mary", 10007)] {
        let before = scene.fingerprint
        scene.expectNothingDone(try scene.decide(stored, second, by: name), code: code, before: before, name)
      }
    }
  }

  @Test func anApplicationDoesNotOutliveItsGroupsEpoch() throws {
    let scene = try scene()
    let application = try apply(scene)
    try scene.ask("dismissGroup", by: "olga")
    #expect(try scene.decide(application, true, by: "olga").code == 10010)
    try scene.ask("createGroup", #"{"groupType":"Public","groupName":"n"}"#, by: "olga")
    let fresh = try apply(scene)
    for name in ["olga", "mary"] {
      let before = scene.fingerprint
      scene.expectNothingDone(try scene.decide(application, true, by: name), code: 10010, before: before, name)
    }
    #expect(try scene.decide(fresh, true, by: "olga").code == 0)
  }

  @Test func forAMemberItClosesAsAgreeWithoutAnEvent() throws {
    let scene = try scene()
    let application = try apply(scene)
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    let (member, stored) = (scene.state?.roster["oscar"], scene.messages.count)
    let accepted = try scene.decide(application, true, by: "adam")
    #expect(accepted.code == 0 && accepted.events.isEmpty && accepted.notifications.isEmpty)
    #expect(try accepted.application().handling?.isAgreed == true)
    #expect(scene.state?.roster["oscar"] == member && scene.messages.count == stored)
    #expect(scene.state?.applications.application(.join, of: "oscar") == nil)
  }

  @Test func inAFullGroupItStaysOpen() throws {
    let scene = try scene(maxMemberNum: 5)
    let (first, second) = (try apply(scene), try apply(scene, by: "petra"))
    #expect(try scene.decide(first, true, by: "adam").code == 0)
    let before = scene.fingerprint
    scene.expectNothingDone(try scene.decide(second, true, by: "adam"), code: 10014, before: before, "full")
    try scene.expectRefused(10014, "joinGroup", by: "quinn")
    try scene.ask("quitGroup", by: "mary")
    #expect(try scene.decide(second, true, by: "adam").code == 0)
  }

  @Test func aFullGroupCanRefuse() throws {
    let scene = try scene(maxMemberNum: 5)
    let (first, second) = (try apply(scene), try apply(scene, by: "petra"))
    try scene.decide(first, true, by: "adam")
    #expect(try scene.decide(second, false, by: "adam").code == 0)
  }

  @Test func aBannedApplicantIsNotAcceptedBeforeTheBanEnds() throws {
    let scene = try scene()
    let application = try apply(scene)
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    try scene.ask("kickGroupMember", Scene.users(["oscar"], #""banTime":60"#), by: "olga")
    try scene.expectRefused(10007, "joinGroup", by: "oscar")
    for agrees in [0, 59_999] as [Int64] {
      scene.clocks.advance(by: agrees)
      let before = scene.fingerprint
      scene.expectNothingDone(try scene.decide(application, true, by: "olga"), code: 10007, before: before, "banned")
    }
    scene.clocks.advance(by: 1)
    #expect(try scene.decide(application, true, by: "olga").code == 0)
  }

  @Test(arguments: ["Any", "Forbid"])
  func itStaysValidWhenTheModeChanges(mode: String) throws {
    let scene = try scene()
    let application = try apply(scene)
    try scene.ask("setGroupInfo", #"{"joinMode":"\#(mode)"}"#, by: "olga")
    #expect(try scene.decide(application, true, by: "adam").receivers(of: "onMemberEnter").contains("oscar"))
  }

  @Test func itIsStillThereAfterARestart() async throws {
    let scene = try scene()
    let application = try apply(scene)
    try await scene.reload()
    #expect(try scene.ask("joinGroup", by: "oscar").application().id == application.id)
    try scene.decide(application, true, by: "adam")
    try await scene.reload()
    #expect(try scene.decide(application, true, by: "adam").code == 10024)
  }

  @Test func theNumberOfApplicationsIsBounded() throws {
    let scene = try scene()
    let known = try apply(scene)
    let others = (1..<OpenApplications.maxCount).map { number in
      GroupApplication(
        id: "\(number)", groupID: "g", epoch: "e", kind: .join, fromUser: UserID(stringLiteral: "u\(number)"), toUser: nil,
        addTime: 1, requestMsg: "")
    }
    scene.state?.applications = OpenApplications([known] + others)
    try scene.expectRefused(10014, "joinGroup", by: "petra")
    #expect(try apply(scene).id == known.id)
    #expect(try scene.decide(known, false, by: "olga").code == 0)
    #expect(try apply(scene, by: "petra").fromUser == "petra")
  }
}
