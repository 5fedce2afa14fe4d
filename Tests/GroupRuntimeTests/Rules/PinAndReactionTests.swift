import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// pinGroupMessage and getPinnedGroupMessageList (Protocol.md, "Pinned messages").
@Suite struct PinTests {
  private func scene(_ type: GroupType = .public, messages: Int = 1) throws -> Scene {
    let scene = try Scene(type) { policy in if type != .work { policy.joinMode = .any } }
    for number in 1...messages { try scene.ask("sendGroupTextMessage", #"{"text":"\#(number)"}"#, by: "mary") }
    return scene
  }

  private func pin(_ seq: Int, _ isPinned: Bool = true) -> String { #"{"seq":\#(seq),"isPinned":\#(isPinned)}"# }

  private func pinned(_ scene: Scene, for name: String = "olga") throws -> [Int64] {
    try scene.ask("getPinnedGroupMessageList", by: name).result["messageList"].elements.compactMap { $0["seq"].integer }
  }

  /// The caller, and the answers in Work, Public and Meeting.
  @Test(arguments: [
    ("olga", [0, 0, 0]), ("adam", [10007, 0, 0]), ("mary", [10007, 10007, 10007]), ("carl", [10007, 10007, 10007]),
    ("administrator", [0, 0, 0]), ("oscar", [10007, 10007, 10007]),
  ])
  func theTableDecides(name: String, codes: [Int]) throws {
    for (type, code) in zip([GroupType.work, .public, .meeting], codes) {
      let scene = try scene(type)
      if code == 0 {
        let pinned = try scene.ask("pinGroupMessage", pin(1), by: name)
        #expect(pinned.heard == ["onGroupMessagePinned": ["adam", "carl", "mary", "olga"]])
      } else {
        try scene.expectRefused(code, "pinGroupMessage", pin(1), by: name)
      }
    }
    for type in [GroupType.avChatRoom, .bChatRoom] {
      let outsider = name == "oscar" && type == .avChatRoom
      for method in ["pinGroupMessage", "getPinnedGroupMessageList"] {
        try Scene(type).expectRefused(outsider ? 10007 : 10033, method, pin(1), by: name)
      }
    }
  }

  @Test func theEventHasTheMessageWhenItIsPinned() throws {
    let scene = try scene()
    let pinned = try scene.ask("pinGroupMessage", pin(1), by: "adam").params("onGroupMessagePinned", to: "mary")
    #expect(pinned.names == ["changeSeq", "groupID", "isPinned", "message", "opTime", "opUser", "platform", "seq"])
    #expect(pinned["isPinned"] == true && pinned["changeSeq"] == 1 && pinned["opUser"] == Person.adam)
    #expect(pinned["message"]["text"] == "1" && pinned["message"]["isPinned"] == true)
    #expect(try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"][0]["isPinned"] == true)
    let unpinned = try scene.ask("pinGroupMessage", pin(1, false), by: "olga").params("onGroupMessagePinned", to: "mary")
    #expect(unpinned.names == ["changeSeq", "groupID", "isPinned", "opTime", "opUser", "platform", "seq"])
    #expect(unpinned["isPinned"] == false && unpinned["changeSeq"] == 2)
    #expect(try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"][0]["isPinned"] == .null)
  }

  @Test func theLastPinnedComesFirstAndTenArePinnedAtMost() throws {
    let scene = try scene(messages: 12)
    for seq in [3, 1, 2, 4, 5, 6, 7, 8, 9, 10] { try scene.ask("pinGroupMessage", pin(seq), by: "olga") }
    #expect(try pinned(scene) == [10, 9, 8, 7, 6, 5, 4, 2, 1, 3])
    try scene.expectRefused(10056, "pinGroupMessage", pin(11), by: "olga")
    try scene.expectRefused(10030, "pinGroupMessage", pin(13), by: "olga")
    #expect(try scene.expectNothing("pinGroupMessage", pin(3), by: "olga") == [:] as JSON)
    try scene.ask("modifyGroupMessage", #"{"seq":3,"text":"edited"}"#, by: "mary")
    try scene.ask("pinGroupMessage", pin(1, false), by: "olga")
    try scene.ask("pinGroupMessage", pin(1), by: "olga")
    #expect(try pinned(scene) == [1, 10, 9, 8, 7, 6, 5, 4, 2, 3])
  }

  @Test func tipsAndUnknownMessages() throws {
    let scene = try scene()
    try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    for isPinned in [true, false] { try scene.expectRefused(10032, "pinGroupMessage", pin(2, isPinned), by: "olga") }
    try scene.expectRefused(10030, "pinGroupMessage", pin(3), by: "olga")
    for seq in [1, 3] { #expect(try scene.expectNothing("pinGroupMessage", pin(seq, false), by: "olga") == [:] as JSON) }
    try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary")
    try scene.expectRefused(10030, "pinGroupMessage", pin(1), by: "olga")
  }

  @Test func aRecallUnpinsWithoutAnEventOfItsOwn() throws {
    let scene = try scene(messages: 2)
    for seq in [1, 2] { try scene.ask("pinGroupMessage", pin(seq), by: "olga") }
    let revoked = try scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    #expect(revoked.heard.keys.sorted() == ["onRecvMessageRevoked"])
    #expect(try pinned(scene) == [1])
    #expect(try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"][0]["isPinned"] == .null)
  }

  @Test func invisiblePinsAreUnpinnedButNotShown() throws {
    let scene = try scene()
    try scene.ask("pinGroupMessage", pin(1), by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    try scene.ask("setGroupMemberRole", #"{"userID":"oscar","role":"Admin"}"#, by: "olga")
    #expect(try pinned(scene, for: "oscar") == [])
    let unpinned = try scene.ask("pinGroupMessage", pin(1, false), by: "oscar")
    #expect(unpinned.code == 0 && unpinned.heard == ["onGroupMessagePinned": ["adam", "carl", "mary", "olga"]])
    try scene.expectRefused(10030, "pinGroupMessage", pin(1), by: "oscar")
  }
}

/// addMessageReaction, removeMessageReaction and getMessageReactions (Protocol.md, "Reactions").
@Suite struct ReactionTests {
  private func scene(_ type: GroupType = .public, limits: GroupLimits = .standard) throws -> Scene {
    let scene = try Scene(type, rules: GroupRules(limits: limits)) { policy in if type != .work { policy.joinMode = .any } }
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    return scene
  }

  private func give(_ reaction: String, _ seq: Int = 1) -> String { #"{"seq":\#(seq),"reaction":"\#(reaction)"}"# }

  @discardableResult
  private func add(_ scene: Scene, _ reaction: String, by name: String) throws -> Scene.Outcome {
    scene.clocks.advance(by: 100)
    return try scene.ask("addMessageReaction", give(reaction), by: name)
  }

  private func shown(_ scene: Scene, to name: String) throws -> JSON {
    try scene.ask("getGroupHistoryMessageList", by: name).result["messageList"].elements.last?["reactions"] ?? .null
  }

  @Test func aReactionIsToldAndShown() throws {
    let scene = try scene()
    let added = try add(scene, "👍", by: "adam")
    #expect(added.result == [:] as JSON)
    #expect(added.heard == ["onRecvMessageReactionsChanged": ["adam", "carl", "mary", "olga"]])
    #expect(
      try added.params("onRecvMessageReactionsChanged", to: "olga") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "opUser": Person.adam, "platform": "Web", "seq": 1, "changeSeq": 1,
        "reactions": [["reaction": "👍", "count": 1]], "reaction": "👍", "isAdded": true,
      ])
    try add(scene, "b", by: "olga")
    try add(scene, "👍", by: "olga")
    #expect(
      try shown(scene, to: "adam") == [
        ["reaction": "👍", "count": 2, "byMe": true], ["reaction": "b", "count": 1, "byMe": false],
      ])
    #expect(try shown(scene, to: "administrator")[0]["byMe"] == false)
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["reactions"][1]["byMe"] == true)
    scene.clocks.advance(by: 100)
    let removed = try scene.ask("removeMessageReaction", give("b"), by: "olga")
    let params = try removed.params("onRecvMessageReactionsChanged", to: "mary")
    #expect(params["isAdded"] == false && params["reactions"] == [["reaction": "👍", "count": 2]])
  }

  @Test func twiceIsOnceAndWhatIsNotThereIsNotRemoved() throws {
    let scene = try scene()
    try add(scene, "a", by: "adam")
    #expect(try scene.expectNothing("addMessageReaction", give("a"), by: "adam") == [:] as JSON)
    #expect(try scene.expectNothing("removeMessageReaction", give("b"), by: "adam") == [:] as JSON)
    #expect(try scene.expectNothing("removeMessageReaction", give("a"), by: "olga") == [:] as JSON)
    // Compared byte for byte.
    try add(scene, "\u{e9}", by: "adam")
    try add(scene, "e\u{301}", by: "adam")
    #expect(try shown(scene, to: "adam").elements.count == 3)
  }

  @Test func differentReactionsAreBounded() throws {
    let scene = try scene()
    for number in 0..<10 { try add(scene, "\(number)", by: "adam") }
    try scene.expectRefused(10055, "addMessageReaction", give("x"), by: "adam")
    #expect(try add(scene, "3", by: "olga").code == 0)
    try scene.ask("removeMessageReaction", give("0"), by: "adam")
    #expect(try add(scene, "x", by: "adam").code == 0)
    var limits = GroupLimits.standard
    limits.reactionsPerMessage = 1
    let narrow = try self.scene(limits: limits)
    try add(narrow, "a", by: "adam")
    try narrow.expectRefused(10055, "addMessageReaction", give("b"), by: "olga")
  }

  @Test func usersAndReactionsComeInTheOrderInWhichTheyWereGiven() throws {
    let scene = try scene()
    for (reaction, name) in [("a", "adam"), ("b", "olga"), ("a", "mary"), ("a", "carl")] { try add(scene, reaction, by: name) }
    try scene.ask("removeMessageReaction", give("a"), by: "adam")
    try add(scene, "a", by: "adam")
    let read = #"{"seqList":[1,9],"userCount":10}"#
    #expect(
      try scene.ask("getMessageReactions", read, by: "carl").result == [
        "resultList": [
          [
            "seq": 1,
            "reactions": [
              ["reaction": "a", "count": 3, "byMe": true, "userIDList": ["mary", "carl", "adam"]],
              ["reaction": "b", "count": 1, "byMe": false, "userIDList": ["olga"]],
            ],
          ]
        ]
      ])
    try scene.ask("quitGroup", by: "mary")
    let some = try scene.ask("getMessageReactions", #"{"seqList":[1],"userCount":1}"#, by: "olga").result["resultList"][0]
    #expect(some["reactions"][0]["userIDList"] == ["mary"], "who leaves keeps the reactions given")
    for name in ["adam", "carl"] { try scene.ask("removeMessageReaction", give("a"), by: name) }
    #expect(
      try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "olga").result["resultList"][0]["reactions"][0]["count"] == 1)
  }

  @Test func theOrderOfTheRefusals() throws {
    for method in ["addMessageReaction", "removeMessageReaction"] {
      for type in [GroupType.avChatRoom, .bChatRoom] { try Scene(type).expectRefused(10033, method, give("a"), by: "olga") }
      try Scene(.avChatRoom).expectRefused(10007, method, give("a"), by: "oscar")
      let scene = try scene()
      try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
      try scene.ask("muteGroup", #"{"mode":"All"}"#, by: "olga")
      try scene.expectRefused(10030, method, give("a", 9), by: "mary")
      try scene.expectRefused(10032, method, give("a", 2), by: "mary")
      try scene.expectRefused(10017, method, give("a"), by: "mary")
      try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "olga")
      try scene.expectRefused(10030, method, give("a"), by: "mary")
      try scene.expectRefused(10007, method, give("a"), by: "oscar")
    }
    for type in [GroupType.avChatRoom, .bChatRoom] {
      try Scene(type).expectRefused(10033, "getMessageReactions", #"{"seqList":[1]}"#, by: "olga")
    }
  }

  @Test func aRecallRemovesThemWithoutAnEventOfTheirOwn() throws {
    let scene = try scene()
    try add(scene, "a", by: "adam")
    scene.clocks.advance(by: 100)
    #expect(try scene.ask("revokeGroupMessage", #"{"seq":1}"#, by: "mary").heard.keys.sorted() == ["onRecvMessageRevoked"])
    #expect(try shown(scene, to: "adam") == .null)
    #expect(
      try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "adam").result == [
        "resultList": [["seq": 1, "reactions": []]]
      ])
  }

  @Test func invisibleMessagesHaveNoReactions() throws {
    let scene = try scene()
    try add(scene, "a", by: "adam")
    try scene.ask("joinGroup", by: "oscar")
    try scene.expectRefused(10030, "addMessageReaction", give("a"), by: "oscar")
    #expect(try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "oscar").result == ["resultList": []])
    #expect(try add(scene, "b", by: "adam").heard["onRecvMessageReactionsChanged"] == ["adam", "carl", "mary", "olga"])
  }
}
