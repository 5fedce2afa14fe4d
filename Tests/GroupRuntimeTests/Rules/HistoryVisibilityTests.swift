import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The policy field historyVisibility: "it decides at the moment of reading; unread counts begin with
/// the join in any case" (Protocol.md, "History").
@Suite struct HistoryVisibilityTests {
  /// Messages 1 to 5 of mary's, then oscar joins: with a tip, except in a Meeting.
  private func scene(_ type: GroupType, _ change: (inout GroupPolicy) -> Void = { _ in }) throws -> Scene {
    let scene = try Scene(type) { policy in
      policy.joinMode = .any
      change(&policy)
    }
    try say(scene, 5)
    if type == .work {
      try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "olga")
    } else {
      try scene.ask("joinGroup", by: "oscar")
    }
    return scene
  }

  private func say(_ scene: Scene, _ count: Int = 1) throws {
    for _ in 0..<count { try #require(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 0) }
  }

  private func choose(_ value: HistoryVisibility, _ scene: Scene) throws {
    try #require(try scene.ask("setGroupInfo", #"{"historyVisibility":"\#(value.rawValue)"}"#, by: "olga").code == 0)
  }

  private func history(_ scene: Scene, by name: String = "oscar") throws -> [Int64] {
    let result = try scene.ask("getGroupHistoryMessageList", #"{"direction":"Newer","count":50}"#, by: name).result
    return result["messageList"].elements.compactMap { $0["seq"].integer }
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aTypesDefaultIsWhatItWas(type: GroupType) throws {
    let scene = try scene(type)
    #expect(scene.state?.record.policy.historyVisibility == (type == .meeting ? .all : .joined))
    #expect(try history(scene) == (type == .meeting ? Array(1...5) : [6]))
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func itDecidesAtTheMomentOfReading(type: GroupType) throws {
    let scene = try scene(type)
    let joined = scene.messages.count
    try choose(.all, scene)
    try say(scene)
    let newest = try #require(scene.state?.messages.lastSeq)
    #expect(try history(scene) == Array(1...newest))
    #expect(try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "oscar").code == 0)
    let own = scene.messages.count
    try choose(.joined, scene)
    // oscar's own history begins with his tip, or where a Meeting stores none with what came next.
    let first = Int64(type == .meeting ? joined + 1 : joined)
    #expect(try history(scene).first == first && history(scene).count >= own - joined)
    #expect(try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"s"}"#, by: "oscar").code == 10030)
    #expect(try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "oscar").result["resultList"] == [])
    #expect(try history(scene, by: "mary").first == 1, "who was there sees all in either case")
  }

  @Test func eventsOfChangesFollowIt() throws {
    let scene = try scene(.public)
    func heard() throws -> Bool {
      scene.clocks.advance(by: 1000)
      let edited = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"\#(scene.clocks.wall)"}"#, by: "mary")
      try #require(edited.code == 0)
      return edited.receivers(of: "onRecvMessageModified").contains("oscar")
    }
    #expect(try !heard())
    try choose(.all, scene)
    #expect(try heard())
    try choose(.joined, scene)
    #expect(try !heard())
  }

  @Test func whatAMembershipHasShownIsKnownWhicheverPolicyHeldMeanwhile() async throws {
    let scene = try Scene(.meeting) { $0.joinMode = .any }
    try say(scene, 2)
    try scene.ask("quitGroup", by: "carl")
    try say(scene, 2)
    try scene.ask("joinGroup", by: "carl")
    try say(scene)
    #expect(try history(scene, by: "carl") == [1, 2, 3, 4, 5])
    try choose(.joined, scene)
    #expect(try history(scene, by: "carl").prefix(3) == [1, 2, 5], "3 and 4 are of the absence")
    try await scene.reload()
    #expect(try history(scene, by: "carl").prefix(3) == [1, 2, 5])
  }

  @Test(arguments: [GroupType.work, .public])
  func unreadCountsBeginWithTheJoin(type: GroupType) throws {
    let scene = try scene(type)
    try choose(.all, scene)
    #expect(try scene.ask("unreadCount", by: "oscar").result == 0)
    try say(scene)
    #expect(try scene.ask("unreadCount", by: "oscar").result == 1)
    try choose(.joined, scene)
    #expect(try scene.ask("unreadCount", by: "oscar").result == 1)
  }

  @Test func lastMessageFollowsIt() throws {
    let scene = try scene(.meeting)
    #expect(try scene.ask("info", by: "oscar").result["lastMessage"]["seq"] == 5)
    scene.state?.record.policy.historyVisibility = .joined
    #expect(try scene.ask("info", by: "oscar").result["lastMessage"] == .null)
    #expect(try scene.ask("info", by: "mary").result["lastMessage"]["seq"] == 5)
  }

  @Test func aClearedHistoryStaysClearedUnderAll() throws {
    let scene = try scene(.public)
    try choose(.all, scene)
    try scene.ask("clearGroupHistory", by: "oscar")
    let newest = try #require(scene.state?.messages.lastSeq)
    try say(scene)
    #expect(try history(scene) == [newest + 1])
  }

  @Test func theChangeIsAnnouncedAsEveryOther() throws {
    let scene = try scene(.public)
    let changed = try scene.ask("setGroupInfo", #"{"historyVisibility":"All"}"#, by: "adam")
    let entries = try changed.params("onGroupInfoChanged", to: "oscar")["changeInfoList"]
    #expect(entries == [["type": "historyVisibility", "value": "All"]])
    #expect(try scene.ask("info", by: "oscar").result["historyVisibility"] == "All")
    try scene.expectNothing("setGroupInfo", #"{"historyVisibility":"All"}"#, by: "adam")
    try scene.expectRefused(10007, "setGroupInfo", #"{"historyVisibility":"Joined"}"#, by: "mary")
    let error = #expect(throws: WireError.self) {
      try scene.ask("setGroupInfo", #"{"historyVisibility":"joined"}"#, by: "adam")
    }
    #expect(error?.code == .badValue && error?.field == "historyVisibility")
  }

  @Test func aGroupIsMadeWithIt() throws {
    let scene = Scene()
    let params = #"{"groupType":"Public","groupName":"n","joinMode":"Any","historyVisibility":"All"}"#
    try scene.ask("createGroup", params, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try history(scene) == [1, 2])
  }
}
