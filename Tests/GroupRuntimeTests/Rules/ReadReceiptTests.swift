import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// Read receipts as rules (Protocol.md, "Read receipts").
@Suite struct ReadReceiptTests {
  private static let ask = #"{"text":"x","needReadReceipt":true}"#

  /// A group with a message of mary's with receipts at seq 1; mary has two sessions.
  private func scene(_ type: GroupType = .public, _ change: (inout GroupPolicy) -> Void = { _ in }) throws -> Scene {
    let scene = try Scene(type) { policy in
      policy.joinMode = .any
      change(&policy)
    }
    scene.signIn("mary", as: "mary/2")
    let sent = try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")
    try #require(sent.result["seq"] == 1)
    return scene
  }

  private func count(_ seq: Int, _ read: Int, _ unread: Int) -> JSON {
    ["seq": .int(seq), "readCount": .int(read), "unreadCount": .int(unread)]
  }

  private func receipts(_ scene: Scene, _ seqs: [Int] = [1], by user: String = "mary") throws -> [JSON] {
    try scene.ask("getMessageReadReceipts", #"{"seqList":\#(seqs)}"#, by: user).result["receiptList"].elements
  }

  private func list(_ scene: Scene, _ more: String = "", seq: Int = 1, by user: String = "mary") throws -> Scene.Outcome {
    try scene.ask("getGroupMessageReadMemberList", #"{"seq":\#(seq)\#(more)}"#, by: user)
  }

  // MARK: Sending

  @Test(arguments: GroupType.allCases, ["olga", "administrator"])
  func onlyWorkAndPublicHaveReceipts(type: GroupType, user: String) throws {
    let scene = try Scene(type)
    guard type == .work || type == .public else {
      return try scene.expectRefused(10007, "sendGroupTextMessage", Self.ask, by: user)
    }
    let sent = try scene.ask("sendGroupTextMessage", Self.ask, by: user)
    #expect(sent.code == 0)
    let message = try sent.params("onRecvNewMessage", to: "carl")["message"]
    #expect(message["needReadReceipt"] == true)
    try scene.ask("sendGroupCustomMessage", #"{"data":"x","needReadReceipt":false}"#, by: user)
    let history = try scene.ask("getGroupHistoryMessageList", by: "adam").result["messageList"].elements
    #expect(history.map { $0["needReadReceipt"] } == [.null, true])
  }

  @Test func whoMaySendAtAllComesBeforeTheType() throws {
    let scene = try Scene(.bChatRoom)
    try scene.expectRefused(10007, "sendGroupTextMessage", Self.ask, by: "mary")
    try scene.expectRefused(10007, "sendGroupTextMessage", Self.ask, by: "oscar")
  }

  @Test func aGroupWithTooManyMembersHasNoReceipts() throws {
    var limits = GroupLimits.standard
    limits.readReceiptMembers = 3
    limits.messagesPerSecond = [.public: 1]
    let scene = try Scene(.public, rules: GroupRules(limits: limits))
    try scene.expectRefused(10054, "sendGroupTextMessage", Self.ask, by: "mary")
    try scene.expectRefused(10054, "sendGroupTextMessage", Self.ask, by: "administrator")
    // After 10017, before 10023, and a message without receipts passes.
    #expect(try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga").code == 0)
    try scene.expectRefused(10017, "sendGroupTextMessage", Self.ask, by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "carl").code == 0)
    try scene.expectRefused(10054, "sendGroupTextMessage", Self.ask, by: "carl")
    try scene.expectRefused(10023, "sendGroupTextMessage", #"{"text":"x"}"#, by: "carl")
    scene.clocks.advance(by: 1000)
    // With one member less there are as many as may be.
    #expect(try scene.ask("quitGroup", by: "adam").code == 0)
    let first = try scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true,"clientMsgID":"c"}"#, by: "carl")
    #expect(first.code == 0)
    #expect(try scene.ask("inviteUserToGroup", Scene.users(["adam"]), by: "administrator").code == 0)
    let again = try scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true,"clientMsgID":"c"}"#, by: "carl")
    #expect(again.result == first.result, "a repeated send answers the first result")
  }

  @Test func theMembersAreStoredOnceUntilTheyChange() throws {
    let scene = try scene()
    func stored(_ outcome: Scene.Outcome) -> [[UserID]] {
      outcome.decision.changes.compactMap { change in
        if case .putReceiptMembers(let members, from: _, in: _) = change { members } else { nil }
      }
    }
    #expect(stored(try scene.ask("sendGroupTextMessage", Self.ask, by: "adam")) == [])
    #expect(stored(try scene.ask("joinGroup", by: "oscar")) == [], "joining itself costs nothing more")
    #expect(stored(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "adam")) == [])
    #expect(
      stored(try scene.ask("sendGroupTextMessage", Self.ask, by: "adam")) == [["adam", "carl", "mary", "olga", "oscar"]])
    #expect(stored(try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")) == [])
    try scene.ask("kickGroupMember", Scene.users(["carl"]), by: "olga")
    #expect(stored(try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")) == [["adam", "mary", "olga", "oscar"]])
  }

