import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "Unread: Text and Custom of others after readSeq, not recalled".
@Suite struct UnreadTests {
  private func say(_ scene: Scene, _ names: String...) throws {
    for name in names { try #require(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: name).code == 0) }
  }

  private func unread(_ scene: Scene, _ name: String = "mary") throws -> Int64 {
    let count = try scene.ask("unreadCount", by: name).result.integer
    #expect(try scene.ask("info", by: name).result["selfInfo"]["unreadCount"].integer == count, "both places say the same")
    return try #require(count)
  }

  private func choose(_ option: String, _ scene: Scene) throws {
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"\#(option)"}"#, by: "mary")
  }

  @Test(arguments: [(GroupType.work, 3), (.public, 3), (.meeting, 0)] as [(GroupType, Int64)])
  func theChatOfOthersCountsAndNothingElse(type: GroupType, expected: Int64) throws {
    let scene = try Scene(type)
    try say(scene, "olga", "carl", "mary")
    try scene.ask("sendGroupCustomMessage", #"{"data":"x"}"#, by: "administrator")
    try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "olga")
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    #expect(try unread(scene) == expected)
  }

  @Test func aJoinerHasNothingUnread() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try say(scene, "olga", "carl")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try unread(scene, "oscar") == 0)
    try say(scene, "olga")
    #expect(try unread(scene, "oscar") == 1)
  }

  @Test func rejoiningLeavesNothingUnread() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try say(scene, "olga")
    try scene.ask("quitGroup", by: "mary")
    try say(scene, "olga")
    try scene.ask("joinGroup", by: "mary")
    #expect(try unread(scene) == 0)
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom])
  func withoutHistoryNothingIsUnread(type: GroupType) throws {
    let scene = try Scene(type)
    try say(scene, "olga")
    #expect(try unread(scene) == 0)
  }

  @Test func outsidersAreRefused() throws { try Scene(.public).expectRefused(10007, "unreadCount", by: "oscar") }

  @Test func whatCameUnderNotReceiveNeverCountsAndWhatWasUnreadBeforeDoesAgain() throws {
    let scene = try Scene(.public)
    try say(scene, "olga", "olga")
    try choose("NotReceive", scene)
    #expect(try unread(scene) == 0)
    try say(scene, "olga")
    #expect(try unread(scene) == 0)
    try choose("Receive", scene)
    #expect(try unread(scene) == 2)
    try say(scene, "olga")
    #expect(try unread(scene) == 3)
    try scene.ask("markGroupMessageAsRead", #"{"seq":1}"#, by: "mary")
    #expect(try unread(scene) == 2)
    try scene.ask("markGroupMessageAsRead", by: "mary")
    #expect(try unread(scene) == 0)
  }

  @Test func eachTimeUnderNotReceiveIsLeftOut() async throws {
    let scene = try Scene(.public)
    for _ in 1...20 {
      try say(scene, "olga")
      try choose("NotReceive", scene)
      try say(scene, "olga")
      try choose("Receive", scene)
    }
    // The oldest are merged.
    #expect(try unread(scene) == 16)
    try await scene.reload()
    #expect(try unread(scene) == 16)
    try choose("NotReceive", scene)
    try await scene.reload()
    try say(scene, "olga", "olga")
    try choose("ReceiveNotNotify", scene)
    #expect(try unread(scene) == 15)
  }

  @Test func aCountSetBeforeNotReceiveStays() throws {
    let scene = try Scene(.public)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    try say(scene, "olga", "olga")
    try choose("NotReceive", scene)
    try say(scene, "olga")
    try choose("Receive", scene)
    #expect(try unread(scene) == 42)
    try scene.ask("markGroupMessageAsRead", #"{"seq":1}"#, by: "mary")
    #expect(try unread(scene) == 1, "a mark ends the count, and what came meanwhile stays unheard")
  }

  @Test func aMarkAmongMessagesUnderNotReceiveLeavesThemRead() throws {
    let scene = try Scene(.public)
    try choose("NotReceive", scene)
    try say(scene, "olga", "olga", "olga")
    try choose("Receive", scene)
    try say(scene, "olga")
    try scene.ask("markGroupMessageAsRead", #"{"seq":1}"#, by: "mary")
    #expect(try unread(scene) == 1)
  }

  @Test func underReceiveFromManagersOnlyManagersMessagesCount() throws {
    let scene = try Scene(.public)
    try choose("ReceiveFromManagers", scene)
    try say(scene, "olga", "adam", "carl", "administrator")
    #expect(try unread(scene) == 3)
    try scene.ask("setGroupMemberRole", #"{"userID":"adam","role":"Member"}"#, by: "olga")
    #expect(try unread(scene) == 3, "adam was an admin when he sent it")
    try choose("Receive", scene)
    #expect(try unread(scene) == 4)
    for option in ["ReceiveNotNotify", "NotifyFromManagers"] {
      try choose(option, scene)
      #expect(try unread(scene) == 4)
    }
  }

  @Test func laterMessagesAddToACountSetByTheApplication() throws {
    let scene = try Scene(.public)
    try say(scene, "olga", "olga")
    let set = try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    #expect(set.result == [:] as JSON && set.events.isEmpty && scene.messages.count == 2)
    #expect(try unread(scene) == 40)
    try say(scene, "olga", "mary")
    #expect(try unread(scene) == 41 && unread(scene, "carl") == 4)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":0}"#, by: "administrator")
    #expect(try unread(scene) == 0)
  }

  @Test(arguments: [GroupType.meeting, .avChatRoom, .bChatRoom])
  func aTypeWithoutCountsAcceptsNone(type: GroupType) throws {
    try Scene(type).expectRefused(10007, "setUnreadCount", #"{"userID":"mary","unreadCount":1}"#, by: "administrator")
  }

  @Test func aCountIsSetForMembersOnly() throws {
    try Scene(.public).expectRefused(10007, "setUnreadCount", #"{"userID":"oscar","unreadCount":1}"#, by: "administrator")
  }

  @Test func aCountSetUnderNotReceiveIsNeverShown() throws {
    let scene = try Scene(.public)
    try choose("NotReceive", scene)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":5}"#, by: "administrator")
    #expect(try unread(scene) == 0)
    try choose("Receive", scene)
    #expect(try unread(scene) == 0)
  }

  @Test func aRestartChangesNothing() async throws {
    let scene = try Scene(.public)
    try say(scene, "olga")
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":5}"#, by: "administrator")
    try say(scene, "olga")
    try await scene.reload()
    #expect(try unread(scene) == 6 && unread(scene, "carl") == 2)
  }
}

/// markGroupMessageAsRead: "default and at most lastSeq; forward only".
@Suite struct MarkReadTests {
  /// A Public group with five messages of olga's, and mary on two devices.
  private func scene(_ type: GroupType = .public) throws -> Scene {
    let scene = try Scene(type)
    for _ in 0..<5 { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga") }
    scene.signIn("mary", as: "mary/2")
    return scene
  }

  @Test(arguments: [("{}", 5), (#"{"seq":5}"#, 5), (#"{"seq":3}"#, 3), (#"{"seq":999}"#, 5)] as [(String, Int64)])
  func theOtherSessionsOfTheUserGetTheEvent(params: String, readSeq: Int64) throws {
    for notification in [true, false] {
      let scene = try scene()
      scene.state?.record.policy.memberChangeNotification = notification
      let marked = try scene.ask("markGroupMessageAsRead", params, by: "mary")
      #expect(marked.result == [:] as JSON)
      #expect(marked.heard == ["onConversationRead": ["mary/2"]])
      #expect(
        try marked.params("onConversationRead", to: "mary/2") == [
          "groupID": "g", "opTime": .instant(scene.clocks.wall), "readSeq": .number(Double(readSeq)),
        ])
      #expect(scene.messages.count == 5 && marked.notifications.isEmpty)
      #expect(try scene.ask("unreadCount", by: "mary").result == .number(Double(5 - readSeq)))
      #expect(try scene.ask("unreadCount", by: "carl").result == 5)
      #expect(try scene.ask("info", by: "mary").result["selfInfo"]["readSeq"] == .number(Double(readSeq)))
    }
  }

  @Test func aMarkNeverMovesBack() throws {
    let scene = try scene()
    try scene.ask("markGroupMessageAsRead", #"{"seq":4}"#, by: "mary")
    for seq in [1, 2, 4] { try scene.expectNothing("markGroupMessageAsRead", #"{"seq":\#(seq)}"#, by: "mary/2") }
    #expect(try scene.ask("markGroupMessageAsRead", #"{"seq":5}"#, by: "mary/2").heard == ["onConversationRead": ["mary"]])
    try scene.expectNothing("markGroupMessageAsRead", by: "mary")
  }

  @Test func aMeetingHasMarksWithoutCounts() throws {
    let scene = try scene(.meeting)
    #expect(try scene.ask("markGroupMessageAsRead", by: "mary").heard == ["onConversationRead": ["mary/2"]])
    #expect(try scene.ask("info", by: "mary").result["selfInfo"]["readSeq"] == 5)
  }

  @Test func aLiveRoomHasNoMarks() throws {
    for name in ["mary", "olga"] { try scene(.avChatRoom).expectNothing("markGroupMessageAsRead", by: name) }
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func outsidersAreRefused(type: GroupType) throws { try scene(type).expectRefused(10007, "markGroupMessageAsRead", by: "oscar") }

  @Test func aMarkEndsACountSetByTheApplication() throws {
    let scene = try scene()
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    try scene.ask("markGroupMessageAsRead", by: "mary")
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    let again = try scene.ask("markGroupMessageAsRead", by: "mary")
    #expect(try scene.ask("unreadCount", by: "mary").result == 0, "also where there is nothing new to read")
    #expect(again.events.isEmpty, "readSeq has not moved")
  }

  @Test func theLastMessageChangesTheListOfTheReaderOnly() throws {
    let scene = try scene()
    let sent = scene.clocks.wall
    scene.clocks.advance(by: 1000)
    try scene.ask("markGroupMessageAsRead", by: "mary")
    #expect(try scene.ask("joinedInfo", #"{"updatedSince":\#(sent + 1)}"#, by: "mary").result != .null)
    #expect(try scene.ask("joinedInfo", #"{"updatedSince":\#(sent + 1)}"#, by: "carl").result == .null)
  }
}
