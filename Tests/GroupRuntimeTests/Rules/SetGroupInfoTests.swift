import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// setGroupInfo.
@Suite struct SetGroupInfoTests {
  private func keys(_ range: Range<Int>) -> String { range.map { #""k\#($0)":"v""# }.joined(separator: ",") }

  @Test func oneEventAndOneTipNameAllThatChanged() throws {
    let scene = try Scene(.public)
    let set = try scene.ask(
      "setGroupInfo",
      #"{"groupName":"a","introduction":"b","notification":"c","faceURL":"d","customInfo":{"y":"2","x":"1"},"maxMemberNum":9,"joinMode":"Any","isSearchable":false,"allMuted":true}"#,
      by: "olga")
    #expect(set.result == [:] as JSON)
    #expect(set.receivers(of: "onGroupInfoChanged") == ["adam", "carl", "mary", "olga"])
    #expect(set.events.count == 4)
    let event = try set.params("onGroupInfoChanged", to: "mary")
    let expected: JSON = [
      ["type": "GroupName", "value": "a"], ["type": "Introduction", "value": "b"], ["type": "Notification", "value": "c"],
      ["type": "FaceURL", "value": "d"], ["type": "CustomInfo", "key": "x", "value": "1"],
      ["type": "CustomInfo", "key": "y", "value": "2"],
      ["type": "MaxMemberNum", "value": 9], ["type": "joinMode", "value": "Any"], ["type": "isSearchable", "value": false],
      ["type": "AllMuted", "value": true], ["type": "Mute", "value": ["mode": "Ordinary"]],
    ]
    #expect(event["changeInfoList"] == expected)
    #expect(
      event["opUser"] == ["userID": "olga", "nameCard": "", "role": "Owner"] && event["platform"] == "Web" && event["seq"] == 1)
    let tip = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"][0]
    #expect(
      tip["tips"]["type"] == "GroupInfoChange" && tip["tips"]["changeInfoList"] == expected && tip["msgID"] == event["msgID"])
    let info = try scene.ask("info", by: "mary").result
    #expect(info["groupName"] == "a" && info["introduction"] == "b" && info["notification"] == "c" && info["faceURL"] == "d")
    #expect(info["customInfo"] == ["x": "1", "y": "2"] && info["maxMemberNum"] == 9 && info["joinMode"] == "Any")
    #expect(info["allMuted"] == true && info["mute"] == ["mode": "Ordinary"])
    #expect(info["lastInfoTime"] == .instant(scene.clocks.wall))
  }

  @Test(arguments: [
    "{}", #"{"groupName":"n"}"#, #"{"introduction":""}"#, #"{"customInfo":{}}"#, #"{"customInfo":{"x":null,"y":""}}"#,
    #"{"allMuted":false}"#,
    #"{"joinMode":"Auth"}"#, #"{"maxMemberNum":6000}"#, #"{"groupName":"n","isSearchable":true,"faceURL":""}"#,
  ])
  func withoutAChangeThereIsNoEventAndNoTip(params: String) throws {
    let scene = try Scene(.public)
    let before = scene.fingerprint
    let set = try scene.ask("setGroupInfo", params, by: "olga")
    #expect(set.result == [:] as JSON)
    #expect(set.events.isEmpty && set.decision.changes.isEmpty && scene.fingerprint == before)
  }