  // MARK: Confirming

  @Test func onlyTheSendersSessionsAreTold() throws {
    let scene = try scene()
    let confirmed = try scene.ask("sendMessageReadReceipts", #"{"seqList":[1,1]}"#, by: "carl")
    #expect(confirmed.code == 0 && confirmed.result == [:])
    #expect(confirmed.heard == ["onRecvMessageReadReceipts": ["mary", "mary/2"]])
    let params = try confirmed.params("onRecvMessageReadReceipts", to: "mary")
    #expect(params == ["groupID": "g", "opTime": 1_700_000_010_000, "receiptList": [count(1, 1, 2)]])
    #expect(try receipts(scene) == [count(1, 1, 2)])
    let second = try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "olga")
    #expect(try second.params("onRecvMessageReadReceipts", to: "mary/2")["receiptList"] == [count(1, 2, 1)])
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    #expect(try receipts(scene) == [count(1, 2, 1)])
  }

  @Test func severalSendersAreToldEachOfTheirOwn() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", Self.ask, by: "adam")
    try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")
    try scene.ask("sendGroupTextMessage", Self.ask, by: "administrator")
    let confirmed = try scene.ask("sendMessageReadReceipts", #"{"seqList":[4,3,2,1]}"#, by: "olga")
    #expect(confirmed.heard == ["onRecvMessageReadReceipts": ["adam", "mary", "mary/2"]])
    #expect(try confirmed.params("onRecvMessageReadReceipts", to: "adam")["receiptList"] == [count(2, 1, 2)])
    #expect(try confirmed.params("onRecvMessageReadReceipts", to: "mary")["receiptList"] == [count(1, 1, 2), count(3, 1, 2)])
    let rows = confirmed.decision.changes.filter { if case .addReadReceipts = $0 { true } else { false } }
    #expect(rows == [.addReadReceipts([1, 2, 3, 4], of: "olga", in: "g")], "one change for all")
  }

