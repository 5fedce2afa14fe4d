import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Messages that answer others (Protocol.md, "Replies").
@Suite struct ReplyTests {
  private static let storing: [GroupType] = [.work, .public, .meeting]
  private static let reply = #"{"text":"r","replyTo":1}"#

  /// A group with a message of mary's at seq 1.
  private func scene(_ type: GroupType = .public, rules: GroupRules = GroupRules()) throws -> Scene {
    let scene = try Scene(type, rules: rules) { policy in if type != .work { policy.joinMode = .any } }
    try #require(try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary").code == 0)
    return scene
  }

  private func replies(_ scene: Scene, _ more: String = "", to seq: Int = 1, by name: String = "olga") throws -> JSON {
    try scene.ask("getGroupMessageReplies", #"{"seq":\#(seq)\#(more)}"#, by: name).result
  }

  private func seqs(_ messages: JSON) -> [Int64] { messages.elements.compactMap { $0["seq"].integer } }

  // MARK: Sending

  @Test(arguments: storing) func aReplyNamesWhatItAnswers(type: GroupType) throws {
    let scene = try scene(type)
    let sent = try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    #expect(sent.result["status"] == "Stored" && sent.result["seq"] == 2)
    #expect(sent.heard == ["onRecvNewMessage": ["adam", "carl", "mary"]], "a message like any other")
    let message = try sent.params("onRecvNewMessage", to: "mary")["message"]
    #expect(message["replyTo"] == ["seq": 1, "sender": "mary"] && message["replyCount"] == .null)
    let custom = try scene.ask("sendGroupCustomMessage", #"{"data":"d","replyTo":2}"#, by: "administrator")
    #expect(try custom.params("onRecvNewMessage", to: "mary")["message"]["replyTo"] == ["seq": 2, "sender": "olga"])
    try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":3}"#, by: "carl")
    #expect(scene.messages.last?.extras?.replyTo?.sender == .administrator)
    #expect(try scene.ask("unreadCount", by: "adam").result == (type == .meeting ? 0 : 4), "it counts as unread")
    #expect(try scene.ask("info", by: "adam").result["lastMessage"]["seq"] == 4)
  }

  /// "A message that the sender may see now, not a tip, not recalled: else 10030."
  @Test func itAnswersAMessageThatItsSenderMaySee() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"x","toUserIDList":["olga"]}"#, by: "mary")
    for (seq, what) in [(2, "recalled"), (3, "a tip"), (4, "for others"), (5, "not there"), (1 << 50, "nor this")] {
      let refused = try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":\#(seq)}"#, by: "adam")
      #expect(refused.code == 10030 && refused.field == "replyTo" && refused.events.isEmpty, "\(what)")
    }
    #expect(scene.messages.count == 4)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":4}"#, by: "olga").code == 0)
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectRefused(10030, "sendGroupTextMessage", Self.reply, by: "oscar")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":5}"#, by: "oscar").code == 10030, "from before joining")
  }

