import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// muteGroup, and allMuted of setGroupInfo.
@Suite struct GroupMuteRuleTests {
  private let hello = #"{"text":"x"}"#

  private static let silenced: [(params: String, names: [String])] = [
    (#"{"mode":"None"}"#, []), (#"{"mode":"Ordinary"}"#, ["mary", "carl"]),
    (#"{"mode":"All"}"#, ["olga", "adam", "mary", "carl"]),
    (#"{"mode":"Custom","roles":["Member"]}"#, ["mary"]), (#"{"mode":"Custom","roles":["200","Admin"]}"#, ["adam", "carl"]),
    (#"{"mode":"Custom","roles":["201"]}"#, []),
  ]

  private func entries(_ allMuted: Bool, _ mute: JSON) -> JSON {
    [["type": "AllMuted", "value": .bool(allMuted)], ["type": "Mute", "value": mute]]
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func eachModeSilencesItsRoles(type: GroupType) throws {
    for (params, names) in GroupMuteRuleTests.silenced {
      let scene = try Scene(type)
      #expect(try scene.ask("muteGroup", params, by: "olga").code == 0)
      for name in ["olga", "adam", "mary", "carl"] {
        if names.contains(name) {
          try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: name)
        } else {
          #expect(try scene.ask("sendGroupTextMessage", hello, by: name).code == 0, "\(params) \(name)")
        }
      }
      #expect(try scene.ask("sendGroupTextMessage", hello, by: "administrator").code == 0, "\(params)")
    }
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom], [true, false])
  func everyMemberGetsBothEntries(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    scene.clocks.advance(by: 5000)
    let muted = try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    #expect(muted.result == [:] as JSON)
    #expect(muted.heard == ["onGroupInfoChanged": ["adam", "carl", "mary", "olga"]])
    let event = try muted.params("onGroupInfoChanged", to: "mary")
    #expect(event["changeInfoList"] == entries(true, ["mode": "Ordinary"]))
    #expect(event["opUser"] == Person.olga && event["platform"] == "Web")
    let tip: JSON = [
      "type": "GroupInfoChange", "opUser": Person.olga, "changeInfoList": event["changeInfoList"], "memberCount": 4,
    ]
    #expect(try scene.tips == (type.storesMessages ? [tip] : []))
    #expect((event["seq"], event["msgID"].string) == (type.storesMessages ? 1 : .null, scene.messages.first?.msgID))
    #expect(muted.notifications.isEmpty)
    let info = try scene.ask("info", by: "mary").result
    #expect(info["allMuted"] == true && info["mute"] == ["mode": "Ordinary"])
    #expect(info["lastInfoTime"] == .instant(scene.clocks.wall))
  }

  @Test func allMutedIsTrueInTheModesThatSilenceEveryOrdinaryMember() throws {
    let scene = try Scene(.public)
    for (mode, allMuted, mute) in [
      (#""Ordinary""#, true, ["mode": "Ordinary"]), (#""All""#, true, ["mode": "All"]),
      (#""Custom","roles":["200","Admin","200"]"#, false, ["mode": "Custom", "roles": ["200", "Admin"]]),
      (#""None""#, false, ["mode": "None"]),
    ] as [(String, Bool, JSON)] {
      let muted = try scene.ask("muteGroup", #"{"mode":\#(mode)}"#, by: "adam")
      #expect(try muted.params("onGroupInfoChanged", to: "carl")["changeInfoList"] == entries(allMuted, mute))
      let info = try scene.ask("info", by: "mary").result
      #expect(info["allMuted"] == .bool(allMuted) && info["mute"] == mute)
    }
  }

  @Test func aTimedMuteEndsByItselfWithoutAnEvent() async throws {
    let scene = try Scene(.public)
    let until = JSON.instant(scene.clocks.wall + 60_000)
    let muted = try scene.ask("muteGroup", #"{"mode":"All","duration":60}"#, by: "olga")
    #expect(muted.result == ["muteUntil": until])
    #expect(
      try muted.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == entries(true, ["mode": "All", "muteUntil": until]))
    try await scene.reload()
    scene.clocks.advance(by: 59_999)
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    #expect(try scene.ask("info", by: "mary").result["mute"] == ["mode": "All", "muteUntil": until])
    scene.clocks.advance(by: 1)
    #expect(scene.state?.nextWake == nil)
    let info = try scene.ask("info", by: "mary").result
    #expect(info["allMuted"] == false && info["mute"] == ["mode": "None"])
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
    try scene.expectNothing("muteGroup", #"{"mode":"None"}"#, by: "olga")
    try scene.expectNothing("setGroupInfo", #"{"allMuted":false}"#, by: "olga")
    #expect(try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga").heard.keys.sorted() == ["onGroupInfoChanged"])
  }

  @Test func theLongestMuteLasts136Years() throws {
    let scene = try Scene(.public)
    try scene.ask("muteGroup", #"{"mode":"All","duration":4294967295}"#, by: "olga")
    scene.clocks.advance(by: 4_294_967_294_999)
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test func withoutAChangeThereIsNoEvent() throws {
    let scene = try Scene(.public)
    #expect(try scene.expectNothing("muteGroup", #"{"mode":"None","duration":60}"#, by: "olga") == [:] as JSON)
    try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    try scene.expectNothing("muteGroup", #"{"mode":"Ordinary","duration":0}"#, by: "adam")
    try scene.expectNothing("setGroupInfo", #"{"allMuted":true}"#, by: "adam")
    try scene.ask("muteGroup", #"{"mode":"Custom","roles":["Member"],"duration":60}"#, by: "olga")
    #expect(
      try scene.expectNothing("muteGroup", #"{"mode":"Custom","roles":["Member"],"duration":60}"#, by: "olga")["muteUntil"]
        == .instant(scene.clocks.wall + 60_000))
  }

  @Test(arguments: [#"{"mode":"All"}"#, #"{"mode":"Ordinary","duration":60}"#, #"{"mode":"Custom","roles":["Member"]}"#])
  func allMutedIsOrdinaryWithoutEnd(before: String) throws {
    let scene = try Scene(.meeting)
    try scene.ask("muteGroup", before, by: "olga")
    let muted = try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga")
    #expect(try muted.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == entries(true, ["mode": "Ordinary"]))
    let unmuted = try scene.ask("muteGroup", #"{"mode":"None"}"#, by: "olga")
    #expect(unmuted.result == [:] as JSON)
    #expect(try unmuted.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == entries(false, ["mode": "None"]))
  }

  @Test(arguments: GroupType.allCases)
  func mutingTheGroupFollowsTheTable(type: GroupType) throws {
    let muters =
      switch type {
      case .work, .avChatRoom: ["olga", "administrator"]
      case .public, .meeting: ["olga", "adam", "administrator"]
      case .bChatRoom: [] as [String]
      }
    for name in ["olga", "adam", "mary", "carl", "oscar", "administrator"] {
      for (method, params) in [("muteGroup", #"{"mode":"All","duration":60}"#), ("setGroupInfo", #"{"allMuted":true}"#)] {
        let scene = try Scene(type)
        if muters.contains(name) {
          #expect(try scene.ask(method, params, by: name).receivers(of: "onGroupInfoChanged").count == 4, "\(type) \(name)")
        } else {
          try scene.expectRefused(10007, method, params, by: name)
        }
      }
    }
  }

  @Test func aMutedMemberStaysMutedWhenTheGroupIsNot() throws {
    let scene = try Scene(.public)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    try scene.ask("muteGroup", #"{"mode":"None"}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "carl").code == 0)
  }

  @Test func mutedMembersKeepTheirOtherRights() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", hello, by: "mary")
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    for (method, params) in [
      ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"m"}"#), ("revokeGroupMessage", #"{"seq":1}"#),
      ("markGroupMessageAsRead", "{}"), ("quitGroup", "{}"),
    ] {
      #expect(try scene.ask(method, params, by: "mary").code == 0, "\(method)")
    }
  }
}
