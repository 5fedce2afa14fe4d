import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// sendGroupSignal and onGroupSignal (Protocol.md, "Signals").
@Suite struct SignalTests {
  private static let types = GroupType.allCases.filter { $0 != .bChatRoom }
  private let typing = #"{"name":"typing"}"#

  /// A scene with a limit of members, and perhaps one of messages.
  private func scene(_ type: GroupType = .public, members: Int = 500, messages: Int? = nil) throws -> Scene {
    var limits = GroupLimits.standard
    limits.signalMembers = members
    limits.messagesPerSecond = messages.map { [type: $0] } ?? [:]
    return try Scene(type, rules: GroupRules(limits: limits, webhooks: WebhookTypes(WebhookType.allCases)))
  }

  // MARK: Who hears it

  @Test(arguments: types) func allMembersButTheSendingSessionHear(type: GroupType) throws {
    let scene = try scene(type)
    scene.signIn("mary", as: "mary/2")
    let sent = try scene.ask("sendGroupSignal", #"{"name":"typing","data":"{}"}"#, by: "mary")
    #expect(sent.code == 0 && sent.result == [:])
    #expect(sent.heard == ["onGroupSignal": ["adam", "carl", "mary/2", "olga"]])
    for name in ["olga", "mary/2"] {
      #expect(
        try sent.params("onGroupSignal", to: name) == [
          "groupID": "g", "opTime": .instant(scene.clocks.wall), "name": "typing", "data": "{}", "sender": "mary",
        ])
    }
  }

  @Test func nothingIsKeptAndNobodyElseIsTold() throws {
    let scene = try scene()
    let before = try scene.ask("info", by: "carl").result
    let sent = try scene.ask("sendGroupSignal", typing, by: "mary")
    #expect(sent.decision.changes.isEmpty && sent.notifications.isEmpty && scene.messages.isEmpty)
    #expect(sent.decision.counts.isEmpty)
    #expect(!sent.decision.effects.contains { if case .post = $0 { true } else { false } }, "no webhook")
    #expect(try scene.ask("info", by: "carl").result == before)
    #expect(scene.state?.nextWake == nil)
  }

