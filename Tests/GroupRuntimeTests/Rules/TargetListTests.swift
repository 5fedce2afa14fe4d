import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// setGroupMemberRole and muteGroupMember with `userIDList`: "what concerns one target is its row,
/// and one event and one tip of each kind name all who changed".
@Suite struct TargetListTests {
  private static let changed = "onGroupMemberInfoChanged"

  private func roles(_ users: [String], _ role: String) -> String { Scene.users(users, #""role":"\#(role)""#) }

  private func mute(_ users: [String], _ seconds: Int) -> String { Scene.users(users, #""muteTime":\#(seconds)"#) }

  private func person(_ name: String, _ role: String) -> JSON {
    ["userID": .string(name), "nameCard": "", "role": .string(role)]
  }

  private func scene(_ type: GroupType = .public, notification: Bool = true) throws -> Scene {
    try Scene(type) { $0.memberChangeNotification = notification }
  }

  // MARK: Roles

  @Test(arguments: [GroupType.public, .meeting], [true, false])
  func oneGrantNamesAllNewAdmins(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let given = try scene.ask("setGroupMemberRole", roles(["carl", "mary", "adam"], "Admin"), by: "olga")
    #expect(given.result.names == ["memberList"])
    #expect(given.rows == ["carl Success", "mary Success", "adam Success"])
    #expect(given.heard == ["onGrantAdministrator": notification ? ["adam", "carl", "mary", "olga"] : ["carl", "mary", "olga"]])
    let list: JSON = [person("carl", "Admin"), person("mary", "Admin")]
    let event = try given.params("onGrantAdministrator", to: "mary")
    #expect(event["memberList"] == list && event["opUser"] == Person.olga)
    let tip: JSON = ["type": "SetAdmin", "opUser": Person.olga, "memberList": list, "memberCount": 4]
    #expect(try scene.tips == (notification ? [tip] : []))
    #expect(event["seq"] == (notification ? 1 : .null))
    #expect(given.notifications == [.grantAdmin: ["carl", "mary"]], "adam was one before")
    #expect(scene.roles == ["olga": .owner, "adam": .admin, "carl": .admin, "mary": .admin])
  }

  @Test(arguments: [true, false])
  func adminsWhoLoseTheRoleAndOthersAreToldOfApart(notification: Bool) throws {
    let scene = try Scene(.public, members: ["adam": .admin, "mary": .admin, "carl": .custom(200)]) {
      $0.memberChangeNotification = notification
    }
    let given = try scene.ask("setGroupMemberRole", roles(["carl", "mary", "adam"], "Member"), by: "olga")
    let everybody = ["adam", "carl", "mary", "olga"]
    #expect(
      given.heard == [
        "onRevokeAdministrator": notification ? everybody : ["adam", "mary", "olga"],
        TargetListTests.changed: notification ? everybody : ["carl", "olga"],
      ])
    #expect(given.names("olga") == ["onRevokeAdministrator", TargetListTests.changed])
    let event = try given.params("onRevokeAdministrator", to: "olga")
    #expect(event["memberList"] == [person("mary", "Member"), person("adam", "Member")])
    let entry: JSON = ["userID": "carl", "role": "Member"]
    #expect(try given.params(TargetListTests.changed, to: "olga")["changeInfoList"] == [entry])
    #expect(try scene.tips.map { $0["type"] } == (notification ? ["CancelAdmin", "MemberInfoChange"] : []))
    #expect(given.notifications == [.cancelAdmin: ["adam", "mary"]])
  }

  @Test func customRolesAreOneEntryEach() throws {
    let scene = try scene()
    let given = try scene.ask("setGroupMemberRole", roles(["mary", "carl"], "300"), by: "administrator")
    let entries: JSON = [["userID": "mary", "role": "300"], ["userID": "carl", "role": "300"]]
    #expect(try given.params(TargetListTests.changed, to: "adam")["changeInfoList"] == entries)
    #expect(try scene.tips.count == 1 && given.notifications.isEmpty)
  }

  @Test func eachFaultOfATargetIsARow() throws {
    let scene = try scene()
    let given = try scene.ask("setGroupMemberRole", roles(["olga", "oscar", "mary"], "300"), by: "olga")
    #expect(given.rows == ["olga Fail", "oscar Invalid", "mary Success"])
    #expect(try given.params(TargetListTests.changed, to: "adam")["changeInfoList"].elements.count == 1)
    let nothing = try scene.expectNothing("setGroupMemberRole", roles(["olga", "oscar"], "Member"), by: "administrator")
    #expect(nothing["memberList"].elements.map { $0["result"] } == ["Fail", "Invalid"], "nobody gives the owner another role")
  }

  @Test func nothingToChangeIsASuccessWithoutAnEvent() throws {
    let answer = try scene().expectNothing("setGroupMemberRole", roles(["adam"], "Admin"), by: "olga")
    #expect(answer == ["memberList": [["userID": "adam", "result": "Success"]]])
  }

  @Test(arguments: [GroupType.work, .avChatRoom])
  func theCallersRightIsAnErrorOfTheCall(type: GroupType) throws {
    for name in ["olga", "adam", "mary", "oscar", "administrator"] {
      try scene(type).expectRefused(10007, "setGroupMemberRole", roles(["carl"], "300"), by: name)
    }
    for name in ["adam", "mary", "oscar"] {
      try scene(.public).expectRefused(10007, "setGroupMemberRole", roles(["carl"], "300"), by: name)
    }
  }

  @Test func inABChatRoomAnUnknownUserFails() throws {
    let scene = try Scene(.bChatRoom)
    let given = try scene.ask(
      "setGroupMemberRole", roles(["oscar", "petra"], "Admin"), by: "olga", UserFacts(unknown: ["petra", "mary"]))
    #expect(given.rows == ["oscar Success", "petra Fail"])
    #expect(scene.roles["oscar"] == .admin && scene.roles["petra"] == nil)
    #expect(try scene.ask("setGroupMemberRole", roles(["mary"], "Admin"), by: "olga", UserFacts(unknown: ["mary"])).code == 0)
  }

  // MARK: Mutes

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom], [true, false])
  func oneEventNamesAllWhoAreMuted(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let muted = try scene.ask("muteGroupMember", mute(["mary", "carl", "oscar", "olga"], 60), by: "olga")
    #expect(muted.result.names == ["memberList", "muteUntil"])
    #expect(muted.rows == ["mary Success", "carl Success", "oscar Invalid", "olga Fail"])
    #expect(muted.result["muteUntil"].instant == scene.clocks.wall + 60_000)
    let heard = notification ? ["adam", "carl", "mary", "olga"] : ["carl", "mary", "olga"]
    #expect(muted.heard == [TargetListTests.changed: heard])
    let entries: JSON = [["userID": "mary", "muteTime": 60], ["userID": "carl", "muteTime": 60]]
    #expect(try muted.params(TargetListTests.changed, to: "mary")["changeInfoList"] == entries)
    #expect(try scene.tips.map { $0["changeInfoList"] } == (notification && type != .avChatRoom ? [entries] : []))
    for name in ["mary", "carl"] { try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: name) }
  }

