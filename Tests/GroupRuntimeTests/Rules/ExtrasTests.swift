import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The application's data beside the content, and what a message does not count for (Protocol.md,
/// "Extension" and "Silent messages").
@Suite struct ExtrasTests {
  private static let storing: [GroupType] = [.work, .public, .meeting]

  private func scene(_ type: GroupType = .public, rules: GroupRules = GroupRules()) throws -> Scene {
    try Scene(type, rules: rules) { policy in if type != .work { policy.joinMode = .any } }
  }

  // MARK: Extension

  @Test(arguments: storing) func everyPlaceThatShowsAMessageHasItsExtension(type: GroupType) throws {
    let scene = try scene(type, rules: GroupRules(webhooks: WebhookTypes([.messageSent, .offlinePush])))
    scene.signOut("carl")
    let text = #"{"text":"t","extension":"{\"a\":1}"}"#
    let sent = try scene.ask("sendGroupTextMessage", text, by: "mary")
    let expected: JSON = [
      "msgID": "e-1", "groupID": "g", "seq": 1, "sender": "mary", "timestamp": .instant(scene.clocks.wall), "type": "Text",
      "text": "t", "extension": #"{"a":1}"#, "priority": "Normal", "platform": "Web",
    ]
    #expect(try sent.params("onRecvNewMessage", to: "olga")["message"] == expected)
    #expect(try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"] == .array([expected]))
    #expect(try scene.ask("getGroupMessages", #"{"seqList":[1]}"#, by: "olga").result["messageList"] == .array([expected]))
    #expect(try scene.ask("sync", #"{"epoch":"e","seq":0}"#, by: "adam").result["messageList"] == .array([expected]))
    #expect(try scene.ask("info", by: "olga").result["lastMessage"] == expected)
    let posted = sent.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
    for entry in posted { #expect(try JSON(entry.data)["message"]["extension"] == #"{"a":1}"#, "\(entry.type)") }
    #expect(posted.count == (type == .meeting ? 1 : 2))
  }

  @Test func customMessagesAndAdministratorsHaveItToo() throws {
    let scene = try scene()
    let sent = try scene.ask("sendGroupCustomMessage", #"{"data":"d","extension":"e"}"#, by: "administrator")
    #expect(try sent.params("onRecvNewMessage", to: "olga")["message"]["extension"] == "e")
    let plain = try scene.ask("sendGroupCustomMessage", #"{"data":"d","extension":""}"#, by: "olga")
    #expect(try plain.params("onRecvNewMessage", to: "adam")["message"]["extension"] == .null, "an empty one is absent")
    #expect(scene.messages.map { $0.extras?.extension } == ["e", nil] && scene.messages[1].extras == nil)
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func liveMessagesCarryItAndNoFlags(type: GroupType) throws {
    let scene = try scene(type)
    let params = #"{"text":"t","extension":"e","isExcludedFromUnreadCount":true,"isExcludedFromLastMessage":true}"#
    let sent = try scene.ask("sendGroupTextMessage", params, by: "olga")
    let message = try sent.params("onRecvNewMessage", to: "mary")["message"]
    #expect(message["extension"] == "e")
    #expect(message["isExcludedFromUnreadCount"] == .null && message["isExcludedFromLastMessage"] == .null)
    #expect(sent.decision.changes.isEmpty)
  }

  // MARK: Edits

  @Test func anEditReplacesWhatItGives() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e","isExcludedFromUnreadCount":true}"#, by: "mary")
    func edited(_ members: String) throws -> [String?] {
      scene.clocks.advance(by: 1000)
      let outcome = try scene.ask("modifyGroupMessage", #"{"seq":1,\#(members)}"#, by: "mary")
      #expect(outcome.result == ["editTime": .instant(scene.clocks.wall)])
      #expect(outcome.heard == ["onRecvMessageModified": ["adam", "carl", "mary", "olga"]])
      let message = try outcome.params("onRecvMessageModified", to: "olga")["message"]
      #expect(message["isExcludedFromUnreadCount"] == true, "what an edit cannot change stays")
      #expect(try scene.ask("getGroupMessages", #"{"seqList":[1]}"#, by: "olga").result["messageList"] == .array([message]))
      return [message["text"].string, message["extension"].string]
    }
    #expect(try edited(#""extension":"f""#) == ["t", "f"])
    #expect(try edited(#""text":"u""#) == ["u", "f"])
    #expect(try edited(#""text":"v","extension":"g""#) == ["v", "g"])
    #expect(try edited(#""text":"v","extension":"h""#) == ["v", "h"], "one of both is another")
    #expect(try edited(#""extension":"""#) == ["v", nil])
    #expect(try edited(#""extension":"i""#) == ["v", "i"], "a message that has none gets one")
  }

  @Test func whatIsTheSameChangesNothing() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary")
    for params in [
      #"{"seq":1,"extension":"e"}"#, #"{"seq":1,"text":"t"}"#, #"{"seq":1,"text":"t","extension":"e"}"#,
      #"{"seq":2,"extension":""}"#, #"{"seq":2,"text":"t","extension":""}"#,
    ] {
      #expect(try scene.expectNothing("modifyGroupMessage", params, by: "mary") == [:] as JSON, "\(params)")
    }
    let other = try scene.ask("modifyGroupMessage", #"{"seq":1,"extension":"\u0000e"}"#, by: "mary")
    #expect(other.result["editTime"] != .null)
  }

  /// "The order for modifyGroupMessage: 10033, 10030, 10032, another kind 10004, 10031, 10017."
  @Test func anEditOfTheExtensionAloneIsRefusedAsOthers() throws {
    var limits = GroupLimits.standard
    limits.editWindow = .seconds(60)
    let scene = try scene(rules: GroupRules(limits: limits))
    let edit = #"{"seq":1,"extension":"f"}"#
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e"}"#, by: "mary")
    try scene.expectRefused(10007, "modifyGroupMessage", edit, by: "oscar")
    try scene.expectRefused(10032, "modifyGroupMessage", edit, by: "olga")
    try scene.expectRefused(10030, "modifyGroupMessage", #"{"seq":2,"extension":"f"}"#, by: "mary")
    try scene.expectRefused(10004, "modifyGroupMessage", #"{"seq":1,"data":"d","extension":"f"}"#, by: "mary")
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    try scene.expectRefused(10017, "modifyGroupMessage", edit, by: "mary")
    #expect(try scene.ask("modifyGroupMessage", edit, by: "administrator").code == 0)
    scene.clocks.advance(by: 60_001)
    try scene.expectRefused(10031, "modifyGroupMessage", #"{"seq":1,"extension":"g"}"#, by: "mary")
    for type in [GroupType.avChatRoom, .bChatRoom] {
      try Scene(type).expectRefused(10033, "modifyGroupMessage", edit, by: "olga")
    }
  }

  @Test(arguments: storing) func aRecallTakesTheExtension(type: GroupType) throws {
    let scene = try scene(type)
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e","replyTo":1}"#, by: "mary")
    for seq in 1...2 { #expect(try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "mary").code == 0) }
    let list = try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"].elements
    for message in list { #expect(message["isRevoked"] == true && message["extension"] == .null && message["text"] == .null) }
    #expect(list.map { $0["replyTo"] } == [["seq": 1, "sender": "mary"], .null], "a reply stays one")
    #expect(scene.messages.map { $0.extras?.extension } == [nil, nil] && scene.messages[0].extras == nil)
    try scene.expectRefused(10030, "modifyGroupMessage", #"{"seq":1,"extension":"f"}"#, by: "mary")
  }

  @Test func anImportKeepsIt() throws {
    let scene = try scene()
    let list = #"{"sender":"mary","timestamp":5,"text":"t","extension":"e"},{"sender":"mary","timestamp":6,"data":"d"}"#
    let imported = try scene.ask("importGroupMessages", #"{"messageList":[\#(list)]}"#, by: "administrator")
    #expect(imported.code == 0 && imported.events.isEmpty)
    let shown = try scene.ask("getGroupHistoryMessageList", by: "administrator").result["messageList"].elements
    #expect(shown.map { $0["extension"] } == [.null, "e"])
  }

  // MARK: Flags

  @Test func aMessageThatDoesNotCountIsNotUnread() throws {
    let scene = try scene()
    let params = #"{"text":"t","isExcludedFromUnreadCount":true}"#
    let sent = try scene.ask("sendGroupTextMessage", params, by: "mary")
    #expect(sent.heard == ["onRecvNewMessage": ["adam", "carl", "olga"]])
    #expect(try sent.params("onRecvNewMessage", to: "olga")["message"]["isExcludedFromUnreadCount"] == true)
    #expect(try scene.ask("unreadCount", by: "olga").result == 0)
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", params, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"t","isExcludedFromLastMessage":true}"#, by: "mary")
    #expect(try scene.ask("unreadCount", by: "olga").result == 2, "the other flag is another")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    #expect(try scene.ask("unreadCount", by: "olga").result == 2, "a recall of what did not count takes nothing away")
    #expect(try scene.ask("info", by: "olga").result["lastSeq"] == 4)
  }

  @Test(arguments: storing) func aMessageThatIsNoLastMessageMovesNothing(type: GroupType) throws {
    let scene = try scene(type)
    let hidden = #"{"text":"t","isExcludedFromLastMessage":true}"#
    try scene.ask("sendGroupTextMessage", hidden, by: "mary")
    let first = try scene.ask("info", by: "olga").result
    #expect(first["lastMessage"] == .null && first["lastMessageTime"] == 0 && first["lastSeq"] == 1)
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "mary")
    let shown = try scene.ask("info", by: "olga").result
    scene.clocks.advance(by: 5000)
    let later = scene.clocks.wall
    let sent = try scene.ask("sendGroupTextMessage", hidden, by: "mary")
    #expect(sent.result["seq"] == 3 && sent.heard.keys.sorted() == ["onRecvNewMessage"])
    let info = try scene.ask("info", by: "olga").result
    #expect(info["lastMessage"] == shown["lastMessage"] && info["lastMessage"]["text"] == "shown")
    #expect(info["lastMessageTime"] == shown["lastMessageTime"] && info["lastSeq"] == 3)
    let since = #"{"updatedSince":\#(later.milliseconds)}"#
    #expect(try scene.ask("joinedInfo", since, by: "adam").result == .null, "the group does not appear as changed")
    let list = try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"].elements
    #expect(list.map { $0["isExcludedFromLastMessage"] } == [true, .null, true])
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "mary")
    #expect(try scene.ask("joinedInfo", since, by: "adam").result["lastMessage"]["seq"] == 4)
  }

  @Test func anEditOrRecallOfTheLastMessageShowsBehindNewerOnes() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"shown"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"t","isExcludedFromLastMessage":true}"#, by: "mary")
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"edited"}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["text"] == "edited")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["isRevoked"] == true)
  }

  @Test func messagesForThoseOnlineCarryTheFlags() throws {
    let scene = try scene()
    let params = #"{"text":"t","onlineUserOnly":true,"isExcludedFromUnreadCount":true,"extension":"e"}"#
    let message = try scene.ask("sendGroupTextMessage", params, by: "mary").params("onRecvNewMessage", to: "olga")["message"]
    #expect(message["isExcludedFromUnreadCount"] == true && message["extension"] == "e" && message["seq"] == .null)
    #expect(scene.messages.isEmpty)
  }

  /// Reads look for such messages only in groups that have had one, and a plain message stores nothing
  /// more than it did.
  @Test func theFirstOfAKindIsNotedInItsTransaction() throws {
    let scene = try scene()
    func send(_ members: String, changes: Int, _ features: MessageFeatures) throws {
      let decision = try scene.ask("sendGroupTextMessage", #"{"text":"t"\#(members)}"#, by: "mary").decision
      #expect(decision.changes.count == changes && scene.state?.record.messageFeatures == features, "\(members)")
    }
    try send("", changes: 1, [])
    // An extension is shown with its message alone.
    try send(#","extension":"e""#, changes: 1, [])
    try send(#","isExcludedFromUnreadCount":true"#, changes: 2, .excluded)
    try send(#","isExcludedFromUnreadCount":true"#, changes: 1, .excluded)
    try send(#","replyTo":1"#, changes: 2, [.excluded, .replies])
    try send(#","toUserIDList":["olga"]"#, changes: 2, [.excluded, .replies, .targeted])
    // The last message that may be one is noted when the next may not.
    try send(#","toUserIDList":["olga"]"#, changes: 1, [.excluded, .replies, .targeted])
    try send("", changes: 1, [.excluded, .replies, .targeted])
    try send(#","toUserIDList":["olga"]"#, changes: 2, [.excluded, .replies, .targeted])
  }

  @Test func aRefusedMessageNotesNothing() throws {
    let scene = try scene()
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    let refused = #"{"text":"t","toUserIDList":["olga"],"isExcludedFromUnreadCount":true}"#
    try scene.expectRefused(10017, "sendGroupTextMessage", refused, by: "mary")
  }
}
