import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "For types that store messages the limit refuses instead: 10023 with `retryAfterMs`, and nothing
/// is stored" (Protocol.md, "Group message rate").
@Suite struct MessageRateTests {
  private let hello = #"{"text":"x"}"#

  private func scene(_ type: GroupType = .public, limit: Int = 3) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [type: limit]
    return try Scene(type, rules: GroupRules(limits: limits))
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func allSendersCountTogetherInEverySecond(type: GroupType) throws {
    let scene = try scene(type)
    for name in ["mary", "olga", "administrator"] {
      #expect(try scene.ask("sendGroupTextMessage", hello, by: name).code == 0)
      scene.clocks.advance(by: 100)
    }
    for name in ["mary", "carl", "olga", "administrator"] {
      try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: name)
    }
    #expect(scene.messages.count == 3)
    scene.clocks.advance(by: 699)
    try scene.expectRefused(10023, "sendGroupCustomMessage", #"{"data":"x"}"#, by: "carl")
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "carl").result["seq"] == 4)
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "carl")
  }

  @Test func theErrorHasRetryAfterMs() throws {
    let scene = try scene(limit: 1)
    try scene.ask("sendGroupTextMessage", hello, by: "mary")
    scene.clocks.advance(by: 250)
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").retryAfterMs == 750)
  }

  @Test func unstoredMessagesCountToo() throws {
    let scene = try scene(limit: 1)
    try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "mary")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "carl")
  }

  @Test func tipsDoNotCount() throws {
    let scene = try scene(limit: 1)
    for number in 1...5 { try scene.ask("setGroupInfo", #"{"groupName":"\#(number)"}"#, by: "olga") }
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").result["seq"] == 6)
    #expect(try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga").code == 0)
  }

  @Test func messagesRefusedForOtherReasonsDoNotCount() throws {
    let scene = try scene(limit: 1)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    try scene.expectRefused(10007, "sendGroupTextMessage", hello, by: "oscar")
    #expect(try scene.ask("sendGroupTextMessage", hello, by: "carl").code == 0)
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func aRepeatedMessageIsAnsweredAndTheRefusalIsNotRemembered() throws {
    let scene = try scene(limit: 1)
    let first = try scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"a"}"#, by: "mary")
    #expect(try scene.expectNothing("sendGroupTextMessage", #"{"text":"x","clientMsgID":"a"}"#, by: "mary") == first.result)
    try scene.expectRefused(10023, "sendGroupTextMessage", #"{"text":"x","clientMsgID":"b"}"#, by: "mary")
    scene.clocks.advance(by: 1000)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x","clientMsgID":"b"}"#, by: "mary").result["seq"] == 2)
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func withoutALimitAnyNumberIsAccepted(type: GroupType) throws {
    let scene = try Scene(type)
    for _ in 0..<60 { #expect(try scene.ask("sendGroupTextMessage", hello, by: "mary").code == 0) }
  }
}
