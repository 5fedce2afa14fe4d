import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// createGroup.
@Suite struct CreateGroupTests {
  @Test func theCallerOwnsTheGroupAndTheListedAreMembers() throws {
    let scene = Scene()
    let made = try scene.ask(
      "createGroup",
      #"{"groupType":"Public","groupName":"n","memberList":[{"userID":"adam","role":"Admin"},{"userID":"mary"},{"userID":"carl","role":"200"}]}"#,
      by: "olga")
    #expect(made.code == 0)
    #expect(
      made.result == [
        "groupID": "g", "groupType": "Public",
        "memberList": [
          ["userID": "adam", "result": "Success"], ["userID": "mary", "result": "Success"],
          ["userID": "carl", "result": "Success"],
        ],
      ])
    let roles = scene.roles
    #expect(roles == ["olga": .owner, "adam": .admin, "mary": .member, "carl": .custom(200)])
    #expect(scene.state?.record.owner == "olga")
  }

  @Test func initialMembersAndAllSessionsOfTheCreatorGetOnGroupCreatedOnly() throws {
    let scene = Scene()
    scene.signIn("olga", as: "olga/2")
    scene.signIn("mary", as: "mary/2")
    let made = try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n","memberList":[{"userID":"mary"}]}"#, by: "olga")
    #expect(made.events.keys.sorted() == ["mary", "mary/2", "olga", "olga/2"])
    for session in made.events.keys { #expect(made.names(session) == ["onGroupCreated"]) }
    #expect(
      try made.params("onGroupCreated", to: "mary")
        == ["groupID": "g", "opTime": .instant(scene.clocks.wall), "platform": "Web"])
  }

  @Test func createGroupStoresNoTip() throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n","memberList":[{"userID":"mary"}]}"#, by: "olga")
    #expect(scene.messages.isEmpty)
    #expect(try scene.ask("info", by: "mary").result["lastSeq"] == 0)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 1)
  }

  // MARK: history.creationTip

  private static let storing = ["Work", "Public", "Meeting"]

  /// A scene whose groups begin with a tip.
  private func sceneWithTip() -> Scene {
    var limits = GroupLimits.standard
    limits.storesCreationTip = true
    return Scene(rules: GroupRules(limits: limits))
  }

  @Test(arguments: storing, [true, false])
  func theTipOfANewGroupNamesTheInitialMembersWhoAreIn(type: String, notification: Bool) throws {
    let scene = sceneWithTip()
    let list = Scene.memberList(["mary", "olga", "carl", "adam", "mary"])
    let made = try scene.ask(
      "createGroup",
      #"{"groupType":"\#(type)","groupName":"n","memberChangeNotification":\#(notification),\#(list)}"#, by: "olga",
      UserFacts(unknown: ["carl"], atGroupLimit: ["adam"]))
    #expect(made.heard == ["onGroupCreated": ["mary", "olga"]], "no event of its own")
    let tip: JSON = ["type": "Create", "opUser": Person.olga, "memberList": [Person.mary], "memberCount": 2]
    #expect(try scene.tips == [tip] && scene.messages.map(\.seq) == [1] && scene.messages[0].sender == "olga")
    for name in ["mary", "olga"] {
      let event = try made.params("onGroupCreated", to: name)
      #expect(event["seq"] == 1 && event["msgID"] == .string(scene.messages[0].msgID))
      let info = try scene.ask("info", by: name).result
      #expect(info["lastSeq"] == 1 && info["lastMessage"]["tips"] == tip && info["selfInfo"]["unreadCount"] == 0)
      #expect(info["lastMessageTime"] == info["createTime"])
      #expect(try scene.ask("getGroupHistoryMessageList", by: name).result["messageList"].elements.count == 1)
    }
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 2)
  }

  @Test(arguments: storing)
  func withoutOtherMembersTheTipNamesNobody(type: String) throws {
    for list in ["", #","memberList":[]"#, #","memberList":[{"userID":"olga"}]"#] {
      let scene = sceneWithTip()
      try scene.ask("createGroup", #"{"groupType":"\#(type)","groupName":"n"\#(list)}"#, by: "olga")
      let tips = try scene.tips
      #expect(tips == [["type": "Create", "opUser": Person.olga, "memberCount": 1]], "\(list)")
    }
  }

  /// They come with an Invite tip when they have accepted.
  @Test func theTipNamesNobodyWhoIsAsked() throws {
    let scene = sceneWithTip()
    let made = try scene.ask(
      "createGroup", #"{"groupType":"Public","groupName":"n","beInviteMode":"Auth",\#(Scene.memberList(["mary"]))}"#, by: "olga")
    #expect(try scene.tips == [["type": "Create", "opUser": Person.olga, "memberCount": 1]])
    try scene.decide(try made.application(), true, by: "mary")
    #expect(try scene.tips.map { $0["type"] } == ["Create", "Invite"])
    let seen = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"].elements
    #expect(seen.map { $0["seq"] } == [2], "from the own Invite tip on")
  }

  @Test func theApplicationIsTheOperatorOfItsTip() throws {
    let scene = sceneWithTip()
    try scene.ask(
      "createGroup", #"{"groupType":"Work","groupName":"n","ownerUserID":"olga",\#(Scene.memberList(["mary", "olga"]))}"#,
      by: "administrator")
    let tip: JSON = ["type": "Create", "opUser": Person.administrator, "memberList": [Person.mary], "memberCount": 2]
    #expect(try scene.tips == [tip])
  }

  @Test func liveRoomsAndImportedGroupsHaveNoTip() throws {
    for type in ["AVChatRoom", "BChatRoom"] {
      let scene = sceneWithTip()
      let made = try scene.ask(
        "createGroup", #"{"groupType":"\#(type)","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
      #expect(made.code == 0 && scene.messages.isEmpty)
      #expect(try made.params("onGroupCreated", to: "olga").names == ["groupID", "opTime", "platform"])
    }
    for type in Self.storing {
      let scene = sceneWithTip()
      try scene.ask("importGroup", #"{"groupType":"\#(type)","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
      #expect(scene.messages.isEmpty)
    }
  }

  @Test func theTipSurvivesARestart() async throws {
    let scene = sceneWithTip()
    try scene.ask("createGroup", #"{"groupType":"Public","groupName":"n"}"#, by: "olga")
    try await scene.reload()
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["tips"]["type"] == "Create")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").result["seq"] == 2)
  }

  @Test func theCreatorInTheListIsInvalidAndAUserListedTwiceIsOneRow() throws {
    let scene = Scene()
    let made = try scene.ask(
      "createGroup",
      #"{"groupType":"Public","groupName":"n","memberList":[{"userID":"mary"},{"userID":"olga","role":"Admin"},{"userID":"mary","role":"Admin"}]}"#,
      by: "olga")
    #expect(made.result["memberList"] == [["userID": "mary", "result": "Success"], ["userID": "olga", "result": "Invalid"]])
    #expect(scene.roles == ["olga": .owner, "mary": .member])
  }

  @Test func anUnknownUserFailsInItsRow() throws {
    let scene = Scene()
    let made = try scene.ask(
      "createGroup", #"{"groupType":"Work","groupName":"n","memberList":[{"userID":"mary"},{"userID":"carl"}]}"#, by: "olga",
      UserFacts(unknown: ["carl"]))
    #expect(made.result["memberList"] == [["userID": "mary", "result": "Success"], ["userID": "carl", "result": "Fail"]])
    #expect(scene.state?.roster.count == 2)
    #expect(made.events.keys.sorted() == ["mary", "olga"])
  }

  @Test(arguments: [
    ("AVChatRoom", "Member", 10007), ("BChatRoom", "Member", 10007), ("Work", "Admin", 10007), ("Work", "Member", 0),
    ("Public", "Admin", 0),
    ("Meeting", "Admin", 0), ("Meeting", "Member", 0),
  ])
  func theTypeDecidesWhetherThereAreInitialMembers(type: String, role: String, code: Int) throws {
    let caller = type == "BChatRoom" ? "administrator" : "olga"
    let params =
      #"{"groupType":"\#(type)","groupName":"n","ownerUserID":"olga","memberList":[{"userID":"mary","role":"\#(role)"}]}"#
    let made = try Scene().ask("createGroup", params, by: caller)
    #expect(made.code == code)
    if code != 0 { #expect(made.events.isEmpty && made.decision.changes.isEmpty) }
  }

  @Test func onlyAnApplicationAdministratorCreatesABChatRoom() throws {
    let scene = Scene()
    let params = #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#
    #expect(try scene.ask("createGroup", params, by: "olga").code == 10007)
    #expect(scene.state == nil)
    #expect(try scene.ask("createGroup", params, by: "administrator").code == 0)
  }

  @Test func everySessionGetsTheEventsOfANewBChatRoom() throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(sent.receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary", "oscar"])
  }

  @Test func theErrorForAGroupIDInUseTellsWhetherTheCallerOwnsIt() throws {
    let scene = try Scene(.public)
    let params = #"{"groupType":"Work","groupName":"n","groupID":"g"}"#
    for (user, code) in [("olga", 10025), ("adam", 10021), ("oscar", 10021), ("administrator", 10021)] {
      #expect(try scene.ask("createGroup", params, by: user).code == code, "\(user)")
    }
    #expect(
      try scene.ask(
        "createGroup", #"{"groupType":"Work","groupName":"n","groupID":"g","ownerUserID":"olga"}"#, by: "administrator"
      ).code == 10025)
  }

  @Test func theSizeIsBoundByTheTypesCapAndByTheMembersListed() throws {
    let rules = GroupRules(limits: GroupLimits(maxMemberNum: [.work: 3, .public: 3, .meeting: 3]))
    let two = #""memberList":[{"userID":"mary"},{"userID":"carl"}]"#
    for (size, list, code) in [
      ("3", two, 0), ("2", two, 8507), ("1", #""memberList":[]"#, 0), ("1", #""memberList":[{"userID":"olga"}]"#, 0),
      ("1", #""memberList":[{"userID":"mary"}]"#, 8507), ("4", two, 8507), ("5000000000", two, 8507),
      ("9007199254740992", two, 8507),
    ] {
      let made = try Scene(rules: rules).ask(
        "createGroup", #"{"groupType":"Work","groupName":"n","maxMemberNum":\#(size),\#(list)}"#, by: "olga")
      #expect(made.code == code, "\(size), \(list)")
    }
    let scene = Scene(rules: rules)
    try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n"}"#, by: "olga")
    #expect(try scene.ask("info", by: "olga").result["maxMemberNum"] == 3)
    let three = #"{"groupType":"Work","groupName":"n","memberList":[{"userID":"mary"},{"userID":"carl"},{"userID":"adam"}]}"#
    #expect(try Scene(rules: rules).ask("createGroup", three, by: "olga").code == 8507)
  }

  @Test(arguments: ["AVChatRoom", "BChatRoom"])
  func aLiveRoomHasNoMaxMemberNum(type: String) throws {
    let caller = type == "BChatRoom" ? "administrator" : "olga"
    let params = #"{"groupType":"\#(type)","groupName":"n","ownerUserID":"olga""#
    #expect(try Scene().ask("createGroup", params + #","maxMemberNum":10}"#, by: caller).code == 10007)
    let scene = Scene()
    try scene.ask("createGroup", params + "}", by: caller)
    #expect(try scene.ask("info", by: "olga").result["maxMemberNum"] == 0)
  }

  @Test(arguments: ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"])
  func aSizeOfZeroAndAnEmptyGroupIDCountAsAbsent(type: String) throws {
    let rules = GroupRules(limits: GroupLimits(maxMemberNum: [.work: 3, .public: 3, .meeting: 3]))
    let scene = Scene(rules: rules)
    let made = try scene.ask(
      "createGroup",
      #"{"groupType":"\#(type)","groupName":"n","groupID":"","maxMemberNum":0,"ownerUserID":"olga"}"#,
      by: type == "BChatRoom" ? "administrator" : "olga")
    #expect(made.code == 0)
    #expect(try scene.ask("info", by: "olga").result["maxMemberNum"] == (type.hasSuffix("ChatRoom") ? 0 : 3))
  }

  @Test func customInfoHasAtMostTenKeysAndIgnoresEmptyValues() throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n","customInfo":{"a":"1","b":"","c":null}}"#, by: "olga")
    #expect(try scene.ask("info", by: "olga").result["customInfo"] == ["a": "1"])
    let keys = { (count: Int) in (0..<count).map { #""k\#($0)":"v""# }.joined(separator: ",") }
    #expect(
      try Scene().ask("createGroup", #"{"groupType":"Work","groupName":"n","customInfo":{\#(keys(10)),"x":null}}"#, by: "olga")
        .code == 0)
    #expect(throws: WireError(.badValue, "customInfo has at most 10 keys", field: "customInfo")) {
      try Scene().ask("createGroup", #"{"groupType":"Work","groupName":"n","customInfo":{\#(keys(11))}}"#, by: "olga")
    }
  }
}
