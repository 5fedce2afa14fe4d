import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Reports of messages: which may be reported, by whom, and what is kept (Protocol.md, "Reports").
@Suite struct ReportTests {
  /// A group where mary has said "one" at seq 1 and "two", to olga alone, at seq 2.
  private func scene(_ type: GroupType = .public, webhooks: [WebhookType] = [.messageReported]) throws -> Scene {
    let scene = try Scene(type, rules: GroupRules(webhooks: WebhookTypes(webhooks))) { policy in
      if type != .work { policy.joinMode = .any }
    }
    for params in [#"{"text":"one","extension":"e"}"#, #"{"text":"two","toUserIDList":["olga"]}"#] {
      try #require(try scene.ask("sendGroupTextMessage", params, by: "mary").code == 0)
    }
    return scene
  }

  /// An AVChatRoom that remembers, where mary has said "one".
  private func room(_ limit: Int = 0) throws -> (scene: Scene, msgID: String) {
    var configuration = RightsConfiguration()
    configuration.remembersLiveMessages = true
    var limits = GroupLimits.standard
    limits.messagesPerSecond = limit > 0 ? [.avChatRoom: limit] : [:]
    let rules = GroupRules(
      permissions: GroupPermissions(configuration), limits: limits, webhooks: WebhookTypes([WebhookType.messageReported]))
    let scene = try Scene(.avChatRoom, rules: rules, recent: RecentMessages(messages: 10, bytes: 1 << 20, duration: nil))
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"one"}"#, by: "mary")
    return (scene, try #require(sent.result["msgID"].string))
  }

  private func reports(_ outcome: Scene.Outcome) -> [MessageReport] {
    outcome.decision.changes.compactMap { if case .putReport(let report) = $0 { report } else { nil } }
  }

  private func posted(_ outcome: Scene.Outcome) -> [WebhookEntry] {
    outcome.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
  }

