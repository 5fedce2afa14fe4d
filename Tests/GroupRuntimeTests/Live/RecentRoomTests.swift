import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// What a live room remembers: places, history, catching up and recalls, and who gets them
/// (Protocol.md, "Messages that a live room remembers").
@Suite struct RecentRoomTests {
  /// An AVChatRoom that remembers.
  /// - Parameter limit: of messages a second; 0 = none.
  private func room(
    _ limit: Int = 0, moderated: Bool = false, messages: Int = 1000, duration: Duration? = nil, webhooks: [WebhookType] = [],
    _ change: (inout GroupLimits) -> Void = { _ in }
  ) throws -> Scene {
    var configuration = RightsConfiguration()
    configuration.remembersLiveMessages = true
    configuration.moderatesLiveRooms = moderated
    var limits = GroupLimits.standard
    limits.messagesPerSecond = limit > 0 ? [.avChatRoom: limit] : [:]
    change(&limits)
    let rules = GroupRules(permissions: GroupPermissions(configuration), limits: limits, webhooks: WebhookTypes(webhooks))
    return try Scene(
      .avChatRoom, rules: rules, recent: RecentMessages(messages: messages, bytes: 1 << 26, duration: duration))
  }

  @discardableResult
  private func say(_ scene: Scene, _ text: String, by name: String = "mary", _ more: String = "") throws -> Scene.Outcome {
    try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)"\#(more.isEmpty ? "" : "," + more)}"#, by: name)
  }

  private func history(_ scene: Scene, _ params: String = "{}", by name: String = "olga") throws -> JSON {
    try scene.ask("getGroupHistoryMessageList", params, by: name).result
  }

  private func sync(
    _ scene: Scene, _ seq: Int64, _ changeSeq: Int64? = nil, of epoch: String? = nil, by name: String = "olga"
  ) throws -> JSON {
    let epoch = try #require(epoch ?? scene.state?.live?.epoch)
    let change = changeSeq.map { #","changeSeq":\#($0)"# } ?? ""
    return try scene.ask("sync", #"{"epoch":"\#(epoch)","seq":\#(seq)\#(change)}"#, by: name).result
  }

  private func seqs(_ messages: JSON) -> [Int64?] { messages.elements.map { $0["seq"].integer } }

  private func texts(_ messages: JSON) -> [String?] { messages.elements.map { $0["text"].string } }

  // MARK: Places

  /// "A message handed to the fan-out, unless onlineUserOnly, gets the room's next seq (from 1, no
  /// gap)."
  @Test func messagesGetPlacesWithoutAGap() throws {
    let scene = try room()
    for seq in 1...3 as ClosedRange<Int64> {
      let sent = try say(scene, "t\(seq)")
      #expect(sent.result["status"] == "Delivered" && sent.result["seq"].integer == seq)
      #expect(try sent.params("onRecvNewMessage", to: "olga")["message"]["seq"].integer == seq)
      #expect(sent.decision.changes.isEmpty)
    }
    let passing = try say(scene, "passing", #""onlineUserOnly":true"#)
    #expect(passing.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
    #expect(!passing.result.names.contains("seq"))
    #expect(try !passing.params("onRecvNewMessage", to: "olga")["message"].names.contains("seq"))
    #expect(try say(scene, "t4", by: "administrator").result["seq"] == 4)
    #expect(try texts(history(scene)["messageList"]) == ["t4", "t3", "t2", "t1"])
    let ids = try history(scene)["messageList"].elements.compactMap { $0["msgID"].string }
    #expect(Set(ids).count == 4 && !ids.contains("e-1"), "no msgID of a stored message")
  }

  /// "A Queued reply has none", and the places go by the order of delivery.
  @Test func queuedMessagesGetTheirPlacesWhenTheyLeave() throws {
    let scene = try room(2)
    for (seq, text) in [(1, "a"), (2, "b")] as [(Int64, String)] {
      #expect(try say(scene, text, by: "adam").result["seq"].integer == seq)
    }
    let low = try say(scene, "low", #""priority":"Low","clientMsgID":"l""#)
    let high = try say(scene, "high", by: "carl", #""priority":"High""#)
    for queued in [low, high] { #expect(queued.result["status"] == "Queued" && !queued.result.names.contains("seq")) }
    #expect(try texts(history(scene)["messageList"]) == ["b", "a"], "nobody has heard the others")
    scene.clocks.advance(by: 1000)
    let heard = try scene.wake().events["olga"]?.map { $0["params"]["message"] } ?? []
    #expect(heard.map { $0["seq"].integer } == [3, 4] && heard.map { $0["text"].string } == ["high", "low"])
    #expect(try say(scene, "low", #""clientMsgID":"l""#).result == low.result, "the first result again")
    #expect(try texts(history(scene)["messageList"]) == ["low", "high", "b", "a"])
  }

  @Test func aMessageThatWaitsForOnlineUsersAloneIsNotRemembered() throws {
    let scene = try room(1)
    try say(scene, "a")
    #expect(try say(scene, "b", #""onlineUserOnly":true"#).result["status"] == "Queued")
    scene.clocks.advance(by: 1000)
    let heard = try scene.wake().params("onRecvNewMessage", to: "olga")["message"]
    #expect(heard["text"] == "b" && !heard.names.contains("seq"))
    #expect(try texts(history(scene)["messageList"]) == ["a"] && scene.state?.live?.lastSeq == 1)
  }

  @Test func aRepeatedSendAnswersTheFirstPlace() throws {
    let scene = try room()
    let first = try say(scene, "a", #""clientMsgID":"c""#)
    try say(scene, "b")
    #expect(try say(scene, "a", #""clientMsgID":"c""#).result == first.result)
    #expect(scene.state?.isBusy(at: scene.clocks.monotonic) == true, "no store has that receipt")
    #expect(scene.state?.live?.lastSeq == 2)
  }

  // MARK: joinGroup and GroupInfo

  /// "joinGroup (status Joined) of an AVChatRoom adds lastSeq and epoch."
  @Test func joiningTellsThePosition() throws {
    let scene = try room()
    try say(scene, "a")
    let epoch = try #require(scene.state?.live?.epoch)
    #expect(
      try scene.ask("joinGroup", by: "oscar").result == ["status": "Joined", "lastSeq": 1, "epoch": .string(epoch)] as JSON)
    #expect(try sync(scene, 1, by: "oscar")["messageList"] == [] as JSON)
  }

  /// What leaves with the notice of a join reaches the new member, so it is behind its position.
  @Test func aJoinerHearsWhatLeavesWithTheNotice() throws {
    let scene = try room(1)
    try say(scene, "a")
    try say(scene, "b")
    scene.clocks.advance(by: 1000)
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.result["lastSeq"] == 1)
    #expect(try joined.params("onRecvNewMessage", to: "oscar")["message"]["seq"] == 2)
  }

  @Test func otherGroupsTellNoPosition() throws {
    let scenes = [try Scene(.avChatRoom), try Scene(.public) { $0.joinMode = .any }, try Scene(.meeting) { $0.joinMode = .any }]
    for scene in scenes { #expect(try scene.ask("joinGroup", by: "oscar").result == ["status": "Joined"] as JSON) }
  }

  /// "GroupInfo of a remembering room has lastSeq, epoch, changeSeq, no firstSeq and no
  /// lastMessage."
  @Test func theInfoHasTheNumbersOfTheMemory() throws {
    let scene = try room()
    try say(scene, "a")
    try say(scene, "b")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    for name in ["olga", "mary", "administrator"] {
      let info = try scene.ask("info", by: name).result
      #expect(info["lastSeq"] == 2 && info["changeSeq"] == 1 && info["epoch"].string == scene.state?.live?.epoch)
      #expect(!info.names.contains("firstSeq") && !info.names.contains("lastMessage") && info["lastMessageTime"] == 0)
    }
    let outside = try scene.ask("info", by: "oscar").result
    #expect(["lastSeq", "epoch", "changeSeq", "firstSeq"].allSatisfy { !outside.names.contains($0) })
    let plain = try Scene(.avChatRoom)
    try say(plain, "a")
    let info = try plain.ask("info", by: "olga").result
    #expect(info["lastSeq"] == 0 && info["firstSeq"] == 1 && info["epoch"] == "e" && info["changeSeq"] == 0)
  }

  // MARK: Reading

  /// "For members, on what is remembered, whenever they joined."
  @Test func membersReadWhatWasSaidBeforeTheyCame() throws {
    let scene = try room()
    for number in 1...5 { try say(scene, "t\(number)") }
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "carl")
    for name in ["olga", "carl", "oscar", "administrator"] {
      let page = try history(scene, #"{"count":2}"#, by: name)
      #expect(seqs(page["messageList"]) == [5, 4] && page["isFinished"] == false, "\(name)")
      let next = try history(scene, #"{"count":3,"fromSeq":4}"#, by: name)
      #expect(seqs(next["messageList"]) == [3, 2, 1] && next["isFinished"] == true)
      let newer = try history(scene, #"{"direction":"Newer","count":4}"#, by: name)
      #expect(seqs(newer["messageList"]) == [1, 2, 3, 4] && newer["isFinished"] == false)
      #expect(try seqs(history(scene, #"{"direction":"Newer","fromSeq":4}"#, by: name)["messageList"]) == [5])
    }
    let message = try history(scene, #"{"count":1}"#)["messageList"][0]
    #expect(message["sender"] == "mary" && message["text"] == "t5" && message["groupID"] == "g" && message["type"] == "Text")
  }

  /// "Who is not a member: 10007."
  @Test func othersReadNothing() throws {
    let scene = try room()
    let id = try say(scene, "a").result["msgID"].string ?? ""
    try scene.expectRefused(10007, "getGroupHistoryMessageList", by: "oscar")
    try scene.expectRefused(10007, "sync", #"{"epoch":"e","seq":0}"#, by: "oscar")
    for target in [#"{"seq":1}"#, #"{"seq":9}"#, #"{"msgID":"\#(id)"}"#, #"{"msgID":"none"}"#] {
      try scene.expectRefused(10007, "revokeGroupMessage", target, by: "oscar")
    }
    try scene.ask("quitGroup", by: "mary")
    try scene.expectRefused(10007, "getGroupHistoryMessageList", by: "mary")
    try scene.expectRefused(10007, "revokeGroupMessage", #"{"seq":1}"#, by: "mary")
  }

  @Test func aMemberCatchesUp() throws {
    let scene = try room()
    for number in 1...4 { try say(scene, "t\(number)") }
    let row = try sync(scene, 2)
    #expect(row["recovered"] == true && seqs(row["messageList"]) == [3, 4] && row["lastSeq"] == 4 && row["more"] == false)
    #expect(row["groupID"] == "g" && row["code"] == 0 && row["epoch"].string == scene.state?.live?.epoch)
    #expect(!row.names.contains("changeList") && !row.names.contains("changeSeq"))
    #expect(try sync(scene, 4)["messageList"] == [] as JSON)
    for (seq, epoch) in [(2, "e"), (5, nil)] as [(Int64, String?)] {
      let row = try sync(scene, seq, 0, of: epoch)
      #expect(row["recovered"] == false && row["messageList"] == [] as JSON && row["changeList"] == [] as JSON)
      #expect(row["more"] == false && row["lastSeq"] == 4 && row["changeSeq"] == 0)
    }
  }

  /// "The oldest go first": "beyond it isFinished, or recovered:false".
  @Test func forgottenMessagesAreMissing() throws {
    let scene = try room(messages: 3)
    for number in 1...5 { try say(scene, "t\(number)") }
    let page = try history(scene)
    #expect(seqs(page["messageList"]) == [5, 4, 3] && page["isFinished"] == true)
    #expect(try seqs(history(scene, #"{"direction":"Newer"}"#)["messageList"]) == [3, 4, 5])
    #expect(try sync(scene, 1)["recovered"] == false)
    #expect(try seqs(sync(scene, 2)["messageList"]) == [3, 4, 5])
    try scene.expectRefused(10030, "revokeGroupMessage", #"{"seq":2}"#, by: "mary")
  }

  /// "recentDuration holds at the moment of reading."
  @Test func messagesGrowOldWithoutOthers() throws {
    let scene = try room(duration: .seconds(10))
    try say(scene, "a")
    scene.clocks.advance(by: 9000)
    try say(scene, "b")
    scene.clocks.advance(by: 999)
    #expect(try texts(history(scene)["messageList"]) == ["b", "a"])
    scene.clocks.advance(by: 1)
    #expect(try texts(history(scene)["messageList"]) == ["b"])
    #expect(try sync(scene, 0)["recovered"] == false && sync(scene, 1)["recovered"] == true)
    try scene.expectRefused(10030, "revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    scene.clocks.advance(by: 9000)
    #expect(try history(scene) == ["messageList": [], "isFinished": true])
    #expect(try scene.ask("info", by: "olga").result["lastSeq"] == 2, "no place is given twice")
  }

  /// "A page ends where it would be over half of limits.sendQueueBytes, with one message at least."
  @Test func pagesEndByBytes() throws {
    let scene = try room { $0.pageBytes = 1000 }
    for number in 1...4 { try say(scene, "\(number)" + String(repeating: "x", count: 300)) }
    let page = try history(scene)
    let first = page["messageList"].elements.count
    #expect((1..<4).contains(first) && page["isFinished"] == false)
    var (seen, more): ([Int64?], Bool) = ([], true)
    while more {
      let row = try sync(scene, (seen.last ?? nil) ?? 0)
      #expect(row["recovered"] == true && !row["messageList"].elements.isEmpty)
      seen += seqs(row["messageList"])
      more = row["more"] == true
    }
    #expect(seen == [1, 2, 3, 4])
    try say(scene, String(repeating: "y", count: 2000))
    #expect(try seqs(history(scene)["messageList"]) == [5], "a single one fits")
  }

  /// getGroupMessages: "those I may see, as they are now, in the order of seqList, each once; live
  /// rooms too, else 10033".
  @Test func someMessagesByTheirPlaces() throws {
    let scene = try room(messages: 3)
    for number in 1...5 { try say(scene, "t\(number)") }
    try scene.ask("revokeGroupMessage", #"{"seq":4}"#, by: "mary")
    let params = #"{"seqList":[5,1,4,5,9,3]}"#
    for name in ["olga", "administrator"] {
      let found = try scene.ask("getGroupMessages", params, by: name).result["messageList"]
      #expect(seqs(found) == [5, 4, 3] && found[1]["isRevoked"] == true && texts(found) == ["t5", nil, "t3"])
    }
    try scene.expectRefused(10007, "getGroupMessages", params, by: "oscar")
    for plain in [try Scene(.avChatRoom), try Scene(.bChatRoom)] {
      try plain.expectRefused(10033, "getGroupMessages", params, by: "olga")
    }
    try Scene(.avChatRoom).expectRefused(10007, "getGroupMessages", params, by: "oscar")
  }

  // MARK: More in a message

  /// replyTo: "10033 where the type stores nothing and 11.2 is off"; "live rooms carry neither
  /// isExcluded… nor replyCount".
  @Test func messagesAnswerWhatIsRemembered() throws {
    let scene = try room(messages: 3)
    try say(scene, "a", by: "olga")
    let reply = try say(scene, "b", #""replyTo":1,"clientMsgID":"c","isExcludedFromUnreadCount":true"#)
    let shown = try reply.params("onRecvNewMessage", to: "olga")["message"]
    #expect(shown["replyTo"] == ["seq": 1, "sender": "olga"] && !shown.names.contains("isExcludedFromUnreadCount"))
    let list = try history(scene)["messageList"]
    #expect(list[0]["replyTo"] == ["seq": 1, "sender": "olga"] && !list[1].names.contains("replyCount"))
    try scene.expectRefused(10033, "getGroupMessageReplies", #"{"seq":1}"#, by: "olga")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "olga")
    #expect(try say(scene, "b", #""replyTo":1,"clientMsgID":"c""#).result == reply.result, "the first result again")
    for seq in [1, 9] {
      try scene.expectRefused(10030, "sendGroupTextMessage", #"{"text":"c","replyTo":\#(seq)}"#, by: "mary")
    }
    for number in 3...5 { try say(scene, "t\(number)") }
    try scene.expectRefused(10030, "sendGroupTextMessage", #"{"text":"c","replyTo":2}"#, by: "mary")
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"c","replyTo":5}"#, by: "oscar")
    try scene.expectRefused(10007, "sendGroupTextMessage", #"{"text":"c","toUserIDList":["olga"]}"#, by: "mary")
    try Scene(.avChatRoom).expectRefused(10033, "sendGroupTextMessage", #"{"text":"c","replyTo":1}"#, by: "mary")
  }

  /// A reply that waits answers what was there when it was accepted.
  @Test func aQueuedReplyAnswersAsWell() throws {
    let scene = try room(1)
    try say(scene, "a", by: "olga")
    #expect(try say(scene, "b", #""replyTo":1"#).result["status"] == "Queued")
    scene.clocks.advance(by: 1000)
    let message = try scene.wake().params("onRecvNewMessage", to: "olga")["message"]
    #expect(message["seq"] == 2 && message["replyTo"] == ["seq": 1, "sender": "olga"])
  }

  /// "A recall takes the extension too, in every type."
  @Test func aRecallTakesTheExtension() throws {
    let scene = try room()
    try say(scene, "a", #""extension":"{\"k\":1}""#)
    #expect(try history(scene)["messageList"][0]["extension"] == "{\"k\":1}")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    let message = try history(scene)["messageList"][0]
    #expect(message["isRevoked"] == true && !message.names.contains("extension") && !message.names.contains("text"))
  }

  // MARK: Recalling

  /// "The message keeps its place without content, isRevoked:true; onRecvMessageRevoked goes to all
  /// members; the room's changeSeq grows with each recall."
  @Test(arguments: [true, false], [true, false])
  func aRecallIsToldToAllMembers(isBySeq: Bool, notification: Bool) throws {
    let scene = try room(webhooks: [.messageRevoked, .messageSent])
    scene.state?.record.policy.memberChangeNotification = notification
    scene.signIn("mary", as: "mary/2")
    let sent = try say(scene, "secret", #""atUserIDList":["adam"]"#)
    try say(scene, "b", by: "olga")
    let id = try #require(sent.result["msgID"].string)
    let revoked = try scene.ask("revokeGroupMessage", isBySeq ? #"{"seq":1}"# : #"{"msgID":"\#(id)"}"#, by: "mary")
    #expect(revoked.result == [:] as JSON && revoked.decision.changes.isEmpty && revoked.notifications.isEmpty)
    #expect(revoked.heard == ["onRecvMessageRevoked": ["adam", "carl", "mary", "mary/2", "olga"]])
    #expect(
      try revoked.params("onRecvMessageRevoked", to: "olga") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "opUser": Person.mary, "platform": "Web", "msgID": .string(id),
        "seq": 1, "changeSeq": 1,
      ])
    let posted = revoked.decision.effects.compactMap { if case .post(let entry) = $0 { entry.type } else { nil } }
    #expect(posted == [.messageRevoked])
    let message = try history(scene)["messageList"][1]
    #expect(message["seq"] == 1 && message["isRevoked"] == true && message["changeSeq"] == 1 && message["type"] == "Text")
    #expect(message["sender"] == "mary" && message["msgID"].string == id && !message.names.contains("text"))
    #expect(try scene.ask("info", by: "adam").result["changeSeq"] == 1)
    #expect(try say(scene, "c").result["seq"] == 3)
    for target in [#"{"seq":1}"#, #"{"msgID":"\#(id)"}"#] {
      #expect(try scene.expectNothing("revokeGroupMessage", target, by: "mary") == [:] as JSON, "recalled already")
    }
  }

  /// "syncGroups with changeSeq answers the recalls missed."
  @Test func recallsThatWereMissedAreAnswered() throws {
    let scene = try room()
    for number in 1...4 { try say(scene, "t\(number)") }
    for seq in [3, 1, 4] { try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "mary") }
    let all = try sync(scene, 3, 0)
    #expect(seqs(all["changeList"]) == [3, 1] && all["changeList"].elements.allSatisfy { $0["isRevoked"] == true })
    #expect(seqs(all["messageList"]) == [4] && all["messageList"][0]["isRevoked"] == true && all["changeSeq"] == 3)
    #expect(try seqs(sync(scene, 3, 1)["changeList"]) == [1])
    #expect(try sync(scene, 3, 3)["changeList"] == [] as JSON)
    #expect(try sync(scene, 3, 4)["recovered"] == false, "no change of this memory")
    #expect(try !sync(scene, 3).names.contains("changeList"))
  }

  /// "A recall of what was forgotten meanwhile is no change any more; recovered stays true."
  @Test func aForgottenRecallIsNoChange() throws {
    let scene = try room(messages: 2)
    for number in 1...2 { try say(scene, "t\(number)") }
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try say(scene, "t3")
    let row = try sync(scene, 2, 0)
    #expect(row["recovered"] == true && row["changeList"] == [] as JSON && row["changeSeq"] == 1)
    #expect(seqs(row["messageList"]) == [3])
  }

  /// Changes come before messages, and a row that is full goes on from the last change in it.
  @Test func recallsEndByBytesToo() throws {
    let scene = try room { $0.pageBytes = 500 }
    for number in 1...6 { try say(scene, "t\(number)") }
    for seq in 1...5 { try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "mary") }
    var (changes, messages): ([Int64?], [Int64?]) = ([], [])
    var (seq, changeSeq, more) = (Int64(5), Int64(0), true)
    while more {
      let row = try sync(scene, seq, changeSeq)
      changes += seqs(row["changeList"])
      messages += seqs(row["messageList"])
      changeSeq = try #require(row["changeSeq"].integer)
      seq = (messages.last ?? nil) ?? seq
      more = row["more"] == true
    }
    #expect(changes == [1, 2, 3, 4, 5] && messages == [6] && changeSeq == 5)
  }

  /// The caller, the sender, and the answers without moderation and with it.
  static let others: [(name: String, sender: String, codes: [Int])] = [
    ("olga", "adam", [10032, 0]), ("olga", "mary", [10032, 0]), ("olga", "administrator", [10032, 10007]),
    ("adam", "olga", [10032, 10007]), ("adam", "mary", [10032, 0]), ("adam", "carl", [10032, 0]),
    ("adam", "administrator", [10032, 10007]), ("mary", "olga", [10032, 10032]), ("mary", "carl", [10032, 10032]),
    ("carl", "mary", [10032, 10032]), ("administrator", "olga", [0, 0]), ("administrator", "mary", [0, 0]),
    ("oscar", "mary", [10007, 10007]),
  ]

  /// "Others' by the table: with moderation Admin, without it application administrators alone."
  @Test(arguments: [false, true], others)
  func othersMessagesByTheTable(moderated: Bool, row: (name: String, sender: String, codes: [Int])) throws {
    let scene = try room(moderated: moderated)
    let id = try #require(try say(scene, "a", by: row.sender).result["msgID"].string)
    scene.clocks.advance(by: 10_000_000)
    let code = row.codes[moderated ? 1 : 0]
    let target = #"{"msgID":"\#(id)"}"#
    if code == 0 {
      let revoked = try scene.ask("revokeGroupMessage", target, by: row.name)
      #expect(revoked.heard == ["onRecvMessageRevoked": ["adam", "carl", "mary", "olga"]])
    } else {
      try scene.expectRefused(code, "revokeGroupMessage", target, by: row.name)
      try scene.expectRefused(code, "revokeGroupMessage", #"{"seq":1}"#, by: row.name)
    }
  }

  /// A former member's message is a Member's.
  @Test func aModeratorRecallsWhatAFormerMemberSaid() throws {
    let scene = try room(moderated: true)
    try say(scene, "a")
    try scene.ask("quitGroup", by: "mary")
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "adam").code == 0)
  }

  @Test func ownMessagesWithinTheWindow() throws {
    let scene = try room()
    try say(scene, "a")
    scene.clocks.advance(by: 120_000)
    try say(scene, "b")
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").code == 0)
    scene.clocks.advance(by: 120_001)
    try scene.expectRefused(10031, "revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    #expect(try scene.expectNothing("revokeGroupMessage", #"{"seq":1}"#, by: "mary") == [:] as JSON)
  }

  /// "Not remembered (no longer, or never: 10030)."
  @Test func whatIsNotRememberedIsUnknown() throws {
    let scene = try room(1)
    let passing = try say(scene, "a", #""onlineUserOnly":true"#).result["msgID"].string ?? ""
    try say(scene, "b")
    let dropped = try say(scene, "c", #""priority":"Lowest""#)
    #expect(dropped.result["status"] == "Dropped")
    let ids = [passing, dropped.result["msgID"].string ?? "", "e-1", "none"]
    for target in ids.map({ #"{"msgID":"\#($0)"}"# }) + [#"{"seq":1}"#, #"{"seq":9007199254740992}"#] {
      for name in ["mary", "olga", "administrator"] { try scene.expectRefused(10030, "revokeGroupMessage", target, by: name) }
    }
  }

  /// "msgID elsewhere is 10004 after membership; BChatRoom, and an AVChatRoom that remembers
  /// nothing, is 10033 with either."
  @Test func otherGroupsKnowNoMessageByItsID() throws {
    for type in [GroupType.work, .public, .meeting] {
      let scene = try Scene(type)
      let id = try #require(try say(scene, "a").result["msgID"].string)
      for name in ["mary", "olga", "administrator"] {
        for id in [id, "none"] { try scene.expectRefused(10004, "revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: name) }
      }
      try scene.expectRefused(10007, "revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: "oscar")
    }
    for scene in [try Scene(.avChatRoom), try Scene(.bChatRoom)] {
      let id = try #require(try say(scene, "a", by: "administrator").result["msgID"].string)
      for target in [#"{"msgID":"\#(id)"}"#, #"{"seq":1}"#] {
        for name in ["olga", "administrator"] { try scene.expectRefused(10033, "revokeGroupMessage", target, by: name) }
      }
    }
    try Scene(.avChatRoom).expectRefused(10007, "revokeGroupMessage", #"{"msgID":"x"}"#, by: "oscar")
  }

  /// A recall that is decided and not performed yet has no second one.
  @Test func twoRecallsAtOnceAreOne() throws {
    let scene = try room()
    try say(scene, "a")
    let lookUp = RecentLookUp(target: .seq(1), purpose: .revoke)
    let found = try #require(scene.recentRoom?.message(for: lookUp, at: scene.clocks.monotonic))
    let decisions = ["mary", "mary"].compactMap { name in
      scene.state?.decide(.foundRecent(lookUp, found), by: scene.caller(name), at: scene.clocks.now)
    }
    try #require(decisions.count == 2)
    #expect(decisions[0].effects.count == 2 && decisions[1].effects.isEmpty && scene.state?.live?.changeSeq == 1)
  }

  // MARK: Recalling what is queued

  /// "It is dropped, its sender gets onMessageDropped with reason Revoked, and nobody else an
  /// event."
  @Test(arguments: ["mary", "administrator"])
  func aQueuedMessageIsDropped(name: String) throws {
    let scene = try room(2, webhooks: [.messageDropped, .messageRevoked])
    scene.signIn("mary", as: "mary/2")
    for text in ["a", "b"] { try say(scene, text) }
    let queued = try say(scene, "b", #""clientMsgID":"c""#)
    try say(scene, "other", by: "adam", #""priority":"Low""#)
    let id = try #require(queued.result["msgID"].string)
    for other in ["adam", "olga"] {
      try scene.expectRefused(10032, "revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: other)
    }
    let revoked = try scene.ask("revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: name)
    #expect(revoked.result == [:] as JSON && revoked.heard == ["onMessageDropped": ["mary"]])
    #expect(
      try revoked.params("onMessageDropped", to: "mary") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "msgID": .string(id), "clientMsgID": "c", "priority": "Normal",
        "reason": "Revoked",
      ])
    #expect(revoked.decision.counts.map(\.steps) == [.dropped] && revoked.decision.changes.isEmpty)
    let posted = revoked.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
    #expect(posted.map(\.type) == [.messageDropped])
    #expect(try JSON(posted[0].data)["reason"] == "Revoked")
    try scene.expectRefused(10030, "revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: name)
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.receivers(of: "onRecvNewMessage") == ["carl", "mary", "mary/2", "olga"], "the other one has its place")
    #expect(try woken.params("onRecvNewMessage", to: "olga")["message"]["seq"] == 3)
    #expect(scene.state?.live?.changeSeq == 0, "no member has heard of it")
    scene.clocks.advance(by: 1000)
    #expect(try say(scene, "b", #""clientMsgID":"c""#).result["msgID"].string != id, "dropped, so not remembered")
  }

  @Test func aModeratorDropsWhatIsQueued() throws {
    let scene = try room(1, moderated: true)
    try say(scene, "a")
    let id = try #require(try say(scene, "b").result["msgID"].string)
    #expect(try scene.ask("revokeGroupMessage", #"{"msgID":"\#(id)"}"#, by: "adam").heard == ["onMessageDropped": ["mary"]])
    #expect(scene.state?.nextWake == nil)
  }

  // MARK: What stays as it was

  @Test func tipsEditsReactionsAndPinsAreAsWithoutMemory() throws {
    let (scene, plain) = (try room(), try Scene(.avChatRoom))
    for room in [scene, plain] { try say(room, "a") }
    let requests = [
      ("modifyGroupMessage", #"{"seq":1,"text":"b"}"#), ("addMessageReaction", #"{"seq":1,"reaction":"r"}"#),
      ("removeMessageReaction", #"{"seq":1,"reaction":"r"}"#), ("getMessageReactions", #"{"seqList":[1]}"#),
      ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#), ("getPinnedGroupMessageList", "{}"),
      ("markGroupMessageAsRead", "{}"), ("sendMessageReadReceipts", #"{"seqList":[1]}"#),
      ("getMessageReadReceipts", #"{"seqList":[1]}"#), ("getGroupMessageReadMemberList", #"{"seq":1}"#),
      ("sendGroupTextMessage", #"{"text":"r","needReadReceipt":true}"#), ("unreadCount", "{}"), ("joinedInfo", "{}"),
      ("setGroupInfo", #"{"groupName":"m"}"#),
    ]
    for (method, params) in requests {
      let (here, there) = (try scene.ask(method, params, by: "olga"), try plain.ask(method, params, by: "olga"))
      #expect(here.code == there.code && here.heard == there.heard, "\(method)")
      if method == "unreadCount" { #expect(here.result == there.result) }
    }
    #expect(scene.messages.isEmpty)
    #expect(try texts(history(scene)["messageList"]) == ["a"], "no tip")
  }

  @Test func withoutTheKeyNothingIsRemembered() throws {
    let scene = try Scene(.avChatRoom)
    let sent = try say(scene, "a")
    #expect(sent.result["status"] == "Delivered" && !sent.result.names.contains("seq"))
    #expect(try !sent.params("onRecvNewMessage", to: "olga")["message"].names.contains("seq"))
    try scene.expectRefused(10007, "getGroupHistoryMessageList", by: "olga")
    #expect(try sync(scene, 0, of: "e")["recovered"] == false)
  }

  // MARK: Loss

  /// "After a loss lastSeq and changeSeq are 0 and seq begins with 1 under the new epoch."
  @Test func aRestartBeginsAnew() async throws {
    let scene = try room()
    let id = try say(scene, "a").result["msgID"]
    try say(scene, "b")
    try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    let epoch = try #require(scene.state?.live?.epoch)
    try await scene.reload()
    let info = try scene.ask("info", by: "olga").result
    #expect(info["lastSeq"] == 0 && info["changeSeq"] == 0 && info["epoch"].string != epoch)
    #expect(try history(scene) == ["messageList": [], "isFinished": true])
    #expect(try sync(scene, 1, 0, of: epoch)["recovered"] == false)
    let sent = try say(scene, "c")
    #expect(sent.result["seq"] == 1 && sent.result["msgID"] != id)
    #expect(try sync(scene, 1, 1, of: epoch)["recovered"] == false, "the same numbers of another epoch")
    #expect(try seqs(sync(scene, 0)["messageList"]) == [1])
  }
}
