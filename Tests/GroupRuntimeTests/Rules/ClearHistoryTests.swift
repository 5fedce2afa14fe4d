import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// clearGroupHistory: messages up to lastSeq become invisible to one user for good, everywhere
/// (Protocol.md, "Conversations").
@Suite struct ClearHistoryTests {
  private static let stored: [GroupType] = [.work, .public, .meeting]

  /// Messages 1 to 5, of olga and mary in turn; mary has two sessions.
  private func scene(_ type: GroupType = .public) throws -> Scene {
    let scene = try Scene(type) { policy in
      // Everywhere but in Work, where nobody joins without an invitation.
      if type != .work { policy.joinMode = .any }
    }
    scene.signIn("mary", as: "mary/2")
    for number in 1...5 { try say(scene, by: number.isMultiple(of: 2) ? "mary" : "olga") }
    return scene
  }

  private func say(_ scene: Scene, by name: String = "olga") throws {
    try #require(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: name).code == 0)
  }

  @discardableResult
  private func clear(_ scene: Scene, by name: String = "mary") throws -> Scene.Outcome {
    let outcome = try scene.ask("clearGroupHistory", by: name)
    try #require(outcome.code == 0)
    return outcome
  }

  private func history(_ scene: Scene, by name: String = "mary", _ params: String = "{}") throws -> [Int64] {
    let result = try scene.ask("getGroupHistoryMessageList", params, by: name).result
    #expect(result["isFinished"] == true)
    return result["messageList"].elements.compactMap { $0["seq"].integer }
  }

  // MARK: The answer and the event

