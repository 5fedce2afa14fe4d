import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// What a request is charged for: at least for what it publishes to the members who are online
/// (Protocol.md, "Delivery rate").
@Suite struct FanOutTests {
  /// olga, adam, mary and carl are online.
  private static let online = 4

  private func scene(_ type: GroupType = .public) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [:]
    return try Scene(type, rules: GroupRules(limits: limits)) {
      $0.joinMode = .any
      $0.memberChangeNotification = true
    }
  }

  private func bytes(_ outcome: Scene.Outcome, _ session: String) -> Int {
    (outcome.events[session] ?? []).reduce(0) { $0 + $1.text.utf8.count }
  }

  @Test(arguments: [
    ("sendGroupTextMessage", #"{"text":"a message of some length, which counts with its bytes"}"#, "mary"),
    ("modifyGroupMessage", #"{"seq":1,"text":"b"}"#, "mary"),
    ("addMessageReaction", #"{"seq":1,"reaction":"r"}"#, "mary"), ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#, "olga"),
    ("revokeGroupMessage", #"{"seq":1}"#, "mary"), ("setGroupInfo", #"{"introduction":"what it is about"}"#, "olga"),
    ("muteGroup", #"{"mode":"All"}"#, "olga"), ("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, "mary"),
    ("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, "olga"),
    ("muteGroupMember", #"{"userID":"mary","muteTime":5}"#, "olga"), ("quitGroup", "{}", "mary"),
    ("kickGroupMember", #"{"userIDList":["mary"]}"#, "olga"), ("inviteUserToGroup", #"{"userIDList":["oscar"]}"#, "olga"),
    ("transferGroupOwner", #"{"userID":"mary"}"#, "olga"), ("dismissGroup", "{}", "olga"),
    ("increaseGroupCounter", #"{"key":"k","value":1}"#, "mary"), ("setGroupCounters", #"{"counters":{"k":1}}"#, "olga"),
    ("sendGroupSignal", #"{"name":"typing"}"#, "mary"),
  ])
  func everyKindOfRequestIsCharged(method: String, params: String, name: String) throws {
    let scene = try scene()
    try scene.ask("setGroupInfo", #"{"inviteMode":"Any"}"#, by: "olga")
    try scene.ask("sendGroupTextMessage", #"{"text":"first"}"#, by: "mary")
    let seq = scene.state?.messages.lastSeq ?? 0
    let outcome = try scene.ask(method, params.replacing("\"seq\":1", with: "\"seq\":\(seq)"), by: name)
    try #require(outcome.code == 0)
    let charged = outcome.decision.fanOut
    // Who leaves, or is removed, is not counted any more.
    #expect(charged.deliveries >= FanOutTests.online - 1, "\(charged)")
    #expect(charged.bytes >= bytes(outcome, "olga") * (FanOutTests.online - 1) * 3 / 4, "\(charged) of \(bytes(outcome, "olga"))")
    #expect(charged.bytes <= (bytes(outcome, "olga") + 500) * (FanOutTests.online + 1) * 2, "\(charged)")
  }

  @Test func attributesAreChargedOnceForAnEvent() throws {
    let scene = try scene(.avChatRoom)
    let set = #"{"attributes":{"k":"v"}}"#
    #expect(try scene.ask("setGroupAttributes", set, by: "mary").decision.fanOut.deliveries == FanOutTests.online)
    for value in 1...3 {
      let waiting = try scene.ask("setGroupAttributes", #"{"attributes":{"k":"\#(value)"}}"#, by: "mary")
      #expect(waiting.decision.fanOut.deliveries == (value == 1 ? FanOutTests.online : 0), "\(value)")
    }
  }

  @Test func reactionsThatMergeAreChargedOnce() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    func react(_ reaction: String) throws -> Int {
      try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"\#(reaction)"}"#, by: "carl").decision.fanOut.deliveries
    }
    #expect(try react("a") == FanOutTests.online, "told at once")
    #expect(try react("b") == FanOutTests.online, "waits")
    #expect(try react("c") == 0 && react("d") == 0, "merge with it")
  }

  @Test func theFirstOfMergedNoticesIsCharged() throws {
    let scene = try scene(.avChatRoom)
    for (name, deliveries) in [("u1", 4), ("u2", 5), ("u3", 0)] {
      scene.signIn(name)
      #expect(try scene.ask("joinGroup", by: name).decision.fanOut.deliveries == deliveries, "\(name)")
    }
  }

  @Test func readsAndRefusedRequestsAreFree() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    for (method, params) in [
      ("getGroupMemberList", "{}"), ("markGroupMessageAsRead", #"{"seq":1}"#),
      ("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#), ("setConversation", #"{"isHidden":true}"#),
      ("clearGroupHistory", "{}"),
      ("pinGroupMessage", #"{"seq":1,"isPinned":true}"#),
    ] {
      #expect(try scene.ask(method, params, by: "mary").decision.fanOut == FanOut(), "\(method)")
    }
  }
}