  // MARK: What is kept

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aReportKeepsTheMessageAndItsWords(type: GroupType) throws {
    let scene = try scene(type)
    let made = try scene.ask("reportMessage", #"{"seq":1,"category":"spam","text":"why"}"#, by: "carl")
    #expect(made.result == ["reportID": "carl/e-1"])
    let report = try #require(reports(made).first)
    #expect(report.id == "carl/e-1" && report.groupID == "g" && report.epoch == "e" && report.seq == 1 && report.msgID == "e-1")
    #expect(report.reporter == "carl" && report.category == "spam" && report.text == "why" && report.note == nil)
    #expect(report.time == scene.clocks.wall && report.state == .open)
    let message = try JSON(report.message)
    #expect(message["text"] == "one" && message["sender"] == "mary" && message["seq"] == 1 && message["extension"] == "e")
    #expect(made.events.isEmpty && made.notifications.isEmpty, "nobody in the group hears of it")
    #expect(made.decision.fanOut.deliveries == 0)
  }

  /// "Webhook messageReported {groupID, report}", stored with the report.
  @Test func theApplicationIsTold() throws {
    let scene = try scene()
    let made = try scene.ask("reportMessage", #"{"seq":1,"category":"spam"}"#, by: "carl")
    let entry = try #require(posted(made).first)
    #expect(entry.type == .messageReported && entry.lane == .group("g") && entry.storedNumber > 0)
    let data = try JSON(entry.data)
    #expect(data.names == ["groupID", "report"] && data["groupID"] == "g")
    #expect(data["report"].names == ["category", "groupID", "message", "reportID", "reporter", "state", "text", "time"])
    #expect(data["report"]["category"] == "spam" && data["report"]["text"] == "", "empty where it was not given")
    #expect(data["report"]["reportID"] == "carl/e-1" && data["report"]["state"] == "Open")
    #expect(data["report"]["message"]["text"] == "one" && data["report"]["reporter"] == "carl")
    let silent = try self.scene(webhooks: [])
    #expect(try posted(silent.ask("reportMessage", #"{"seq":1}"#, by: "carl")).isEmpty)
  }

  /// "The same user and message again renews and keeps reportID."
  @Test func onceMoreRenewsAndOthersReportForThemselves() throws {
    let scene = try scene()
    try scene.ask("reportMessage", #"{"seq":1,"category":"spam"}"#, by: "carl")
    scene.clocks.advance(by: 5000)
    let again = try scene.ask("reportMessage", #"{"seq":1,"text":"still"}"#, by: "carl")
    #expect(again.result == ["reportID": "carl/e-1"])
    #expect(reports(again).map(\.time) == [scene.clocks.wall] && reports(again).map(\.category) == [nil])
    #expect(try scene.ask("reportMessage", #"{"seq":1}"#, by: "olga").result == ["reportID": "olga/e-1"])
  }

  @Test func anEditedMessageIsKeptAsItWasThen() throws {
    let scene = try scene()
    let before = try scene.ask("reportMessage", #"{"seq":1}"#, by: "carl")
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"harmless"}"#, by: "mary")
    #expect(try reports(before).map { try JSON($0.message)["text"] } == ["one"])
    let after = try scene.ask("reportMessage", #"{"seq":1}"#, by: "adam")
    #expect(try reports(after).map { try JSON($0.message)["text"] } == ["harmless"])
  }

  // MARK: Who may report what

  /// "A message that the member may see, not one's own (10004), else 10030; tips and recalled messages
  /// 10030."
  @Test func onlyWhatIsSeenAndSomebodyElses() throws {
    let scene = try scene()
    try scene.expectRefused(10007, "reportMessage", #"{"seq":1}"#, by: "oscar")
    for seq in [3, 99] {
      try scene.expectRefused(10030, "reportMessage", #"{"seq":\#(seq)}"#, by: "carl")
    }
    try scene.expectRefused(10030, "reportMessage", #"{"seq":2}"#, by: "carl")
    #expect(try scene.ask("reportMessage", #"{"seq":2}"#, by: "olga").code == 0, "who was named reports what others do not see")
    try scene.expectRefused(10004, "reportMessage", #"{"seq":1}"#, by: "mary")
    #expect(try scene.ask("reportMessage", #"{"seq":1}"#, by: "mary").field == "seq")
    try scene.expectRefused(10004, "reportMessage", #"{"msgID":"e-1"}"#, by: "carl")
    #expect(try scene.ask("reportMessage", #"{"msgID":"e-1"}"#, by: "carl").field == "msgID")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try scene.ask("reportMessage", #"{"seq":1}"#, by: "oscar").code == 10030, "from before joining")
    #expect(try scene.ask("reportMessage", #"{"seq":3}"#, by: "carl").code == 10030, "a tip")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    for name in ["carl", "mary"] { try scene.expectRefused(10030, "reportMessage", #"{"seq":1}"#, by: name) }
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "administrator").result["seq"] == 4)
    #expect(try scene.ask("reportMessage", #"{"seq":4}"#, by: "carl").code == 0, "the application's, too")
  }

  /// "Without history 10033", behind membership and before all that is said of the message.
  @Test func typesWithoutHistoryHaveNone() throws {
    for params in [#"{"seq":1}"#, #"{"msgID":"m"}"#] {
      try Scene(.avChatRoom).expectRefused(10033, "reportMessage", params, by: "mary")
      try Scene(.avChatRoom).expectRefused(10007, "reportMessage", params, by: "oscar")
      try Scene(.bChatRoom).expectRefused(10033, "reportMessage", params, by: "oscar")
      try Scene().expectRefused(10010, "reportMessage", params, by: "mary")
    }
    try scene().expectRefused(10007, "reportMessage", #"{"msgID":"e-1"}"#, by: "oscar")
  }

  /// A mute does not keep anybody from reporting.
  @Test func aMutedMemberReports() throws {
    let scene = try scene()
    try scene.ask("muteGroupMember", #"{"userID":"carl","muteTime":600}"#, by: "olga")
    #expect(try scene.ask("reportMessage", #"{"seq":1}"#, by: "carl").code == 0)
  }

  // MARK: Live rooms

  @Test func aLiveRoomsMessageIsNamedEitherWay() throws {
    let (scene, msgID) = try room()
    let bySeq = try scene.ask("reportMessage", #"{"seq":1}"#, by: "carl")
    let byID = try scene.ask("reportMessage", #"{"msgID":"\#(msgID)"}"#, by: "carl")
    #expect(bySeq.result == ["reportID": .string("carl/\(msgID)")] && byID.result == bySeq.result)
    for outcome in [bySeq, byID] {
      let report = try #require(reports(outcome).first)
      #expect(report.seq == 1 && report.msgID == msgID && report.epoch == "e")
      #expect(try JSON(report.message)["text"] == "one" && JSON(report.message)["msgID"].string == msgID)
      #expect(posted(outcome).map(\.storedNumber).allSatisfy { $0 > 0 } && posted(outcome).count == 1)
    }
    try scene.expectRefused(10004, "reportMessage", #"{"seq":1}"#, by: "mary")
    try scene.expectRefused(10007, "reportMessage", #"{"seq":1}"#, by: "oscar")
    for params in [#"{"seq":2}"#, #"{"msgID":"no such"}"#] {
      try scene.expectRefused(10030, "reportMessage", params, by: "carl")
    }
    #expect(try scene.ask("reportMessage", #"{"msgID":"no such"}"#, by: "carl").field == "msgID")
    try scene.ask("joinGroup", by: "oscar")
    #expect(try scene.ask("reportMessage", #"{"seq":1}"#, by: "oscar").code == 0, "whenever they joined")
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try scene.expectRefused(10030, "reportMessage", #"{"seq":1}"#, by: "carl")
  }

  @Test func aQueuedMessageIsNobodysToReport() throws {
    let (scene, _) = try room(1)
    let queued = try scene.ask("sendGroupTextMessage", #"{"text":"later"}"#, by: "mary")
    let msgID = try #require(queued.result["msgID"].string)
    #expect(queued.result["status"] == "Queued")
    try scene.expectRefused(10030, "reportMessage", #"{"msgID":"\#(msgID)"}"#, by: "carl")
  }

  // MARK: The rate

  /// "8511, which comes last": the group is asked whether anything else is wrong.
  @Test func theRateComesLast() throws {
    let group = try scene()
    let (live, _) = try room()
    func code(_ scene: Scene, _ target: RevokeGroupMessage.Target, by name: String) throws -> Int {
      let request = ReportMessage(groupID: "g", target: target)
      let outcome = try scene.ask(.report(request, mayPass: false), by: scene.caller(name))
      #expect(reports(outcome).isEmpty && outcome.decision.effects.isEmpty)
      return outcome.code
    }
    #expect(try code(group, .seq(1), by: "oscar") == 10007 && code(group, .msgID("e-1"), by: "carl") == 10004)
    #expect(try code(group, .seq(9), by: "carl") == 10030 && code(group, .seq(1), by: "mary") == 10004)
    #expect(try code(group, .seq(1), by: "carl") == 8511)
    #expect(try code(live, .seq(9), by: "carl") == 10030 && code(live, .seq(1), by: "mary") == 10004)
    #expect(try code(live, .seq(1), by: "carl") == 8511)
    #expect(try code(Scene(.bChatRoom), .seq(1), by: "carl") == 10033)
  }
}
