import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// transferGroupOwner.
@Suite struct TransferTests {
  private static let types = [GroupType.work, .public, .meeting]
  private let toMary = #"{"userID":"mary"}"#

  private func scene(_ type: GroupType = .public, notification: Bool = true) throws -> Scene {
    try Scene(type) { $0.memberChangeNotification = notification }
  }

  @Test(arguments: types, [true, false])
  func everyMemberGetsTheEventOfTheNewOwner(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let passed = try scene.ask("transferGroupOwner", toMary, by: "olga")
    #expect(passed.result == [:] as JSON)
    #expect(passed.heard == ["onGroupInfoChanged": ["adam", "carl", "mary", "olga"]], "no grant, no revoke, nobody leaves")
    let event = try passed.params("onGroupInfoChanged", to: "carl")
    #expect(event["changeInfoList"] == [["type": "Owner", "value": "mary"]] && event["opUser"]["userID"] == "olga")
    #expect(event["seq"] == 1 && event["platform"] == "Web")
    let tips = try scene.tips
    #expect(tips.count == 1 && tips[0]["type"] == "GroupInfoChange" && tips[0]["changeInfoList"] == event["changeInfoList"])
    #expect(passed.notifications.isEmpty)
    #expect(scene.roles == ["olga": .member, "adam": .admin, "mary": .owner, "carl": .custom(200)])
    let info = try scene.ask("info", by: "olga").result
    #expect(info["owner"] == "mary" && info["selfInfo"]["role"] == "Member")
    #expect(info["lastInfoTime"] == .instant(scene.clocks.wall))
  }

  @Test func aFormerOwnerIsAMember() throws {
    let scene = try scene()
    for (successor, owner) in [("adam", "olga"), ("mary", "adam")] {
      let passed = try scene.ask("transferGroupOwner", #"{"userID":"\#(successor)"}"#, by: owner)
      #expect(passed.heard.keys.sorted() == ["onGroupInfoChanged"])
    }
    #expect(scene.state?.roster["adam"]?.role == .member && scene.state?.roster["olga"]?.role == .member)
    #expect(try scene.ask("transferGroupOwner", #"{"userID":"olga"}"#, by: "mary").code == 0)
  }

  @Test func theListAndTheRightsShowTheNewOwner() throws {
    let scene = try scene()
    _ = try scene.ask("getGroupMemberList", by: "carl")
    try scene.ask("transferGroupOwner", toMary, by: "olga")
    let list = try scene.ask("getGroupMemberList", by: "carl").result["memberList"]
    #expect(list.elements.map { $0["userID"] } == ["mary", "adam", "olga", "carl"])
    try scene.expectRefused(10007, "dismissGroup", by: "olga")
    #expect(try scene.ask("dismissGroup", by: "mary").code == 0)
  }

  @Test(arguments: types, [true, false])
  func withQuitTheOwnerLeaves(type: GroupType, notification: Bool) throws {
    let scene = try scene(type, notification: notification)
    let passed = try scene.ask("transferGroupOwner", #"{"userID":"mary","quit":true}"#, by: "olga")
    var heard = ["onGroupInfoChanged": ["adam", "carl", "mary", "olga"], "onQuitFromGroup": ["olga"]]
    if notification { heard["onMemberLeave"] = ["adam", "carl", "mary"] }
    #expect(passed.heard == heard)
    #expect(passed.names("mary").first == "onGroupInfoChanged")
    if notification {
      let event = try passed.params("onMemberLeave", to: "carl")
      #expect(event["memberList"][0]["userID"] == "olga" && event["memberCount"] == 3 && event["seq"] == 2)
    }
    #expect(try scene.tips.map { $0["type"] } == (notification ? ["GroupInfoChange", "Quit"] : ["GroupInfoChange"]))
    #expect(passed.notifications == [.quitGroup: ["olga"]])
    #expect(scene.state?.record.owner == "mary" && scene.state?.roster.count == 3)
    #expect(try scene.ask("info", by: "olga").code == (type == .work ? 10007 : 0))
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 10007)
  }

  @Test func withQuitByTheApplicationTheFormerOwnerLeaves() throws {
    let scene = try scene()
    let passed = try scene.ask("transferGroupOwner", #"{"userID":"mary","quit":true}"#, by: "administrator")
    #expect(try passed.params("onGroupInfoChanged", to: "carl")["opUser"] == Person.administrator)
    #expect(passed.receivers(of: "onQuitFromGroup") == ["olga"])
    let tip = try #require(try scene.tips.last)
    #expect(tip["type"] == "Quit" && tip["opUser"]["userID"] == "olga" && scene.messages.last?.sender == "olga")
    #expect(scene.state?.roster.userIDs.sorted() == ["adam", "carl", "mary"])
  }

  @Test(arguments: [false, true])
  func namingThePresentOwnerChangesNothing(quit: Bool) throws {
    try scene().expectNothing("transferGroupOwner", #"{"userID":"olga","quit":\#(quit)}"#, by: "administrator")
  }

  @Test func onlyTheOwnerTransfersAndOnlyToAnotherMember() throws {
    for type in TransferTests.types {
      let scene = try scene(type)
      for name in ["adam", "mary", "carl", "oscar"] {
        try scene.expectRefused(10007, "transferGroupOwner", #"{"userID":"carl","quit":true}"#, by: name)
      }
      for target in ["olga", "oscar"] {
        try scene.expectRefused(10007, "transferGroupOwner", #"{"userID":"\#(target)"}"#, by: "olga")
      }
      try scene.expectRefused(10007, "transferGroupOwner", #"{"userID":"oscar"}"#, by: "administrator")
    }
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom], ["olga", "mary", "oscar", "administrator"])
  func someTypesHaveNoTransfer(type: GroupType, name: String) throws {
    for successor in ["carl", "olga"] {
      try Scene(type).expectRefused(10007, "transferGroupOwner", #"{"userID":"\#(successor)"}"#, by: name)
    }
  }

  @Test func anOwnersQuitWithNotificationOffAnnouncesTheSuccessorOnly() throws {
    let scene = try Scene(.work) { $0.memberChangeNotification = false }
    let quit = try scene.ask("quitGroup", by: "olga")
    #expect(quit.heard == ["onGroupInfoChanged": ["adam", "carl", "mary", "olga"], "onQuitFromGroup": ["olga"]])
    #expect(try scene.tips.map { $0["type"] } == ["GroupInfoChange"])
    #expect(quit.notifications == [.quitGroup: ["olga"]])
    #expect(scene.state?.record.owner == "adam")
  }

  @Test func theLastMembersQuitMakesBothNotifications() throws {
    let quit = try Scene(.work, members: [:]).ask("quitGroup", by: "olga")
    #expect(quit.notifications == [.quitGroup: ["olga"], .groupDismissed: ["olga"]])
  }
}
