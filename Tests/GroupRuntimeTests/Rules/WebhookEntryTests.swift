import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The after-events that rules make, and that they are stored with what they tell (Protocol.md,
/// "Webhooks").
@Suite struct WebhookEntryTests {
  private static let everything = GroupRules(webhooks: WebhookTypes(WebhookType.notices))

  private func scene(
    _ type: GroupType, maxMemberNum: Int? = nil, policy: (inout GroupPolicy) -> Void = { _ in }
  ) throws -> Scene {
    try Scene(type, maxMemberNum: maxMemberNum, rules: WebhookEntryTests.everything, policy: policy)
  }

  private func posted(_ outcome: Scene.Outcome) -> [WebhookEntry] {
    outcome.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
  }

  private func stored(_ outcome: Scene.Outcome) -> [WebhookEntry] {
    outcome.decision.changes.compactMap { if case .appendWebhook(let entry) = $0 { entry } else { nil } }
  }

  /// The types and data of the entries, all of them stored.
  private func entries(_ outcome: Scene.Outcome, sourceLocation: SourceLocation = #_sourceLocation) throws -> [(
    type: WebhookType, data: JSON
  )] {
    #expect(outcome.code == 0 && posted(outcome) == stored(outcome), sourceLocation: sourceLocation)
    return try posted(outcome).map { entry in
      #expect(entry.lane == .group("g") && entry.storedNumber > 0, sourceLocation: sourceLocation)
      return (entry.type, try JSON(entry.data))
    }
  }

  @Test func nothingIsMadeWithoutAType() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    for outcome in [
      try scene.ask("joinGroup", by: "oscar"), try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "olga"),
      try scene.ask("setGroupInfo", #"{"groupName":"x"}"#, by: "olga"), try scene.ask("dismissGroup", by: "olga"),
    ] { #expect(outcome.code == 0 && posted(outcome).isEmpty && stored(outcome).isEmpty) }
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aStoredMessageHasItsEntryInItsTransaction(type: GroupType) throws {
    let scene = try scene(type)
    for name in ["adam", "mary", "carl"] { scene.signOut(name) }
    let outcome = try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "olga")
    let made = try entries(outcome)
    let pushes = type == .meeting ? [] : [WebhookType.offlinePush]
    #expect(made.map(\.type) == [.messageSent] + pushes)
    #expect(made[0].data["groupID"].string == "g" && made[0].data["message"]["text"].string == "t")
    #expect(made[0].data["message"]["seq"].integer == 1)
  }

  /// A message that no store keeps has no stored entry either.
  @Test func entriesOfLiveMessagesAreNotStored() throws {
    for (type, params) in [(GroupType.avChatRoom, #"{"text":"t"}"#), (.public, #"{"text":"t","onlineUserOnly":true}"#)] {
      let scene = try scene(type)
      scene.signOut("mary")
      let outcome = try scene.ask("sendGroupTextMessage", params, by: "olga")
      #expect(posted(outcome).map(\.type) == [.messageSent] && stored(outcome).isEmpty, "\(type)")
    }
  }

  /// "Members without a session whose receive option is Receive, or ReceiveFromManagers or
  /// NotifyFromManagers for a manager's message, and those mentioned"; not the sender, and a mention
  /// overrides every option.
  @Test func pushesGoToWhomTheyAreFor() throws {
    let scene = try scene(.public)
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"ReceiveFromManagers"}"#, by: "mary")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "carl")
    func pushed(_ params: String, by name: String) throws -> [String?] {
      let outcome = try scene.ask("sendGroupTextMessage", params, by: name)
      let data = try posted(outcome).filter { $0.type == .offlinePush }.map { try JSON($0.data) }
      #expect(data.allSatisfy { $0["groupName"].string == "n" && $0["message"]["text"].string == "t" })
      return data.flatMap { $0["userIDList"].elements.map(\.string) }
    }
    #expect(try pushed(#"{"text":"t","atUserIDList":["@all"]}"#, by: "olga") == [], "everybody is online")
    for name in ["olga", "adam", "mary", "carl"] { scene.signOut(name) }
    #expect(try pushed(#"{"text":"t"}"#, by: "olga") == ["adam", "mary"])
    #expect(try pushed(#"{"text":"t"}"#, by: "carl") == ["adam", "olga"])
    #expect(try pushed(#"{"text":"t","atUserIDList":["carl","olga","oscar"]}"#, by: "olga") == ["adam", "carl", "mary"])
    #expect(try pushed(#"{"text":"t","atUserIDList":["@all"]}"#, by: "olga") == ["adam", "carl", "mary"])
    #expect(try pushed(#"{"text":"t","atUserIDList":["@all"],"onlineUserOnly":true}"#, by: "olga") == [])
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotifyFromManagers"}"#, by: "mary")
    #expect(try pushed(#"{"text":"t"}"#, by: "olga") == ["adam", "mary"])
    #expect(try pushed(#"{"text":"t"}"#, by: "carl") == ["adam", "olga"])
    #expect(try pushed(#"{"text":"t","atUserIDList":["mary"]}"#, by: "carl") == ["adam", "mary", "olga"])
  }

  @Test func aBroadcastGroupPushesToNobody() throws {
    let scene = try scene(.bChatRoom)
    scene.signOut("mary")
    let outcome = try scene.ask("sendGroupTextMessage", #"{"text":"t","atUserIDList":["mary"]}"#, by: "olga")
    #expect(posted(outcome).map(\.type) == [.messageSent])
  }

  @Test func joining() throws {
    let scene = try scene(.public, maxMemberNum: 5) { $0.joinMode = .any }
    let made = try entries(try scene.ask("joinGroup", by: "oscar"))
    #expect(made.map(\.type) == [.memberJoined, .groupFull])
    #expect(made[0].data["how"].string == "join" && made[0].data["memberCount"].integer == 5)
    #expect(made[0].data["memberList"].elements.map { $0["userID"].string } == ["oscar"] && made[0].data["opUser"] == .null)
    #expect(made[1].data["memberCount"].integer == 5)
  }

  @Test func applying() throws {
    let scene = try scene(.public)
    for _ in 0..<2 {
      let made = try entries(try scene.ask("joinGroup", #"{"message":"m"}"#, by: "oscar"))
      #expect(made.map(\.type) == [.applicationMade], "a repeated one, too")
      #expect(made[0].data["application"]["requestMsg"].string == "m")
    }
    let application = try #require(scene.state?.applications.application(.join, of: "oscar"))
    let accepted = try scene.ask(
      .decide(application, agrees: true, reason: "r", .none), by: .user("adam", platform: .iOS, session: nil))
    let made = try entries(accepted)
    #expect(made.map(\.type) == [.applicationHandled, .memberJoined])
    #expect(made[0].data["isAgreeJoin"].bool == true && made[0].data["application"]["handledMsg"].string == "r")
    #expect(made[1].data["how"].string == "accepted" && made[1].data["opUser"]["userID"].string == "adam")
    #expect(made[1].data["platform"].string == "iOS")
  }

  @Test func inviting() throws {
    let scene = try scene(.work)
    let made = try entries(try scene.ask("inviteUserToGroup", #"{"userIDList":["oscar","x"]}"#, by: "mary"))
    #expect(made.map(\.type) == [.memberJoined] && made[0].data["how"].string == "invited")
    #expect(made[0].data["memberList"].elements.count == 2 && made[0].data["opUser"]["userID"].string == "mary")
  }

  @Test func leaving() throws {
    let scene = try scene(.public) { $0.memberChangeNotification = false }
    let quit = try entries(try scene.ask("quitGroup", by: "mary"))
    #expect(quit.map(\.type) == [.memberLeft] && quit[0].data["how"].string == "quit", "notification off does not matter")
    let kicked = try entries(try scene.ask("kickGroupMember", #"{"userIDList":["carl"],"reason":"r"}"#, by: "olga"))
    #expect(kicked.map(\.type) == [.memberLeft] && kicked[0].data["how"].string == "kicked")
    #expect(kicked[0].data["reason"].string == "r" && kicked[0].data["opUser"]["userID"].string == "olga")
    let nobody = try scene.ask("kickGroupMember", #"{"userIDList":["carl"]}"#, by: "olga")
    #expect(posted(nobody).isEmpty)
  }

  @Test func theLastToQuitDisbands() throws {
    let scene = try Scene(.work, members: [:], rules: WebhookEntryTests.everything)
    let made = try entries(try scene.ask("quitGroup", by: "olga"))
    #expect(made.map(\.type) == [.memberLeft, .groupDismissed])
    #expect(made[0].data["memberCount"].integer == 0 && made[1].data["opUser"]["userID"].string == "olga")
  }

  @Test func graceNamesEverybodyWhoIsGone() throws {
    let scene = try scene(.avChatRoom)
    for name in ["adam", "mary", "carl"] { scene.signOut(name) }
    scene.clocks.advance(by: 301_000)
    let made = try entries(try scene.wake())
    #expect(made.map(\.type) == [.memberLeft] && made[0].data["how"].string == "grace")
    #expect(made[0].data["memberList"].elements.count == 3)
  }

  @Test func rolesAreChangesOfMembers() throws {
    let scene = try scene(.public)
    for (user, role) in [("mary", "Admin"), ("adam", "Member"), ("carl", "300")] {
      let made = try entries(try scene.ask("setGroupMemberRole", #"{"userID":"\#(user)","role":"\#(role)"}"#, by: "olga"))
      #expect(made.map(\.type) == [.memberInfoChanged])
      let change = made[0].data["changeInfoList"][0]
      #expect(change["userID"].string == user && change["role"].string == role)
    }
    #expect(try entries(try scene.ask("setGroupMemberRole", #"{"userID":"carl","role":"300"}"#, by: "olga")).isEmpty)
  }

  @Test func infoAndOwner() throws {
    let scene = try scene(.public)
    let info = try entries(try scene.ask("setGroupInfo", #"{"groupName":"x","allMuted":true}"#, by: "adam"))
    #expect(info.map(\.type) == [.groupInfoChanged] && info[0].data["changeInfoList"].elements.count == 3)
    let owner = try entries(try scene.ask("transferGroupOwner", #"{"userID":"mary","quit":true}"#, by: "olga"))
    #expect(owner.map(\.type) == [.groupInfoChanged, .memberLeft])
    #expect(try entries(try scene.ask("setGroupInfo", #"{"groupName":"x"}"#, by: "adam")).isEmpty)
  }

  @Test func recallsAndAttributes() throws {
    let scene = try Scene(
      .public,
      rules: GroupRules(
        permissions: GroupPermissions(attributeTypes: [.public]), webhooks: WebhookTypes([.messageRevoked, .attributesChanged])))
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary")
    let recalled = try entries(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary"))
    #expect(recalled.map(\.type) == [.messageRevoked] && recalled[0].data["seq"].integer == 1)
    #expect(posted(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")).isEmpty, "once")
    // Each write has its entry, though the event may merge several.
    for number in 1...3 {
      let made = try entries(try scene.ask("setGroupAttributes", #"{"attributes":{"a":"\#(number)"}}"#, by: "mary"))
      #expect(made.map(\.type) == [.attributesChanged] && made[0].data["groupAttributeMap"]["a"].string == "\(number)")
    }
  }

  @Test func creating() throws {
    let scene = Scene(rules: WebhookEntryTests.everything)
    let made = try entries(
      try scene.ask(
        "createGroup", #"{"groupType":"Public","groupName":"n","maxMemberNum":2,"memberList":[{"userID":"mary"}]}"#, by: "olga"))
    #expect(made.map(\.type) == [.groupCreated, .groupFull])
    #expect(made[0].data["owner"].string == "olga" && made[0].data["groupType"].string == "Public")
    #expect(made[0].data["memberList"].elements.map { $0["userID"].string } == ["mary"])
  }

  // MARK: Asking first

  private func asked(_ method: String, _ params: String, _ scene: Scene, by name: String) throws -> AskedGroupRequest {
    guard case .request(let request, _) = try groupRequest(method, params, by: scene.caller(name)) else {
      throw WireError(.internalError)
    }
    return try #require(request.asked)
  }

  private func check(_ method: String, _ params: String = "{}", _ scene: Scene, by name: String) throws -> Scene.Outcome {
    try scene.ask(.check(try asked(method, params, scene, by: name), .none), by: scene.caller(name))
  }

  @Test func checksChangeNothingAndFindWhatTheRequestWould() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.public: 1]
    let scene = try Scene(.public, rules: GroupRules(limits: limits)) { $0.joinMode = .any }
    #expect(try check("sendGroupTextMessage", #"{"text":"t"}"#, scene, by: "oscar").code == 10007)
    #expect(try check("joinGroup", "{}", scene, by: "mary").code == 10013)
    #expect(try check("inviteUserToGroup", #"{"userIDList":["x"]}"#, scene, by: "mary").code == 10007)
    for _ in 0..<3 {
      for (method, params, name) in [
        ("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, "mary"), ("joinGroup", "{}", "oscar"),
      ] {
        let outcome = try check(method, params, scene, by: name)
        #expect(outcome.code == 0 && outcome.decision.changes.isEmpty && outcome.decision.effects.isEmpty)
        #expect(outcome.result == .object([:]))
      }
    }
    // The checks have not counted for the rate.
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, by: "mary")
    #expect(sent.code == 0)
    let again = try check("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, scene, by: "mary")
    #expect(again.result["msgID"] == sent.result["msgID"], "a repeated one is answered at once")
    #expect(try check("sendGroupTextMessage", #"{"text":"t"}"#, scene, by: "mary").code == 10023)
  }

  @Test func aDropTakesNoPlace() throws {
    let scene = try scene(.public)
    let asked = try asked("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, scene, by: "mary")
    guard case .message(let send) = asked else { throw WireError(.internalError) }
    let outcome = try scene.ask(.dropMessage(send), by: scene.caller("mary"))
    #expect(outcome.result["status"].string == "Dropped" && outcome.result["seq"] == .null && outcome.events.isEmpty)
    let made = try entries(outcome)
    #expect(made.map(\.type) == [.messageDropped] && made[0].data["reason"].string == "Webhook")
    #expect(outcome.decision.counts.map(\.steps) == [[.accepted, .dropped]])
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, by: "mary")
    #expect(sent.result["seq"].integer == 1 && sent.result["msgID"] != outcome.result["msgID"])
    #expect(try scene.ask(.dropMessage(send), by: scene.caller("oscar")).code == 10007, "everything is checked again")
  }
}