  @Test func whatRetentionRemovedCannotBeAnswered() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x","replyTo":1}"#, by: "mary")
    let removal = try #require(scene.store.removeMessages(of: "g", before: 2))
    scene.state?.remove(removal)
    try scene.expectRefused(10030, "sendGroupTextMessage", Self.reply, by: "olga")
    try scene.expectRefused(10030, "getGroupMessageReplies", #"{"seq":1}"#, by: "olga")
    let shown = try scene.ask("getGroupMessages", #"{"seqList":[2]}"#, by: "olga").result["messageList"][0]
    #expect(shown["replyTo"] == ["seq": 1, "sender": "mary"], "the reply stays one")
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func liveTypesThatRememberNothingHaveNone(type: GroupType) throws {
    let scene = try Scene(type)
    try scene.expectRefused(10033, "sendGroupTextMessage", Self.reply, by: "olga")
    try scene.expectRefused(10033, "getGroupMessageReplies", #"{"seq":1}"#, by: "olga")
    if type == .avChatRoom { try scene.expectRefused(10007, "getGroupMessageReplies", #"{"seq":1}"#, by: "oscar") }
  }

  /// After the answer to a repeated clientMsgID, and before 10017.
  @Test func theOrderOfTheRefusals() throws {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.public: 2]
    let scene = try scene(rules: GroupRules(limits: limits))
    let first = try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1,"clientMsgID":"c"}"#, by: "olga")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    let again = try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1,"clientMsgID":"c"}"#, by: "olga")
    #expect(first.code == 0 && again.result == first.result && again.events.isEmpty)
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    try scene.expectRefused(10007, "sendGroupTextMessage", Self.reply, by: "oscar")
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"r","replyTo":1,"atUserIDList":["@all"]}"#, by: "mary")
    try scene.expectRefused(10030, "sendGroupTextMessage", Self.reply, by: "mary")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"r","replyTo":2}"#, by: "mary")
    try scene.ask("muteGroup", #"{"mode":"None"}"#, by: "olga")
    try scene.expectRefused(10023, "sendGroupTextMessage", #"{"text":"r","replyTo":2}"#, by: "mary")
  }

  @Test func aReplyMayBeForThoseOnlineOrForAFew() throws {
    let scene = try scene()
    let online = try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1,"onlineUserOnly":true}"#, by: "olga")
    #expect(try online.params("onRecvNewMessage", to: "mary")["message"]["replyTo"] == ["seq": 1, "sender": "mary"])
    #expect(try replies(scene)["totalCount"] == 0, "nothing of it is stored")
    let few = try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1,"toUserIDList":["mary"]}"#, by: "olga")
    #expect(few.heard == ["onRecvNewMessage": ["mary"]])
    #expect(seqs(try replies(scene, by: "mary")["messageList"]) == [2])
    #expect(try replies(scene, by: "adam") == ["messageList": [], "totalCount": 0, "nextSeq": 0])
  }

  // MARK: Reading

  @Test(arguments: storing) func repliesComeInPagesAscending(type: GroupType) throws {
    let scene = try scene(type)
    for number in 0..<7 {
      let params = number == 3 ? #"{"text":"no reply"}"# : Self.reply
      try scene.ask("sendGroupTextMessage", params, by: "olga")
    }
    var (next, pages): (Int64, [[Int64]]) = (0, [])
    repeat {
      let page = try replies(scene, #","count":4,"nextSeq":\#(next)"#, by: "carl")
      #expect(page["totalCount"] == 6)
      pages.append(seqs(page["messageList"]))
      next = page["nextSeq"].integer ?? 0
    } while next != 0
    #expect(pages == [[2, 3, 4, 6], [7, 8]])
    let whole = try replies(scene, by: "administrator")
    #expect(seqs(whole["messageList"]) == [2, 3, 4, 6, 7, 8] && whole["nextSeq"] == 0)
    let exactly = try replies(scene, #","count":6"#)
    #expect(exactly["messageList"].elements.count == 6 && exactly["nextSeq"] == 0, "no page without a message follows")
  }

  /// "A page of history, syncGroups and the like ends where it would be over half of
  /// limits.sendQueueBytes, with one message at least."
  @Test(arguments: [1, 1000, 2000]) func aPageEndsWhereItsBytesWouldNotFit(bytes: Int) throws {
    let scene = try scene(rules: GroupRules(limits: GroupLimits(maxMemberNum: [:], pageBytes: bytes)))
    let text = String(repeating: "r", count: 400)
    for _ in 0..<5 { try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)","replyTo":1}"#, by: "olga") }
    // Each has 400 bytes of text, and less than as many besides.
    let most = max(1, bytes / 400)
    var (next, listed): (Int64, [Int64]) = (0, [])
    repeat {
      let page = try replies(scene, #","nextSeq":\#(next)"#)
      #expect((1...most).contains(page["messageList"].elements.count) && page["totalCount"] == 5)
      listed += seqs(page["messageList"])
      next = page["nextSeq"].integer ?? 0
    } while next != 0
    #expect(listed == [2, 3, 4, 5, 6])
    let some = seqs(try scene.ask("getGroupMessages", #"{"seqList":[6,2,4]}"#, by: "olga").result["messageList"])
    #expect(!some.isEmpty && some.count <= most && some == Array([6, 2, 4].prefix(some.count)), "the first of them")
  }

  @Test func whatIsRecalledOrInvisibleIsNoReply() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":1,"toUserIDList":["carl"]}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", Self.reply, by: "adam")
    func counts(_ name: String) throws -> JSON {
      try scene.ask("getGroupMessages", #"{"seqList":[1]}"#, by: name).result["messageList"][0]["replyCount"]
    }
    #expect(try counts("carl") == 3 && counts("olga") == 3 && counts("mary") == 2 && counts("administrator") == 3)
    try scene.ask("revokeGroupMessage", #"{"seq":4}"#, by: "adam")
    for (name, expected) in [("carl", [2, 3]), ("mary", [2]), ("olga", [2, 3])] as [(String, [Int64])] {
      let found = try replies(scene, by: name)
      #expect(seqs(found["messageList"]) == expected && found["totalCount"] == .int(expected.count), "\(name)")
      #expect(try counts(name) == .int(expected.count), "replyCount is the reader's totalCount")
    }
  }

  @Test func whoCameLaterSeesRepliesSinceThen() throws {
    let scene = try scene(.meeting)
    try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    #expect(seqs(try replies(scene, by: "oscar")["messageList"]) == [2], "a Meeting shows what was before")
    let work = try self.scene(.public)
    try work.ask("sendGroupTextMessage", Self.reply, by: "olga")
    try work.ask("joinGroup", by: "oscar")
    try work.expectRefused(10030, "getGroupMessageReplies", #"{"seq":1}"#, by: "oscar")
  }

  /// "Of an unknown or invisible seq 10030, of a recalled message its replies."
  @Test func theMessageMayBeRecalledButNotUnknown() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    #expect(seqs(try replies(scene)["messageList"]) == [2])
    #expect(try replies(scene)["messageList"][0]["replyTo"] == ["seq": 1, "sender": "mary"])
    let recalled = try scene.ask("getGroupMessages", #"{"seqList":[1]}"#, by: "adam").result["messageList"][0]
    #expect(recalled["isRevoked"] == true && recalled["replyCount"] == 1)
    try scene.expectRefused(10030, "getGroupMessageReplies", #"{"seq":3}"#, by: "olga")
    try scene.expectRefused(10007, "getGroupMessageReplies", #"{"seq":3}"#, by: "oscar")
  }

  /// "What a user reads (history, syncGroups, getGroupMessages, searches) has replyCount; events have
  /// not."
  @Test func whatIsReadHasItsNumberOfReplies() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    try scene.ask("sendGroupTextMessage", Self.reply, by: "olga")
    let history = try scene.ask("getGroupHistoryMessageList", by: "adam").result["messageList"].elements
    #expect(history.map { $0["replyCount"] } == [.null, .null, 2], "left out where there are none")
    let row = try scene.ask("sync", #"{"epoch":"e","seq":0}"#, by: "adam").result["messageList"].elements
    #expect(row.map { $0["replyCount"] } == [2, .null, .null])
    let edited = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"u"}"#, by: "mary")
    #expect(try edited.params("onRecvMessageModified", to: "adam")["message"]["replyCount"] == .null)
    let changed = try scene.ask("sync", #"{"epoch":"e","seq":3,"changeSeq":0}"#, by: "adam").result["changeList"]
    #expect(changed[0]["replyCount"] == 2)
    try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    #expect(try scene.ask("getPinnedGroupMessageList", by: "adam").result["messageList"][0]["replyCount"] == 2)
    try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":3}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":2,"isExcludedFromLastMessage":true}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"r","replyTo":4,"isExcludedFromLastMessage":true}"#, by: "olga")
    #expect(try scene.ask("info", by: "adam").result["lastMessage"]["replyCount"] == 1)
  }
}
