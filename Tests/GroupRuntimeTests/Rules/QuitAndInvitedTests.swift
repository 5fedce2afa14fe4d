import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

/// "Who has quit is not added again within 24 hours without consent."
@Suite struct QuitAndInvitedTests {
  private func scene(asks: Bool = false) throws -> Scene {
    try Scene(.work) { $0.beInviteMode = asks ? .auth : GroupPolicy.defaults(for: .work).beInviteMode }
  }

  private func invite(_ scene: Scene, by name: String = "olga") throws -> JSON {
    try scene.ask("inviteUserToGroup", #"{"userIDList":["mary"]}"#, by: name).result["memberList"][0]["result"]
  }

  @Test func whoHasQuitIsNotAddedAgainForADay() async throws {
    let scene = try scene()
    try scene.ask("quitGroup", by: "mary")
    #expect(try invite(scene) == "Fail" && invite(scene, by: "carl") == "Fail")
    #expect(scene.state?.isMember("mary") == false)
    scene.clocks.advance(by: 86_399_999)
    try await scene.reload()
    #expect(try invite(scene) == "Fail", "also after a restart")
    scene.clocks.advance(by: 1)
    #expect(try invite(scene) == "Success")
  }

  @Test func theApplicationAndConsentBringThemBack() throws {
    let scene = try scene()
    try scene.ask("quitGroup", by: "mary")
    #expect(try invite(scene, by: "administrator") == "Success")
    let asking = try self.scene(asks: true)
    try asking.ask("quitGroup", by: "mary")
    #expect(try invite(asking) == "Pending")
  }

  @Test func whoWasRemovedMayBeAddedAtOnce() throws {
    let scene = try scene()
    try scene.ask("kickGroupMember", #"{"userIDList":["mary"]}"#, by: "olga")
    #expect(try invite(scene) == "Success")
  }

  @Test func whoQuitMayJoinByThemselves() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    try scene.ask("quitGroup", by: "mary")
    #expect(try scene.ask("joinGroup", by: "mary").code == 0)
  }
}
