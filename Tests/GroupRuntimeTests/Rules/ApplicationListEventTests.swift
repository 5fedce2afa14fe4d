import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// onGroupApplicationListChanged: "to all sessions of everybody in whose Received or Sent list the
/// application stands, whenever one is made, renewed or handled".
@Suite struct ApplicationListEventTests {
  private static let event = "onGroupApplicationListChanged"

  private func scene(_ type: GroupType = .public, _ change: (inout GroupPolicy) -> Void = { _ in }) throws -> Scene {
    let scene = try Scene(type) { policy in
      policy.joinMode = type == .work ? .forbid : .auth
      policy.inviteMode = .any
      policy.beInviteMode = .auth
      change(&policy)
    }
    for name in ["oscar", "adam", "mary", "petra"] { scene.signIn(name, as: "\(name)/2") }
    return scene
  }

  private func application(_ outcome: Scene.Outcome, to session: String) throws -> JSON {
    let params = try outcome.params(ApplicationListEventTests.event, to: session)
    #expect(params.names == ["application", "groupID", "opTime"] && params["groupID"] == "g")
    return params["application"]
  }

  private func receivers(_ outcome: Scene.Outcome) -> [String] { outcome.receivers(of: ApplicationListEventTests.event) }

  // MARK: Requests to join

  @Test(arguments: [true, false])
  func aRequestIsToldToTheManagersAndTheApplicant(notification: Bool) throws {
    let scene = try scene { $0.memberChangeNotification = notification }
    let asked = try scene.ask("joinGroup", #"{"message":"please"}"#, by: "oscar")
    #expect(receivers(asked) == ["adam", "adam/2", "olga", "oscar", "oscar/2"])
    #expect(asked.receivers(of: "onReceiveJoinApplication") == ["adam", "adam/2", "olga"], "besides the older event")
    let made = try asked.application()
    let seen = try application(asked, to: "olga")
    #expect(
      seen == [
        "applicationID": .string(made.id), "groupID": "g", "type": "Join", "fromUser": "oscar", "toUser": "",
        "addTime": .number(Double(scene.clocks.wall.milliseconds)), "requestMsg": "please", "handleStatus": "Unhandled",
        "isRead": false,
      ])
    #expect(try application(asked, to: "oscar")["isRead"] == true, "one's own is read")
  }

  @Test func aRenewedRequestIsToldAgain() throws {
    let scene = try scene()
    let first = try scene.ask("joinGroup", by: "oscar").application()
    scene.clocks.advance(by: 5)
    let again = try scene.ask("joinGroup", #"{"message":"again"}"#, by: "oscar/2")
    #expect(receivers(again) == ["adam", "adam/2", "olga", "oscar", "oscar/2"], "the session that asks, too")
    let seen = try application(again, to: "adam/2")
    #expect(seen["applicationID"] == .string(first.id) && seen["requestMsg"] == "again" && seen["isRead"] == false)
  }

  @Test(arguments: [true, false])
  func aDecisionIsToldToAllManagersAndTheApplicant(agrees: Bool) throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    scene.clocks.advance(by: 5)
    let marks = UserFacts(readMarks: ["olga": made.addTime, "oscar": .distantFuture, "mary": .distantFuture])
    let decided = try scene.decide(made, agrees, reason: "so", by: "adam", marks)
    #expect(receivers(decided) == ["adam", "adam/2", "olga", "oscar", "oscar/2"])
    let byDecider = try application(decided, to: "adam/2")
    #expect(byDecider["handleStatus"] == "HandledBySelf" && byDecider["isRead"] == false)
    #expect(byDecider["handleResult"] == (agrees ? "Agree" : "Refuse") && byDecider["handledMsg"] == "so")
    #expect(byDecider["handledBy"] == "adam" && byDecider["handledTime"].integer == scene.clocks.wall.milliseconds)
    let byOther = try application(decided, to: "olga")
    #expect(byOther["handleStatus"] == "HandledByOther" && byOther["isRead"] == true, "as the own mark says")
    let bySender = try application(decided, to: "oscar")
    #expect(bySender["handleStatus"] == "HandledByOther" && bySender["isRead"] == true)
    #expect(decided.receivers(of: "onApplicationProcessed") == ["oscar", "oscar/2"])
  }

