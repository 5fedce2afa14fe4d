import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// getGroupBannedMembers and unbanGroupMember.
@Suite struct BanTests {
  /// A group that mary, carl and adam were removed from, in this order of the ends of their bans.
  private func scene(_ type: GroupType = .meeting) throws -> Scene {
    let scene = try Scene(type)
    for (name, seconds) in [("adam", 300), ("mary", 100), ("carl", 200)] {
      try scene.ask("kickGroupMember", Scene.users([name], #""reason":"r \#(name)","banTime":\#(seconds)"#), by: "olga")
    }
    return scene
  }

  private func banned(_ scene: Scene, by name: String = "olga") throws -> [JSON] {
    try scene.expectNothing("getGroupBannedMembers", by: name)["memberList"].elements
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func theSoonestEndIsTheFirst(type: GroupType) async throws {
    let scene = try scene(type)
    let end = { (seconds: Int64) in JSON.number(Double((scene.clocks.wall + seconds * 1000).milliseconds)) }
    let expected: [JSON] = [
      ["userID": "mary", "bannedUntil": end(100), "reason": "r mary"],
      ["userID": "carl", "bannedUntil": end(200), "reason": "r carl"],
      ["userID": "adam", "bannedUntil": end(300), "reason": "r adam"],
    ]
    for _ in 0..<2 {
      for name in ["olga", "administrator"] {
        #expect(try scene.expectNothing("getGroupBannedMembers", by: name) == ["memberList": .array(expected), "nextSeq": 0])
      }
      try await scene.reload()
    }
  }

  @Test func equalEndsGoByUserIDAndAMissingReasonIsEmpty() throws {
    let scene = try Scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary", "adam", "carl"], #""banTime":5"#), by: "olga")
    let listed = try banned(scene)
    #expect(listed.map { $0["userID"] } == ["adam", "carl", "mary"] && listed.allSatisfy { $0["reason"] == "" })
  }

  @Test func onlyBansThatHaveNotEndedAreListed() throws {
    let scene = try scene()
    try scene.ask("kickGroupMember", Scene.users(["oscar"]), by: "olga")
    #expect(try banned(scene).count == 3, "a removal without banTime bans nobody")
    scene.clocks.advance(by: 99_999)
    #expect(try banned(scene).count == 3)
    scene.clocks.advance(by: 1)
    #expect(try banned(scene).map { $0["userID"] } == ["carl", "adam"])
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
    #expect(try banned(scene).map { $0["userID"] } == ["carl", "adam"])
  }

  @Test func pagesGoOnBehindTheLastWhateverIsLifted() throws {
    let scene = try Scene(.meeting)
    for number in 0..<7 {
      let user = "u\(number)"
      try scene.ask("joinGroup", by: user)
      try scene.ask("kickGroupMember", Scene.users([user], #""banTime":5"#), by: "olga")
    }
    var (listed, next): ([String], Int64) = ([], 0)
    repeat {
      let page = try scene.ask("getGroupBannedMembers", #"{"count":2,"nextSeq":\#(next)}"#, by: "olga").result
      let users = page["memberList"].elements.compactMap { $0["userID"].string }
      try scene.ask("unbanGroupMember", Scene.users(users), by: "olga")
      listed += users
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && listed.count < 20
    #expect(listed == (0..<7).map { "u\($0)" })
    #expect(try banned(scene).isEmpty)
  }

  @Test(arguments: GroupType.allCases)
  func bothFollowTheRowOfRemoval(type: GroupType) throws {
    let removers: [String] =
      switch type {
      case .work: ["olga", "administrator"]
      case .public, .meeting: ["olga", "adam", "administrator"]
      case .avChatRoom, .bChatRoom: []
      }
    for name in ["olga", "adam", "mary", "carl", "oscar", "administrator"] {
      let scene = try Scene(type)
      guard !removers.contains(name) else {
        #expect(try scene.expectNothing("getGroupBannedMembers", by: name) == ["memberList": [], "nextSeq": 0])
        #expect(
          try scene.expectNothing("unbanGroupMember", Scene.users(["mary"]), by: name)["memberList"][0]["result"] == "Invalid")
        continue
      }
      try scene.expectRefused(10007, "getGroupBannedMembers", by: name)
      try scene.expectRefused(10007, "unbanGroupMember", Scene.users(["mary"]), by: name)
    }
  }

  @Test func unbanningEndsTheBanWithoutAnEvent() async throws {
    let scene = try scene()
    let stored = scene.messages.count
    let lifted = try scene.ask("unbanGroupMember", Scene.users(["mary", "olga", "oscar", "carl"]), by: "olga")
    #expect(lifted.rows == ["mary Success", "olga Invalid", "oscar Invalid", "carl Success"])
    #expect(lifted.events.isEmpty && lifted.notifications.isEmpty && scene.messages.count == stored)
    for _ in 0..<2 {
      #expect(try banned(scene).map { $0["userID"] } == ["adam"])
      try await scene.reload()
    }
    try scene.expectRefused(10007, "joinGroup", by: "adam")
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
    #expect(try scene.ask("inviteUserToGroup", Scene.users(["carl"]), by: "administrator").rows == ["carl Success"])
    #expect(
      try scene.expectNothing("unbanGroupMember", Scene.users(["mary"]), by: "olga")["memberList"][0]["result"] == "Invalid")
  }

  @Test func whatElseIsRememberedOutlivesTheBan() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try scene.ask("sendGroupTextMessage", #"{"text":"seen"}"#, by: "olga")
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":600}"#, by: "olga")
    let mute = try #require(scene.state?.roster["mary"]).muteUntil
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":60"#), by: "olga")
    try scene.ask("unbanGroupMember", Scene.users(["mary"]), by: "adam")
    try scene.ask("joinGroup", by: "mary")
    #expect(scene.state?.roster["mary"]?.muteUntil == mute)
    let history = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"]
    #expect(history.elements.contains { $0["text"] == "seen" })
  }

  @Test func theDepartureOutlivesTheBanForAMonth() throws {
    let scene = try scene()
    let lifted = try scene.ask("unbanGroupMember", Scene.users(["mary"]), by: "olga")
    let former = try #require(scene.state?.roster.former["mary"])
    #expect(lifted.decision.changes == [.putFormer(former, in: "g")])
    #expect(former.isListed && !former.bannedUntil.isSet && former.memorableUntil == former.leftTime + FormerMember.lifetime)
  }

  @Test func aRecordThatIsOfNoOtherUseIsForgotten() throws {
    let scene = try Scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":\#(40 * 86_400)"#), by: "olga")
    scene.clocks.advance(for: .seconds(31 * 86_400))
    let lifted = try scene.ask("unbanGroupMember", Scene.users(["mary"]), by: "olga")
    #expect(lifted.decision.changes == [.forgetFormer("mary", in: "g")])
    #expect(scene.state?.roster.former["mary"] == nil)
  }
}
