import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The messages that readers see in a group whose oldest messages retention has removed (Protocol.md,
/// "Retention").
@Suite struct RetentionTests {
  /// A group with messages of olga's.
  private func scene(_ type: GroupType = .public, messages: Int) throws -> Scene {
    let scene = try Scene(type) { $0.joinMode = .any }
    try say(scene, messages)
    return scene
  }

  private func say(_ scene: Scene, _ count: Int) throws {
    for _ in 0..<count { try #require(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 0) }
  }

  private func remove(_ scene: Scene, before seq: Int64) throws {
    scene.state?.remove(try #require(scene.store.removeMessages(of: "g", before: seq)))
  }

  private func history(_ scene: Scene, _ params: String = "{}", by user: String = "mary") throws -> (
    seqs: [Int64], isFinished: JSON
  ) {
    let result = try scene.ask("getGroupHistoryMessageList", params, by: user).result
    return (result["messageList"].elements.compactMap { $0["seq"].integer }, result["isFinished"])
  }

  private func sync(_ scene: Scene, seq: Int, by user: String = "mary") throws -> JSON {
    try scene.ask("sync", #"{"epoch":"e","seq":\#(seq)}"#, by: user).result
  }

  @Test(arguments: [GroupType.work, .public, .meeting]) func theInfoTellsTheOldestMessage(type: GroupType) throws {
    let scene = try scene(type, messages: 0)
    func seqs() throws -> [JSON] {
      let info = try scene.ask("info", by: "mary").result
      return [info["firstSeq"], info["lastSeq"], info["lastMessage"]["seq"]]
    }
    #expect(try seqs() == [1, 0, .null])
    try say(scene, 4)
    #expect(try seqs() == [1, 4, 4])
    try remove(scene, before: 3)
    #expect(try seqs() == [3, 4, 4])
    let time = try scene.ask("info", by: "mary").result["lastMessageTime"]
    try remove(scene, before: 5)
    #expect(try seqs() == [5, 4, .null])
    #expect(try scene.ask("info", by: "mary").result["lastMessageTime"] == time, "the time stays")
    try say(scene, 1)
    #expect(try seqs() == [5, 5, 5])
    #expect(try history(scene).seqs == [5])
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func aGroupWithoutHistoryBeginsAtOne(type: GroupType) throws {
    #expect(try Scene(type).ask("info", by: "olga").result["firstSeq"] == 1)
  }

  @Test func historyEndsAtTheOldestMessage() throws {
    let scene = try scene(messages: 6)
    try remove(scene, before: 4)
    #expect(try history(scene) == ([6, 5, 4], true))
    #expect(try history(scene, #"{"count":2}"#) == ([6, 5], false))
    #expect(try history(scene, #"{"fromSeq":4}"#) == ([], true))
    #expect(try history(scene, #"{"fromSeq":2}"#) == ([], true))
    #expect(try history(scene, #"{"direction":"Newer"}"#) == ([4, 5, 6], true))
    #expect(try history(scene, #"{"direction":"Newer","fromSeq":1,"count":1}"#) == ([4], false))
    #expect(try history(scene, by: "administrator") == ([6, 5, 4], true))
  }

  @Test func aRemovedMessageIsUnknown() throws {
    let scene = try scene(messages: 3)
    try remove(scene, before: 3)
    for seq in [1, 2] {
      #expect(try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "olga").code == 10030)
      #expect(try scene.ask("revokeGroupMessage", #"{"seq":\#(seq)}"#, by: "administrator").code == 10030)
    }
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":3}"#, by: "olga").code == 0)
  }

  /// "syncGroups from before is recovered:false".
  @Test func syncFromBeforeIsNotRecovered() throws {
    let scene = try scene(messages: 5)
    try remove(scene, before: 4)
    for seq in 0...2 {
      let row = try sync(scene, seq: seq)
      #expect(row["recovered"] == false && row["messageList"] == [] && row["more"] == false && row["lastSeq"] == 5)
    }
    for seq in 3...5 {
      let row = try sync(scene, seq: seq)
      #expect(row["recovered"] == true && row["messageList"].elements.count == 5 - seq)
    }
  }

  /// "recovered:true where nothing that the reader may see is gone".
  @Test(arguments: [(GroupType.work, true), (.public, true), (.meeting, false)])
  func syncOfOneWhoCouldNotSeeWhatHasGoneIsRecovered(type: GroupType, isRecovered: Bool) throws {
    let scene = try scene(type, messages: 3)
    // Seq 4 is the tip, where the type makes one.
    try scene.ask("inviteUserToGroup", #"{"userIDList":["oscar"]}"#, by: "administrator")
    if type == .public { try scene.ask("joinGroup", by: "oscar") }
    if type == .meeting { try scene.ask("joinGroup", by: "oscar") }
    try say(scene, 2)
    try remove(scene, before: 3)
    #expect(try sync(scene, seq: 0, by: "oscar")["recovered"] == .bool(isRecovered))
    #expect(try sync(scene, seq: 0, by: "mary")["recovered"] == false)
    try remove(scene, before: 6)
    #expect(try sync(scene, seq: 0, by: "oscar")["recovered"] == false)
  }

  @Test func messagesOfAnEarlierStayThatHaveGoneAreMissed() throws {
    let scene = try scene(messages: 2)
    try scene.ask("quitGroup", by: "mary")
    try say(scene, 3)
    try scene.ask("joinGroup", by: "mary")
    // Mary saw 1 and 2, the others saw all.
    try remove(scene, before: 2)
    #expect(try sync(scene, seq: 0)["recovered"] == false)
    #expect(try sync(scene, seq: 1)["recovered"] == true)
    try remove(scene, before: 5)
    #expect(try sync(scene, seq: 1)["recovered"] == false)
    #expect(try sync(scene, seq: 2)["recovered"] == true, "3 to 5 were never mary's to see")
  }

  @Test func keptMessagesAloneAreUnread() throws {
    let scene = try scene(messages: 6)
    func unread() throws -> JSON { try scene.ask("unreadCount", by: "mary").result }
    #expect(try unread() == 6)
    try remove(scene, before: 5)
    #expect(try unread() == 2)
    try scene.ask("markGroupMessageAsRead", #"{"seq":5}"#, by: "mary")
    #expect(try unread() == 1)
    try remove(scene, before: 7)
    #expect(try unread() == 0)
    try say(scene, 1)
    #expect(try unread() == 1)
  }

  @Test func aCountOfTheApplicationIsNoMessage() throws {
    let scene = try scene(messages: 2)
    try scene.ask("setUnreadCount", #"{"userID":"mary","unreadCount":9}"#, by: "administrator")
    try remove(scene, before: 3)
    #expect(try scene.ask("unreadCount", by: "mary").result == 9)
  }

  @Test func aRemovalOfAnEarlierGroupMeansNothing() throws {
    let scene = try scene(messages: 3)
    scene.state?.remove(HistoryRemoval(groupID: "g", epoch: "other", firstSeq: 3))
    scene.state?.remove(HistoryRemoval(groupID: "g", epoch: "e", firstSeq: 1))
    #expect(try history(scene).seqs == [3, 2, 1])
  }

  @Test func timeDoesNotRunBackwardsWithoutAMessage() throws {
    let scene = try scene(messages: 1)
    let sent = try #require(scene.messages.first?.timestamp)
    try remove(scene, before: 2)
    scene.clocks.moveWall(by: -60_000)
    try say(scene, 1)
    #expect(scene.messages.map(\.timestamp) == [sent])
    #expect(scene.messages.map(\.seq) == [2])
  }
}