  @Test func onlyThoseWhoWereMutedAreUnmuted() throws {
    let scene = try scene()
    try scene.ask("muteGroupMember", mute(["mary"], 60), by: "olga")
    let unmuted = try scene.ask("muteGroupMember", mute(["carl", "mary"], 0), by: "adam")
    #expect(unmuted.rows == ["carl Success", "mary Success"] && unmuted.result["muteUntil"] == 0)
    #expect(
      try unmuted.params(TargetListTests.changed, to: "olga")["changeInfoList"] == [["userID": "mary", "muteTime": 0]])
    let again = try scene.expectNothing("muteGroupMember", mute(["carl", "mary"], 0), by: "adam")
    #expect(again["memberList"].elements.map { $0["result"] } == ["Success", "Success"])
  }

  @Test func equalAndHigherRolesFail() throws {
    let scene = try Scene(.public, members: ["adam": .admin, "mary": .admin, "carl": .member])
    let muted = try scene.ask("muteGroupMember", mute(["olga", "adam", "mary", "carl"], 60), by: "adam")
    #expect(muted.rows == ["olga Fail", "adam Fail", "mary Fail", "carl Success"])
    #expect(try scene.ask("muteGroupMember", mute(["olga"], 60), by: "administrator").rows == ["olga Success"])
    for (type, name) in [(GroupType.public, "mary"), (.work, "olga"), (.bChatRoom, "olga"), (.avChatRoom, "adam")] {
      try self.scene(type).expectRefused(10007, "muteGroupMember", mute(["carl"], 60), by: name)
    }
  }
}
