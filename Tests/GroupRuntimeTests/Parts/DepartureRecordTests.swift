import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The records that tell who has left a group, and since when they tell of everybody.
@Suite struct DepartureRecordTests {
  private static let day: Int64 = 86_400_000
  private let now: WallInstant = 4_000_000_000

  private func departed(_ number: Int, at time: WallInstant, banned: WallInstant = .unset) -> FormerMember {
    var former = FormerMember(
      userID: UserID(stringLiteral: "user\(number)"), bannedUntil: banned, leftTime: time)
    former.isListed = true
    return former
  }

  @Test func theLatestToLeaveComeFirst() {
    let former = FormerMembers(
      [departed(1, at: now - 5), departed(2, at: now - 3), departed(3, at: now - 5), departed(4, at: now - 9)], at: now)
    #expect(former.left(since: now - 5) == ["user2", "user1", "user3"])
    #expect(former.left(since: 0).count == 4 && former.left(since: now) == [])
  }

  @Test func whoIsBackHasNotLeft() {
    var former = FormerMembers([departed(1, at: now - 5), departed(2, at: now - 3)], at: now)
    _ = former.remove("user2")
    #expect(former.left(since: 0) == ["user1"])
  }

  /// The order is made with the first list, and kept up to date since.
  @Test func changesAfterTheFirstListAreInTheNext() {
    var former = FormerMembers([departed(1, at: now - 5), departed(2, at: now - 3)], at: now)
    _ = former.departures(since: 0, at: now)
    _ = former.add(departed(3, at: now - 1), at: now)
    _ = former.remove("user2")
    #expect(former.left(since: 0) == ["user3", "user1"])
    _ = former.add(departed(2, at: now), at: now)
    _ = former.add(departed(1, at: now), at: now)
    #expect(former.left(since: 0) == ["user1", "user2", "user3"])
    _ = former.erase("user3")
    // As it was, with less in it.
    _ = former.add(departed(1, at: now), at: now)
    #expect(former.left(since: 0) == ["user1", "user2"])
    _ = former.updateAll(at: now) { if $0.userID == "user1" { $0.leftTime -= .milliseconds(9) } }
    #expect(former.left(since: 0) == ["user2", "user1"])
  }

  @Test func departuresOfWhoComesAndGoesDoNotAccumulate() {
    var members: [UserID: FormerMember] = ["user0": departed(0, at: 1)]
    var order = DepartureOrder(members.values)
    for time in 2...10_000 as ClosedRange<Int64> {
      let former = departed(1, at: WallInstant(time))
      members[former.userID] = former
      order.insert(former, among: members)
    }
    #expect(order.count < 100)
    #expect(order.latest(9, since: 0, among: members) == ["user1", "user0"])
    #expect(order.latest(1, since: 0, among: members) == ["user1"])
    #expect(order.latest(9, since: 10_000, among: members) == ["user1"])
    members["user1"] = nil
    #expect(order.latest(9, since: 0, among: members) == ["user0"])
  }

  @Test func nothingIsKnownFromBeforeTheRecordsTheMonthAndTheLoading() {
    #expect(FormerMembers([], at: now).completeSince(at: now) == now)
    let since = now - 3 * Self.day
    #expect(FormerMembers([], at: now, recordedSince: since).completeSince(at: now) == since)
    let old = FormerMembers([], at: now, recordedSince: 1)
    // A record that old may be gone.
    #expect(old.completeSince(at: now) == now - 30 * Self.day + 1)
    #expect(old.completeSince(at: now + 50 * Self.day) == now + 20 * Self.day + 1)
  }

  @Test(arguments: [(999, true), (1000, true), (1001, false)])
  func anAnswerNamesAThousandAndSaysWhetherThatIsAll(count: Int, isComplete: Bool) {
    var former = FormerMembers((0..<count).map { departed($0, at: now - Int64($0)) }, at: now, recordedSince: now - 2000)
    let found = former.departures(since: now - 2000, at: now)
    #expect(found.users == (0..<min(count, 1000)).map { UserID(stringLiteral: "user\($0)") }, "the latest first")
    #expect(found.isComplete == isComplete)
  }

  @Test func anAnswerIsWholeSinceInstantsFromWhichAllIsKnown() {
    var former = FormerMembers([departed(1, at: now - 5)], at: now, recordedSince: now - 9)
    for (since, isComplete) in [(now - 10, false), (now - 9, true), (now, true), (now + 1, false)] as [(WallInstant, Bool)] {
      let found = former.departures(since: since, at: now)
      #expect(found.isComplete == isComplete, "\(since)")
      #expect(found.users == (since <= now - 5 ? ["user1"] : []), "\(since)")
    }
  }

