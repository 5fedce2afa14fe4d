import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Messages that name the members who see them (Protocol.md, "Targeted messages"): above all who must
/// not see them.
@Suite struct TargetedTests {
  private static let toOlga = #"{"text":"secret","toUserIDList":["olga"]}"#

  /// A group where mary has said "before" at seq 1, something to olga alone at seq 2, and "after" at
  /// seq 3. adam and carl are the others, adam an Admin.
  private func scene(_ type: GroupType = .public, rules: GroupRules = GroupRules()) throws -> Scene {
    let scene = try Scene(type, rules: rules) { policy in if type != .work { policy.joinMode = .any } }
    for params in [#"{"text":"before"}"#, Self.toOlga, #"{"text":"after"}"#] {
      try #require(try scene.ask("sendGroupTextMessage", params, by: "mary").code == 0)
    }
    return scene
  }

  private func seqs(_ messages: JSON) -> [Int64] { messages.elements.compactMap { $0["seq"].integer } }

  // MARK: Sending

  @Test(arguments: [GroupType.work, .public, .meeting])
  func itGoesToThoseNamedAndTheSendersOtherSessions(type: GroupType) throws {
    let scene = try scene(type)
    scene.signIn("mary", as: "mary/2")
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["olga","carl","olga"]}"#, by: "mary")
    #expect(sent.result["status"] == "Stored" && sent.result["seq"] == 4)
    #expect(sent.heard == ["onRecvNewMessage": ["carl", "mary/2", "olga"]])
    let message = try sent.params("onRecvNewMessage", to: "olga")["message"]
    #expect(message["toUserIDList"] == ["olga", "carl"], "each once, as they were named")
    #expect(try sent.params("onRecvNewMessage", to: "mary/2")["message"] == message)
  }

  @Test func receiveOptionsHold() throws {
    let scene = try scene()
    scene.signIn("mary", as: "mary/2")
    let toAll = #"{"text":"t","toUserIDList":["olga","carl","adam"]}"#
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "olga")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"ReceiveFromManagers"}"#, by: "carl")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"ReceiveNotNotify"}"#, by: "adam")
    #expect(try scene.ask("sendGroupTextMessage", toAll, by: "mary").heard == ["onRecvNewMessage": ["adam", "mary/2"]])
    #expect(try scene.ask("sendGroupTextMessage", toAll, by: "administrator").heard == ["onRecvNewMessage": ["adam", "carl"]])
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", toAll, by: "mary").heard == ["onRecvNewMessage": ["adam"]])
    #expect(seqs(try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"]) == [6, 5, 4, 3, 2, 1])
  }

  @Test func whoIsNoMemberIsIgnored() throws {
    let scene = try scene()
    for names in [#"["oscar"]"#, #"["mary"]"#, #"["mary","nobody"]"#] {
      try scene.expectRefused(10004, "sendGroupTextMessage", #"{"text":"t","toUserIDList":\#(names)}"#, by: "mary")
    }
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["oscar","nobody","mary","olga"]}"#, by: "mary")
    #expect(try sent.params("onRecvNewMessage", to: "olga")["message"]["toUserIDList"] == ["olga"])
    try scene.ask("joinGroup", by: "oscar")
    #expect(seqs(try scene.ask("sync", #"{"epoch":"e","seq":3}"#, by: "oscar").result["messageList"]) == [5], "the own tip alone")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["mary"]}"#, by: "administrator").code == 0)
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func liveTypesHaveNone(type: GroupType) throws {
    let scene = try Scene(type)
    let refused = try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["mary"]}"#, by: "olga")
    #expect(refused.code == 10007 && refused.field == "toUserIDList" && refused.events.isEmpty)
  }

  /// "toUserIDList's 10007 and 10004 (nobody left) come after the answer to a repeated clientMsgID and
  /// before 10017"; the rate comes last.
  @Test func theOrderOfTheRefusals() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.public: 1]
    limits.readReceiptMembers = 2
    let scene = try Scene(.public, rules: GroupRules(limits: limits))
    let first = try scene.ask("sendGroupTextMessage", #"{"text":"t","clientMsgID":"c"}"#, by: "mary")
    let again = #"{"text":"t","clientMsgID":"c","toUserIDList":["nobody"],"replyTo":99}"#
    #expect(try scene.ask("sendGroupTextMessage", again, by: "mary").result == first.result)
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    let nobody = #"{"text":"t","toUserIDList":["nobody"],"needReadReceipt":true}"#
    try scene.expectRefused(10007, "sendGroupTextMessage", nobody, by: "oscar")
    try scene.expectRefused(
      10030, "sendGroupTextMessage", #"{"text":"t","toUserIDList":["nobody"],"replyTo":99}"#, by: "mary")
    try scene.expectRefused(10004, "sendGroupTextMessage", nobody, by: "mary")
    try scene.expectRefused(10017, "sendGroupTextMessage", Self.toOlga, by: "mary")
    try scene.ask("muteGroup", #"{"mode":"None"}"#, by: "olga")
    let receipts = #"{"text":"t","toUserIDList":["olga"],"needReadReceipt":true}"#
    try scene.expectRefused(10054, "sendGroupTextMessage", receipts, by: "mary")
    scene.clocks.advance(by: 1000)
    try #require(try scene.ask("sendGroupTextMessage", Self.toOlga, by: "mary").code == 0)
    try scene.expectRefused(10023, "sendGroupTextMessage", Self.toOlga, by: "mary")
  }

  @Test func administratorsNameReadersToo() throws {
    let scene = try scene()
    let sent = try scene.ask("sendGroupCustomMessage", #"{"data":"d","toUserIDList":["olga"]}"#, by: "administrator")
    #expect(sent.heard == ["onRecvNewMessage": ["olga"]])
    try scene.expectRefused(10030, "addMessageReaction", #"{"seq":4,"reaction":"a"}"#, by: "mary")
  }

  // MARK: Reading

  @Test(arguments: [GroupType.work, .public, .meeting]) func othersPassOverIt(type: GroupType) throws {
    let scene = try scene(type)
    for (name, seen) in [
      ("olga", [3, 2, 1]), ("mary", [3, 2, 1]), ("administrator", [3, 2, 1]), ("adam", [3, 1]), ("carl", [3, 1]),
    ] as [(String, [Int64])] {
      let history = try scene.ask("getGroupHistoryMessageList", by: name).result
      #expect(seqs(history["messageList"]) == seen && history["isFinished"] == true, "\(name)")
      let newer = try scene.ask("getGroupHistoryMessageList", #"{"direction":"Newer","count":2}"#, by: name).result
      #expect(seqs(newer["messageList"]) == Array(seen.reversed().prefix(2)), "\(name)")
      #expect(newer["isFinished"] == .bool(seen.count == 2), "\(name)")
      let older = try scene.ask("getGroupHistoryMessageList", #"{"fromSeq":3,"count":1}"#, by: name).result
      #expect(seqs(older["messageList"]) == [seen[1]] && older["isFinished"] == .bool(seen.count == 2), "\(name)")
      let some = try scene.ask("getGroupMessages", #"{"seqList":[2,3,9,1,2]}"#, by: name).result["messageList"]
      #expect(seqs(some) == (seen.count == 3 ? [2, 3, 1] : [3, 1]), "\(name)")
      if name == "administrator" { continue }
      let row = try scene.ask("sync", #"{"epoch":"e","seq":0,"changeSeq":0}"#, by: name).result
      #expect(seqs(row["messageList"]) == seen.reversed() && row["recovered"] == true && row["more"] == false, "\(name)")
      #expect(row["lastSeq"] == 3, "a gap in seq is no loss")
    }
  }

  @Test func whoJoinsLaterAndWasNamedBeforeSeesNothing() throws {
    let scene = try scene()
    try scene.ask("joinGroup", by: "oscar")
    #expect(seqs(try scene.ask("getGroupHistoryMessageList", by: "oscar").result["messageList"]) == [4])
    // Who was named, left and came back has it again, as everything of before.
    try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["carl"]}"#, by: "mary")
    try scene.ask("quitGroup", by: "carl")
    try scene.ask("joinGroup", by: "carl")
    #expect(seqs(try scene.ask("getGroupMessages", #"{"seqList":[5,2]}"#, by: "carl").result["messageList"]) == [5])
  }

  @Test func itIsNeitherUnreadNorTheLastMessage() throws {
    let scene = try scene()
    #expect(try scene.ask("unreadCount", by: "olga").result == 2 && scene.ask("unreadCount", by: "adam").result == 2)
    scene.clocks.advance(by: 5000)
    let later = scene.clocks.wall
    try scene.ask("sendGroupTextMessage", Self.toOlga, by: "mary")
    for name in ["olga", "adam", "mary"] {
      let info = try scene.ask("info", by: name).result
      #expect(info["lastMessage"]["seq"] == 3 && info["lastSeq"] == 4, "\(name)")
      #expect(info["lastMessageTime"] == .instant(later - .seconds(5)), "\(name)")
      let since = #"{"updatedSince":\#(later.milliseconds)}"#
      #expect(try scene.ask("joinedInfo", since, by: name).result == .null, "\(name)")
    }
    #expect(try scene.ask("unreadCount", by: "olga").result == 2)
  }

  /// Every method that takes the seq of a message: what it answers to those who may not see it, and
  /// whether it works for those who may.
  @Test(arguments: [
    ("modifyGroupMessage", #"{"seq":2,"text":"x"}"#), ("revokeGroupMessage", #"{"seq":2}"#),
    ("addMessageReaction", #"{"seq":2,"reaction":"a"}"#), ("removeMessageReaction", #"{"seq":2,"reaction":"a"}"#),
    ("pinGroupMessage", #"{"seq":2,"isPinned":true}"#), ("getGroupMessageReadMemberList", #"{"seq":2}"#),
    ("getGroupMessageReplies", #"{"seq":2}"#), ("sendGroupTextMessage", #"{"text":"t","replyTo":2}"#),
    ("sendGroupCustomMessage", #"{"data":"d","replyTo":2}"#),
  ])
  func bySeqItIsUnknownToOthers(method: String, params: String) throws {
    let scene = try scene()
    // adam is an Admin: the rights that he has over messages are over those that he sees.
    try scene.expectRefused(10030, method, params, by: "adam")
    if method != "pinGroupMessage" { try scene.expectRefused(10030, method, params, by: "carl") }
    for name in ["olga", "mary", "administrator"] {
      #expect(try scene.ask(method, params, by: name).code != 10030, "\(method) by \(name)")
      if method == "revokeGroupMessage" || method == "modifyGroupMessage" { break }
    }
  }

  @Test func listsOfSeqsLeaveItOut() throws {
    let scene = try scene()
    try scene.ask("addMessageReaction", #"{"seq":2,"reaction":"a"}"#, by: "olga")
    let reactions = #"{"seqList":[2,1]}"#
    #expect(seqs(try scene.ask("getMessageReactions", reactions, by: "adam").result["resultList"]) == [1])
    #expect(seqs(try scene.ask("getMessageReactions", reactions, by: "mary").result["resultList"]) == [2, 1])
    try scene.ask("pinGroupMessage", #"{"seq":2,"isPinned":true}"#, by: "olga")
    try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    #expect(seqs(try scene.ask("getPinnedGroupMessageList", by: "adam").result["messageList"]) == [1])
    #expect(seqs(try scene.ask("getPinnedGroupMessageList", by: "mary").result["messageList"]) == [1, 2])
    // "Unpinning works on what is pinned, visible or not."
    #expect(try scene.ask("pinGroupMessage", #"{"seq":2,"isPinned":false}"#, by: "adam").code == 0)
  }

  // MARK: Changes

  @Test func eventsOfItsChangesGoToThoseWhoSeeIt() throws {
    let scene = try scene()
    scene.signIn("mary", as: "mary/2")
    func heard(_ method: String, _ params: String, by name: String) throws -> [String: [String]] {
      scene.clocks.advance(by: 1000)
      let outcome = try scene.ask(method, params, by: name)
      #expect(outcome.code == 0)
      return outcome.heard
    }
    let those = ["mary", "mary/2", "olga"]
    #expect(
      try heard("modifyGroupMessage", #"{"seq":2,"text":"x"}"#, by: "mary") == ["onRecvMessageModified": those])
    #expect(
      try heard("addMessageReaction", #"{"seq":2,"reaction":"a"}"#, by: "olga") == ["onRecvMessageReactionsChanged": those])
    #expect(try heard("pinGroupMessage", #"{"seq":2,"isPinned":true}"#, by: "olga") == ["onGroupMessagePinned": those])
    #expect(try heard("revokeGroupMessage", #"{"seq":2}"#, by: "mary") == ["onRecvMessageRevoked": those])
    let row = try scene.ask("sync", #"{"epoch":"e","seq":3,"changeSeq":0}"#, by: "adam").result
    #expect(row["changeList"] == [] && row["changeSeq"] == 4 && row["recovered"] == true && row["more"] == false)
    #expect(seqs(try scene.ask("sync", #"{"epoch":"e","seq":3,"changeSeq":0}"#, by: "olga").result["changeList"]) == [2])
  }

  @Test func aRecalledOneStaysForThoseNamed() throws {
    let scene = try scene()
    try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    let shown = try scene.ask("getGroupMessages", #"{"seqList":[2]}"#, by: "olga").result["messageList"][0]
    #expect(shown["isRevoked"] == true && shown["toUserIDList"] == ["olga"] && shown["text"] == .null)
    #expect(seqs(try scene.ask("getGroupMessages", #"{"seqList":[2]}"#, by: "adam").result["messageList"]) == [])
  }

  @Test func anAdministratorsRecallIsToldToThoseNamed() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["carl"]}"#, by: "administrator")
    let recalled = try scene.ask("revokeGroupMessage", #"{"seq":4}"#, by: "administrator")
    #expect(recalled.code == 0 && recalled.heard == ["onRecvMessageRevoked": ["carl"]])
  }

  // MARK: Receipts and push

  @Test func receiptsConcernThoseNamed() throws {
    let scene = try scene()
    let sent = try scene.ask(
      "sendGroupTextMessage", #"{"text":"t","toUserIDList":["olga","carl"],"needReadReceipt":true}"#, by: "mary")
    #expect(sent.code == 0)
    let lists = sent.decision.changes.contains { if case .putReceiptMembers = $0 { true } else { false } }
    #expect(!lists, "it has the list in itself")
    func counts() throws -> JSON {
      try scene.ask("getMessageReadReceipts", #"{"seqList":[4]}"#, by: "mary").result["receiptList"]
    }
    #expect(try counts() == [["seq": 4, "readCount": 0, "unreadCount": 2]])
    #expect(try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[4]}"#, by: "adam") == [:] as JSON)
    let confirmed = try scene.ask("sendMessageReadReceipts", #"{"seqList":[4]}"#, by: "carl")
    #expect(confirmed.heard == ["onRecvMessageReadReceipts": ["mary"]])
    #expect(try counts() == [["seq": 4, "readCount": 1, "unreadCount": 1]])
    let unread = try scene.ask("getGroupMessageReadMemberList", #"{"seq":4,"filter":"Unread"}"#, by: "mary")
    #expect(unread.result["memberList"].elements.map { $0["userID"] } == ["olga"])
    // The next message for everybody counts everybody.
    try scene.ask("sendGroupTextMessage", #"{"text":"t","needReadReceipt":true}"#, by: "mary")
    let all = try scene.ask("getMessageReadReceipts", #"{"seqList":[5]}"#, by: "mary").result["receiptList"]
    #expect(all == [["seq": 5, "readCount": 0, "unreadCount": 3]])
  }

  @Test func pushesConcernThoseNamed() throws {
    let scene = try scene(rules: GroupRules(webhooks: WebhookTypes([.messageSent, .offlinePush])))
    for name in ["adam", "carl", "olga"] { scene.signOut(name) }
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["olga","carl"]}"#, by: "mary")
    let posted = try sent.decision.effects.compactMap { effect -> (WebhookType, JSON)? in
      if case .post(let entry) = effect { (entry.type, try JSON(entry.data)) } else { nil }
    }
    try #require(posted.map(\.0) == [.messageSent, .offlinePush])
    #expect(posted.allSatisfy { $0.1["message"]["toUserIDList"] == ["olga", "carl"] })
    #expect(posted[1].1["userIDList"] == ["carl", "olga"])
    scene.signIn("olga")
    scene.signIn("carl")
    let online = try scene.ask("sendGroupTextMessage", #"{"text":"t","toUserIDList":["olga","carl"]}"#, by: "mary")
    let types = online.decision.effects.compactMap { if case .post(let entry) = $0 { entry.type } else { nil } }
    #expect(types == [.messageSent], "adam's devices are not told")
  }

  @Test func itsSenderPaysForThoseWhoGetIt() throws {
    let scene = try scene()
    let sent = try scene.ask("sendGroupTextMessage", Self.toOlga, by: "mary")
    #expect(sent.decision.fanOut.deliveries == 2, "olga, and mary's own sessions")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary").decision.fanOut.deliveries == 4)
    for (seq, deliveries) in [(4, 2), (5, 4)] {
      let edited = try scene.ask("modifyGroupMessage", #"{"seq":\#(seq),"text":"u"}"#, by: "mary")
      #expect(edited.decision.fanOut.deliveries == deliveries, "the event of a change goes as far as its message")
    }
  }
}
