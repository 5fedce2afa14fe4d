import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// revokeGroupMessage: "own within `limits.revokeWindow` (10031 later); others' by the table, any
/// time; a tip 10032; unknown or invisible 10030; recalled already: {}".
@Suite struct RecallTests {
  private let recall = #"{"seq":1}"#

  /// A group with one message at seq 1.
  private func scene(
    _ type: GroupType = .public, from sender: String = "mary", _ change: (inout GroupPolicy) -> Void = { _ in }
  ) throws -> Scene {
    let scene = try Scene(type) { policy in
      if type != .work { policy.joinMode = .any }
      change(&policy)
    }
    try #require(try scene.ask("sendGroupTextMessage", #"{"text":"secret"}"#, by: sender).code == 0)
    return scene
  }

  @Test(arguments: [GroupType.work, .public, .meeting], [true, false])
  func allMembersGetTheEventAndTheContentIsDeleted(type: GroupType, notification: Bool) throws {
    let scene = try scene(type) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let revoked = try scene.ask("revokeGroupMessage", recall, by: "mary")
    #expect(revoked.result == [:] as JSON)
    #expect(revoked.heard == ["onRecvMessageRevoked": ["adam", "carl", "mary", "mary/2", "olga"]])
    #expect(
      try revoked.params("onRecvMessageRevoked", to: "olga") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "opUser": Person.mary, "platform": "Web", "msgID": "e-1",
        "seq": 1, "changeSeq": 1,
      ])
    #expect(scene.messages.count == 1 && revoked.notifications.isEmpty, "no tip tells of it")
    let message = try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"][0]
    #expect(message["isRevoked"] == true && message["seq"] == 1 && message["sender"] == "mary" && message["type"] == "Text")
    #expect(!message.names.contains("text") && !message.names.contains("data"))
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["isRevoked"] == true)
    #expect(scene.messages[0].content == .text(""))
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 2, "it keeps its place")
  }

  @Test func aCustomMessageLosesItsDataToo() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupCustomMessage", #"{"data":"secret"}"#, by: "mary")
    try scene.ask("revokeGroupMessage", recall, by: "mary")
    #expect(scene.messages[0].content == .custom("") && scene.messages[0].isRevoked)
  }

  @Test(arguments: ["mary", "adam", "olga"])
  func ownMessagesCanBeRecalledUntilTheWindowEnds(name: String) throws {
    let scene = try scene(from: name)
    scene.clocks.advance(by: 120_000)
    #expect(try scene.ask("revokeGroupMessage", recall, by: name).code == 0)
    let late = try self.scene(from: name)
    late.clocks.advance(by: 120_001)
    try late.expectRefused(10031, "revokeGroupMessage", recall, by: name)
  }

  @Test func theWindowIsConfigured() throws {
    var limits = GroupLimits.standard
    limits.revokeWindow = .zero
    let scene = try Scene(.public, rules: GroupRules(limits: limits))
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.clocks.advance(by: 1)
    try scene.expectRefused(10031, "revokeGroupMessage", recall, by: "mary")
    #expect(try scene.ask("revokeGroupMessage", recall, by: "adam").code == 0)
  }

  /// The caller, the sender, and the answers in Work, Public and Meeting.
  static let others: [(name: String, sender: String, codes: [Int])] = [
    ("olga", "adam", [0, 0, 0]), ("olga", "mary", [0, 0, 0]), ("olga", "carl", [0, 0, 0]),
    ("olga", "administrator", [10007, 10007, 10007]),
    ("adam", "olga", [10032, 10007, 10007]), ("adam", "mary", [10032, 0, 0]), ("adam", "carl", [10032, 0, 0]),
    ("adam", "administrator", [10032, 10007, 10007]),
    ("mary", "olga", [10032, 10032, 10032]), ("mary", "adam", [10032, 10032, 10032]), ("mary", "carl", [10032, 10032, 10032]),
    ("carl", "mary", [10032, 10032, 10032]), ("mary", "administrator", [10032, 10032, 10032]),
    ("administrator", "olga", [0, 0, 0]), ("administrator", "mary", [0, 0, 0]),
    ("oscar", "mary", [10007, 10007, 10007]),
  ]

  @Test(arguments: [GroupType.work, .public, .meeting], others)
  func othersMessagesByTheTableAtAnyTime(type: GroupType, row: (name: String, sender: String, codes: [Int])) throws {
    let scene = try scene(type, from: row.sender)
    scene.clocks.advance(by: 10_000_000)
    let code = row.codes[try #require([GroupType.work, .public, .meeting].firstIndex(of: type))]
    if code == 0 {
      let revoked = try scene.ask("revokeGroupMessage", recall, by: row.name)
      #expect(revoked.heard == ["onRecvMessageRevoked": ["adam", "carl", "mary", "olga"]])
    } else {
      try scene.expectRefused(code, "revokeGroupMessage", recall, by: row.name)
    }
  }

  @Test func theApplicationRecallsItsOwnWithinTheWindowAndIsNamedAsSuch() throws {
    let scene = try scene(.work, from: "administrator")
    let revoked = try scene.ask("revokeGroupMessage", recall, by: "administrator")
    #expect(try revoked.params("onRecvMessageRevoked", to: "mary")["opUser"] == Person.administrator)
    #expect(try revoked.params("onRecvMessageRevoked", to: "mary")["platform"] == "RESTful API")
  }

  @Test func tipsCannotBeRecalled() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    for name in ["olga", "adam", "mary", "administrator"] {
      try scene.expectRefused(10032, "revokeGroupMessage", recall, by: name)
    }
  }

  @Test func aMissingMessageIsUnknown() throws {
    let scene = try scene()
    for seq in ["2", "9007199254740992"] {
      for name in ["olga", "mary", "administrator"] {
        try scene.expectRefused(10030, "revokeGroupMessage", #"{"seq":\#(seq)}"#, by: name)
      }
    }
  }

  @Test(arguments: [GroupType.public, .meeting])
  func anInvisibleMessageIsUnknownAndMakesNoEvent(type: GroupType) throws {
    let scene = try scene(type)
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectRefused(type == .meeting ? 10032 : 10030, "revokeGroupMessage", recall, by: "oscar")
    let revoked = try scene.ask("revokeGroupMessage", recall, by: "mary")
    #expect(
      revoked.receivers(of: "onRecvMessageRevoked")
        == (type == .meeting ? ["adam", "carl", "mary", "olga", "oscar"] : ["adam", "carl", "mary", "olga"]))
  }

  @Test func messagesOfAnEarlierMembershipMakeAnEvent() throws {
    let scene = try scene()
    try scene.ask("quitGroup", by: "carl")
    try scene.ask("joinGroup", by: "carl")
    #expect(try scene.ask("revokeGroupMessage", recall, by: "mary").receivers(of: "onRecvMessageRevoked").contains("carl"))
  }

  @Test func aSecondRecallDoesNothing() throws {
    let scene = try scene()
    try scene.ask("revokeGroupMessage", recall, by: "mary")
    scene.clocks.advance(by: 10_000_000)
    for name in ["mary", "adam", "olga", "administrator"] {
      #expect(try scene.expectNothing("revokeGroupMessage", recall, by: name) == [:] as JSON, "\(name)")
    }
    try scene.expectRefused(10032, "revokeGroupMessage", recall, by: "carl")
  }

  @Test func aFormerMembersMessageCountsAsAMembers() throws {
    let scene = try scene(from: "adam")
    try scene.ask("quitGroup", by: "adam")
    try scene.expectRefused(10007, "revokeGroupMessage", recall, by: "adam")
    try scene.expectRefused(10032, "revokeGroupMessage", recall, by: "mary")
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    #expect(try scene.ask("revokeGroupMessage", recall, by: "mary").code == 0)
  }

  @Test func theSendersPresentRoleCounts() throws {
    let scene = try scene(from: "mary")
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    try scene.expectRefused(10007, "revokeGroupMessage", recall, by: "adam")
  }

  @Test func liveRoomsHaveNoRecall() throws {
    for name in ["olga", "mary", "administrator"] {
      try Scene(.avChatRoom).expectRefused(10033, "revokeGroupMessage", recall, by: name)
    }
    try Scene(.avChatRoom).expectRefused(10007, "revokeGroupMessage", recall, by: "oscar")
  }

  @Test func aRecallReducesUnreadCountsAndChangesTheList() throws {
    let scene = try scene()
    let sent = scene.clocks.wall
    scene.clocks.advance(by: 1000)
    #expect(try scene.ask("unreadCount", by: "olga").result == 1)
    #expect(try scene.ask("joinedInfo", #"{"updatedSince":\#(sent + 1)}"#, by: "carl").result == .null)
    try scene.ask("revokeGroupMessage", recall, by: "mary")
    #expect(try scene.ask("unreadCount", by: "olga").result == 0)
    #expect(try scene.ask("joinedInfo", #"{"updatedSince":\#(sent + 1)}"#, by: "carl").result != .null)
  }
}
