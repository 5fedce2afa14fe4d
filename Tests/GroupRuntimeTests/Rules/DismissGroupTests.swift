import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

/// dismissGroup.
@Suite struct DismissGroupTests {
  static let callers = ["olga", "adam", "mary", "carl", "oscar", "administrator"]

  /// The callers that the table lets disband.
  static func allowed(_ type: GroupType) -> [String] { type == .work ? ["administrator"] : ["olga", "administrator"] }

  @Test(arguments: GroupType.allCases, callers)
  func disbandingFollowsTheTableAndIsAnnounced(type: GroupType, name: String) throws {
    let scene = try Scene(type)
    let before = scene.fingerprint
    let dismissed = try scene.ask("dismissGroup", by: name)
    guard DismissGroupTests.allowed(type).contains(name) else {
      #expect(dismissed.code == 10007)
      #expect(dismissed.events.isEmpty && scene.fingerprint == before)
      return
    }
    #expect(dismissed.result == [:] as JSON)
    let everybody = ["adam", "carl", "mary", "olga"] + (type == .bChatRoom ? ["oscar"] : [])
    #expect(dismissed.receivers(of: "onGroupDismissed") == everybody)
    for session in everybody { #expect(dismissed.names(session) == ["onGroupDismissed"]) }
    let event = try dismissed.params("onGroupDismissed", to: "mary")
    #expect(
      event["opUser"] == (name == "olga" ? ["userID": "olga", "nameCard": "", "role": "Owner"] : ["userID": "administrator"]))
    #expect(event["platform"] == (name == "olga" ? "Web" : "RESTful API"))
    #expect(scene.state == nil)
    for method in ["info", "joinGroup", "quitGroup", "dismissGroup"] { #expect(try scene.ask(method, by: "olga").code == 10010) }
  }

  /// "With `work.ownerMayDisband` true the row disband reads Owner for Work."
  @Test(arguments: GroupType.allCases, callers)
  func theOwnerOfAWorkGroupDisbandsItWhereTheConfigurationSaysSo(type: GroupType, name: String) throws {
    var rights = RightsConfiguration()
    rights.ownerDisbandsWork = true
    let scene = try Scene(type, rules: GroupRules(permissions: GroupPermissions(rights)))
    guard ["olga", "administrator"].contains(name) else { return try scene.expectRefused(10007, "dismissGroup", by: name) }
    let dismissed = try scene.ask("dismissGroup", by: name)
    #expect(dismissed.code == 0 && scene.state == nil)
    #expect(Set(dismissed.receivers(of: "onGroupDismissed")).isSuperset(of: ["adam", "carl", "mary", "olga"]))
  }

  @Test func aGroupIDUsedAgainHasAnotherEpochAndStartsAtSeq1() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.ask("dismissGroup", by: "olga")
    try scene.ask("createGroup", #"{"groupType":"Public","groupName":"n"}"#, by: "mary")
    let info = try scene.ask("info", by: "mary").result
    #expect(info["epoch"] != "e" && info["epoch"].string?.isEmpty == false)
    #expect(info["lastSeq"] == 0 && info["memberCount"] == 1)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(sent.result["seq"] == 1)
    #expect(sent.events.isEmpty, "those of the old group hear nothing")
  }
}

/// recycleGroup: "as disbanding, with onGroupRecycled".
@Suite struct RecycleGroupTests {
  @Test(arguments: GroupType.allCases, [true, false])
  func everyMemberGetsTheEventAndTheGroupEnds(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    let recycled = try scene.ask("recycleGroup", by: "administrator")
    #expect(recycled.result == [:] as JSON)
    #expect(recycled.heard == ["onGroupRecycled": ["adam", "carl", "mary", "olga"] + (type == .bChatRoom ? ["oscar"] : [])])
    let event = try recycled.params("onGroupRecycled", to: "mary")
    #expect(event.names == ["groupID", "opTime", "opUser", "platform"])
    #expect(event["opUser"] == Person.administrator && event["platform"] == "RESTful API")
    #expect(recycled.notifications == (type.storesMessages ? [.groupRecycled: ["adam", "carl", "mary", "olga"]] : [:]))
    #expect(recycled.decision.disbands && scene.state == nil && scene.messages.isEmpty)
    #expect(try scene.ask("recycleGroup", by: "administrator").code == 10010)
  }
}
