import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// setConversation, and what ends isHidden and isMarkedUnread (Protocol.md, "Conversations").
@Suite struct ConversationTests {
  private static let stored: [GroupType] = [.work, .public, .meeting]

  /// A group in which mary has two sessions.
  private func scene(_ type: GroupType = .public, _ change: (inout GroupPolicy) -> Void = { _ in }) throws -> Scene {
    let scene = try Scene(type, policy: change)
    scene.signIn("mary", as: "mary/2")
    return scene
  }

  private func selfInfo(_ scene: Scene, of name: String = "mary") throws -> JSON {
    try scene.ask("info", by: name).result["selfInfo"]
  }

  private func set(_ scene: Scene, _ params: String, by name: String = "mary") throws -> Scene.Outcome {
    let outcome = try scene.ask("setConversation", params, by: name)
    try #require(outcome.code == 0 && outcome.result == [:] as JSON)
    return outcome
  }

  // MARK: setConversation

  @Test(arguments: stored, ["isPinned", "isHidden", "isMarkedUnread"])
  func aSettingIsKeptAndToldToTheOtherSessionsOfTheUserAlone(type: GroupType, name: String) throws {
    // With notification off, as well: nobody but the user is concerned.
    let scene = try scene(type) { $0.memberChangeNotification = type == .work }
    for value in [true, false] {
      let done = try set(scene, #"{"\#(name)":\#(value)}"#)
      #expect(done.heard == ["onConversationChanged": ["mary/2"]])
      let told: JSON = ["groupID": "g", "opTime": .instant(scene.clocks.wall), name: .bool(value)]
      #expect(try done.params("onConversationChanged", to: "mary/2") == told)
      #expect(try selfInfo(scene)[name] == (value ? true : .null))
      #expect(try selfInfo(scene, of: "olga")[name] == .null)
      #expect(done.notifications.isEmpty && scene.messages.isEmpty)
      try scene.expectNothing("setConversation", #"{"\#(name)":\#(value)}"#, by: "mary")
    }
  }

  @Test func theEventHasWhatChangedAndNothingElse() throws {
    let scene = try scene()
    _ = try set(scene, #"{"isPinned":true}"#)
    let done = try set(scene, #"{"isPinned":true,"isHidden":false,"isMarkedUnread":true,"marks":["later"]}"#)
    let told = try done.params("onConversationChanged", to: "mary/2")
    #expect(told.names == ["groupID", "isMarkedUnread", "marks", "opTime"])
    #expect(told["isMarkedUnread"] == true && told["marks"] == ["later"])
  }

  @Test func marksAreReplacedAllAtOnce() throws {
    let scene = try scene()
    for marks in [#"["b","a"]"#, #"["a","b"]"#, #"["e\u0301"]"#, #"["\u00e9"]"#] {
      let done = try set(scene, #"{"marks":\#(marks)}"#)
      let expected = try JSON(marks)
      #expect(try done.params("onConversationChanged", to: "mary/2")["marks"] == expected)
      #expect(try selfInfo(scene)["marks"] == expected)
      try scene.expectNothing("setConversation", #"{"marks":\#(marks)}"#, by: "mary")
    }
    let removed = try set(scene, #"{"marks":[]}"#)
    #expect(try removed.params("onConversationChanged", to: "mary/2")["marks"] == [])
    #expect(try selfInfo(scene)["marks"] == .null)
    try scene.expectNothing("setConversation", #"{"marks":[]}"#, by: "mary")
  }

  @Test func aSessionOfTheApplicationExcludesNone() throws {
    let scene = try scene()
    let caller = Caller.user("mary", platform: .restAPI, session: nil)
    let done = try scene.ask(try groupRequest("setConversation", #"{"isPinned":true}"#, by: caller), by: caller)
    #expect(done.heard == ["onConversationChanged": ["mary", "mary/2"]])
  }

  @Test(arguments: GroupType.allCases, ["setConversation", "clearGroupHistory"])
  func onlyMembersOfListedGroupsHaveConversations(type: GroupType, method: String) throws {
    let scene = try scene(type)
    let params = method == "setConversation" ? #"{"isPinned":true,"marks":["m"]}"# : "{}"
    try scene.expectRefused(10007, method, params, by: "oscar")
    try scene.expectRefused(10007, method, params, by: "administrator")
    guard !type.isListed else { return }
    for name in ["mary", "olga"] { try scene.expectRefused(10007, method, params, by: name) }
  }

  @Test func settingsSurviveARestartAndEndWithTheMembership() async throws {
    let scene = try scene { $0.joinMode = .any }
    _ = try set(scene, #"{"isPinned":true,"isHidden":true,"isMarkedUnread":true,"marks":["a","b"]}"#)
    let chosen = try selfInfo(scene)
    try await scene.reload()
    #expect(try selfInfo(scene) == chosen)
    #expect(scene.state?.roster.hidden == ["mary"])
    try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.roster.hidden == [])
    try scene.ask("joinGroup", by: "mary")
    for name in ["isPinned", "isHidden", "isMarkedUnread", "marks"] { #expect(try selfInfo(scene)[name] == .null, "\(name)") }
  }

  @Test func aChangeCountsForTheUsersOwnList() throws {
    let scene = try scene()
    scene.clocks.advance(by: 1000)
    let now = scene.clocks.wall
    _ = try set(scene, #"{"isPinned":true}"#)
    func isListed(_ name: String) throws -> Bool {
      try scene.ask("joinedInfo", #"{"updatedSince":\#(now)}"#, by: name).result != .null
    }
    #expect(try isListed("mary") && !isListed("olga"))
  }

  // MARK: isHidden

  /// By sender: olga is a manager, carl is none.
  struct Row: Sendable, CustomTestStringConvertible {
    let sender: String
    let method: String
    let params: String
    /// The options under which it counts as unread for mary.
    let counting: Set<ReceiveOption>
    /// It names mary, or everybody.
    let mentions: Bool
    var testDescription: String { "\(sender) \(method) \(params)" }

    init(_ sender: String, _ params: String, _ counting: Set<ReceiveOption>, mentions: Bool = false) {
      (self.sender, self.params, self.counting, self.mentions) = (sender, params, counting, mentions)
      method = params.contains(#""data""#) ? "sendGroupCustomMessage" : "sendGroupTextMessage"
    }
  }

  private static let everywhere: Set<ReceiveOption> = [.receive, .receiveNotNotify, .notifyFromManagers]
  private static let rows = [
    Row("carl", #"{"text":"x"}"#, everywhere), Row("carl", #"{"data":"x"}"#, everywhere),
    Row("olga", #"{"text":"x"}"#, everywhere.union([.receiveFromManagers])),
    Row("administrator", #"{"text":"x"}"#, everywhere.union([.receiveFromManagers])),
    Row("carl", #"{"text":"x","atUserIDList":["mary"]}"#, everywhere, mentions: true),
    Row("olga", #"{"text":"x","atUserIDList":["@all"]}"#, everywhere.union([.receiveFromManagers]), mentions: true),
    Row("carl", #"{"text":"x","atUserIDList":["adam","oscar"]}"#, everywhere),
    Row("mary", #"{"text":"x"}"#, []), Row("mary", #"{"text":"x","atUserIDList":["mary"]}"#, []),
    Row("carl", #"{"text":"x","onlineUserOnly":true}"#, []),
    Row("carl", #"{"text":"x","onlineUserOnly":true,"atUserIDList":["adam"]}"#, []),
    Row("carl", #"{"text":"x","onlineUserOnly":true,"atUserIDList":["mary"]}"#, [], mentions: true),
    Row("olga", #"{"data":"x","onlineUserOnly":true,"atUserIDList":["@all"]}"#, [], mentions: true),
    Row("mary", #"{"text":"x","onlineUserOnly":true,"atUserIDList":["mary"]}"#, []),
  ]

  @Test(arguments: stored, rows)
  func aMessageThatCountsOrMentionsEndsIsHidden(type: GroupType, row: Row) throws {
    for option in ReceiveOption.allCases {
      let scene = try scene(type)
      try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"\#(option.rawValue)"}"#, by: "mary")
      _ = try set(scene, #"{"isHidden":true,"isPinned":true}"#)
      scene.clocks.advance(by: 1000)
      let before = try #require(scene.state?.roster["mary"])
      let sent = try scene.ask(row.method, row.params, by: row.sender)
      try #require(sent.code == 0)
      let ends = row.mentions || type.countsUnread && row.counting.contains(option)
      #expect(sent.receivers(of: "onConversationChanged") == (ends ? ["mary", "mary/2"] : []), "\(option)")
      let changes = sent.decision.changes.filter { if case .endHidden = $0 { true } else { false } }
      #expect(changes == (ends ? [.endHidden(["mary"], at: scene.clocks.wall, in: "g")] : []), "\(option)")
      #expect(try selfInfo(scene)["isHidden"] == (ends ? .null : true) && selfInfo(scene)["isPinned"] == true)
      var expected = before
      if ends { (expected.conversation.isHidden, expected.changeTime) = (false, scene.clocks.wall) }
      #expect(scene.state?.roster["mary"] == expected, "\(option)")
      guard ends else { continue }
      #expect(
        try sent.params("onConversationChanged", to: "mary") == [
          "groupID": "g", "opTime": .instant(scene.clocks.wall), "isHidden": false,
        ])
      let next = try scene.ask(row.method, row.params, by: row.sender)
      #expect(next.receivers(of: "onConversationChanged").isEmpty, "it has ended")
    }
  }

  @Test func whatNobodySaidEndsItForNobody() throws {
    let scene = try scene { $0.joinMode = .any }
    _ = try set(scene, #"{"isHidden":true}"#)
    for (method, params, name) in [
      ("setGroupInfo", #"{"groupName":"m"}"#, "olga"), ("joinGroup", "{}", "oscar"),
      ("setGroupMemberInfo", #"{"userID":"carl","nameCard":"c"}"#, "carl"),
    ] {
      let done = try scene.ask(method, params, by: name)
      #expect(done.code == 0 && done.receivers(of: "onConversationChanged").isEmpty, "\(method)")
    }
    #expect(scene.messages.count == 3, "each of them is a tip")
    #expect(try selfInfo(scene)["isHidden"] == true)
  }

  @Test func oneEventAndOneChangeServeAllWhoHaveHiddenIt() throws {
    let scene = try scene()
    for name in ["mary", "carl", "adam"] { _ = try set(scene, #"{"isHidden":true}"#, by: name) }
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "carl")
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(sent.receivers(of: "onConversationChanged") == ["adam", "mary", "mary/2"])
    #expect(sent.decision.changes.contains(.endHidden(["adam", "mary"], at: scene.clocks.wall, in: "g")))
    #expect(try selfInfo(scene, of: "carl")["isHidden"] == true)
    let mention = try scene.ask("sendGroupTextMessage", #"{"text":"x","atUserIDList":["carl"]}"#, by: "adam")
    #expect(mention.receivers(of: "onConversationChanged") == ["carl"])
  }

  @Test func theEndOfIsHiddenIsStoredWithTheMessage() async throws {
    let scene = try scene()
    _ = try set(scene, #"{"isHidden":true}"#)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try await scene.reload()
    #expect(try selfInfo(scene)["isHidden"] == .null)
    #expect(scene.state?.roster.hidden == [])
  }

  @Test func aMentionThatIsNotStoredStoresTheEndOfIsHidden() async throws {
    let scene = try scene()
    _ = try set(scene, #"{"isHidden":true}"#)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true,"atUserIDList":["mary"]}"#, by: "olga")
    #expect(sent.result["status"] == "Delivered" && sent.result["seq"] == .null && scene.messages.isEmpty)
    #expect(sent.decision.changes == [.endHidden(["mary"], at: scene.clocks.wall, in: "g")])
    #expect(sent.names("mary") == ["onRecvNewMessage", "onConversationChanged"] && sent.names("carl") == ["onRecvNewMessage"])
    try await scene.reload()
    #expect(try selfInfo(scene)["isHidden"] == .null && selfInfo(scene)["unreadCount"] == 0)
    #expect(scene.state?.roster.hidden == [])
  }

  @Test func aTargetedMessageEndsItForNobody() throws {
    let scene = try scene()
    _ = try set(scene, #"{"isHidden":true}"#)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x","toUserIDList":["mary"]}"#, by: "olga")
    #expect(sent.receivers(of: "onRecvNewMessage") == ["mary", "mary/2"])
    #expect(sent.receivers(of: "onConversationChanged").isEmpty)
    #expect(try selfInfo(scene)["isHidden"] == true)
  }

  /// What a message carries beside its content: see `Message.countsAsUnread`.
  @Test func aMessageThatIsExcludedOrTargetedDoesNotCount() throws {
    let scene = try scene()
    _ = try set(scene, #"{"isHidden":true}"#)
    let extras: [(MessageExtras?, Bool)] = [
      (MessageExtras(isExcludedFromUnreadCount: true), false), (MessageExtras(toUserIDList: ["mary"]), false),
      (MessageExtras(isExcludedFromLastMessage: true), true), (MessageExtras(extension: "e"), true),
    ]
    for (extras, ends) in extras {
      var message = Message(
        msgID: "e-1", groupID: "g", seq: 1, sender: "olga", nameCard: "", timestamp: scene.clocks.wall, content: .text("x"),
        priority: .normal, clientMsgID: nil, platform: .web, isFromManager: true)
      message.extras = extras
      var state = try #require(scene.state)
      var turn = state.beginTurn(by: .administrator, at: scene.clocks.now)
      state.endHidden(by: message, &turn)
      let decision = turn.finish()
      #expect(decision.changes.isEmpty != ends, "\(String(describing: extras?.toUserIDList))")
      #expect(state.roster.hidden == (ends ? [] : ["mary"]))
    }
  }

  @Test func importedMessagesEndItForNobody() throws {
    let scene = try Scene(.public)
    _ = try set(scene, #"{"isHidden":true}"#)
    let imported = try scene.ask(
      "importGroupMessages", #"{"messageList":[{"sender":"olga","timestamp":1,"text":"t"}]}"#, by: "administrator")
    #expect(imported.code == 0 && imported.events.isEmpty)
    #expect(try selfInfo(scene)["isHidden"] == true)
  }

  // MARK: isMarkedUnread

  @Test(arguments: stored, [#"{"seq":1}"#, "{}"])
  func readingEndsTheMarkAlsoWhereReadSeqStays(type: GroupType, params: String) throws {
    let scene = try scene(type)
    for _ in 1...3 { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga") }
    try scene.ask("markGroupMessageAsRead", by: "mary")
    _ = try set(scene, #"{"isMarkedUnread":true}"#)
    let read = try scene.ask("markGroupMessageAsRead", params, by: "mary")
    #expect(read.heard == ["onConversationChanged": ["mary/2"]])
    #expect(
      try read.params("onConversationChanged", to: "mary/2") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "isMarkedUnread": false,
      ])
    #expect(try selfInfo(scene)["isMarkedUnread"] == .null && selfInfo(scene)["readSeq"] == 3)
    try scene.expectNothing("markGroupMessageAsRead", params, by: "mary")
  }

  @Test func aMarkThatMovesTellsBoth() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    _ = try set(scene, #"{"isMarkedUnread":true,"isPinned":true}"#)
    let read = try scene.ask("markGroupMessageAsRead", by: "mary")
    #expect(read.names("mary/2") == ["onConversationRead", "onConversationChanged"] && read.names("mary").isEmpty)
    #expect(read.receivers(of: "onConversationChanged") == ["mary/2"])
    #expect(try selfInfo(scene)["isPinned"] == true, "the other settings stay")
  }

  @Test func messagesDoNotEndTheMark() throws {
    let scene = try scene()
    _ = try set(scene, #"{"isMarkedUnread":true}"#)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x","atUserIDList":["mary"]}"#, by: "olga")
    #expect(sent.receivers(of: "onConversationChanged").isEmpty)
    #expect(try selfInfo(scene)["isMarkedUnread"] == true)
  }
}
