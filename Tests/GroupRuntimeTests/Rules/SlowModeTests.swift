import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The policy field slowMode: "messages of Member and custom roles in the group are at least that far
/// apart per user, else 10023 with retryAfterMs" (Protocol.md, "Slow mode").
@Suite struct SlowModeTests {
  private static let types = GroupType.allCases.filter { $0 != .bChatRoom }
  private let hello = #"{"text":"x"}"#

  private func scene(
    _ type: GroupType = .public, seconds: Int64 = 5,
    members: [String: Role] = ["adam": .admin, "mary": .member, "carl": .custom(200)], messages: Int? = nil
  ) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = messages.map { [type: $0] } ?? [:]
    return try Scene(type, members: members, rules: GroupRules(limits: limits)) { $0.slowMode = seconds }
  }

  private func say(_ name: String, in scene: Scene) throws -> Scene.Outcome {
    try scene.ask("sendGroupTextMessage", hello, by: name)
  }

  private func asked(_ text: String) throws -> AskedMessage {
    guard case .group(_, .sendGroupTextMessage(let send)) = try request("sendGroupTextMessage", #"{"text":"\#(text)"}"#) else {
      throw WireError(.invalidRequest)
    }
    return .text(send)
  }

  // MARK: Who waits

  @Test(arguments: types) func membersAndCustomRolesWaitAndManagersDoNot(type: GroupType) throws {
    let scene = try scene(type)
    for name in ["mary", "carl"] {
      #expect(try say(name, in: scene).code == 0)
      try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: name)
      try scene.expectRefused(10023, "sendGroupCustomMessage", #"{"data":"x"}"#, by: name)
    }
    for name in ["olga", "adam", "administrator"] {
      for _ in 0..<3 { #expect(try say(name, in: scene).code == 0, "\(name)") }
    }
  }

  @Test(arguments: types) func theWaitEndsWithItsSeconds(type: GroupType) throws {
    let scene = try scene(type)
    _ = try say("mary", in: scene)
    scene.clocks.advance(by: 1250)
    let refused = try say("mary", in: scene)
    #expect(refused.code == 10023 && refused.retryAfterMs == 3750 && refused.events.isEmpty)
    #expect(refused.message == "The group is in slow mode")
    scene.clocks.advance(by: 3749)
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
    scene.clocks.advance(by: 1)
    #expect(try say("mary", in: scene).code == 0)
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func theApplicationInAUsersNameWaitsAsTheUser() throws {
    let scene = try scene()
    let caller = Caller.user("mary", platform: .restAPI, session: nil)
    func send() throws -> Int {
      try scene.ask(try groupRequest("sendGroupTextMessage", hello, by: caller), by: caller).code
    }
    #expect(try send() == 0)
    #expect(try send() == 10023)
    #expect(try say("mary", in: scene).code == 10023)
  }

  @Test func aRoleDecidesAsItIsNow() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga")
    #expect(try say("mary", in: scene).code == 0)
    try scene.ask("setGroupMemberRole", #"{"userID":"mary","role":"Member"}"#, by: "olga")
    #expect(try say("mary", in: scene).code == 10023, "the first message counts, that of the admin does not")
    scene.clocks.advance(by: 5000)
    #expect(try say("mary", in: scene).code == 0)
  }

  @Test func leavingAndComingBackFreesNobody() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("inviteUserToGroup", Scene.users(["mary"]), by: "administrator")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  // MARK: What counts

  @Test func messagesForThoseWhoAreOnlineCount() throws {
    let scene = try scene()
    #expect(
      try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "mary").result["status"] == "Delivered")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func repliesCountAndAreBound() throws {
    let scene = try scene()
    _ = try say("olga", in: scene)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x","replyTo":1}"#, by: "mary").code == 0)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x","replyTo":1}"#, by: "mary").code == 10023)
  }

  @Test func whatIsNoMessageIsFree() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    #expect(try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"y"}"#, by: "mary").code == 0)
    #expect(try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, by: "mary").code == 0)
    #expect(try scene.ask("sendGroupSignal", #"{"name":"typing"}"#, by: "mary").code == 0)
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").code == 0)
    #expect(try say("mary", in: scene).code == 10023, "a recalled message counts, too")
    let other = try self.scene()
    #expect(try other.ask("sendGroupSignal", #"{"name":"typing"}"#, by: "mary").code == 0)
    #expect(try say("mary", in: other).code == 0)
  }

  @Test func aRefusedMessageDoesNotCount() throws {
    let scene = try scene()
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, by: "olga")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x","atUserIDList":["@all"]}"#, by: "mary").code == 10007)
    #expect(try say("mary", in: scene).code == 0)
    scene.clocks.advance(by: 4000)
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
    scene.clocks.advance(by: 1000)
    #expect(try say("mary", in: scene).code == 0, "a refusal by slow mode does not count either")
  }

  @Test func aMessageThatTheApplicationDropsDoesNotCount() throws {
    let scene = try scene()
    let dropped = try scene.ask(.dropMessage(try asked("x")), by: scene.caller("mary"))
    #expect(dropped.result["status"] == "Dropped")
    #expect(try scene.ask(.check(.message(try asked("x")), .none), by: scene.caller("mary")).code == 0)
    #expect(try say("mary", in: scene).code == 0, "nor does the question whether it may be sent")
    #expect(try scene.ask(.check(.message(try asked("x")), .none), by: scene.caller("mary")).code == 10023)
    #expect(try scene.ask(.dropMessage(try asked("x")), by: scene.caller("mary")).code == 10023)
  }

  @Test func aRepeatedMessageIsAnsweredBeforehand() throws {
    let scene = try scene()
    let params = #"{"text":"x","clientMsgID":"c"}"#
    let first = try scene.ask("sendGroupTextMessage", params, by: "mary")
    #expect(try scene.expectNothing("sendGroupTextMessage", params, by: "mary") == first.result)
  }

  /// "A Queued message counts for slowMode."
  @Test func inALiveRoomQueuedMessagesCountAndDroppedOnesDoNot() throws {
    let scene = try scene(.avChatRoom, members: ["adam": .member, "mary": .member, "carl": .custom(200)], messages: 1)
    #expect(try say("mary", in: scene).result["status"] == "Delivered")
    #expect(try say("carl", in: scene).result["status"] == "Queued")
    for _ in 0..<3 { #expect(try say("adam", in: scene).result["status"] == "Dropped") }
    for name in ["mary", "carl"] { try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: name) }
    scene.clocks.advance(by: 1000)
    try scene.wake()
    #expect(try say("adam", in: scene).result["status"] == "Queued", "carl's has taken the place")
    #expect(try say("adam", in: scene).code == 10023)
  }

  @Test func aQueuedMessageThatIsDroppedLaterStaysCounted() throws {
    let scene = try scene(.avChatRoom, messages: 1)
    _ = try say("olga", in: scene)
    #expect(try say("mary", in: scene).result["status"] == "Queued")
    let displacing = try scene.ask("sendGroupTextMessage", #"{"text":"x","priority":"High"}"#, by: "olga")
    #expect(displacing.receivers(of: "onMessageDropped") == ["mary"])
    #expect(try say("mary", in: scene).code == 10023)
  }

  @Test func inALiveRoomWithoutARateMessagesCount() throws {
    let scene = try scene(.avChatRoom)
    #expect(try say("mary", in: scene).result["status"] == "Delivered")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  // MARK: With other rules

  @Test func theLongerOfTwoWaitsIsTold() throws {
    let scene = try scene(seconds: 5, messages: 1)
    _ = try say("mary", in: scene)
    scene.clocks.advance(by: 400)
    #expect(try say("mary", in: scene).retryAfterMs == 4600)
    #expect(try say("olga", in: scene).retryAfterMs == 600, "managers wait for the group's rate alone")
    scene.clocks.advance(by: 4599)
    _ = try say("olga", in: scene)
    #expect(try say("mary", in: scene).retryAfterMs == 1000)
    scene.clocks.advance(by: 1)
    #expect(try say("mary", in: scene).retryAfterMs == 999, "slow mode is over, the rate is not")
    scene.clocks.advance(by: 999)
    #expect(try say("mary", in: scene).code == 0)
  }

  @Test func aMuteComesFirst() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func anotherChoiceCountsAtOnce() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try scene.ask("setGroupInfo", #"{"slowMode":60}"#, by: "olga")
    #expect(try say("mary", in: scene).retryAfterMs == 60_000)
    try scene.ask("setGroupInfo", #"{"slowMode":1}"#, by: "olga")
    scene.clocks.advance(by: 1000)
    #expect(try say("mary", in: scene).code == 0)
  }

  @Test func whoMayWriteAgainStaysFreeOfALongerChoice() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    scene.clocks.advance(by: 1)
    _ = try say("carl", in: scene)
    scene.clocks.advance(by: 4999)
    try scene.ask("setGroupInfo", #"{"slowMode":60}"#, by: "olga")
    #expect(try say("carl", in: scene).retryAfterMs == 55_001)
    #expect(try say("mary", in: scene).code == 0)
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func offFreesAndForgets() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    #expect(scene.state?.slow?.count == 1)
    try scene.ask("setGroupInfo", #"{"slowMode":0}"#, by: "olga")
    #expect(scene.state?.slow == nil)
    for _ in 0..<3 { #expect(try say("mary", in: scene).code == 0) }
    #expect(scene.state?.slow == nil, "nothing is noted")
    try scene.ask("setGroupInfo", #"{"slowMode":60}"#, by: "olga")
    #expect(try say("mary", in: scene).code == 0, "messages count from there on")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func anotherChangeOfTheGroupForgetsNothing() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    try scene.expectRefused(10023, "sendGroupTextMessage", hello, by: "mary")
  }

  @Test func aWallClockThatIsSetChangesNothing() throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    scene.clocks.moveWall(by: 3_600_000)
    #expect(try say("mary", in: scene).retryAfterMs == 5000)
    scene.clocks.moveWall(by: -7_200_000)
    #expect(try say("mary", in: scene).retryAfterMs == 5000)
  }

  @Test func aRestartForgets() async throws {
    let scene = try scene()
    _ = try say("mary", in: scene)
    try await scene.reload()
    #expect(try say("mary", in: scene).code == 0)
  }
}