  @Test(arguments: [
    ("Receive", true), ("ReceiveNotNotify", true), ("ReceiveFromManagers", true), ("NotifyFromManagers", true),
    ("NotReceive", false),
  ])
  func whoReceivesNoMessagesHearsNoSignals(option: String, hears: Bool) throws {
    for type in SignalTests.types {
      let scene = try scene(type)
      try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"\#(option)"}"#, by: "carl")
      for name in ["mary", "olga", "administrator"] {
        let sent = try scene.ask("sendGroupSignal", typing, by: name)
        #expect(sent.receivers(of: "onGroupSignal").contains("carl") == hears, "\(type), \(name)")
      }
    }
  }

  @Test func whoHasLeftHearsAndSendsNothing() throws {
    let scene = try scene()
    try scene.ask("kickGroupMember", Scene.users(["carl"]), by: "olga")
    #expect(try scene.ask("sendGroupSignal", typing, by: "mary").receivers(of: "onGroupSignal") == ["adam", "olga"])
    for name in ["carl", "oscar"] { try scene.expectRefused(10007, "sendGroupSignal", typing, by: name) }
  }

  @Test func withMemberChangesOffItIsHeardAllTheSame() throws {
    let scene = try Scene(.meeting) { $0.memberChangeNotification = false }
    #expect(try scene.ask("sendGroupSignal", typing, by: "mary").receivers(of: "onGroupSignal") == ["adam", "carl", "olga"])
  }

  @Test func theApplicationSendsInAUsersName() throws {
    let scene = try scene()
    let caller = Caller.user("mary", platform: .restAPI, session: nil)
    let sent = try scene.ask(try groupRequest("sendGroupSignal", typing, by: caller), by: caller)
    #expect(sent.receivers(of: "onGroupSignal") == ["adam", "carl", "mary", "olga"], "no session has sent it")
    #expect(try sent.params("onGroupSignal", to: "olga")["sender"] == "mary")
  }

  @Test func theSenderIsShownWithNameCardAndNickName() throws {
    let scene = try scene()
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, by: "mary")
    for (nickName, shown) in [("Mimi", "Mimi"), ("", nil)] as [(String, JSON?)] {
      let caller = scene.caller("mary").with(profile: .make(nickName: nickName, faceURL: "https://f/1"))
      let sent = try scene.ask(try groupRequest("sendGroupSignal", typing, by: caller), by: caller)
      let told = try sent.params("onGroupSignal", to: "olga")
      #expect(told["nameCard"] == "M" && told["nickName"] == shown ?? .null)
      #expect(!told.names.contains("faceURL") && told.names.contains("nickName") == (shown != nil))
    }
  }

  @Test func dataMayBeEmptyOrAbsent() throws {
    let scene = try scene()
    let empty = try scene.ask("sendGroupSignal", #"{"name":"n","data":""}"#, by: "mary").params("onGroupSignal", to: "olga")
    #expect(empty["data"] == "")
    let absent = try scene.ask("sendGroupSignal", #"{"name":"n"}"#, by: "mary").params("onGroupSignal", to: "olga")
    #expect(!absent.names.contains("data"))
  }

  // MARK: Errors

  @Test func theOrderIsMutedThenTooLargeThenTooOften() throws {
    let scene = try scene(members: 4)
    for _ in 0..<10 { #expect(try scene.ask("sendGroupSignal", typing, by: "mary").code == 0) }
    try scene.expectRefused(10023, "sendGroupSignal", typing, by: "mary")
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator")
    try scene.expectRefused(10061, "sendGroupSignal", typing, by: "mary")
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupSignal", typing, by: "mary")
    try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga")
    try scene.expectRefused(10007, "sendGroupSignal", typing, by: "mary")
  }

  @Test func theGroupsMuteSilencesTheSame() throws {
    let scene = try scene()
    try scene.ask("muteGroup", #"{"mode":"Ordinary"}"#, by: "olga")
    for name in ["mary", "carl"] {
      try scene.expectRefused(10017, "sendGroupSignal", typing, by: name)
      #expect(try scene.ask("sendGroupSignal", typing, by: name).message == "The group is muted")
    }
    for name in ["olga", "adam", "administrator"] { #expect(try scene.ask("sendGroupSignal", typing, by: name).code == 0) }
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    try scene.expectRefused(10017, "sendGroupSignal", typing, by: "olga")
    #expect(try scene.ask("sendGroupSignal", typing, by: "administrator").code == 0)
  }

  @Test(arguments: types) func aGroupMayHaveSoManyMembersAndNotOneMore(type: GroupType) throws {
    #expect(try scene(type, members: 4).ask("sendGroupSignal", typing, by: "olga").code == 0)
    let larger = try scene(type, members: 3)
    for name in ["olga", "adam", "mary"] { try larger.expectRefused(10061, "sendGroupSignal", typing, by: name) }
    try larger.ask("quitGroup", by: "carl")
    #expect(try larger.ask("sendGroupSignal", typing, by: "mary").code == 0)
  }

  /// "Graces count."
  @Test func whoIsAwayFromALiveRoomCountsAsAMember() throws {
    let scene = try scene(.avChatRoom, members: 3)
    scene.signOut("carl")
    try scene.expectRefused(10061, "sendGroupSignal", typing, by: "mary")
  }

  @Test func tenInAnyFiveSecondsPassForEachUser() throws {
    let scene = try scene()
    for _ in 0..<10 {
      #expect(try scene.ask("sendGroupSignal", typing, by: "mary").code == 0)
      scene.clocks.advance(by: 100)
    }
    let refused = try scene.ask("sendGroupSignal", typing, by: "mary")
    #expect(refused.code == 10023 && refused.retryAfterMs == 4000 && refused.events.isEmpty)
    #expect(try scene.ask("sendGroupSignal", typing, by: "carl").code == 0, "each for itself")
    scene.clocks.advance(by: 3999)
    try scene.expectRefused(10023, "sendGroupSignal", #"{"name":"other"}"#, by: "mary")
    scene.clocks.advance(by: 1)
    #expect(try scene.ask("sendGroupSignal", typing, by: "mary").code == 0)
    try scene.expectRefused(10023, "sendGroupSignal", typing, by: "mary")
  }

  @Test func refusedSignalsDoNotCount() throws {
    let scene = try scene()
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":60}"#, by: "olga")
    for _ in 0..<20 { try scene.expectRefused(10017, "sendGroupSignal", typing, by: "mary") }
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":0}"#, by: "olga")
    for _ in 0..<10 { #expect(try scene.ask("sendGroupSignal", typing, by: "mary").code == 0) }
  }

  /// "An application administrator without asUser is `administrator`, and bound by neither."
  @Test func anAdministratorIsBoundByNeitherSizeNorRate() throws {
    let scene = try scene(members: 0)
    for _ in 0..<20 {
      let sent = try scene.ask("sendGroupSignal", typing, by: "administrator")
      #expect(sent.code == 0 && sent.receivers(of: "onGroupSignal") == ["adam", "carl", "mary", "olga"])
      let told = try sent.params("onGroupSignal", to: "mary")
      #expect(told["sender"] == "administrator" && told.names == ["groupID", "name", "opTime", "sender"])
    }
    try scene.expectRefused(10061, "sendGroupSignal", typing, by: "olga")
  }

  @Test func aBChatRoomHasNone() throws {
    let scene = try Scene(.bChatRoom)
    for name in ["olga", "adam", "oscar", "administrator"] {
      let refused = try scene.ask("sendGroupSignal", typing, by: name)
      #expect(refused.code == 10007 && refused.message == "Groups of type BChatRoom do not support it")
    }
  }

  // MARK: Rates

  @Test(arguments: [GroupType.public, .avChatRoom]) func theMessageRateIsNotTouched(type: GroupType) throws {
    let scene = try scene(type, messages: 1)
    for _ in 0..<5 { #expect(try scene.ask("sendGroupSignal", typing, by: "mary").code == 0) }
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(["Stored", "Delivered"].contains(sent.result["status"].string))
    // A message would wait, or be refused.
    #expect(try scene.ask("sendGroupSignal", typing, by: "mary").receivers(of: "onGroupSignal") == ["adam", "carl", "olga"])
  }

  @Test func beyondAHundredASecondTheNewestOfEachNameWaits() throws {
    let scene = try scene()
    for number in 0..<100 {
      let sent = try scene.ask("sendGroupSignal", #"{"name":"n\#(number)"}"#, by: "administrator")
      #expect(sent.receivers(of: "onGroupSignal").count == 4)
    }
    #expect(scene.state?.nextWake == nil)
    for number in 0..<3 {
      let sent = try scene.ask("sendGroupSignal", #"{"name":"typing","data":"\#(number)"}"#, by: "mary")
      #expect(sent.code == 0 && sent.result == [:] && sent.events.isEmpty)
      #expect(sent.decision.signals.merged == (number == 0 ? 0 : 1) && sent.decision.signals.delivered == 0)
    }
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 1000)
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.heard == ["onGroupSignal": ["adam", "carl", "olga"]], "not on the session that has sent it")
    #expect(try woken.params("onGroupSignal", to: "olga")["data"] == "2")
    #expect(woken.decision.signals.delivered == 1 && woken.decision.isSignal && scene.state?.nextWake == nil)
  }

  @Test func signalsThatWaitAreForgottenWithTheGroup() throws {
    let scene = try scene()
    for number in 0..<101 { try scene.ask("sendGroupSignal", #"{"name":"n\#(number)"}"#, by: "administrator") }
    try scene.ask("dismissGroup", by: "olga")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().events.isEmpty)
  }

  // MARK: Charges and counts

  @Test func aSignalIsChargedForItsDeliveries() throws {
    let scene = try scene()
    let charged = try scene.ask("sendGroupSignal", typing, by: "mary").decision.fanOut
    #expect(charged.deliveries == 4 && charged.bytes == 4 * 320)
    let long = #"{"name":"n","data":"\#(String(repeating: "x", count: 512))"}"#
    #expect(try scene.ask("sendGroupSignal", long, by: "mary").decision.fanOut.bytes == 4 * 832)
  }

  @Test func everySignalIsCounted() throws {
    let scene = try scene()
    var counts = try scene.ask("sendGroupSignal", typing, by: "mary").decision.signals
    #expect(counts.delivered == 1 && counts.refused == 0)
    counts = try scene.ask("sendGroupSignal", typing, by: "oscar").decision.signals
    #expect(counts.delivered == 0 && counts.refused == 1)
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "oscar").decision.signals == SignalCounts())
  }
}
