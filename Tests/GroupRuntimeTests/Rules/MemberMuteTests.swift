import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// muteGroupMember, and who is silent by it.
@Suite struct MemberMuteTests {
  private let hello = #"{"text":"x"}"#

  private func mute(_ seconds: Int64, _ user: String = "mary") -> String { #"{"userID":"\#(user)","muteTime":\#(seconds)}"# }

  private func number(_ instant: WallInstant) -> JSON { .instant(instant) }

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom], [true, false])
  func theMembersGetTheEventAndWithNotificationOffThoseConcerned(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let muted = try scene.ask("muteGroupMember", mute(60), by: "olga")
    #expect(muted.result == ["muteUntil": number(scene.clocks.wall + 60_000)])
    #expect(
      muted.heard == [
        "onGroupMemberInfoChanged": notification ? ["adam", "carl", "mary", "mary/2", "olga"] : ["mary", "mary/2", "olga"]
      ])
    let event = try muted.params("onGroupMemberInfoChanged", to: "mary")
    #expect(event["changeInfoList"] == [["userID": "mary", "muteTime": 60]])
    #expect(event["opUser"] == Person.olga && event["platform"] == "Web")
    let tip: JSON = [
      "type": "MemberInfoChange", "opUser": Person.olga, "changeInfoList": event["changeInfoList"], "memberCount": 4,
    ]
    #expect(try scene.tips == (notification && type != .avChatRoom ? [tip] : []))
    #expect(muted.notifications.isEmpty)
    // In a live room further changes wait for a moment (LiveRoomModeratorTests).
    scene.clocks.advance(by: 220)
    let unmuted = try scene.ask("muteGroupMember", mute(0), by: "olga")
    #expect(unmuted.result == ["muteUntil": 0])
    #expect(
      try unmuted.params("onGroupMemberInfoChanged", to: "mary")["changeInfoList"] == [["userID": "mary", "muteTime": 0]])
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  /// The member's own mute is told where the group is muted as well.
  @Test func aRefusalSaysWhoIsMuted() throws {
    let scene = try Scene(.public)
    let refusal = { try scene.ask("sendGroupTextMessage", hello, by: "mary").message }
    try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    #expect(try refusal() == "The group is muted")
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    #expect(try refusal() == "The member is muted")
  }

  @Test(arguments: [GroupType.public, .meeting, .avChatRoom])
  func aMuteLastsUntilItsEndWithoutAnEvent(type: GroupType) throws {
    let scene = try Scene(type)
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    for wait in [0, 59_999] as [Int64] {
      scene.clocks.advance(by: wait)
      try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
      try scene.expectRefused(10017, "sendGroupCustomMessage", #"{"data":"x"}"#, by: "mary")
    }
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "carl").code == 0)
    let until = { try scene.ask("info", by: "mary").result["selfInfo"]["muteUntil"] }
    #expect(try until() == number(scene.clocks.wall + 1))
    scene.clocks.advance(by: 1)
    #expect(scene.state?.nextWake == nil)
    #expect(try until() == 0)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test func withoutAChangeThereIsNoEvent() throws {
    let scene = try Scene(.public)
    #expect(try scene.expectNothing("muteGroupMember", mute(0), by: "olga") == ["muteUntil": 0])
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    let until = scene.clocks.wall + 60_000
    #expect(try scene.expectNothing("muteGroupMember", mute(60), by: "adam") == ["muteUntil": number(until)])
    scene.clocks.advance(by: 60_000)
    try scene.expectNothing("muteGroupMember", mute(0), by: "olga")
  }

  @Test func aMuteCanBeChangedAndLastsAtMost136Years() throws {
    let scene = try Scene(.public)
    for seconds in [60, 10, 4_294_967_295] as [Int64] {
      let muted = try scene.ask("muteGroupMember", mute(seconds), by: "adam")
      #expect(muted.result["muteUntil"] == number(scene.clocks.wall + seconds * 1000))
      #expect(try muted.params("onGroupMemberInfoChanged", to: "carl")["changeInfoList"][0]["muteTime"].integer == seconds)
    }
    scene.clocks.advance(by: 4_294_967_294_999)
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test(arguments: GroupType.allCases)
  func mutingFollowsTheTable(type: GroupType) throws {
    let muters =
      switch type {
      case .work: ["administrator"]
      case .public, .meeting: ["olga", "adam", "administrator"]
      case .avChatRoom: ["olga", "administrator"]
      case .bChatRoom: [] as [String]
      }
    for name in ["olga", "adam", "mary", "oscar", "administrator"] {
      let scene = try Scene(type)
      if muters.contains(name) {
        #expect(try scene.ask("muteGroupMember", mute(60, "carl"), by: name).code == 0, "\(type) \(name)")
        #expect(try scene.ask("sendGroupTextMessage", hello, by: "carl").code == 10017)
      } else {
        try scene.expectRefused(10007, "muteGroupMember", mute(60, "carl"), by: name)
      }
    }
  }

  @Test func equalsSuperiorsTheCallerAndOutsidersCannotBeMuted() throws {
    let scene = try Scene(.public)
    scene.state?.roster.update("carl") { $0.role = .admin }
    for target in ["olga", "adam", "carl", "oscar"] {
      try scene.expectRefused(10007, "muteGroupMember", mute(60, target), by: "adam")
    }
    for target in ["olga", "oscar"] { try scene.expectRefused(10007, "muteGroupMember", mute(60, target), by: "olga") }
    try scene.expectRefused(10007, "muteGroupMember", mute(60, "oscar"), by: "administrator")
    #expect(try scene.ask("muteGroupMember", mute(60, "adam"), by: "olga").code == 0)
    #expect(try scene.ask("muteGroupMember", mute(60, "olga"), by: "administrator").code == 0, "it stands above the owner")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "olga")
  }

  @Test(arguments: ["quitGroup", "kickGroupMember"])
  func itSurvivesLeavingAndJoiningAgain(way: String) async throws {
    let scene = try Scene(.meeting)
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    let until = number(scene.clocks.wall + 60_000)
    try scene.ask(way, way == "quitGroup" ? "{}" : Scene.users(["mary"]), by: way == "quitGroup" ? "mary" : "olga")
    try await scene.reload()
    scene.clocks.advance(by: 30_000)
    try scene.ask("joinGroup", by: "mary")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    #expect(try scene.ask("info", by: "mary").result["selfInfo"]["muteUntil"] == until)
    scene.clocks.advance(by: 30_000)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test(arguments: [GroupType.public, .avChatRoom])
  func anEndedMuteIsForgottenAfterLeaving(type: GroupType) throws {
    let scene = try Scene(type) { $0.joinMode = .any }
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    try scene.ask("quitGroup", by: "mary")
    scene.clocks.advance(by: 60_000)
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
    try scene.ask("muteGroupMember", mute(60), by: "olga")
    try scene.ask("muteGroupMember", mute(0), by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0)
  }

  @Test func itSurvivesTheEndOfTheGraceOfALiveRoom() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("muteGroupMember", mute(3600), by: "olga")
    scene.signOut("mary")
    scene.clocks.advance(by: 300_000)
    try scene.wake()
    scene.signIn("mary")
    try scene.ask("joinGroup", by: "mary")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
  }

  // MARK: getGroupMutedMembers

  private func listed(_ scene: Scene, _ params: String = "{}", by name: String = "carl") throws -> (names: [String], next: Int64)
  {
    let result = try scene.ask("getGroupMutedMembers", params, by: name).result
    return (result["memberList"].elements.compactMap { $0["userID"].string }, try #require(result["nextSeq"].integer))
  }

  @Test func theListHasTheMembersWithAPresentMuteOfTheirOwn() throws {
    let scene = try Scene(.public)
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    #expect(try listed(scene).names.isEmpty)
    for (name, seconds) in [("carl", 30), ("adam", 60), ("mary", 90)] as [(String, Int64)] {
      try scene.ask("muteGroupMember", mute(seconds, name), by: "olga")
    }
    #expect(try listed(scene).names == ["adam", "mary", "carl"])
    scene.clocks.advance(by: 30_000)
    #expect(try listed(scene).names == ["adam", "mary"])
    try scene.ask("muteGroupMember", mute(0), by: "olga")
    #expect(try listed(scene).names == ["adam"])
    let row = try scene.ask("getGroupMutedMembers", by: "olga").result["memberList"][0]
    #expect(row["muteUntil"] == number(scene.clocks.wall + 30_000) && row["role"] == "Admin" && row["isOnline"] == true)
    try scene.ask("quitGroup", by: "adam")
    #expect(try listed(scene).names.isEmpty)
  }

  @Test(arguments: [1, 2, 3, 50])
  func pagesNameEachMemberOnce(count: Int) throws {
    let scene = try Scene(.meeting)
    for number in 0..<7 {
      try scene.ask("joinGroup", by: "u\(number)")
      if number % 2 == 0 { try scene.ask("muteGroupMember", mute(60, "u\(number)"), by: "olga") }
    }
    var names: [String] = []
    var next: Int64 = 0
    repeat {
      let page = try listed(scene, #"{"count":\#(count),"nextSeq":\#(next)}"#)
      names += page.names
      next = page.next
    } while next != 0
    #expect(names == ["u0", "u2", "u4", "u6"])
  }

  @Test func membersReadTheList() throws {
    for type in GroupType.allCases {
      for name in ["olga", "mary", "oscar", "administrator"] {
        let may = type != .bChatRoom && name != "oscar"
        #expect(try Scene(type).ask("getGroupMutedMembers", by: name).code == (may ? 0 : 10007), "\(type) \(name)")
      }
    }
  }
}
