import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

/// A clock that is set changes neither the rate nor the waits.
@Suite struct MessageRateClockTests {
  private func scene(limit: Int) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: limit]
    return try Scene(.avChatRoom, rules: GroupRules(limits: limits))
  }

  private func say(_ scene: Scene) throws -> String? {
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["status"].string
  }

  @Test func stepsBackOfTheClockFreeNoSlots() throws {
    let scene = try scene(limit: 2)
    var said: [String?] = []
    for _ in 0..<5 {
      said.append(try say(scene))
      scene.clocks.moveWall(by: -1)
    }
    #expect(said == ["Delivered", "Delivered", "Queued", "Queued", "Dropped"], "all of it within a few milliseconds")
  }

  @Test func aClockThatIsSetBackProlongsNoWait() throws {
    let scene = try scene(limit: 1)
    #expect(try say(scene) == "Delivered")
    scene.clocks.advance(by: 400)
    #expect(try say(scene) == "Queued")
    scene.clocks.moveWall(by: -3_600_000)
    #expect(try scene.wake().events.isEmpty)
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 600)
    scene.clocks.advance(by: 599)
    #expect(try scene.wake().events.isEmpty)
    scene.clocks.advance(by: 1)
    #expect(try scene.wake().receivers(of: "onRecvNewMessage").contains("olga"))
    #expect(scene.state?.nextWake == nil)
  }
}
