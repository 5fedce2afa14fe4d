import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// A group that is loaded again between requests behaves as before: the store holds all its state.
@Suite struct RestartTests {
  @Test(arguments: ["mary", "adam", "administrator"])
  func aRecalledMessageStaysRecalled(name: String) async throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try await scene.reload()
    scene.clocks.advance(by: 10_000_000)
    #expect(try scene.expectNothing("revokeGroupMessage", #"{"seq":1}"#, by: name) == [:] as JSON)
    try await scene.reload()
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["isRevoked"] == true)
  }

  @Test func aMuteEndedAfterRejoiningIsForgotten() async throws {
    let scene = try Scene(.meeting)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":3600}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("joinGroup", by: "mary")
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    try await scene.reload()
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").code == 0)
  }

  @Test func aBanEndedBeforeRejoiningIsForgotten() async throws {
    let scene = try Scene(.meeting)
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":60"#), by: "olga")
    scene.clocks.advance(by: 60_000)
    try scene.ask("joinGroup", by: "mary")
    try scene.ask("quitGroup", by: "mary")
    try await scene.reload()
    scene.clocks.moveWall(by: -30_000)
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
  }

  @Test func rolesNameCardsAndMutesSurvive() async throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"100"}"#, by: "olga")
    try scene.ask("setGroupMemberInfo", #"{"userID":"carl","nameCard":"Karl","customInfo":{"k":"v"}}"#, by: "carl")
    try scene.ask("muteGroupMember", #"{"userID":"carl","muteTime":60}"#, by: "adam")
    try scene.ask("transferGroupOwner", #"{"userID":"adam"}"#, by: "olga")
    try scene.ask("muteGroup", #"{"mode":"Custom","roles":["100"]}"#, by: "adam")
    let list = try scene.ask("getGroupMemberList", by: "mary").result
    let muted = try scene.ask("getGroupMutedMembers", by: "mary").result
    let mute = try scene.ask("info", by: "mary").result["mute"]
    try await scene.reload()
    #expect(try scene.ask("getGroupMemberList", by: "mary").result == list)
    #expect(try scene.ask("getGroupMutedMembers", by: "mary").result == muted && muted["memberList"][0]["userID"] == "carl")
    #expect(try scene.ask("info", by: "mary").result["mute"] == mute && mute == ["mode": "Custom", "roles": ["100"]])
    for name in ["mary", "carl"] { try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: name) }
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 0)
  }
}