  @Test func aFieldSetToTheValueItHasMakesNoEntry() throws {
    let scene = try Scene(.public)
    let set = try scene.ask("setGroupInfo", #"{"groupName":"n","introduction":"new","joinMode":"Auth"}"#, by: "olga")
    #expect(try set.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == [["type": "Introduction", "value": "new"]])
  }

  @Test func notificationOffDoesNotApplyToInfoChanges() throws {
    let scene = try Scene(.public) { $0.memberChangeNotification = false }
    let set = try scene.ask("setGroupInfo", #"{"groupName":"other"}"#, by: "olga")
    #expect(set.receivers(of: "onGroupInfoChanged") == ["adam", "carl", "mary", "olga"])
    #expect(scene.messages.count == 1)
  }

  @Test func aLiveRoomStoresNoTip() throws {
    let scene = try Scene(.avChatRoom)
    let set = try scene.ask("setGroupInfo", #"{"groupName":"other"}"#, by: "olga")
    #expect(
      try set.params("onGroupInfoChanged", to: "mary").names == ["changeInfoList", "groupID", "opTime", "opUser", "platform"])
    #expect(scene.messages.isEmpty)
  }

  @Test func customInfoMergesAndAnEmptyValueRemoves() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupInfo", #"{"customInfo":{"a":"1","b":"2","c":"3"}}"#, by: "olga")
    let set = try scene.ask("setGroupInfo", #"{"customInfo":{"b":null,"c":"","d":"4","a":"1"}}"#, by: "olga")
    #expect(
      try set.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == [
        ["type": "CustomInfo", "key": "b", "value": ""], ["type": "CustomInfo", "key": "c", "value": ""],
        ["type": "CustomInfo", "key": "d", "value": "4"],
      ])
    #expect(try scene.ask("info", by: "mary").result["customInfo"] == ["a": "1", "d": "4"])
  }

  @Test func theLimitOfTenKeysAppliesToTheResult() throws {
    let scene = try Scene(.public)
    #expect(try scene.ask("setGroupInfo", #"{"customInfo":{\#(keys(0..<10))}}"#, by: "olga").code == 0)
    let before = scene.fingerprint
    let over = try scene.ask("setGroupInfo", #"{"groupName":"other","customInfo":{"k10":"v"}}"#, by: "olga")
    #expect(over.code == 10004 && over.field == "customInfo" && scene.fingerprint == before)
    #expect(over.message == "customInfo has at most 10 keys")
    #expect(try scene.ask("setGroupInfo", #"{"customInfo":{"k0":null,"k10":"v"}}"#, by: "olga").code == 0)
    #expect(try scene.ask("setGroupInfo", #"{"customInfo":{"k1":"other"}}"#, by: "olga").code == 0)
  }

  @Test func theSizeIsBoundByTheMembersAndByTheTypesCap() throws {
    let scene = try Scene(.public)
    for (size, code) in [("3", 10038), ("4", 0), ("6000", 0), ("6001", 8507), ("5000000000", 8507)] {
      let before = scene.fingerprint
      let set = try scene.ask("setGroupInfo", #"{"groupName":"size \#(size)","maxMemberNum":\#(size)}"#, by: "adam")
      #expect(set.code == code, "\(size)")
      if code != 0 { #expect(set.field == "maxMemberNum" && scene.fingerprint == before, "all or nothing") }
    }
    #expect(try Scene(.avChatRoom).ask("setGroupInfo", #"{"maxMemberNum":10}"#, by: "olga").code == 10007)
    #expect(try Scene(.bChatRoom).ask("setGroupInfo", #"{"maxMemberNum":10}"#, by: "olga").code == 10007)
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aSizeOfZeroIsTheTypesDefault(type: GroupType) throws {
    let rules = GroupRules(limits: GroupLimits(maxMemberNum: [.work: 70, .public: 80, .meeting: 90]))
    let cap: Int64 = type == .work ? 70 : type == .public ? 80 : 90
    let scene = try Scene(type, maxMemberNum: 9, rules: rules)
    try scene.expectRefused(10007, "setGroupInfo", #"{"maxMemberNum":0}"#, by: "mary")
    let set = try scene.ask("setGroupInfo", #"{"maxMemberNum":0}"#, by: "olga")
    #expect(set.code == 0)
    let changes = try set.params("onGroupInfoChanged", to: "mary")["changeInfoList"]
    #expect(changes.elements.map { $0["type"] } == ["MaxMemberNum"] && changes[0]["value"].integer == cap)
    #expect(try scene.ask("info", by: "mary").result["maxMemberNum"].integer == cap)
    try scene.expectNothing("setGroupInfo", #"{"maxMemberNum":0}"#, by: "olga")
  }

  /// The configuration may have been lowered since the members came.
  @Test func aDefaultBelowTheMembersIsRefused() throws {
    let scene = try Scene(.public, maxMemberNum: 9, rules: GroupRules(limits: GroupLimits(maxMemberNum: [.public: 3])))
    try scene.expectRefused(10038, "setGroupInfo", #"{"maxMemberNum":0}"#, by: "olga")
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom], ["0", "1", "10"])
  func aLiveRoomHasNoMaxMemberNumWhateverTheValue(type: GroupType, value: String) throws {
    for caller in ["olga", "administrator"] {
      let scene = try Scene(type)
      try scene.expectRefused(10007, "setGroupInfo", #"{"maxMemberNum":\#(value)}"#, by: caller)
    }
  }

  @Test func allMutedNamesBothAllMutedAndMute() throws {
    let scene = try Scene(.work)
    let on = try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga")
    #expect(
      try on.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == [
        ["type": "AllMuted", "value": true], ["type": "Mute", "value": ["mode": "Ordinary"]],
      ])
    #expect(try scene.ask("setGroupInfo", #"{"allMuted":true}"#, by: "olga").events.isEmpty)
    let off = try scene.ask("setGroupInfo", #"{"allMuted":false}"#, by: "olga")
    #expect(
      try off.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == [
        ["type": "AllMuted", "value": false], ["type": "Mute", "value": ["mode": "None"]],
      ])
  }

  @Test func anApplicationAdministratorIsNamedAsSuch() throws {
    let set = try Scene(.work).ask("setGroupInfo", #"{"groupName":"other"}"#, by: "administrator")
    let event = try set.params("onGroupInfoChanged", to: "mary")
    #expect(event["opUser"] == ["userID": "administrator"] && event["platform"] == "RESTful API")
  }
}
