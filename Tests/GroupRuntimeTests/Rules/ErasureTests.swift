import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// What a group forgets of a user who is deleted (Protocol.md, "Deleting a user").
@Suite struct ErasureTests {
  private static let stored = [GroupType.work, .public, .meeting]

  @discardableResult
  private func erase(_ erasure: GroupErasure, of user: UserID = "mary", in scene: Scene) throws -> Scene.Outcome {
    try scene.ask(.erase(erasure, of: user), by: .administrator)
  }

  // MARK: Leaving

  @Test(arguments: stored, [true, false])
  func theOthersHearOfTheLeavingAndTheUserNothing(type: GroupType, notification: Bool) throws {
    let rules = GroupRules(webhooks: WebhookTypes([.memberLeft]))
    let scene = try Scene(type, rules: rules) { $0.memberChangeNotification = notification }
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"secret"}"#, by: "mary")
    let left = try erase(.leave, in: scene)
    #expect(left.code == 0)
    #expect(left.heard == (notification ? ["onMemberLeave": ["adam", "carl", "olga"]] : [:]))
    #expect(left.notifications.isEmpty, "no QuitGroup for somebody who is gone")
    #expect(scene.state?.isMember("mary") == false)
    if notification {
      let event = try left.params("onMemberLeave", to: "olga")
      #expect(event["memberList"] == [Person.mary] && event["memberCount"] == 3 && event["platform"] == .null)
      let tip = try #require(try scene.tips.last)
      #expect(tip["type"] == "Quit" && tip["opUser"] == Person.administrator && tip["memberList"] == [Person.mary])
    }
    let posts = left.decision.effects.compactMap { if case .post(let entry) = $0 { entry } else { nil } }
    let data = try JSON(try #require(posts.first).data)
    #expect(posts.count == 1 && data["how"] == "quit" && data["opUser"] == Person.administrator)
    #expect(data["memberList"] == [Person.mary])
  }

  @Test func twiceChangesNothing() throws {
    let scene = try Scene(.public)
    try erase(.leave, in: scene)
    let before = scene.fingerprint
    scene.expectNothingDone(try erase(.leave, in: scene), code: 0, before: before, "mary is gone")
    scene.expectNothingDone(try erase(.leave, of: "oscar", in: scene), code: 0, before: before, "oscar never came")
  }

  @Test(arguments: stored, [OwnerQuitMode.forbid, .transfer])
  func anOwnedGroupPassesToTheEarliestMember(type: GroupType, mode: OwnerQuitMode) throws {
    let scene = try Scene(type, members: ["mary": .member, "carl": .custom(200)]) { policy in
      if type == .work { policy.ownerQuitMode = mode }
      policy.memberChangeNotification = true
    }
    let left = try erase(.leave, of: "olga", in: scene)
    // The sessions of a user who is deleted have ended before; here one goes on, to see what it gets.
    #expect(left.heard == ["onGroupInfoChanged": ["carl", "mary", "olga"], "onMemberLeave": ["carl", "mary"]])
    let event = try left.params("onGroupInfoChanged", to: "carl")
    #expect(event["changeInfoList"] == [["type": "Owner", "value": "mary"]] && event["opUser"] == Person.administrator)
    #expect(scene.roles == ["mary": .owner, "carl": .custom(200)])
  }