  @Test(arguments: stored)
  func theOtherSessionsOfTheUserAreToldAndNobodyElse(type: GroupType) throws {
    let scene = try scene(type)
    let before = try scene.ask("info", by: "olga").result
    let cleared = try clear(scene)
    #expect(cleared.result == ["clearedSeq": 5] as JSON)
    #expect(cleared.heard == ["onConversationChanged": ["mary/2"]])
    #expect(
      try cleared.params("onConversationChanged", to: "mary/2") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "clearedSeq": 5,
      ])
    #expect(scene.messages.count == 5 && cleared.notifications.isEmpty)
    #expect(try scene.ask("info", by: "olga").result == before)
    #expect(try history(scene, by: "olga") == [5, 4, 3, 2, 1])
    #expect(try scene.expectNothing("clearGroupHistory", by: "mary") == ["clearedSeq": 5] as JSON, "there is nothing new")
  }

  @Test func aGroupWithoutMessagesHasNothingToClear() throws {
    let scene = try Scene(.public)
    #expect(try scene.expectNothing("clearGroupHistory", by: "mary") == ["clearedSeq": 0] as JSON)
  }

  // MARK: What is invisible

  @Test(arguments: stored)
  func theHistoryBeginsBehindIt(type: GroupType) throws {
    let scene = try scene(type)
    try clear(scene)
    let info = try scene.ask("info", by: "mary").result
    #expect(info["firstSeq"] == 6 && info["lastSeq"] == 5 && info["lastMessage"] == .null)
    #expect(info["selfInfo"]["unreadCount"] == 0)
    #expect(try history(scene).isEmpty && history(scene, #"{"direction":"Newer"}"#).isEmpty)
    let row = try scene.ask("sync", #"{"epoch":"e","seq":2,"changeSeq":0}"#, by: "mary").result
    #expect(row["recovered"] == true && row["messageList"] == [] && row["changeList"] == [] && row["lastSeq"] == 5)
    try say(scene)
    #expect(try history(scene) == [6] && history(scene, by: "olga").count == 6)
    #expect(try scene.ask("info", by: "mary").result["lastMessage"]["seq"] == 6)
    #expect(try scene.ask("sync", #"{"epoch":"e","seq":2}"#, by: "mary").result["messageList"].elements.count == 1)
    try clear(scene)
    #expect(try history(scene).isEmpty && scene.ask("info", by: "mary").result["firstSeq"] == 7)
  }

  @Test func noMethodFindsAMessageByItsSeq() throws {
    let scene = try scene()
    let own = try scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "adam")
    try #require(own.result["seq"] == 6)
    try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "adam")
    try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, by: "olga")
    try clear(scene, by: "adam")
    for (method, params) in [
      ("revokeGroupMessage", #"{"seq":6}"#), ("revokeGroupMessage", #"{"seq":2}"#),
      ("modifyGroupMessage", #"{"seq":6,"text":"y"}"#), ("addMessageReaction", #"{"seq":1,"reaction":"s"}"#),
      ("removeMessageReaction", #"{"seq":1,"reaction":"r"}"#), ("pinGroupMessage", #"{"seq":2,"isPinned":true}"#),
      ("getGroupMessageReadMemberList", #"{"seq":6}"#),
    ] {
      #expect(try scene.ask(method, params, by: "adam").code == 10030, "\(method) \(params)")
    }
    #expect(try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "adam").result["resultList"] == [])
    #expect(try scene.ask("getPinnedGroupMessageList", by: "adam").result["messageList"] == [])
    #expect(try scene.ask("getMessageReadReceipts", #"{"seqList":[6]}"#, by: "adam").result["receiptList"] == [])
    try scene.expectNothing("sendMessageReadReceipts", #"{"seqList":[1,6]}"#, by: "adam")
    #expect(try scene.ask("getPinnedGroupMessageList", by: "mary").result["messageList"].elements.count == 1)
    #expect(
      try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":false}"#, by: "adam").code == 0,
      "unpinning works on what is pinned, visible or not")
  }

  @Test(arguments: stored)
  func eventsOfChangesAreForThoseWhoSeeTheMessage(type: GroupType) throws {
    let scene = try scene(type)
    try clear(scene)
    let others = ["adam", "carl", "olga"]
    for (method, params, event) in [
      ("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, "onRecvMessageModified"),
      ("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, "onRecvMessageReactionsChanged"),
      ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, "onGroupMessagePinned"),
      ("revokeGroupMessage", #"{"seq":3}"#, "onRecvMessageRevoked"),
    ] {
      scene.clocks.advance(by: 1000)
      let done = try scene.ask(method, params, by: "olga")
      #expect(done.code == 0 && done.receivers(of: event) == others, "\(method)")
    }
    try say(scene)
    scene.clocks.advance(by: 1000)
    let edited = try scene.ask("modifyGroupMessage", #"{"seq":6,"text":"y"}"#, by: "olga")
    #expect(edited.receivers(of: "onRecvMessageModified") == ["adam", "carl", "mary", "mary/2", "olga"])
    let row = try scene.ask("sync", #"{"epoch":"e","seq":6,"changeSeq":0}"#, by: "mary").result
    #expect(row["changeList"].elements.map { $0["seq"] } == [6])
  }

  @Test func receiptsOfClearedMessagesAreNotTold() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x","needReadReceipt":true}"#, by: "mary")
    try clear(scene)
    #expect(try scene.ask("sendMessageReadReceipts", #"{"seqList":[6]}"#, by: "carl").events.isEmpty)
  }

  // MARK: Unread counts

  @Test func unreadBeginsBehindItAndTheMarkStays() throws {
    let scene = try scene()
    try scene.ask("setConversation", #"{"isMarkedUnread":true}"#, by: "mary")
    #expect(try scene.ask("unreadCount", by: "mary").result == 3)
    try clear(scene)
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    let own = try scene.ask("info", by: "mary").result["selfInfo"]
    #expect(own["readSeq"] == 0 && own["isMarkedUnread"] == true)
    try say(scene)
    #expect(try scene.ask("unreadCount", by: "mary").result == 1 && scene.ask("unreadCount", by: "carl").result == 6)
  }

  @Test func aCountThatTheApplicationHasSetEnds() throws {
    let scene = try scene()
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    try clear(scene)
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":40}"#, by: "administrator")
    let again = try clear(scene)
    #expect(again.result == ["clearedSeq": 5] as JSON && again.heard == ["onConversationChanged": ["mary/2"]])
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    try say(scene)
    #expect(try scene.ask("unreadCount", by: "mary").result == 1)
  }

  @Test func whatCameUnderNotReceiveStaysUnheard() throws {
    let scene = try scene()
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    try say(scene)
    try clear(scene)
    try say(scene)
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"Receive"}"#, by: "mary")
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    try say(scene)
    #expect(try scene.ask("unreadCount", by: "mary").result == 1)
  }

  // MARK: For good

  @Test(arguments: [GroupType.public, .meeting], [0, 31] as [Int64])
  func whoComesBackSeesNoneOfItHoweverLater(type: GroupType, days: Int64) async throws {
    let scene = try scene(type)
    try clear(scene)
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.advance(by: days * 86_400_000)
    try await scene.reload()
    try say(scene)
    try scene.ask("joinGroup", by: "mary")
    let seen = try history(scene)
    #expect(!seen.isEmpty && seen.allSatisfy { $0 > 5 }, "a Public group hides the absence, a Meeting shows it")
    #expect(try scene.ask("info", by: "mary").result["firstSeq"] == 6)
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    #expect(try scene.ask("addMessageReaction", #"{"seq":5,"reaction":"r"}"#, by: "mary").code == 10030)
  }

  /// The cleared history keeps the record of mary's membership; nothing keeps that of carl's.
  @Test(arguments: [-1, 0] as [Int64], [false, true])
  func whatWasVisibleBehindItIsRememberedAsLongAsThatOfOthers(lead: Int64, reloads: Bool) async throws {
    let scene = try scene()
    try clear(scene)
    try say(scene)
    for name in ["mary", "carl"] { try scene.ask("quitGroup", by: name) }
    scene.clocks.advance(by: 30 * 86_400_000 + lead)
    if reloads { try await scene.reload() }
    for name in ["mary", "carl"] { try #require(try scene.ask("joinGroup", by: name).code == 0) }
    // 7 to 10 are the tips, mary's first.
    #expect(try history(scene) == (lead < 0 ? [10, 9, 6] : [10, 9]))
    #expect(try history(scene, by: "carl") == (lead < 0 ? [10, 7, 6, 5, 4, 3, 2, 1] : [10]))
  }

  @Test func itOutlivesARemovalAnInvitationAndABanThatIsLifted() throws {
    let scene = try scene(.meeting)
    try clear(scene)
    try scene.ask("kickGroupMember", #"{"userIDList":["mary"],"banTime":60}"#, by: "olga")
    try scene.ask("unbanGroupMember", #"{"userIDList":["mary"]}"#, by: "olga")
    try scene.ask("inviteUserToGroup", #"{"userIDList":["mary"]}"#, by: "administrator")
    #expect(try scene.ask("info", by: "mary").result["firstSeq"] == 6)
    #expect(try history(scene).allSatisfy { $0 > 5 })
  }

  @Test func itSurvivesARestart() async throws {
    let scene = try scene()
    try clear(scene)
    try await scene.reload()
    #expect(try history(scene).isEmpty && scene.ask("info", by: "mary").result["firstSeq"] == 6)
    #expect(try scene.expectNothing("clearGroupHistory", by: "mary") == ["clearedSeq": 5] as JSON)
  }

  @Test func retentionMovesTheBeginningOnlyBehindIt() throws {
    let scene = try scene()
    try clear(scene)
    try say(scene)
    for (seq, first) in [(3, 6), (6, 6), (7, 7)] as [(Int64, Int64)] {
      scene.state?.remove(try #require(scene.store.removeMessages(of: "g", before: seq)))
      #expect(try scene.ask("info", by: "mary").result["firstSeq"].integer == first, "\(seq)")
    }
    let row = try scene.ask("sync", #"{"epoch":"e","seq":0}"#, by: "mary").result
    #expect(row["recovered"] == false, "6 is gone, and was mary's")
  }
}