  @Test func aRecordThatGivesWayTakesTheTimeBeforeItAlong() {
    let start = now - Self.day
    let records = (0..<FormerMembers.maxCount).map { departed($0, at: start + Int64($0)) }
    var former = FormerMembers(records, at: now, recordedSince: start - Self.day)
    #expect(former.completeSince(at: now) == start - Self.day)
    #expect(former.add(departed(99_999, at: now), at: now) == ["user0"])
    #expect(former.completeSince(at: now) == start + 1 && former.recordedSince == start + 1)
    // The clock is corrected: the departures lie before instants that clients may have noted.
    _ = former.updateAll(at: now) { $0.leftTime -= .milliseconds(1) }
    #expect(former.recordedSince == now + 1)
  }

  @Test func aStoreThatGivesAsManyAsItMayHasLeftOutEarlierOnes() {
    let end = now - 7 * Self.day
    let records = (0..<FormerMembers.maxCount).map { departed($0, at: end + Int64($0)) }
    #expect(FormerMembers.recordedSince(1, records, at: now) == end + 1)
    #expect(FormerMembers.recordedSince(now, records, at: now) == now)
    #expect(FormerMembers.recordedSince(1, Array(records.dropLast()), at: now) == 1)
    #expect(FormerMembers.recordedSince(nil, records, at: now) == nil)
    let banned = (0..<FormerMembers.maxCount).map { departed($0, at: end, banned: now + 9) }
    #expect(FormerMembers.recordedSince(1, banned, at: now) == nil, "nobody knows who has left besides")
    var cleared = records
    for index in cleared.indices.dropLast() { cleared[index].clearedSeq = 1 }
    #expect(FormerMembers.recordedSince(1, cleared, at: now) == cleared[FormerMembers.maxCount - 1].leftTime + 1)
    cleared[FormerMembers.maxCount - 1].clearedSeq = 1
    #expect(FormerMembers.recordedSince(1, cleared, at: now) == nil, "such records are kept without end")
  }

  @Test func aRoleIsKeptRatherThanOtherRecords() {
    var holder = departed(0, at: now - 9)
    holder.role = .admin
    let records = [holder] + (1..<FormerMembers.maxCount).map { departed($0, at: now - 5) }
    var former = FormerMembers(records, at: now)
    _ = former.add(departed(99_999, at: now), at: now)
    #expect(former["user0"]?.role == .admin && former.count == FormerMembers.maxCount)
  }

  // MARK: In the group

  @Test(arguments: [GroupType.work, .public, .meeting])
  func everyDepartureIsRecordedAlsoWithoutAMessageSeen(type: GroupType) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = false }
    let removed = try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga")
    let record = try #require(scene.state?.roster.former["mary"])
    #expect(record.isListed && record.visibleRanges.isEmpty && removed.decision.changes.contains(.putFormer(record, in: "g")))
    #expect(scene.state?.roster.former.left(since: scene.clocks.wall) == ["mary"])
  }

  @Test func aLiveRoomRecordsNoDeparture() throws {
    let scene = try Scene(.avChatRoom)
    let left = try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.roster.former["mary"] == nil)
    #expect(!left.decision.changes.contains { if case .putFormer = $0 { true } else { false } })
  }

  @Test func aMembershipOfAMeetingIsRememberedThoughAllIsVisible() throws {
    let scene = try Scene(.meeting)
    try scene.ask("sendGroupTextMessage", #"{"text":"one"}"#, by: "olga")
    try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.roster.former["mary"]?.visibleRanges == [1...1])
    try scene.ask("sendGroupTextMessage", #"{"text":"two"}"#, by: "olga")
    try scene.ask("joinGroup", by: "mary")
    let member = try #require(scene.state?.roster["mary"])
    #expect(member.earlierVisibleRanges == [1...1] && member.firstVisibleSeq > 2)
    let history = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"]
    #expect(history.elements.contains { $0["text"] == "two" })
  }

  @Test func aClearedHistoryOutlivesTheMembership() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    for text in ["a", "b"] { try scene.ask("sendGroupTextMessage", #"{"text":"\#(text)"}"#, by: "olga") }
    scene.state?.roster.update("mary") { $0.clearedSeq = 1 }
    #expect(scene.state?.roster.clearedMax == 1)
    try scene.ask("quitGroup", by: "mary")
    #expect(scene.state?.roster.former["mary"]?.clearedSeq == 1)
    #expect(scene.state?.roster.former["mary"]?.memorableUntil == .distantFuture)
    try scene.ask("joinGroup", by: "mary")
    #expect(scene.state?.roster["mary"]?.clearedSeq == 1)
    let history = try scene.ask("getGroupHistoryMessageList", by: "mary").result["messageList"]
    let texts = history.elements.compactMap { $0["text"] == .null ? nil : $0["text"] }
    #expect(texts.contains("b") && !texts.contains("a"))
  }
}

extension FormerMembers {
  /// The users who have left since an instant: of a copy, because a list makes the order.
  fileprivate func left(since: WallInstant) -> [UserID] {
    var copy = self
    return copy.departures(since: since, at: since).users
  }
}