  @Test func anAdministratorsDecisionIsAnothersForEverybody() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    let decided = try scene.decide(made, true, by: "administrator")
    for session in ["adam", "olga", "oscar/2"] {
      #expect(try application(decided, to: session)["handleStatus"] == "HandledByOther", "\(session)")
    }
    #expect(try application(decided, to: "olga")["handledBy"] == "administrator")
  }

  @Test func aMarkBeforeTheApplicationLeavesItUnread() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    let decided = try scene.decide(
      made, false, by: "adam", UserFacts(readMarks: ["olga": made.addTime.advanced(byMilliseconds: -1)]))
    #expect(try application(decided, to: "olga")["isRead"] == false)
  }

  @Test func acceptingAMemberIsToldToTheListsAlone() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    let decided = try scene.decide(made, true, by: "adam")
    #expect(decided.heard == [ApplicationListEventTests.event: ["adam", "adam/2", "olga", "oscar", "oscar/2"]])
    #expect(try application(decided, to: "oscar")["handleResult"] == "Agree")
  }

  @Test func anApplicantWhoIsAManagerByNowSeesTheReceivedOne() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#, by: "olga")
    let decided = try scene.decide(made, true, by: "oscar")
    #expect(receivers(decided) == ["adam", "adam/2", "olga", "oscar", "oscar/2"], "each session once")
    let seen = try application(decided, to: "oscar")
    #expect(seen["handleStatus"] == "HandledBySelf" && seen["isRead"] == false)
  }

  @Test func theOwnerOfALiveRoomIsItsOnlyManager() throws {
    let scene = try Scene(.avChatRoom) { $0.joinMode = .auth }
    let asked = try scene.ask("joinGroup", by: "oscar")
    #expect(receivers(asked) == ["olga", "oscar"])
    #expect(receivers(try scene.decide(try asked.application(), true, by: "olga")) == ["olga", "oscar"])
  }

  // MARK: Invitations

  @Test(arguments: [GroupType.work, .public, .meeting])
  func anInvitationIsToldToTheInvitedAndTheInviter(type: GroupType) throws {
    let scene = try scene(type)
    let invited = try scene.ask(
      "inviteUserToGroup", Scene.users(["oscar", "petra"], #""message":"come","attach":"x""#), by: "mary/2")
    #expect(receivers(invited) == ["mary", "mary/2", "oscar", "oscar/2", "petra/2"])
    let seen = try application(invited, to: "oscar")
    #expect(seen["type"] == "Invite" && seen["fromUser"] == "mary" && seen["toUser"] == "oscar" && seen["isRead"] == false)
    #expect(seen["requestMsg"] == "come" && seen["attach"] == "x")
    let own = (invited.events["mary"] ?? []).map { $0["params"]["application"] }
    #expect(own.map { $0["toUser"] } == ["oscar", "petra"] && own.allSatisfy { $0["isRead"] == true }, "one for each")
  }

  @Test func whoRenewsAnInvitationTakesItFromTheFirstInviter() throws {
    let scene = try scene()
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary")
    let renewed = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "carl")
    #expect(receivers(renewed) == ["carl", "oscar", "oscar/2"])
    #expect(try application(renewed, to: "oscar")["fromUser"] == "carl")
    let decided = try scene.decide(try renewed.application(), false, by: "oscar", UserFacts(readMarks: ["oscar": .distantFuture]))
    #expect(receivers(decided) == ["carl", "oscar", "oscar/2"])
    #expect(try application(decided, to: "oscar")["handleStatus"] == "HandledBySelf")
    #expect(try application(decided, to: "oscar/2")["isRead"] == true)
    #expect(try application(decided, to: "carl")["handleStatus"] == "HandledByOther")
  }

  @Test func anInviterWhoHasLeftIsTold() throws {
    let scene = try scene()
    let made = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary").application()
    try scene.ask("quitGroup", by: "mary")
    #expect(receivers(try scene.decide(made, true, by: "oscar")) == ["mary", "mary/2", "oscar", "oscar/2"])
  }

  // MARK: Who is not told

  @Test func managersMadeOrUnmadeLaterAreSentNone() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    let granted = try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    #expect(receivers(granted) == [])
    #expect(receivers(try scene.ask("setGroupMemberRole", #"{"userID":"adam","role":"Member"}"#, by: "olga")) == [])
    #expect(receivers(try scene.ask("transferGroupOwner", #"{"userID":"carl"}"#, by: "olga")) == [])
    let decided = try scene.decide(made, true, by: "mary")
    #expect(receivers(decided) == ["carl", "mary", "mary/2", "oscar", "oscar/2"], "the managers of the moment")
  }

  @Test func refusedCallsAndTheEndOfTheGroupTellNothing() throws {
    let scene = try scene()
    let made = try scene.ask("joinGroup", by: "oscar").application()
    #expect(receivers(try scene.decide(made, true, by: "mary")) == [])
    #expect(receivers(try scene.decide(made, true, by: "olga", UserFacts(atGroupLimit: ["oscar"]))) == [], "10037 leaves it open")
    #expect(receivers(try scene.ask("dismissGroup", by: "olga")) == [])
    #expect(try scene.decide(made, true, by: "olga").code == 10010)
  }

  @Test func atOnceThereIsNoApplication() throws {
    let scene = try Scene(.public) {
      $0.joinMode = .any; $0.inviteMode = .any
    }
    #expect(receivers(try scene.ask("joinGroup", by: "oscar")) == [])
    #expect(receivers(try scene.ask("inviteUserToGroup", Scene.users(["petra"]), by: "mary")) == [])
    #expect(receivers(try self.scene().ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")) == [])
  }
}
