import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// modifyGroupMessage (Protocol.md, "Edits"), and the numbers of changes (Protocol.md, "Changes of
/// messages").
@Suite struct EditTests {
  private let edit = #"{"seq":1,"text":"new"}"#

  /// A group with one message at seq 1.
  private func scene(
    _ type: GroupType = .public, from sender: String = "mary", limits: GroupLimits = .standard
  ) throws -> Scene {
    let scene = try Scene(type, rules: GroupRules(limits: limits)) { policy in if type != .work { policy.joinMode = .any } }
    try #require(try scene.ask("sendGroupTextMessage", #"{"text":"old","clientMsgID":"c"}"#, by: sender).code == 0)
    return scene
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func anEditReplacesTheContentAndIsToldToAll(type: GroupType) throws {
    let scene = try scene(type)
    scene.signIn("mary", as: "mary/2")
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "carl")
    scene.clocks.advance(by: 5000)
    let now = JSON.instant(scene.clocks.wall)
    let edited = try scene.ask("modifyGroupMessage", edit, by: "mary")
    #expect(edited.result == ["editTime": now])
    #expect(edited.heard == ["onRecvMessageModified": ["adam", "carl", "mary", "mary/2", "olga"]])
    let message: JSON = [
      "msgID": "e-1", "groupID": "g", "seq": 1, "sender": "mary", "timestamp": .instant(scene.clocks.wall - .seconds(5)),
      "type": "Text", "text": "new", "priority": "Normal", "clientMsgID": "c", "changeSeq": 1, "editTime": now, "platform": "Web",
    ]
    #expect(
      try edited.params("onRecvMessageModified", to: "olga") == [
        "groupID": "g", "opTime": now, "changeSeq": 1, "message": message,
      ])
    #expect(try scene.ask("getGroupHistoryMessageList", by: "olga").result["messageList"] == .array([message]))
    let info = try scene.ask("info", by: "olga").result
    #expect(info["lastMessage"] == message && info["changeSeq"] == 1)
    #expect(try scene.ask("unreadCount", by: "olga").result == (type == .meeting ? 0 : 1), "it does not become unread again")
  }

  @Test func everyChangeTakesTheNextNumber() throws {
    let scene = try scene()
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["changeSeq"] == 0)
    try scene.ask("modifyGroupMessage", edit, by: "mary")
    try scene.ask("pinGroupMessage", #"{"seq":2,"isPinned":true}"#, by: "olga")
    try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    try scene.ask("removeMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["changeSeq"] == 5)
    #expect(scene.messages.map(\.changeSeq) == [4, 5])
    // A request that changes nothing takes no number.
    try scene.ask("modifyGroupMessage", edit, by: "mary")
    try scene.ask("pinGroupMessage", #"{"seq":1,"isPinned":false}"#, by: "olga")
    try scene.ask("removeMessageReaction", #"{"seq":1,"reaction":"a"}"#, by: "adam")
    try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["changeSeq"] == 5)
  }

  @Test func theSameContentChangesNothing() throws {
    let scene = try scene()
    #expect(try scene.expectNothing("modifyGroupMessage", #"{"seq":1,"text":"old"}"#, by: "mary") == [:] as JSON)
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"\u00e9"}"#, by: "mary")
    let other = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"e\u0301"}"#, by: "mary")
    #expect(other.result["editTime"] != .null, "contents are compared byte for byte")
  }

  /// The caller, the sender, and the answer.
  @Test(arguments: [
    ("mary", "mary", 0), ("olga", "mary", 10032), ("adam", "mary", 10032), ("mary", "olga", 10032), ("oscar", "mary", 10007),
    ("administrator", "mary", 0), ("administrator", "administrator", 0), ("olga", "administrator", 10032),
  ])
  func usersEditTheirOwnMessagesAndTheApplicationAny(name: String, sender: String, code: Int) throws {
    for type in [GroupType.work, .public, .meeting] {
      let scene = try scene(type, from: sender)
      if code == 0 {
        #expect(try scene.ask("modifyGroupMessage", edit, by: name).code == 0)
      } else {
        try scene.expectRefused(code, "modifyGroupMessage", edit, by: name)
      }
    }
  }

  @Test func theWindowIsConfiguredAndDoesNotBindTheApplication() throws {
    var limits = GroupLimits.standard
    limits.editWindow = .seconds(60)
    let scene = try scene(limits: limits)
    scene.clocks.advance(by: 60_000)
    #expect(try scene.ask("modifyGroupMessage", edit, by: "mary").code == 0)
    scene.clocks.advance(by: 1)
    try scene.expectRefused(10031, "modifyGroupMessage", #"{"seq":1,"text":"newer"}"#, by: "mary")
    #expect(try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"newer"}"#, by: "administrator").code == 0)
    let late = try self.scene()
    late.clocks.advance(by: 1_000_000_000)
    #expect(try late.ask("modifyGroupMessage", edit, by: "mary").code == 0, "0 = at any time")
  }

  /// "10033, 10030, 10032, another kind 10004, 10031, 10017, the same content": each refusal with all
  /// later ones.
  @Test func theOrderOfTheRefusals() throws {
    var limits = GroupLimits.standard
    limits.editWindow = .seconds(1)
    for type in [GroupType.avChatRoom, .bChatRoom] {
      try Scene(type).expectRefused(10033, "modifyGroupMessage", edit, by: "olga")
    }
    try Scene(.avChatRoom).expectRefused(10007, "modifyGroupMessage", edit, by: "oscar")
    let scene = try scene(limits: limits)
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    scene.clocks.advance(by: 1001)
    try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    try scene.expectRefused(10030, "modifyGroupMessage", #"{"seq":9,"data":"x"}"#, by: "mary")
    try scene.expectRefused(10032, "modifyGroupMessage", #"{"seq":2,"data":"x"}"#, by: "mary")
    try scene.expectRefused(10032, "modifyGroupMessage", #"{"seq":2,"data":"x"}"#, by: "administrator")
    try scene.expectRefused(10032, "modifyGroupMessage", #"{"seq":1,"data":"x"}"#, by: "adam")
    try scene.expectRefused(10004, "modifyGroupMessage", #"{"seq":1,"data":"x"}"#, by: "mary")
    try scene.expectRefused(10031, "modifyGroupMessage", #"{"seq":1,"text":"old"}"#, by: "mary")
    let muted = try self.scene()
    try muted.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
    try muted.expectRefused(10017, "modifyGroupMessage", #"{"seq":1,"text":"old"}"#, by: "mary")
    #expect(try muted.ask("modifyGroupMessage", edit, by: "administrator").code == 0)
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "olga")
    try scene.expectRefused(10030, "modifyGroupMessage", edit, by: "adam")
  }

  @Test func whoCannotSeeTheMessageIsNotTold() throws {
    let scene = try scene()
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectRefused(10030, "modifyGroupMessage", edit, by: "oscar")
    #expect(try scene.ask("modifyGroupMessage", edit, by: "mary").heard["onRecvMessageModified"]?.contains("oscar") == false)
    try scene.ask("quitGroup", by: "carl")
    scene.clocks.advance(by: 1000)
    let edited = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"2"}"#, by: "mary")
    #expect(edited.heard == ["onRecvMessageModified": ["adam", "mary", "olga"]])
    try scene.ask("joinGroup", by: "carl")
    scene.clocks.advance(by: 1000)
    let again = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"3"}"#, by: "mary")
    #expect(again.heard == ["onRecvMessageModified": ["adam", "carl", "mary", "olga"]])
  }

  @Test func editsMergeAndTheLastStateArrives() throws {
    let scene = try scene()
    var events: [(time: Int64, text: String?)] = []
    func note(_ outcome: Scene.Outcome) throws {
      for event in outcome.events["olga"] ?? [] where event["method"] == "onRecvMessageModified" {
        events.append((scene.clocks.wall.milliseconds, event["params"]["message"]["text"].string))
      }
    }
    for number in 0..<300 {
      try note(try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"\#(number)"}"#, by: "mary"))
      scene.clocks.advance(by: 7)
      if let due = scene.state?.nextWake, due <= scene.clocks.monotonic { try note(try scene.wake()) }
    }
    while let due = scene.state?.nextWake {
      scene.clocks.advance(by: max(0, (due - scene.clocks.monotonic).wholeMilliseconds))
      try note(try scene.wake())
    }
    #expect(events.first?.text == "0" && events.last?.text == "299")
    #expect((30...42).contains(events.count), "\(events.count)")
    for (index, event) in events.enumerated() where index >= 20 { #expect(event.time - events[index - 20].time > 1000) }
  }

  @Test func aRecallTakesBackTheEventsThatWait() throws {
    let scene = try scene()
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"1"}"#, by: "mary")
    let waiting = try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"2"}"#, by: "mary")
    #expect(waiting.events.isEmpty)
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").heard.keys.sorted() == ["onRecvMessageRevoked"])
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().events.isEmpty && scene.state?.nextWake == nil)
  }

  @Test func eventsLeaveInTheOrderOfTheirNumbers() throws {
    let scene = try scene()
    for _ in 0..<2 { try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
    try scene.ask("modifyGroupMessage", #"{"seq":1,"text":"1"}"#, by: "mary")
    for (number, seq) in [2, 3, 2].enumerated() {
      try scene.ask("modifyGroupMessage", #"{"seq":\#(seq),"text":"edit \#(number)"}"#, by: "mary")
    }
    #expect(try scene.ask("pinGroupMessage", #"{"seq":3,"isPinned":true}"#, by: "olga").events.isEmpty, "it waits its turn")
    var numbers: [Int64] = []
    while let due = scene.state?.nextWake {
      scene.clocks.advance(by: max(1, (due - scene.clocks.monotonic).wholeMilliseconds))
      numbers += (try scene.wake().events["olga"] ?? []).compactMap { $0["params"]["changeSeq"].integer }
    }
    #expect(numbers == [3, 4, 5], "the later edit of seq 2 has taken the place of the first")
  }
}
