import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// AVChatRooms with `avChatRoom.moderation` (Protocol.md, "AVChatRoom"): who moderates, and roles that
/// outlive leaving. `olga` owns the room, `adam` is an admin, `mary` a member, `carl` has the role 200,
/// and `oscar` is signed in, but no member.
@Suite struct LiveRoomModeratorTests {
  private static let changed = "onGroupMemberInfoChanged"
  private static let everybody = ["adam", "carl", "mary", "olga"]
  private static let names = ["olga", "adam", "mary", "carl", "oscar", "administrator"]

  static func rules(moderates: Bool = true, webhooks: WebhookTypes = .none) -> GroupRules {
    var configuration = RightsConfiguration()
    configuration.moderatesLiveRooms = moderates
    return GroupRules(permissions: GroupPermissions(configuration), webhooks: webhooks)
  }

  private func room(
    moderates: Bool = true, members: [String: Role] = ["adam": .admin, "mary": .member, "carl": .custom(200)],
    policy: (inout GroupPolicy) -> Void = { _ in }
  ) throws -> Scene {
    try Scene(.avChatRoom, members: members, rules: Self.rules(moderates: moderates), policy: policy)
  }

  private func role(_ role: String, of user: String) -> String { #"{"userID":"\#(user)","role":"\#(role)"}"# }

  private func person(_ name: String, _ role: String) -> JSON {
    ["userID": .string(name), "nameCard": "", "role": .string(role)]
  }

  private func presentRole(of user: String, in scene: Scene) throws -> JSON {
    try scene.ask("getGroupMemberRoles", Scene.users([user]), by: "olga").result["roleList"][0]["role"]
  }

  // MARK: Rights

  /// The calls, who may make them with the key, and who without.
  private static let calls: [(method: String, params: String, moderated: [String], plain: [String])] = [
    ("kickGroupMember", Scene.users(["carl"]), ["olga", "adam", "administrator"], []),
    ("getGroupBannedMembers", "{}", ["olga", "adam", "administrator"], []),
    ("unbanGroupMember", Scene.users(["petra"]), ["olga", "adam", "administrator"], []),
    ("muteGroupMember", #"{"userID":"carl","muteTime":60}"#, ["olga", "adam", "administrator"], ["olga", "administrator"]),
    ("setGroupMemberInfo", #"{"userID":"carl","muteUntil":0}"#, ["olga", "adam", "administrator"], ["olga", "administrator"]),
    ("muteGroup", #"{"mode":"All"}"#, ["olga", "adam", "administrator"], ["olga", "administrator"]),
    ("setGroupMemberRole", #"{"userID":"carl","role":"Admin"}"#, ["olga", "administrator"], []),
    ("setGroupMemberRole", #"{"userIDList":["oscar"],"role":"300"}"#, ["olga", "administrator"], []),
    ("setGroupMemberInfo", #"{"userID":"carl","role":"300"}"#, ["olga", "administrator"], []),
  ]

  @Test(arguments: 0..<calls.count, [true, false])
  func whoModerates(call: Int, moderates: Bool) throws {
    let (method, params, moderated, plain) = Self.calls[call]
    for name in Self.names {
      let scene = try room(moderates: moderates)
      if (moderates ? moderated : plain).contains(name) {
        #expect(try scene.ask(method, params, by: name).code == 0, "\(method) by \(name)")
      } else {
        try scene.expectRefused(10007, method, params, by: name)
      }
    }
  }

  @Test(arguments: [true, false])
  func whoDecidesApplications(moderates: Bool) throws {
    for name in Self.names {
      let scene = try room(moderates: moderates) { $0.joinMode = .auth }
      let asked = try scene.ask("joinGroup", by: "oscar")
      #expect(asked.receivers(of: "onReceiveJoinApplication") == (moderates ? ["adam", "olga"] : ["olga"]))
      #expect(asked.notifications.isEmpty)
      let mayDecide = ["olga", "administrator"] + (moderates ? ["adam"] : [])
      let decided = try scene.decide(try asked.application(), true, by: name)
      #expect(decided.code == (mayDecide.contains(name) ? 0 : 10007), "\(name)")
      #expect((scene.roles["oscar"] == .member) == mayDecide.contains(name) && decided.notifications.isEmpty, "\(name)")
    }
  }

  @Test func nobodyActsOnAnEqualOrHigherRole() throws {
    let scene = try room(members: ["adam": .admin, "mary": .admin, "carl": .member])
    let removed = try scene.ask("kickGroupMember", Scene.users(["olga", "mary", "adam", "petra", "carl"]), by: "adam")
    #expect(removed.rows == ["olga Fail", "mary Fail", "adam Fail", "petra Invalid", "carl Success"])
    #expect(try scene.ask("kickGroupMember", Scene.users(["olga"]), by: "administrator").rows == ["olga Fail"])
    for target in ["olga", "mary", "adam"] {
      try scene.expectRefused(10007, "muteGroupMember", #"{"userID":"\#(target)","muteTime":5}"#, by: "adam")
    }
    try scene.expectRefused(10007, "setGroupMemberRole", role("Member", of: "olga"), by: "administrator")
    try scene.expectRefused(10007, "setGroupMemberRole", role("Member", of: "olga"), by: "olga")
    #expect(try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga").rows == ["mary Success"])
  }

  // MARK: Roles of members

  @Test func aGrantAndARevocationAreToldToAllAndKeptNowhere() throws {
    let scene = try room()
    let granted = try scene.ask("setGroupMemberRole", role("Admin", of: "mary"), by: "olga")
    #expect(granted.heard == ["onGrantAdministrator": Self.everybody])
    #expect(try granted.params("onGrantAdministrator", to: "carl")["memberList"] == [person("mary", "Admin")])
    let revoked = try scene.ask("setGroupMemberRole", role("200", of: "mary"), by: "olga")
    #expect(revoked.heard == ["onRevokeAdministrator": Self.everybody])
    #expect(scene.roles["mary"] == .custom(200))
    #expect(granted.notifications.isEmpty && revoked.notifications.isEmpty && scene.messages.isEmpty)
    try scene.expectNothing("setGroupMemberRole", role("200", of: "mary"), by: "olga")
  }

  @Test func withoutTheKeyARoomHasNoAdminsToBeMade() throws {
    for user in ["mary", "oscar"] {
      for name in ["olga", "administrator"] {
        try room(moderates: false).expectRefused(10007, "setGroupMemberRole", role("Admin", of: user), by: name)
      }
    }
  }

  // MARK: Roles of users who are no members

  @Test func aRoleGivenToSomebodyAbsentIsTheirsWhenTheyJoin() throws {
    let scene = try room()
    let granted = try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    #expect(granted.heard == ["onGrantAdministrator": Self.everybody], "oscar is signed in, and gets none")
    let event = try granted.params("onGrantAdministrator", to: "mary")
    #expect(event["memberList"] == [person("oscar", "Admin")] && event["opUser"] == Person.olga)
    #expect(granted.notifications.isEmpty && scene.messages.isEmpty)
    // "Until it joins its role is shown nowhere."
    #expect(scene.roles["oscar"] == nil && scene.state?.roster.count == 4)
    #expect(try presentRole(of: "oscar", in: scene) == "NotMember")
    #expect(try scene.ask("getGroupMembersInfo", Scene.users(["oscar"]), by: "olga").result["memberList"].elements.isEmpty)
    let admins = try scene.ask("getGroupMemberList", #"{"filter":"Admin"}"#, by: "olga").result["memberList"]
    #expect(admins.elements.map { $0["userID"] } == ["adam"])
    try scene.expectRefused(10007, "muteGroupMember", #"{"userID":"mary","muteTime":5}"#, by: "oscar")
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(try joined.params("onMemberEnter", to: "mary")["memberList"] == [person("oscar", "Admin")])
    #expect(scene.roles["oscar"] == .admin && scene.state?.roster.former["oscar"] == nil)
    #expect(try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":5}"#, by: "oscar").code == 0)
  }

  @Test func aCustomRoleGivenToSomebodyAbsentIsAChangeOfTheirInfo() throws {
    let scene = try room()
    let given = try scene.ask("setGroupMemberRole", role("300", of: "oscar"), by: "administrator")
    #expect(given.heard == [Self.changed: Self.everybody])
    let event = try given.params(Self.changed, to: "mary")
    #expect(event["changeInfoList"] == [["userID": "oscar", "role": "300"]] && event["opUser"] == Person.administrator)
    try scene.ask("joinGroup", by: "oscar")
    #expect(scene.roles["oscar"] == .custom(300))
  }

  @Test func settingTheRoleThatSomebodyAbsentHasDoesNothing() throws {
    let scene = try room()
    try scene.expectNothing("setGroupMemberRole", role("Member", of: "oscar"), by: "olga")
    try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    try scene.expectNothing("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
  }

  @Test func memberGivenToSomebodyAbsentEndsTheRole() throws {
    let scene = try room()
    try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    let revoked = try scene.ask("setGroupMemberRole", role("Member", of: "oscar"), by: "olga")
    #expect(revoked.heard == ["onRevokeAdministrator": Self.everybody])
    #expect(try revoked.params("onRevokeAdministrator", to: "mary")["memberList"] == [person("oscar", "Member")])
    #expect(revoked.decision.changes == [.forgetFormer("oscar", in: "g")] && scene.state?.roster.former["oscar"] == nil)
    try scene.ask("joinGroup", by: "oscar")
    #expect(scene.roles["oscar"] == .member)
  }

  /// "With notices off the operator alone does."
  @Test func withNotificationOffTheEventIsTheOperatorsAlone() throws {
    for (given, event) in [("Admin", "onGrantAdministrator"), ("300", Self.changed)] {
      let scene = try room { $0.memberChangeNotification = false }
      #expect(try scene.ask("setGroupMemberRole", role(given, of: "oscar"), by: "olga").heard == [event: ["olga"]])
      #expect(try scene.ask("setGroupMemberRole", role(given, of: "petra"), by: "administrator").heard.isEmpty)
      let both = try scene.ask("setGroupMemberRole", Scene.users(["quinn", "mary"], #""role":"\#(given)""#), by: "olga")
      #expect(both.heard == [event: ["mary", "olga"]])
    }
  }

  @Test(arguments: ["quits", "is away for too long"])
  func aRoleOutlivesLeaving(how: String) async throws {
    let scene = try room()
    for (name, held, shown) in [("adam", Role.admin, "Admin"), ("carl", .custom(200), "200")] {
      if how == "quits" {
        try scene.ask("quitGroup", by: name)
      } else {
        scene.signOut(name)
        scene.clocks.advance(by: 300_000)
        try scene.wake()
      }
      #expect(scene.roles[UserID(stringLiteral: name)] == nil)
      #expect(try presentRole(of: name, in: scene) == "NotMember")
      try await scene.reload()
      scene.clocks.advance(by: 400 * 86_400_000)
      if how != "quits" { scene.signIn(name) }
      let joined = try scene.ask("joinGroup", by: name)
      #expect(try joined.params("onMemberEnter", to: name)["memberList"] == [person(name, shown)])
      #expect(scene.roles[UserID(stringLiteral: name)] == held)
    }
  }

  @Test func aMemberLeavesNoRecordBehind() throws {
    let scene = try room()
    #expect(try scene.ask("quitGroup", by: "mary").decision.changes == [.removeMember("mary", from: "g", at: scene.clocks.wall)])
  }

  @Test func aRemovalEndsTheRole() throws {
    let scene = try room()
    try scene.ask("kickGroupMember", Scene.users(["adam", "carl"], #""banTime":5"#), by: "olga")
    scene.clocks.advance(by: 5000)
    for name in ["adam", "carl"] {
      try scene.ask("joinGroup", by: name)
      #expect(scene.roles[UserID(stringLiteral: name)] == .member)
    }
    let absent = try scene.ask("kickGroupMember", Scene.users(["oscar"]), by: "olga")
    #expect(absent.rows == ["oscar Invalid"])
  }

  @Test func somebodyBannedMayBeGivenARoleAndStaysBanned() throws {
    let scene = try room()
    try scene.ask("kickGroupMember", Scene.users(["carl"], #""banTime":60,"reason":"r""#), by: "adam")
    #expect(try scene.ask("setGroupMemberRole", role("Admin", of: "carl"), by: "olga").code == 0)
    try scene.expectRefused(10007, "joinGroup", by: "carl")
    let listed = try scene.ask("getGroupBannedMembers", by: "adam").result["memberList"]
    #expect(listed.elements.map { $0["userID"] } == ["carl"] && listed[0]["reason"] == "r")
    #expect(try scene.ask("unbanGroupMember", Scene.users(["carl"]), by: "adam").rows == ["carl Success"])
    #expect(try scene.ask("getGroupBannedMembers", by: "adam").result["memberList"].elements.isEmpty)
    try scene.ask("joinGroup", by: "carl")
    #expect(scene.roles["carl"] == .admin)
  }

  @Test func aMuteOutlivesTheEndOfARole() throws {
    let scene = try room()
    try scene.ask("muteGroupMember", #"{"userID":"carl","muteTime":3600}"#, by: "adam")
    try scene.ask("quitGroup", by: "carl")
    try scene.ask("setGroupMemberRole", role("Member", of: "carl"), by: "olga")
    #expect(scene.state?.roster.former["carl"]?.role == nil && scene.state?.roster.former["carl"] != nil)
    try scene.ask("joinGroup", by: "carl")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "carl")
  }

  // MARK: Errors

  @Test func namesThatAreNoUserIDsAreRowsInALiveRoomOnly() throws {
    let list = Scene.users(["@x", "mary", "administrator", "oscar"], #""role":"Admin""#)
    let scene = try room()
    let given = try scene.ask("setGroupMemberRole", list, by: "olga")
    #expect(given.rows == ["mary Success", "oscar Success", "@x Fail", "administrator Fail"])
    #expect(try given.params("onGrantAdministrator", to: "carl")["memberList"].elements.count == 2)
    let refused = try scene.expectNothing("setGroupMemberRole", Scene.users(["@x"], #""role":"Admin""#), by: "olga")
    #expect(refused == ["memberList": [["userID": "@x", "result": "Fail"]]])
    try room(moderates: false).expectRefused(10007, "setGroupMemberRole", list, by: "olga")
    for type in [GroupType.work, .public, .meeting, .bChatRoom] {
      for name in ["olga", "oscar", "administrator"] {
        try Scene(type, rules: Self.rules()).expectRefused(10004, "setGroupMemberRole", list, by: name)
      }
    }
  }

  @Test func unknownUsersAreGivenNoRoleWhereUsersMustBeKnown() throws {
    let scene = try room()
    let facts = UserFacts(unknown: ["oscar", "mary"])
    try scene.expectRefused(10019, "setGroupMemberRole", role("Admin", of: "oscar"), by: "olga", facts)
    let list = Scene.users(["oscar", "mary"], #""role":"Admin""#)
    #expect(try scene.ask("setGroupMemberRole", list, by: "olga", facts).rows == ["oscar Fail", "mary Success"])
    try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    let ended = try scene.ask("setGroupMemberRole", role("Member", of: "oscar"), by: "olga", facts)
    #expect(ended.code == 0, "who holds a role is known")
    try scene.expectRefused(10007, "setGroupMemberRole", role("Admin", of: "oscar"), by: "adam", facts)
  }

  @Test func theInfoOfSomebodyAbsentHasNoRole() throws {
    let scene = try room()
    try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    for name in ["olga", "administrator"] {
      try scene.expectRefused(10007, "setGroupMemberInfo", role("300", of: "oscar"), by: name)
    }
  }

  // MARK: Lists

  @Test func theListHasTheAdminsBeforeTheNewestOthers() throws {
    let scene = try room()
    try scene.ask("setGroupMemberRole", role("Admin", of: "oscar"), by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    func names(_ params: String = "{}") throws -> [JSON] {
      try scene.ask("getGroupMemberList", params, by: "mary").result["memberList"].elements.map { $0["userID"] }
    }
    #expect(try names() == ["olga", "adam", "oscar", "carl", "mary"])
    #expect(try names(#"{"filter":"Admin"}"#) == ["adam", "oscar"])
    #expect(try names(#"{"filter":"Owner"}"#) == ["olga"] && names(#"{"filter":"Common"}"#) == ["carl", "mary"])
    try scene.ask("quitGroup", by: "adam")
    #expect(try names() == ["olga", "oscar", "carl", "mary"], "adam holds the role, and is not present")
  }

  // MARK: Removal

  /// "onMemberKicked is a control event, never counted or dropped."
  @Test func aRemovalPassesAFullRoom() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: 1]
    let scene = try Scene(
      .avChatRoom, rules: GroupRules(permissions: Self.rules().permissions, limits: limits))
    let say = #"{"text":"x","priority":"High"}"#
    #expect(try scene.ask("sendGroupTextMessage", say, by: "olga").result["status"] == "Delivered")
    #expect(try scene.ask("sendGroupTextMessage", say, by: "olga").result["status"] == "Queued")
    let removed = try scene.ask("kickGroupMember", Scene.users(["mary"], #""reason":"r""#), by: "adam")
    #expect(removed.heard == ["onMemberKicked": Self.everybody])
    #expect(removed.decision.rateLimited.deliveries == 0 && removed.notifications.isEmpty && scene.messages.isEmpty)
    let event = try removed.params("onMemberKicked", to: "mary")
    #expect(event["memberList"] == [Person.mary] && event["memberCount"] == 3 && event["reason"] == "r")
    #expect(event.names == ["groupID", "memberCount", "memberList", "opTime", "opUser", "platform", "reason"])
    let muted = try scene.ask("muteGroupMember", #"{"userID":"carl","muteTime":5}"#, by: "adam")
    #expect(muted.heard == [Self.changed: ["adam", "carl", "olga"]])
    #expect(try scene.ask("setGroupMemberRole", role("Admin", of: "carl"), by: "olga").names("carl") == ["onGrantAdministrator"])
  }

  @Test func withNotificationOffARemovalIsToldToThoseConcerned() throws {
    let scene = try room { $0.memberChangeNotification = false }
    #expect(try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "adam").heard == ["onMemberKicked": ["adam", "mary"]])
  }

  /// The last that members hear of a user is true.
  @Test func nothingThatWaitsNamesSomebodyWhoWasRemoved() throws {
    let scene = try room()
    try scene.ask("joinGroup", by: "oscar")
    for name in ["petra", "quinn"] { try scene.ask("joinGroup", by: name) }
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "adam")
    try scene.ask("muteGroupMember", Scene.users(["petra", "carl"], #""muteTime":60"#), by: "adam")
    try scene.ask("kickGroupMember", Scene.users(["petra"]), by: "adam")
    scene.clocks.advance(by: 220)
    let told = try scene.wake()
    #expect(try told.params(Self.changed, to: "olga")["changeInfoList"].elements.map { $0["userID"] } == ["carl"])
    scene.clocks.advance(by: 780)
    let entered = try scene.wake()
    #expect(try entered.params("onMemberEnter", to: "olga")["memberList"].elements.map { $0["userID"] } == ["quinn"])
    // Nobody is left to be told of.
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, by: "adam")
    try scene.ask("muteGroupMember", #"{"userID":"carl","muteTime":0}"#, by: "adam")
    try scene.ask("kickGroupMember", Scene.users(["carl"]), by: "adam")
    scene.clocks.advance(by: 220)
    #expect(try scene.wake().heard.isEmpty)
  }
}

/// Mutes and roles of a live room are told to all members, merged, with or without the key
/// (Protocol.md, "Member info").
@Suite struct LiveRoomMemberNoticeTests {
  private static let changed = "onGroupMemberInfoChanged"

  private func room(policy: (inout GroupPolicy) -> Void = { _ in }) throws -> Scene {
    try Scene(.avChatRoom, rules: LiveRoomModeratorTests.rules(), policy: policy)
  }

  private func mute(_ user: String, _ seconds: Int = 60) -> String { #"{"userID":"\#(user)","muteTime":\#(seconds)}"# }

  private func entries(_ outcome: Scene.Outcome, to name: String = "olga") throws -> JSON {
    try outcome.params(Self.changed, to: name)["changeInfoList"]
  }

  @Test(arguments: [true, false])
  func theFirstIsToldAtOnceToAllAndLaterOnesTogether(moderates: Bool) throws {
    let scene = try Scene(.avChatRoom, rules: LiveRoomModeratorTests.rules(moderates: moderates))
    let first = try scene.ask("muteGroupMember", mute("mary"), by: "olga")
    #expect(first.heard == [Self.changed: ["adam", "carl", "mary", "olga"]])
    let event = try first.params(Self.changed, to: "carl")
    #expect(event.names == ["changeInfoList", "groupID", "opTime", "opUser", "platform"] && event["opUser"] == Person.olga)
    for (user, seconds) in [("carl", 60), ("adam", 30), ("carl", 0), ("mary", 90)] {
      #expect(try scene.ask("muteGroupMember", mute(user, seconds), by: "olga").heard.isEmpty)
    }
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 220)
    scene.clocks.advance(by: 219)
    #expect(try scene.wake().heard.isEmpty)
    scene.clocks.advance(by: 1)
    let second = try scene.wake()
    #expect(second.heard == [Self.changed: ["adam", "carl", "mary", "olga"]])
    #expect(
      try entries(second) == [
        ["userID": "carl", "muteTime": 0], ["userID": "adam", "muteTime": 30], ["userID": "mary", "muteTime": 90],
      ])
    #expect(scene.state?.nextWake == nil && scene.messages.isEmpty)
  }

  @Test func theLastOperatorIsNamedWithThePlatform() throws {
    let scene = try room()
    try scene.ask("muteGroupMember", mute("mary"), by: "olga")
    try scene.ask("muteGroupMember", mute("carl"), by: "adam")
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"300"}"#, by: "administrator")
    scene.clocks.advance(by: 220)
    let event = try scene.wake().params(Self.changed, to: "carl")
    #expect(event["opUser"] == Person.administrator && event["platform"] == "RESTful API")
    #expect(event["changeInfoList"] == [["userID": "carl", "muteTime": 60], ["userID": "mary", "role": "300"]])
  }

  @Test func anEventNamesFiftyAndTheOthersFollow() throws {
    let scene = try room()
    let users = (1...60).map { "u\($0)" }
    for user in users { try scene.ask("joinGroup", by: user) }
    func mute(_ users: ArraySlice<String>) throws -> Scene.Outcome {
      try scene.ask("muteGroupMember", Scene.users(Array(users), #""muteTime":60"#), by: "adam")
    }
    #expect(try entries(mute(users.prefix(1))).elements.count == 1)
    _ = try mute(users[1..<40])
    _ = try mute(users[40..<60])
    var told: [Int] = []
    for _ in 0..<3 {
      scene.clocks.advance(by: 220)
      let outcome = try scene.wake()
      if outcome.heard[Self.changed] != nil { told.append(try entries(outcome).elements.count) }
    }
    #expect(told == [50, 9])
  }

  @Test func anAdminRightIsNotToldAsAnOlderRole() throws {
    let scene = try room()
    try scene.ask("muteGroupMember", mute("carl"), by: "olga")
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"300"}"#, by: "olga")
    let granted = try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    #expect(granted.names("carl") == ["onGrantAdministrator"], "a grant is not merged")
    scene.clocks.advance(by: 220)
    #expect(try scene.wake().heard.isEmpty && scene.state?.nextWake == nil)
  }

  /// "About a nameCard or customInfo it goes to the one concerned and the operator, as before."
  @Test func oneRequestTellsMutesToAllAndNamesToTwo() throws {
    let scene = try room()
    let until = scene.clocks.wall.milliseconds + 5000
    let both = #"{"userID":"mary","nameCard":"Marie","customInfo":{"k":"v"},"muteUntil":\#(until)}"#
    let set = try scene.ask("setGroupMemberInfo", both, by: "adam")
    for name in ["olga", "carl"] {
      #expect(set.names(name) == [Self.changed])
      #expect(try entries(set, to: name) == [["userID": "mary", "muteTime": 5]])
    }
    for name in ["adam", "mary"] {
      let told = (set.events[name] ?? []).map { $0["params"]["changeInfoList"] }
      let details: JSON = ["userID": "mary", "nameCard": "Marie", "customInfo": ["k": "v"]]
      #expect(told == [[["userID": "mary", "muteTime": 5]], [details]])
    }
    let card = #"{"userID":"carl","nameCard":"C"}"#
    #expect(try scene.ask("setGroupMemberInfo", card, by: "carl").heard == [Self.changed: ["carl"]])
    let named = try scene.ask("setGroupMemberInfo", #"{"userID":"carl","nameCard":"D"}"#, by: "administrator")
    #expect(named.heard == [Self.changed: ["carl"]])
  }

  @Test func theApplicationIsToldOfBothOnceAndAtOnce() throws {
    let scene = try Scene(
      .avChatRoom, rules: LiveRoomModeratorTests.rules(webhooks: WebhookTypes([WebhookType.memberInfoChanged])))
    try scene.ask("muteGroupMember", mute("carl"), by: "adam")
    let both = #"{"userID":"mary","nameCard":"Marie","muteUntil":\#(scene.clocks.wall.milliseconds + 5000)}"#
    let set = try scene.ask("setGroupMemberInfo", both, by: "adam")
    let posted = set.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
    try #require(posted.count == 1)
    let list = try JSON(posted[0].data)["changeInfoList"]
    #expect(list == [["userID": "mary", "muteTime": 5, "nameCard": "Marie"]])
    scene.clocks.advance(by: 220)
    #expect(try scene.wake().decision.effects.count == 1, "the event alone")
  }

  @Test func withNotificationOffNothingIsMerged() throws {
    let scene = try room { $0.memberChangeNotification = false }
    for (user, seconds) in [("mary", 60), ("carl", 5), ("mary", 90)] {
      let muted = try scene.ask("muteGroupMember", mute(user, seconds), by: "adam")
      #expect(muted.heard == [Self.changed: ["adam", user]])
      #expect(try entries(muted, to: user) == [["userID": .string(user), "muteTime": .int(seconds)]])
    }
    #expect(try scene.ask("muteGroupMember", mute("mary", 0), by: "administrator").heard == [Self.changed: ["mary"]])
    #expect(scene.state?.nextWake == nil)
  }

  @Test func switchingNotificationOffDropsWhatWaits() throws {
    let scene = try room()
    try scene.ask("muteGroupMember", mute("mary"), by: "adam")
    try scene.ask("muteGroupMember", mute("carl"), by: "adam")
    try scene.ask("setGroupInfo", #"{"memberChangeNotification":false}"#, by: "olga")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().heard.isEmpty && scene.state?.nextWake == nil)
  }

  /// Users who are no members may be given roles, so the room does not bound how many wait.
  @Test func aBoundedNumberOfUsersWaitsToBeTold() throws {
    let scene = try room()
    let by = EventOperator(.administrator, on: .restAPI)
    for number in 0..<10_000 {
      var change = MemberChange(userID: UserID(stringLiteral: "u\(number)"))
      change.role = .custom(300)
      scene.state?.memberNotices.add([change], muteUntil: .unset, by: by)
    }
    try scene.expectRefused(10023, "muteGroupMember", mute("mary"), by: "olga")
    try scene.expectRefused(10023, "muteGroupMember", Scene.users(["mary"], #""muteTime":5"#), by: "adam")
    for user in ["mary", "oscar"] {
      try scene.expectRefused(10023, "setGroupMemberRole", #"{"userID":"\#(user)","role":"300"}"#, by: "olga")
    }
    try scene.expectRefused(10023, "setGroupMemberRole", Scene.users(["oscar"], #""role":"300""#), by: "olga")
    try scene.expectRefused(10023, "setGroupMemberInfo", #"{"userID":"mary","muteUntil":0,"nameCard":"n"}"#, by: "olga")
    try scene.expectRefused(10007, "muteGroupMember", mute("mary"), by: "mary")
    #expect(try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga").code == 0)
    #expect(try scene.ask("setGroupMemberInfo", #"{"userID":"carl","role":"Admin"}"#, by: "olga").code == 0)
    #expect(try scene.ask("setGroupMemberInfo", #"{"userID":"carl","nameCard":"n"}"#, by: "carl").code == 0)
    try scene.wake()
    #expect(try scene.ask("muteGroupMember", mute("mary"), by: "olga").code == 0)
  }

  @Test func theFirstOfMergedChangesIsCharged() throws {
    let scene = try room()
    let deliveries = try [("mary", 60), ("carl", 60), ("mary", 0), ("adam", 5)].map { user, seconds in
      try scene.ask("muteGroupMember", mute(user, seconds), by: "olga").decision.fanOut.deliveries
    }
    #expect(deliveries == [4, 4, 0, 0])
  }

  /// "The last state always arrives", at most 5 events in any second, however much is changed.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func everyLastStateArrives(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scene = try room()
    var told: [String: JSON] = [:]
    var mutes: [String: Bool] = [:]
    var times: [Int64] = []
    func note(_ outcome: Scene.Outcome) {
      for event in outcome.events["olga"] ?? [] where event["method"].string == Self.changed {
        times.append(scene.clocks.monotonic.milliseconds)
        for entry in event["params"]["changeInfoList"].elements { told[entry["userID"].string ?? "?"] = entry["muteTime"] }
      }
    }
    for _ in 0..<200 {
      scene.clocks.advance(by: Int64.random(in: 0...60, using: &random))
      if let due = scene.state?.nextWake, due <= scene.clocks.monotonic { note(try scene.wake()) }
      let user = ["adam", "mary", "carl"].randomElement(using: &random) ?? "mary"
      let seconds = [0, 0, 4_000_000].randomElement(using: &random) ?? 0
      note(try scene.ask("muteGroupMember", mute(user, seconds), by: "olga"))
      mutes[user] = seconds > 0
    }
    scene.clocks.advance(by: 1000)
    note(try scene.wake())
    for (user, isMuted) in mutes {
      // A user who was never muted has nothing to be told.
      let isTold = told[user].map { ($0.integer ?? 0) > 0 } ?? false
      #expect(isTold == isMuted, "seed \(seed): \(user)")
    }
    for (index, time) in times.enumerated() { #expect(times[index...].prefix { $0 < time + 1000 }.count <= 5, "seed \(seed)") }
    #expect(times.count > 5)
  }
}

/// `limits.avChatRoom.messagesPerSecond: 0`: "a crowd of N joins costs each member at most one notice
/// a second of each kind".
@Suite struct LiveRoomCrowdTests {
  @Test func aThousandJoinsAndQuitsAreANoticeASecond() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [:]
    let scene = try Scene(.avChatRoom, rules: GroupRules(permissions: LiveRoomModeratorTests.rules().permissions, limits: limits))
    var times: [String: [Int64]] = [:]
    func note(_ outcome: Scene.Outcome) {
      for name in outcome.names("mary") { times[name, default: []].append(scene.clocks.monotonic.milliseconds) }
    }
    for number in 0..<1500 {
      scene.clocks.advance(by: 3)
      if let due = scene.state?.nextWake, due <= scene.clocks.monotonic { note(try scene.wake()) }
      let (user, method) = number < 1000 ? ("u\(number)", "joinGroup") : ("u\(number - 1000)", "quitGroup")
      note(try scene.ask(method, by: user))
    }
    scene.clocks.advance(by: 1000)
    note(try scene.wake())
    #expect(Set(times.keys) == ["onMemberEnter", "onMemberLeave"])
    for (name, times) in times {
      #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 1000 } && times.count >= 2, "\(name)")
    }
  }
}