  @Test func ownOthersAndInvisibleOnesAreIgnored() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"without"}"#, by: "mary")
    try scene.ask("setGroupInfo", #"{"introduction":"a tip"}"#, by: "olga")
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1,2,3,99,100]}"#, by: "mary")
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[2,3,99,9007199254740992]}"#, by: "carl")
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "oscar")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
  }

  @Test func aMemberAddedWithAJoinTimeLongAgoWasNoMember() throws {
    let scene = try scene()
    // The application has the member see the message, who was none when it was sent.
    try scene.ask(
      "importGroupMembers", #"{"memberList":[{"userID":"oscar","joinTime":1}]}"#, by: "administrator",
      UserFacts(firstSeqs: ["oscar": 1]))
    #expect(try scene.ask("getGroupHistoryMessageList", by: "oscar").result["messageList"][0]["needReadReceipt"] == true)
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "oscar")
    #expect(try receipts(scene) == [count(1, 0, 3)])
  }

  @Test func mutedMembersConfirmToo() throws {
    let scene = try scene()
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    #expect(try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl").heard.count == 1)
  }

  @Test func aSenderWhoHasLeftIsNotToldAndOneWhoIsBackIs() throws {
    let scene = try scene()
    try scene.ask("quitGroup", by: "mary")
    let confirmed = try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    #expect(confirmed.code == 0 && confirmed.events.isEmpty)
    try scene.ask("joinGroup", by: "mary")
    #expect(try receipts(scene) == [count(1, 1, 2)])
    #expect(try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "adam").heard.values.first == ["mary", "mary/2"])
  }

  @Test func whoHasLeftSinceCountsAsThen() throws {
    let scene = try scene()
    try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    try scene.ask("kickGroupMember", Scene.users(["carl", "adam"]), by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try receipts(scene) == [count(1, 1, 2)])
    try scene.expectRefused(10007, "sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "adam")
    try scene.ask("joinGroup", by: "adam")
    #expect(try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "adam").code == 0)
    #expect(try receipts(scene) == [count(1, 2, 1)])
  }

  // MARK: Asking

  @Test func onlyOwnMessagesWithReceiptsAreAnsweredInTheOrderOfTheRequest() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", Self.ask, by: "adam")
    try scene.ask("sendGroupTextMessage", #"{"text":"without"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")
    try scene.ask("sendGroupTextMessage", Self.ask, by: "mary")
    #expect(try receipts(scene, [5, 4, 5, 3, 2, 1, 99]) == [count(5, 0, 3), count(4, 0, 3), count(1, 0, 3)])
    #expect(try receipts(scene, [1, 2], by: "adam") == [count(2, 0, 3)])
    #expect(try receipts(scene, [1, 2], by: "carl") == [])
    try scene.ask("revokeGroupMessage", #"{"seq":4}"#, by: "mary")
    #expect(try receipts(scene, [4, 5]) == [count(5, 0, 3)])
  }

  @Test func theSenderAloneReadsCountsOfNobody() throws {
    let scene = try Scene(.work, members: [:])
    try scene.ask("sendGroupTextMessage", Self.ask, by: "olga")
    #expect(try receipts(scene, by: "olga") == [count(1, 0, 0)])
    #expect(try list(scene, #","filter":"Unread""#, by: "olga").result == ["memberList": [], "nextSeq": 0])
  }

  private func row(_ person: JSON, online: Bool = true) -> JSON {
    var members = person.members
    members["joinTime"] = .int(1_700_000_000_000 + (["olga": 0, "adam": 1000, "carl": 3000][person["userID"].string!] ?? 0))
    members["muteUntil"] = 0
    members["customInfo"] = .object([:])
    members["isOnline"] = .bool(online)
    return .object(members)
  }

  @Test func theListsNameWhoHasReadAndWhoHasNotWhateverIsMemberVisibleSays() throws {
    let scene = try scene { $0.isMemberVisible = false }
    try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try list(scene).result == ["memberList": [row(Person.carl)], "nextSeq": 0])
    #expect(try list(scene, #","filter":"Read""#).result["memberList"] == [row(Person.carl)])
    let unread = try list(scene, #","filter":"Unread""#)
    #expect(unread.result == ["memberList": [row(Person.adam), row(Person.olga)], "nextSeq": 0])
    for user in ["adam", "carl"] { try scene.ask("quitGroup", by: user) }
    func left(_ name: String) -> JSON {
      var members = Person.outside(name).members
      members.merge(["joinTime": 0, "muteUntil": 0, "customInfo": .object([:]), "isOnline": false]) { $1 }
      return .object(members)
    }
    #expect(try list(scene).result["memberList"] == [left("carl")])
    #expect(try list(scene, #","filter":"Unread""#).result["memberList"] == [left("adam"), row(Person.olga)])
  }

  @Test func theListsComeInPagesThatNameEachOnce() throws {
    let scene = try scene()
    var (found, next): ([String], Int64) = ([], 0)
    repeat {
      let page = try list(scene, #","filter":"Unread","count":1,"nextSeq":\#(next)"#)
      found += page.result["memberList"].elements.compactMap { $0["userID"].string }
      next = try #require(page.result["nextSeq"].integer)
      // A member who confirms meanwhile moves to the other list.
      if found == ["adam"] { try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "adam") }
    } while next != 0
    #expect(found == ["adam", "carl", "olga"])
    #expect(try list(scene, #","nextSeq":9007199254740992"#).result == ["memberList": [], "nextSeq": 0])
  }

  @Test func errorsOfTheListComeInTheirOrder() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"without"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", Self.ask, by: "adam")
    try scene.ask("setGroupInfo", #"{"introduction":"a tip"}"#, by: "mary")
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, by: "mary")
    let tip = scene.messages.count
    let method = "getGroupMessageReadMemberList"
    try scene.expectRefused(10007, method, #"{"seq":1}"#, by: "oscar")
    for seq in [tip + 1, 1 << 53] { try scene.expectRefused(10030, method, #"{"seq":\#(seq)}"#, by: "mary") }
    for seq in [2, 3, tip] { try scene.expectRefused(10032, method, #"{"seq":\#(seq)}"#, by: "mary") }
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectRefused(10030, method, #"{"seq":1}"#, by: "oscar")
    for seq in [1, 3] {
      try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "olga")
      try scene.expectRefused(10030, method, #"{"seq":\#(seq)}"#, by: "mary")
    }
  }

  @Test(
    arguments: [GroupType.avChatRoom, .bChatRoom],
    ["sendMessageReadReceipts", "getMessageReadReceipts", "getGroupMessageReadMemberList"])
  func aTypeWithoutMessagesIsToldAfterMembership(type: GroupType, method: String) throws {
    let scene = try Scene(type)
    let params = #"{"seq":1,"seqList":[1]}"#
    try scene.expectRefused(10033, method, params, by: "mary")
    try scene.expectRefused(type == .bChatRoom ? 10033 : 10007, method, params, by: "oscar")
  }

  @Test func aMeetingKeepsMessagesAndHasNoReceipts() throws {
    let scene = try Scene(.meeting)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    #expect(try receipts(scene) == [])
    try scene.expectRefused(10032, "getGroupMessageReadMemberList", #"{"seq":1}"#, by: "mary")
  }

  @Test func receiptsOutliveARestart() async throws {
    let scene = try scene()
    try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "carl")
    try await scene.reload()
    #expect(try receipts(scene) == [count(1, 1, 2)])
    #expect(try scene.ask("sendMessageReadReceipts", #"{"seqList":[1]}"#, by: "adam").heard.count == 1)
    #expect(try list(scene).result["memberList"].elements.map { $0["userID"] } == ["adam", "carl"])
  }
}
