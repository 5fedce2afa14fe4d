import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Users who are in as many groups as one may be (`limits.groupsPerUser`; 10037, in bulk methods
/// OverLimit). Groups that lists do not name do not count. Besides, the bound of AVChatRooms
/// (10036).
@Suite struct GroupsPerUserTests {
  private func atLimit(_ users: UserID...) -> UserFacts { UserFacts(atGroupLimit: Set(users)) }

  @Test(arguments: [("Work", 10037), ("Public", 10037), ("Meeting", 10037), ("AVChatRoom", 0)])
  func theCreatorIsRefused(type: String, code: Int) throws {
    let scene = Scene()
    let made = try scene.ask("createGroup", #"{"groupType":"\#(type)","groupName":"n"}"#, by: "olga", atLimit("olga"))
    #expect(made.code == code)
    #expect((scene.state == nil) == (code != 0) && made.events.isEmpty == (code != 0))
  }

  @Test func anOwnerNamedByTheApplicationIsRefused() throws {
    let params = #"{"groupType":"Public","groupName":"n","ownerUserID":"olga"}"#
    for method in ["createGroup", "importGroup"] {
      #expect(try Scene().ask(method, params, by: "administrator", atLimit("olga")).code == 10037, "\(method)")
      #expect(try Scene().ask(method, params, by: "administrator", atLimit("mary")).code == 0, "\(method)")
    }
  }

  @Test func anInitialMemberOverLimitIsLeftOut() throws {
    let scene = Scene()
    let made = try scene.ask(
      "createGroup", #"{"groupType":"Work","groupName":"n",\#(Scene.memberList(["mary", "carl", "olga"]))}"#,
      by: "olga", atLimit("carl"))
    #expect(made.rows == ["mary Success", "carl OverLimit", "olga Invalid"])
    #expect(scene.state?.roster.userIDs.sorted() == ["mary", "olga"])
    #expect(made.heard == ["onGroupCreated": ["mary", "olga"]])
  }

  @Test func usersOverLimitDoNotCountAsInitialMembers() throws {
    let made = try Scene().ask(
      "createGroup", #"{"groupType":"Work","groupName":"n","maxMemberNum":2,\#(Scene.memberList(["mary", "carl"]))}"#,
      by: "olga", atLimit("carl"))
    #expect(made.code == 0)
  }

  @Test func aLimitOfAVChatRoomsIsEnforced() throws {
    let full = UserFacts(isAtRoomLimit: true)
    for (type, code) in [("AVChatRoom", 10036), ("Public", 0), ("Work", 0)] {
      let scene = Scene()
      let made = try scene.ask("createGroup", #"{"groupType":"\#(type)","groupName":"n"}"#, by: "olga", full)
      #expect(made.code == code && (scene.state == nil) == (code != 0), "\(type)")
    }
  }

  @Test(arguments: [GroupType.public, .meeting], [JoinMode.any, .auth])
  func joiningIsRefused(type: GroupType, mode: JoinMode) throws {
    let scene = try Scene(type) { $0.joinMode = mode }
    try scene.expectRefused(10037, "joinGroup", by: "oscar", atLimit("oscar"))
    #expect(try scene.ask("joinGroup", by: "oscar", atLimit("mary")).code == 0)
  }

  @Test func liveRoomsDoNotCount() throws {
    #expect(try Scene(.avChatRoom).ask("joinGroup", by: "oscar", atLimit("oscar")).code == 0)
  }

  @Test func aFullGroupIsReportedFirst() throws {
    try Scene(.meeting, maxMemberNum: 4).expectRefused(10014, "joinGroup", by: "oscar", atLimit("oscar"))
  }

  @Test(arguments: [BeInviteMode.none, .auth])
  func anInvitedUserOverLimitDoesNotHinderOthers(mode: BeInviteMode) throws {
    let scene = try Scene(.work) { $0.beInviteMode = mode }
    let invited = try scene.ask("inviteUserToGroup", Scene.users(["petra", "oscar"]), by: "mary", atLimit("oscar"))
    #expect(invited.rows == ["petra \(mode == .none ? "Success" : "Pending")", "oscar OverLimit"])
    #expect(scene.state?.roster["oscar"] == nil && invited.events["oscar"] == nil)
  }

  @Test func anApplicationIsNotAcceptedAndStaysOpen() throws {
    let scene = try Scene(.public)
    let application = try scene.ask("joinGroup", by: "oscar").application()
    let before = scene.fingerprint
    let accepted = try scene.decide(application, true, by: "adam", atLimit("oscar"))
    scene.expectNothingDone(accepted, code: 10037, before: before, "accept")
    #expect(try scene.decide(application, true, by: "adam").code == 0)
    #expect(scene.state?.roster["oscar"] != nil)
  }

  @Test func anInvitationIsNotAcceptedAndCanBeRefused() throws {
    let scene = try Scene(.work) { $0.beInviteMode = .auth }
    let invitation = try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary").application()
    let before = scene.fingerprint
    scene.expectNothingDone(
      try scene.decide(invitation, true, by: "oscar", atLimit("oscar")), code: 10037, before: before, "accept")
    #expect(try scene.decide(invitation, false, by: "oscar", atLimit("oscar")).code == 0)
  }

  @Test func anImportedMemberIsOverLimit() throws {
    let scene = try Scene(.public)
    let imported = try scene.ask(
      "importGroupMembers", #"{"memberList":[{"userID":"oscar"},{"userID":"petra"}]}"#, by: "administrator", atLimit("petra"))
    #expect(imported.rows == ["oscar Success", "petra OverLimit"])
  }
}