  @Test(arguments: stored) func theLastMemberTakesTheGroupAlong(type: GroupType) throws {
    let scene = try Scene(type, members: [:])
    let left = try erase(.leave, of: "olga", in: scene)
    #expect(left.decision.disbands && scene.state == nil)
    #expect(left.heard == ["onGroupDismissed": ["olga"]], "a session that is closing")
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom]) func anOwnedLiveRoomIsDisbanded(type: GroupType) throws {
    let scene = try Scene(type)
    let left = try erase(.leave, of: "olga", in: scene)
    #expect(left.decision.disbands)
    #expect(try left.params("onGroupDismissed", to: "mary")["opUser"] == Person.administrator)
  }

  @Test func aMemberOfALiveRoomLeavesIt() throws {
    let scene = try Scene(.avChatRoom, members: ["mary": .member])
    let left = try erase(.leave, in: scene)
    #expect(left.heard["onMemberLeave"] == ["olga"] && scene.state?.isMember("mary") == false)
  }

  @Test func everybodyStaysInAGroupOfEverybody() throws {
    let scene = try Scene(.bChatRoom)
    let left = try erase(.leave, in: scene)
    #expect(left.heard.isEmpty && scene.state?.roster["mary"] == nil && !left.decision.disbands)
  }

  // MARK: Records

  @Test func ofAFormerMemberABanAndAMuteStay() throws {
    let scene = try Scene(.public)
    try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":1000}"#, by: "olga")
    try scene.ask("kickGroupMember", Scene.users(["mary"], #""banTime":500,"reason":"rude""#), by: "olga")
    let outcome = try erase(.records, in: scene)
    #expect(outcome.heard.isEmpty)
    let former = try #require(scene.state?.roster.former["mary"])
    #expect(former.visibleRanges.isEmpty && !former.isListed && !former.quitTime.isSet && former.role == nil)
    #expect(former.bannedUntil > scene.clocks.wall && former.muteUntil > scene.clocks.wall && former.banReason == "rude")
  }

  @Test func withoutARestrictionNothingIsKept() throws {
    let scene = try Scene(.public)
    try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.roster.former["mary"] != nil)
    let outcome = try erase(.records, in: scene)
    #expect(scene.state?.roster.former["mary"] == nil)
    #expect(outcome.decision.changes.contains(.forgetFormer("mary", in: "g")))
    let before = scene.fingerprint
    scene.expectNothingDone(try erase(.records, in: scene), code: 0, before: before, "twice")
  }

  @Test func whoAsksWhoHasLeftReadsTheListAnew() throws {
    let scene = try Scene(.public)
    let since = scene.clocks.wall
    scene.clocks.advance(by: 1000)
    try scene.ask("quitGroup", by: "mary")
    try erase(.records, in: scene)
    let list = try scene.ask("getGroupMemberList", #"{"updatedSince":\#(since.milliseconds)}"#, by: "olga").result
    #expect(list["leftUserIDList"] == [] && list["isComplete"] == false)
  }

  @Test func openApplicationsGo() throws {
    let scene = try Scene(.public) { $0.joinMode = .auth }
    let mine = try scene.ask("joinGroup", #"{"message":"please"}"#, by: "oscar").application()
    scene.signIn("petra")
    let other = try scene.ask("joinGroup", by: "petra").application()
    let outcome = try erase(.records, of: "oscar", in: scene)
    #expect(outcome.decision.changes == [.removeApplications([mine.id], in: "g")] && outcome.heard.isEmpty)
    #expect(scene.state?.applications.application(.join, of: "oscar") == nil)
    #expect(scene.state?.applications.application(.join, of: "petra")?.id == other.id)
  }

  // MARK: Reactions and recalls

  @Test func aReactionGoesWithAChangeAndWithoutAnEvent() throws {
    let scene = try Scene(.public)
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "olga")
    for name in ["mary", "carl"] { try scene.ask("addMessageReaction", #"{"seq":1,"reaction":"+"}"#, by: name) }
    scene.clocks.advance(by: 5000)
    try scene.wake()
    let outcome = try erase(.reaction(seq: 1, "+"), in: scene)
    #expect(outcome.code == 0 && outcome.heard.isEmpty && outcome.decision.effects.isEmpty)
    scene.clocks.advance(by: 5000)
    #expect(try scene.wake().heard.isEmpty, "not later either")
    let left = try scene.ask("getMessageReactions", #"{"seqList":[1]}"#, by: "carl").result["resultList"][0]["reactions"]
    #expect(left[0]["count"] == 1 && left[0]["byMe"] == true, "carl's own")
    #expect(scene.state?.record.changeSeq == 3 && scene.messages[0].changeSeq == 3)
    let before = scene.fingerprint
    scene.expectNothingDone(try erase(.reaction(seq: 1, "+"), in: scene), code: 0, before: before, "twice")
  }

  @Test func messagesAreRecalledByTheAdministrator() throws {
    let scene = try Scene(.meeting)
    try scene.ask("sendGroupTextMessage", #"{"text":"t","extension":"e"}"#, by: "mary")
    try erase(.leave, in: scene)
    scene.clocks.advance(by: 1_000_000)
    let recalled = try erase(.recall(seq: 1), in: scene)
    #expect(recalled.receivers(of: "onRecvMessageRevoked") == ["adam", "carl", "olga"])
    let event = try recalled.params("onRecvMessageRevoked", to: "olga")
    #expect(event["seq"] == 1 && event["opUser"] == Person.administrator && event["changeSeq"] == 1)
    #expect(scene.messages[0].isRevoked && scene.messages[0].content == .text("") && scene.messages[0].sender == "mary")
    let before = scene.fingerprint
    scene.expectNothingDone(try erase(.recall(seq: 1), in: scene), code: 0, before: before, "twice")
    #expect(try erase(.recall(seq: 99), in: scene).code == 10030)
  }

  @Test func whatALiveRoomRemembersIsFoundAndRecalled() throws {
    var configuration = RightsConfiguration()
    configuration.remembersLiveMessages = true
    let recent = RecentMessages(messages: 10, bytes: 1 << 20, duration: nil)
    let scene = try Scene(.avChatRoom, rules: GroupRules(permissions: GroupPermissions(configuration)), recent: recent)
    for (text, name) in [("a", "mary"), ("b", "adam"), ("c", "mary")] {
      try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: name)
    }
    let found = recent.messages(of: "mary", at: scene.clocks.monotonic)
    #expect(found.map(\.count) == [2] && found.map(\.oldest) == [1])
    for seq in [1, 3] as [Int64] {
      let recalled = try erase(.recall(seq: seq), in: scene)
      #expect(try recalled.params("onRecvMessageRevoked", to: "olga")["seq"].integer == seq)
    }
    #expect(recent.messages(of: "mary", at: scene.clocks.monotonic).isEmpty)
    #expect(recent.messages(of: "adam", at: scene.clocks.monotonic).map(\.count) == [1])
  }

  // MARK: Texts in memory

  @Test func nameCardsLeaveTheMemory() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupMemberInfo", #"{"userID":"mary","nameCard":"secret"}"#, by: "mary")
    try scene.ask("sendGroupTextMessage", #"{"text":"t"}"#, by: "mary")
    #expect(try scene.ask("info", by: "olga").result["lastMessage"]["nameCard"] == "secret")
    let outcome = try erase(.texts, in: scene)
    #expect(outcome.decision.changes.isEmpty && outcome.heard.isEmpty)
    let shown = try scene.ask("info", by: "olga").result["lastMessage"]
    #expect(shown["nameCard"] == .null && shown["text"] == "t" && shown["sender"] == "mary")
  }

  // MARK: Who was ever there

  @Test(arguments: stored) func everyWayIntoAGroupIsNoted(type: GroupType) throws {
    let scene = try Scene(type, members: [:]) { policy in
      if type != .work { policy.joinMode = .any }
      policy.inviteMode = .any
    }
    func noted(_ outcome: Scene.Outcome) -> [UserID] {
      outcome.decision.changes.flatMap { change -> [UserID] in
        if case .noteGroup(let users, in: "g") = change { users } else { [] }
      }
    }
    #expect(noted(try scene.ask("inviteUserToGroup", Scene.users(["mary", "carl"]), by: "olga")) == ["mary", "carl"])
    if type != .work { #expect(noted(try scene.ask("joinGroup", by: "oscar")) == ["oscar"]) }
    #expect(noted(try scene.ask("importGroupMembers", Scene.memberList(["petra"]).asObject, by: "administrator")) == ["petra"])
  }

  @Test func aLiveRoomNotesNobody() throws {
    let scene = try Scene(.avChatRoom, members: [:])
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(!joined.decision.changes.contains { if case .noteGroup = $0 { true } else { false } })
  }
}

extension String {
  fileprivate var asObject: String { "{\(self)}" }
}
