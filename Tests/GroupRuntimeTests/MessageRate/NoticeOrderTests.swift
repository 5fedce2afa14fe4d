import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Notices that are sent late, that name a user who comes and goes, and that are switched off.
@Suite struct NoticeOrderTests {
  private func room(_ limit: Int = 40) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: limit]
    return try Scene(.avChatRoom, rules: GroupRules(limits: limits))
  }

  private func join(_ scene: Scene, _ name: String) throws -> Scene.Outcome {
    if scene.sessions[name] == nil { scene.signIn(name) }
    return try scene.ask("joinGroup", by: name)
  }

  private func named(_ event: JSON) -> [String] { event["memberList"].elements.compactMap { $0["userID"].string } }

  @Test func aJoinerIsNotifiedThoughANoticeExpires() throws {
    let scene = try room(1)
    _ = try scene.ask("sendGroupTextMessage", #"{"text":"0"}"#, by: "mary")
    _ = try join(scene, "u1")
    scene.clocks.advance(by: 500)
    _ = try scene.ask("sendGroupTextMessage", #"{"text":"1"}"#, by: "mary")
    scene.clocks.advance(by: 501)
    let joined = try join(scene, "u2")
    #expect(joined.names("olga") == ["onRecvNewMessage"])
    #expect(try named(joined.params("onMemberEnter", to: "u2")) == ["u2"], "always")
    scene.clocks.advance(by: 1000)
    #expect(try named(scene.wake().params("onMemberEnter", to: "olga")) == ["u2"], "u1's notice had its second, this one not")
  }

  @Test func aLeaverIsInTheNoticeAfterAnExpiredOne() throws {
    let scene = try room(1)
    _ = try scene.ask("sendGroupTextMessage", #"{"text":"0"}"#, by: "mary")
    _ = try scene.ask("quitGroup", by: "carl")
    scene.clocks.advance(by: 500)
    _ = try scene.ask("sendGroupTextMessage", #"{"text":"1"}"#, by: "mary")
    scene.clocks.advance(by: 501)
    _ = try scene.ask("quitGroup", by: "adam")
    scene.clocks.advance(by: 1000)
    #expect(try named(scene.wake().params("onMemberLeave", to: "olga")) == ["adam"])
  }

  @Test func aLeaveNoticeNeverPrecedesTheJoinNotice() throws {
    let scene = try room()
    _ = try join(scene, "u1")
    _ = try join(scene, "u2")
    scene.clocks.advance(by: 100)
    #expect(try scene.ask("quitGroup", by: "u2").receivers(of: "onMemberLeave").isEmpty, "it would come before onMemberEnter")
    scene.clocks.advance(by: 900)
    let woken = try scene.wake()
    #expect(woken.names("olga") == ["onMemberEnter", "onMemberLeave"])
    #expect(try named(woken.params("onMemberEnter", to: "olga")) == ["u2"])
    #expect(try named(woken.params("onMemberLeave", to: "olga")) == ["u2"])
  }

  @Test func aUserWhoCameBackIsInNoLeaveNotice() throws {
    let scene = try room()
    _ = try scene.ask("quitGroup", by: "carl")
    for name in ["mary", "adam"] { _ = try scene.ask("quitGroup", by: name) }
    let back = try join(scene, "mary")
    #expect(try named(back.params("onMemberEnter", to: "olga")) == ["mary"])
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.names("olga") == ["onMemberLeave"])
    #expect(try named(woken.params("onMemberLeave", to: "olga")) == ["adam"])
  }

  @Test func aNoticeNamesAUserOnce() throws {
    let scene = try room()
    _ = try join(scene, "u1")
    for _ in 0..<3 {
      _ = try join(scene, "u2")
      _ = try scene.ask("quitGroup", by: "u2")
    }
    _ = try join(scene, "u2")
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.names("olga") == ["onMemberEnter"])
    #expect(try named(woken.params("onMemberEnter", to: "olga")) == ["u2"])
  }

  /// "Off" of onMemberEnter is the new member, of onMemberLeave nobody.
  @Test func pendingNoticesAreDroppedWhenNotificationIsSwitchedOff() throws {
    let scene = try room()
    for name in ["u1", "u2"] { _ = try join(scene, name) }
    for name in ["mary", "carl"] { _ = try scene.ask("quitGroup", by: name) }
    _ = try scene.ask("setGroupInfo", #"{"memberChangeNotification":false}"#, by: "olga")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().events.isEmpty)
    #expect(scene.state?.nextWake == nil)
  }
}
