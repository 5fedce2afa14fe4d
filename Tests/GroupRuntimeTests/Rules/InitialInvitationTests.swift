import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// createGroup with beInviteMode Auth: "the initial members are invited instead of joined".
@Suite struct InitialInvitationTests {
  private static let types = ["Work", "Public", "Meeting"]

  private func params(_ names: [String], _ more: String = "", type: String = "Public") -> String {
    #"{"groupType":"\#(type)","groupName":"n","faceURL":"f","beInviteMode":"Auth",\#(Scene.memberList(names))\#(more)}"#
  }

  private func create(_ scene: Scene, _ params: String, by name: String = "olga", _ facts: UserFacts = .none) throws
    -> Scene.Outcome
  {
    try scene.ask("createGroup", params, by: name, facts)
  }

  @Test(arguments: types)
  func theInitialMembersAreInvited(type: String) throws {
    let scene = Scene()
    scene.signIn("mary", as: "mary/2")
    let made = try create(scene, params(["mary", "petra", "adam"], #","inviteMessage":"come""#, type: type))
    #expect(made.rows == ["mary Pending", "petra Pending", "adam Pending"])
    #expect(
      made.heard == [
        "onGroupCreated": ["olga"], "onReceiveGroupInvitation": ["adam", "mary", "mary/2"],
        "onGroupApplicationListChanged": ["adam", "mary", "mary/2", "olga"],
      ])
    let event = try made.params("onReceiveGroupInvitation", to: "mary/2")
    #expect(event["opReason"] == "come" && event["attach"] == "" && event["opUser"] == Person.olga && event["platform"] == "Web")
    #expect(event["groupName"] == "n" && event["groupType"] == .string(type) && event["faceURL"] == "f")
    #expect(event["memberCount"] == 1)
    #expect(made.notifications == [.groupCreated: ["olga"], .inviteRequest: ["adam", "mary", "petra"]])
    #expect(made.applications.map(\.requestMsg) == ["come", "come", "come"])
    #expect(made.applications.allSatisfy { $0.fromUser == "olga" && $0.kind == .invite && $0.attach == nil })
    #expect(scene.roles == ["olga": .owner] && scene.messages.isEmpty)
  }

  @Test func withoutWordsTheReasonIsEmpty() throws {
    #expect(try create(Scene(), params(["mary"])).params("onReceiveGroupInvitation", to: "mary")["opReason"] == "")
  }

  @Test func acceptingJoinsAsAMember() async throws {
    let scene = Scene()
    let application = try create(scene, params(["mary"], type: "Work")).application()
    try await scene.reload()
    let accepted = try scene.decide(application, true, by: "mary")
    #expect(accepted.heardBesidesLists == ["onMemberInvited": ["mary", "olga"], "onApplicationProcessed": ["olga"]])
    #expect(try accepted.params("onMemberInvited", to: "olga")["isAccepted"] == true)
    #expect(try scene.tips.map { $0["isAccepted"] } == [true])
    #expect(scene.roles == ["olga": .owner, "mary": .member])
  }

  @Test func anApplicationAdministratorsMembersJoinAtOnce() throws {
    let scene = Scene()
    let list = #""memberList":[{"userID":"mary","role":"Admin"},{"userID":"carl"}]"#
    let made = try create(
      scene, #"{"groupType":"Public","groupName":"n","beInviteMode":"Auth","ownerUserID":"olga","inviteMessage":"x",\#(list)}"#,
      by: "administrator")
    #expect(made.rows == ["mary Success", "carl Success"] && made.heard == ["onGroupCreated": ["carl", "mary", "olga"]])
    #expect(scene.roles == ["olga": .owner, "mary": .admin, "carl": .member])
  }

  @Test(arguments: types)
  func withoutAuthTheWordsAreIgnored(type: String) throws {
    let made = try create(
      Scene(), #"{"groupType":"\#(type)","groupName":"n","inviteMessage":"come",\#(Scene.memberList(["mary"]))}"#)
    #expect(made.rows == ["mary Success"] && made.heard == ["onGroupCreated": ["mary", "olga"]])
    #expect(made.notifications == [.groupCreated: ["olga"]])
  }

  @Test(arguments: types, ["Admin", "200"])
  func aRoleOtherThanMemberIsABadValue(type: String, role: String) throws {
    let list = #""memberList":[{"userID":"carl","role":"Member"},{"userID":"mary","role":"\#(role)"}]"#
    let scene = Scene()
    let made = try create(scene, #"{"groupType":"\#(type)","groupName":"n","beInviteMode":"Auth",\#(list)}"#)
    #expect(made.code == 10004 && made.field == "memberList" && made.events.isEmpty && scene.state == nil)
  }

  @Test(arguments: ["AVChatRoom", "BChatRoom"])
  func typesThatNeverAskRefuseTheMode(type: String) throws {
    let list = #""memberList":[{"userID":"mary","role":"Admin"}]"#
    let params = #"{"groupType":"\#(type)","groupName":"n","ownerUserID":"olga","beInviteMode":"Auth",\#(list)}"#
    #expect(try create(Scene(), params).code == 10007)
    #expect(try create(Scene(), params, by: "administrator").code == 10007)
  }

  @Test func theInvitedCountForTheSize() throws {
    #expect(try create(Scene(), params(["mary", "carl"], #","maxMemberNum":2"#)).code == 8507)
    #expect(try create(Scene(), params(["mary", "carl"], #","maxMemberNum":3"#)).code == 0)
    #expect(try create(Scene(), params(["mary", "olga"], #","maxMemberNum":2"#)).rows == ["mary Pending", "olga Invalid"])
  }

  @Test func otherRowsAreAsEver() throws {
    let made = try create(
      Scene(), params(["mary", "olga", "carl", "adam", "mary"]), UserFacts(unknown: ["carl"], atGroupLimit: ["adam"]))
    #expect(made.rows == ["mary Pending", "olga Invalid", "carl Fail", "adam OverLimit"])
    #expect(made.receivers(of: "onReceiveGroupInvitation") == ["mary"])
  }
}
