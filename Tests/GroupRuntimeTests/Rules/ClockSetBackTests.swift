import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// A clock that is set back prolongs nothing and shortens nothing: no limit of calls, no wait, no memory, no grace.
@Suite struct ClockSetBackTests {
  private static let hour: Int64 = 3_600_000

  /// A Work group with attributes that has a message, so that its history waits for the clock to catch up.
  private func work() throws -> Scene {
    let scene = try Scene(.work, rules: GroupRules(permissions: GroupPermissions(attributeTypes: [.work])))
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    scene.clock.advance(by: -ClockSetBackTests.hour)
    return scene
  }

  private func write(_ value: Int, _ scene: Scene, by name: String = "mary") throws -> Scene.Outcome {
    try scene.ask("setGroupAttributes", #"{"attributes":{"k":"\#(value)"}}"#, by: name)
  }

  @Test(arguments: [("mary", 10, 5000), ("administrator", 5, 1000)] as [(String, Int, Int64)])
  func attributesAreWrittenAsOftenAsEver(name: String, limit: Int, window: Int64) throws {
    let scene = try work()
    for number in 1...limit { #expect(try write(number, scene, by: name).code == 0) }
    scene.clock.advance(by: window - 1)
    #expect(try write(0, scene, by: name).retryAfterMs == 1)
    scene.clock.advance(by: 1)
    #expect(try write(0, scene, by: name).code == 0)
  }

  @Test func andReadAsOften() throws {
    let scene = try work()
    for _ in 0..<20 { #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0) }
    scene.clock.advance(by: 4999)
    #expect(try scene.ask("getGroupAttributes", by: "mary").retryAfterMs == 1)
    scene.clock.advance(by: 1)
    #expect(try scene.ask("getGroupAttributes", by: "mary").code == 0)
  }

  @Test func attributesAreToldWhenTheyAreDue() throws {
    let scene = try work()
    #expect(try write(1, scene).receivers(of: "onGroupAttributeChanged").contains("olga"))
    #expect(try write(2, scene).events.isEmpty)
    #expect(scene.state?.nextWake == scene.clock.now() + 50)
    scene.clock.advance(by: -ClockSetBackTests.hour)
    #expect(try scene.wake().events.isEmpty && scene.state?.nextWake == scene.clock.now() + 50)
    scene.clock.advance(by: 50)
    #expect(try scene.wake().receivers(of: "onGroupAttributeChanged").contains("olga"))
    #expect(scene.state?.nextWake == nil)
  }

  @Test(arguments: [GroupType.public, .avChatRoom])
  func aMarkIsRememberedForFiveMinutes(type: GroupType) throws {
    let scene = try Scene(type)
    let marked = #"{"text":"x","clientMsgID":"c"}"#
    func send() throws -> JSON { try scene.ask("sendGroupTextMessage", marked, by: "mary").result["msgID"] }
    let first = try send()
    scene.clock.advance(by: -ClockSetBackTests.hour)
    #expect(try send() == first)
    scene.clock.advance(by: 299_999)
    #expect(try send() == first)
    scene.clock.advance(by: 1)
    #expect(try send() != first)
    #expect(scene.state?.sent.count == 1, "the first is forgotten")
  }

  @Test func aGraceThatBeganBeforeEndsInItsTimeAndSoDoesOneThatBeginsAfter() throws {
    let scene = try Scene(.avChatRoom)
    scene.signOut("mary")
    scene.clock.advance(by: 1000)
    _ = try scene.wake()
    scene.clock.advance(by: -ClockSetBackTests.hour)
    scene.signOut("carl")
    #expect(scene.state?.nextWake == scene.clock.now() + 299_000)
    scene.clock.advance(by: 299_000)
    #expect(scene.state?.hasStayedAway("mary", at: scene.clock.now()) == false)
    #expect(scene.state?.hasStayedAway("mary", at: scene.clock.now() + 1) == true)
    _ = try scene.wake()
    #expect(scene.state?.members["mary"] == nil && scene.state?.members["carl"] != nil)
    scene.clock.advance(by: 999)
    _ = try scene.wake()
    #expect(scene.state?.members["carl"] != nil)
    scene.clock.advance(by: 1)
    _ = try scene.wake()
    #expect(scene.state?.members["carl"] == nil)
  }

  @Test func whatIsStoredOfATimeToComeIsOfTheLoading() async throws {
    let scene = try Scene(.public)
    let marked = #"{"text":"x","clientMsgID":"c"}"#
    func send() throws -> JSON { try scene.ask("sendGroupTextMessage", marked, by: "mary").result["seq"] }
    #expect(try send() == 1)
    scene.clock.advance(by: -ClockSetBackTests.hour)
    try await scene.reload()
    scene.clock.advance(by: 299_999)
    #expect(try send() == 1)
    scene.clock.advance(by: 1)
    #expect(try send() == 2)
  }

  @Test func soIsAnAbsence() throws {
    let scene = try Scene(.avChatRoom)
    let state = try #require(scene.state)
    let now = scene.clock.now()
    let stored = StoredGroup(
      record: state.record, members: Array(state.members.values), lastMessage: nil, recentlySent: [],
      offlineSince: ["mary": now + ClockSetBackTests.hour, "carl": now - 1000])
    let loaded = GroupState(stored, at: now, rules: scene.rules)
    #expect(loaded.absent["mary"] == now && loaded.absent["carl"] == now - 1000)
  }
}
