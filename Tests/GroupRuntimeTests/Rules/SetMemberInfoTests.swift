import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// setGroupMemberInfo: "each field under the rule of its own method; own nameCard and customInfo
/// always; others' nameCard and customInfo need Admin (Owner in Work) and rule 1".
@Suite struct SetMemberInfoTests {
  private func set(_ fields: String, _ user: String = "mary") -> String { #"{"userID":"\#(user)",\#(fields)}"# }

  private let face = #""nameCard":"Marie","customInfo":{"k":"v"}"#

  private func keys(_ range: Range<Int>) -> String {
    #""customInfo":{\#(range.map { #""k\#($0)":"v""# }.joined(separator: ","))}"#
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom], [true, false])
  func oneEventAndOneTipNameAllThatChanged(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let changed = try scene.ask("setGroupMemberInfo", set(face), by: "olga")
    #expect(changed.result == [:] as JSON)
    let isForAll = notification && type != .avChatRoom
    #expect(
      changed.heard == [
        "onGroupMemberInfoChanged": isForAll ? ["adam", "carl", "mary", "mary/2", "olga"] : ["mary", "mary/2", "olga"]
      ])
    let event = try changed.params("onGroupMemberInfoChanged", to: "mary/2")
    #expect(event["changeInfoList"] == [["userID": "mary", "nameCard": "Marie", "customInfo": ["k": "v"]]])
    #expect(event["opUser"] == Person.olga && event["platform"] == "Web")
    let tip: JSON = [
      "type": "MemberInfoChange", "opUser": Person.olga, "changeInfoList": event["changeInfoList"], "memberCount": 4,
    ]
    #expect(try scene.tips == (isForAll ? [tip] : []))
    #expect((event["seq"], event["msgID"].string) == (isForAll ? 1 : .null, scene.messages.first?.msgID))
    #expect(changed.notifications.isEmpty)
    let row = try scene.ask("getGroupMembersInfo", Scene.users(["mary"]), by: "carl").result["memberList"][0]
    #expect(row["nameCard"] == "Marie" && row["customInfo"] == ["k": "v"])
  }

  @Test(arguments: GroupType.allCases)
  func membersSetTheirOwnNameCardAndCustomInfo(type: GroupType) throws {
    for name in ["olga", "adam", "mary", "carl"] {
      let scene = try Scene(type) { $0.memberChangeNotification = false }
      let changed = try scene.ask("setGroupMemberInfo", set(face, name), by: name)
      #expect(changed.code == 0, "\(type) \(name)")
      // A BChatRoom has no memberChangeNotification that could be off.
      if type != .bChatRoom { #expect(changed.heard == ["onGroupMemberInfoChanged": [name]], "\(type) \(name)") }
      let info = try scene.ask("info", by: name).result["selfInfo"]
      #expect(info["nameCard"] == "Marie" && info["customInfo"] == ["k": "v"], "\(type) \(name)")
    }
    try Scene(type).expectRefused(
      10007, "setGroupMemberInfo", set(face, "administrator2"), by: type == .bChatRoom ? "mary" : "olga")
  }

  /// Whether the caller may set the target's name card, by the page; `carl` has a custom role,
  /// `anna` is another admin.
  private static func maySetFields(_ type: GroupType, _ caller: String, _ target: String) -> Bool {
    let rank = ["oscar": 0, "mary": 1, "carl": 1, "adam": 2, "anna": 2, "olga": 3, "administrator": 4]
    guard let own = rank[caller], let other = rank[target], caller != target else { return caller == target && caller != "oscar" }
    let least = type == .work ? 3 : 2
    return other > 0 && own >= least && own > other
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func otherMembersFieldsNeedAnAdminAndRule1(type: GroupType) throws {
    for caller in ["olga", "adam", "mary", "carl", "oscar", "administrator"] {
      for target in ["olga", "adam", "anna", "mary", "carl", "oscar"] {
        for field in [#""nameCard":"Marie""#, #""customInfo":{"k":"v"}"#] {
          let scene = try Scene(type)
          _ = scene.state?.roster.add("anna", role: .admin, joinTime: 1, at: scene.clocks.wall) { _ in }
          if SetMemberInfoTests.maySetFields(type, caller, target) {
            #expect(try scene.ask("setGroupMemberInfo", set(field, target), by: caller).code == 0, "\(type) \(caller) \(target)")
          } else {
            try scene.expectRefused(10007, "setGroupMemberInfo", set(field, target), by: caller)
          }
        }
      }
    }
  }

  @Test func roleAndMuteAreUnderTheRulesOfTheirOwnMethods() throws {
    let (role, mute) = (#""role":"100""#, #""muteUntil":9000000000000"#)
    for (type, name, field, code) in [
      (.public, "olga", role, 0), (.public, "adam", role, 10007), (.public, "adam", mute, 0), (.public, "carl", mute, 10007),
      (.meeting, "administrator", role, 0), (.work, "olga", role, 10007), (.work, "administrator", role, 10007),
      (.work, "olga", mute, 10007), (.work, "administrator", mute, 0), (.avChatRoom, "olga", mute, 0),
      (.avChatRoom, "adam", mute, 10007), (.avChatRoom, "administrator", role, 10007), (.public, "mary", mute, 10007),
      (.public, "mary", role, 10007),
    ] as [(GroupType, String, String, Int)] {
      let scene = try Scene(type)
      if code == 0 {
        #expect(try scene.ask("setGroupMemberInfo", set(field), by: name).code == 0, "\(type) \(name) \(field)")
      } else {
        // All or nothing: a face that would be allowed is not changed either.
        try scene.expectRefused(code, "setGroupMemberInfo", set(field), by: name)
        if name != "carl" { try scene.expectRefused(code, "setGroupMemberInfo", set(face + "," + field), by: name) }
      }
    }
  }

  @Test func anErrorInOneFieldChangesNothing() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberInfo", set(keys(0..<5)), by: "mary")
    try scene.expectRefused(
      10004, "setGroupMemberInfo", set(#""nameCard":"Marie","customInfo":{"k5":"v"},"muteUntil":9000000000000"#), by: "olga")
  }

  @Test func theLimitOfFiveKeysAppliesToTheResult() throws {
    let scene = try Scene(.public)
    #expect(try scene.ask("setGroupMemberInfo", set(keys(0..<5)), by: "mary").code == 0)
    let swapped = try scene.ask("setGroupMemberInfo", set(#""customInfo":{"k0":null,"k1":"","k5":"é","k6":"日"}"#), by: "mary")
    let info: JSON = ["k2": "v", "k3": "v", "k4": "v", "k5": "é", "k6": "日"]
    #expect(
      try swapped.params("onGroupMemberInfoChanged", to: "carl")["changeInfoList"] == [["userID": "mary", "customInfo": info]])
    try scene.expectRefused(10004, "setGroupMemberInfo", set(#""customInfo":{"k7":"v"}"#), by: "mary")
    let over = try scene.ask("setGroupMemberInfo", set(#""customInfo":{"k7":"v"}"#), by: "mary")
    #expect(over.message == "customInfo has at most 5 keys" && over.field == "customInfo")
    #expect(try scene.ask("setGroupMemberInfo", set(#""customInfo":{"k6":"other"}"#), by: "mary").code == 0)
  }

  @Test func bytesAreCountedAtTheLimitsInMultiByteText() throws {
    let scene = try Scene(.public)
    let card = String(repeating: "日", count: 16) + "é"
    let value = String(repeating: "😀", count: 16)
    #expect(
      try scene.ask("setGroupMemberInfo", set(#""nameCard":"\#(card)","customInfo":{"k":"\#(value)"}"#), by: "mary").code == 0)
    for (fields, code) in [
      (#""nameCard":"\#(card)x""#, ErrorCode.nameCardTooLong), (#""customInfo":{"k":"\#(value)x"}"#, .badValue),
    ] {
      #expect {
        try scene.ask("setGroupMemberInfo", set(fields), by: "mary")
      } throws: {
        ($0 as? WireError)?.code == code
      }
    }
    let row = try scene.ask("getGroupMembersInfo", Scene.users(["mary"]), by: "carl").result["memberList"][0]
    #expect(row["nameCard"] == .string(card) && row["customInfo"] == ["k": .string(value)])
  }

  @Test(arguments: [
    #""nameCard":"""#, #""customInfo":{"x":null,"y":""}"#, #""customInfo":{}"#, #""muteUntil":0"#, #""muteUntil":1"#,
  ])
  func withoutAChangeThereIsNoEventAndNoTip(fields: String) throws {
    try Scene(.public).expectNothing("setGroupMemberInfo", set(fields), by: "olga")
  }

  @Test func textsAreComparedByteByByte() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberInfo", set(#""nameCard":"é""#), by: "mary")
    let changed = try scene.ask("setGroupMemberInfo", set(#""nameCard":"e\#u{301}""#), by: "mary")
    #expect(changed.heard.keys.sorted() == ["onGroupMemberInfoChanged"])
  }

  @Test func fieldsOfOneRequestMakeOneChange() throws {
    let scene = try Scene(.public)
    let until = scene.clocks.wall + 59_001
    let changed = try scene.ask(
      "setGroupMemberInfo", set(face + #","role":"100","muteUntil":\#(until)"#), by: "olga")
    #expect(changed.names("carl") == ["onGroupMemberInfoChanged"])
    let entry: JSON = ["userID": "mary", "nameCard": "Marie", "customInfo": ["k": "v"], "role": "100", "muteTime": 60]
    #expect(try changed.params("onGroupMemberInfoChanged", to: "mary")["changeInfoList"] == [entry])
    #expect(try scene.tips.count == 1)
    let row = try scene.ask("getGroupMembersInfo", Scene.users(["mary"]), by: "carl").result["memberList"][0]
    #expect(row["role"] == "100" && row["muteUntil"] == .instant(until) && row["nameCard"] == "Marie")
  }

  @Test(arguments: [("Admin", "onGrantAdministrator", "SetAdmin"), ("Member", "onRevokeAdministrator", "CancelAdmin")])
  func aGrantAndARevokeHaveTheirOwnEvent(role: String, event: String, tip: String) throws {
    let target = role == "Admin" ? "mary" : "adam"
    let scene = try Scene(.public)
    let changed = try scene.ask("setGroupMemberInfo", set(#""nameCard":"new","role":"\#(role)""#, target), by: "olga")
    #expect(changed.names("carl").sorted() == [event, "onGroupMemberInfoChanged"].sorted())
    #expect(
      try changed.params("onGroupMemberInfoChanged", to: "carl")["changeInfoList"]
        == [["userID": .string(target), "nameCard": "new"]])
    #expect(
      try changed.params(event, to: "carl")["memberList"]
        == [["userID": .string(target), "nameCard": "new", "role": .string(role)]])
    #expect(try scene.tips.map { $0["type"] } == ["MemberInfoChange", .string(tip)])
    #expect(changed.notifications == [role == "Admin" ? .grantAdmin : .cancelAdmin: [UserID(stringLiteral: target)]])
    let alone = try Scene(.public).ask("setGroupMemberInfo", set(#""role":"\#(role)""#, target), by: "olga")
    #expect(alone.names("carl") == [event])
  }

  @Test func aPastMuteUntilEndsTheMute() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberInfo", set(#""muteUntil":\#(scene.clocks.wall + 60_000)"#), by: "adam")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let past = try scene.ask("setGroupMemberInfo", set(#""muteUntil":\#(scene.clocks.wall)"#), by: "adam")
    #expect(try past.params("onGroupMemberInfoChanged", to: "mary")["changeInfoList"] == [["userID": "mary", "muteTime": 0]])
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 0)
  }

  @Test func laterEventsCarryTheNameCard() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberInfo", set(#""nameCard":"Marie""#), by: "mary")
    let mary: JSON = ["userID": "mary", "nameCard": "Marie", "role": "Member"]
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(try sent.params("onRecvNewMessage", to: "olga")["message"]["nameCard"] == "Marie")
    #expect(try scene.ask("quitGroup", by: "mary").params("onMemberLeave", to: "olga")["memberList"] == [mary])
    #expect(try scene.tips.last?["opUser"] == mary)
  }
}
