import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The 40-messages rule in a group: replies, receipts, notices, counts.
@Suite struct LiveRoomTests {
  private func room(_ limit: Int = 2, _ type: GroupType = .avChatRoom) throws -> Scene {
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [type: limit]
    return try Scene(type, rules: GroupRules(limits: limits))
  }

  private func send(
    _ scene: Scene, by name: String = "mary", _ priority: String = "Normal", id: String? = nil
  ) throws -> Scene.Outcome {
    let mark = id.map { #","clientMsgID":"\#($0)""# } ?? ""
    return try scene.ask("sendGroupTextMessage", #"{"text":"x","priority":"\#(priority)"\#(mark)}"#, by: name)
  }

  private func status(_ outcome: Scene.Outcome) -> String? { outcome.result["status"].string }

  @Test func repliesHaveTheStatusOfTheMessage() throws {
    let scene = try room()
    var statuses: [String?] = []
    for _ in 0..<6 { statuses.append(status(try send(scene))) }
    #expect(statuses == ["Delivered", "Delivered", "Queued", "Queued", "Dropped", "Dropped"])
    #expect(scene.state?.nextWake == scene.clocks.wall + 1000)
    scene.clocks.advance(by: 1000)
    let woken = try scene.wake()
    #expect(woken.names("olga") == ["onRecvNewMessage", "onRecvNewMessage"] && woken.names("mary").isEmpty)
    #expect((woken.events["adam"] ?? []).allSatisfy { $0["params"]["opTime"].instant == scene.clocks.wall })
    #expect(woken.decision.counts.map(\.steps) == [.delivered, .delivered])
  }

  @Test func theDisplacedSenderIsToldOnTheSessionThatSent() throws {
    let scene = try room(1)
    scene.signIn("mary", as: "mary/2")
    _ = try send(scene, by: "adam")
    let queued = try send(scene, by: "mary", "Low", id: "m")
    #expect(status(queued) == "Queued")
    let high = try send(scene, by: "adam", "High")
    #expect(status(high) == "Queued")
    let dropped = try high.params("onMessageDropped", to: "mary")
    #expect(dropped["msgID"] == queued.result["msgID"] && dropped["clientMsgID"] == "m")
    #expect(dropped["priority"] == "Low" && dropped["reason"] == "RateLimit" && dropped["groupID"] == "g")
    #expect(high.receivers(of: "onMessageDropped") == ["mary"], "nobody else, and no other session of hers")
    #expect(high.decision.counts.map(\.steps) == [.dropped, .accepted])
  }

  @Test func aDroppedMessageMayBeSentAgainAQueuedOneIsTheSame() throws {
    let scene = try room(1)
    _ = try send(scene)
    let first = try send(scene, id: "q")
    #expect(status(first) == "Queued")
    let again = try send(scene, id: "q")
    #expect(again.result == first.result, "the first result again")
    #expect(status(try send(scene, id: "d")) == "Dropped")
    scene.clocks.advance(by: 1000)
    _ = try scene.wake()
    #expect(try send(scene, id: "q").result == first.result)
    scene.clocks.advance(by: 1000)
    #expect(status(try send(scene, id: "d")) == "Delivered", "not remembered")
  }

  @Test func messagesThatWaitAreDroppedWithTheRoom() throws {
    let scene = try room(1)
    _ = try send(scene, by: "mary")
    _ = try send(scene, by: "mary", id: "m")
    let gone = try scene.ask("dismissGroup", by: "olga")
    #expect(gone.names("mary") == ["onMessageDropped", "onGroupDismissed"])
  }

  @Test func storedGroupsRefuseInstead() throws {
    let scene = try room(2, .public)
    #expect(try (0..<3).map { _ in try send(scene).code } == [0, 0, 10023])
    let before = scene.fingerprint
    #expect(try send(scene).code == 10023 && scene.fingerprint == before)
    scene.clocks.advance(by: 1000)
    #expect(try send(scene).code == 0)
  }

  @Test func controlEventsAreOutside() throws {
    let scene = try room(1)
    _ = try send(scene)
    #expect(try scene.ask("setGroupInfo", #"{"groupName":"new"}"#, by: "olga").receivers(of: "onGroupInfoChanged").count == 4)
    let mute = try scene.ask("muteGroupMember", #"{"userID":"mary","muteTime":5}"#, by: "olga")
    #expect(mute.names("mary") == ["onGroupMemberInfoChanged"])
  }

  // MARK: Notices

  @Test func theFirstNoticeIsSentAtOnceAndLaterOnesAreCoalesced() throws {
    let scene = try room(40)
    for name in ["u1", "u2", "u3"] { scene.signIn(name) }
    let first = try scene.ask("joinGroup", by: "u1")
    #expect(first.receivers(of: "onMemberEnter") == ["adam", "carl", "mary", "olga", "u1"])
    let second = try scene.ask("joinGroup", by: "u2")
    #expect(second.receivers(of: "onMemberEnter") == ["u2"], "the joiner at once, the others in their time")
    _ = try scene.ask("joinGroup", by: "u3")
    scene.clocks.advance(by: 1000)
    let merged = try scene.wake()
    let notice = try merged.params("onMemberEnter", to: "olga")
    #expect(notice["memberList"].elements.map { $0["userID"].string } == ["u2", "u3"] && notice["memberCount"] == 7)
    #expect(scene.state?.nextWake == nil)
  }

  @Test func noticesNameTheFiftyNewest() throws {
    let scene = try room(40)
    for number in 0..<62 {
      scene.signIn("u\(number)")
      _ = try scene.ask("joinGroup", by: "u\(number)")
    }
    scene.clocks.advance(by: 1000)
    let notice = try scene.wake().params("onMemberEnter", to: "olga")
    #expect(notice["memberList"].elements.map { $0["userID"].string } == (12..<62).map { "u\($0)" })
    #expect(notice["memberCount"] == 66)
  }

  @Test func eachKindForItself() throws {
    let scene = try room(40)
    #expect(try scene.ask("joinGroup", by: "oscar").receivers(of: "onMemberEnter").count == 5)
    let left = try scene.ask("quitGroup", by: "oscar")
    #expect(left.receivers(of: "onMemberLeave") == ["adam", "carl", "mary", "olga"], "the first of its kind")
    #expect(left.names("oscar") == ["onQuitFromGroup"])
  }

  @Test func noticesOccupySlotsAfterMessages() throws {
    let scene = try room(1)
    _ = try send(scene)
    let joined = try scene.ask("joinGroup", by: "oscar")
    #expect(joined.receivers(of: "onMemberEnter") == ["oscar"], "the second is full")
    _ = try send(scene, "Lowest")
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().names("olga") == ["onRecvNewMessage"], "Lowest comes first, and takes the place")
    scene.clocks.advance(by: 1001)
    #expect(try scene.wake().names("olga").isEmpty, "a notice that found no place is given up")
    #expect(scene.state?.nextWake == nil)
  }

  @Test func withNotificationOffOnlyTheJoinerHears() throws {
    let scene = try room(40)
    _ = try scene.ask("setGroupInfo", #"{"memberChangeNotification":false}"#, by: "olga")
    #expect(try scene.ask("joinGroup", by: "oscar").receivers(of: "onMemberEnter") == ["oscar"])
    #expect(try scene.ask("quitGroup", by: "oscar").receivers(of: "onMemberLeave").isEmpty)
    scene.clocks.advance(by: 1000)
    #expect(try scene.wake().events.isEmpty)
  }
}
