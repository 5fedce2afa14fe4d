import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// importGroupMembers of those who have been here before, and what imported messages count as.
@Suite struct ImportOfFormerMembersTests {
  private let mary = #"{"memberList":[{"userID":"mary","unreadCount":7}]}"#

  @Test func aMuteSurvivesLeavingAndBeingImported() async throws {
    let scene = try Scene(.meeting)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    #expect(try scene.ask("importGroupMembers", mary, by: "administrator").rows == ["mary Success"])
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(scene.state?.roster.former["mary"] == nil)
    try await scene.reload()
    #expect(scene.state?.roster.former["mary"] == nil)
  }

  @Test func aGivenMuteReplacesThatOfTheEarlierMembership() throws {
    for (until, code) in [("0", 0), ("99999999999999", 10017)] {
      let scene = try Scene(.meeting)
      try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
      try scene.ask("quitGroup", by: "mary")
      let params = #"{"memberList":[{"userID":"mary","muteUntil":\#(until)}]}"#
      #expect(try scene.ask("importGroupMembers", params, by: "administrator").rows == ["mary Success"])
      scene.clocks.advance(by: until == "0" ? 0 : 61_000)
      #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == code)
    }
  }

  @Test func earlierVisibleRangesApplyAgain() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"seen"}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"missed"}"#, by: "olga")
    let joinTime = scene.clocks.wall
    scene.clocks.advance(by: 1000)
    let params = #"{"memberList":[{"userID":"mary","joinTime":\#(joinTime)}]}"#
    try scene.ask("importGroupMembers", params, by: "administrator")
    try scene.ask("sendGroupTextMessage", #"{"text":"after"}"#, by: "olga")
    let history = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"]
    #expect(history.elements.map { $0["seq"] } == [4, 1], "seq 2 is the own Quit tip, seq 3 came meanwhile")
  }

  @Test func aMeetingIgnoresAnUnreadCount() throws {
    let scene = try Scene(.meeting, members: [:])
    try scene.ask("importGroupMembers", mary, by: "administrator")
    #expect(try scene.ask("unreadCount", by: "mary").result == 0)
    try scene.expectNothing("markGroupMessageAsRead", by: "mary")
  }

  @Test func importedMessagesOfManagersAreMarkedAsSuch() throws {
    let scene = try Scene(.public)
    let list = ["olga", "adam", "mary", "quinn"].map { #"{"sender":"\#($0)","timestamp":1700000000000,"text":"x"}"# }
    try scene.ask("importGroupMessages", #"{"messageList":[\#(list.joined(separator: ","))]}"#, by: "administrator")
    #expect(scene.messages.map(\.isFromManager) == [true, true, false, false])
  }
}
