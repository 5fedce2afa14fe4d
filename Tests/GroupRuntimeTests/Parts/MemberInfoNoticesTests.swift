import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Mutes and roles of a live room, merged.
@Suite struct MemberInfoNoticesTests {
  private static func at(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(nanoseconds: milliseconds * 1_000_000) }

  private func operatorNamed(_ user: UserID) -> EventOperator { EventOperator(.outsider(user), on: .web) }

  private func muted(_ users: [UserID], for seconds: Seconds = 60) -> [MemberChange] {
    users.map { user in
      var change = MemberChange(userID: user)
      change.muteTime = seconds
      return change
    }
  }

  private func given(_ user: UserID, _ role: Role) -> [MemberChange] {
    var change = MemberChange(userID: user)
    change.role = role
    return [change]
  }

  @Test func theFirstIsDueAtOnceAndLaterOnesAfterAPause() throws {
    var notices = MemberInfoNotices()
    #expect(notices.due == nil && notices.popDue(at: Self.at(0), wall: 0) == nil)
    notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(notices.due == .distantPast)
    let popped = notices.popDue(at: Self.at(5), wall: 0)
    let first = try #require(popped)
    #expect(first.changes == muted(["ann"]) && first.by == operatorNamed("olga"))
    notices.add(muted(["bob"]), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(notices.due == Self.at(225) && notices.popDue(at: Self.at(224), wall: 0) == nil)
    #expect(notices.popDue(at: Self.at(225), wall: 0)?.changes == muted(["bob"]))
    #expect(notices.due == nil)
  }

  @Test func aUserIsNamedOnceWithTheLastState() throws {
    var notices = MemberInfoNotices()
    notices.add(muted(["ann", "bob"]), muteUntil: 60_000, by: operatorNamed("olga"))
    notices.add(given("ann", .custom(200)), muteUntil: .unset, by: operatorNamed("olga"))
    notices.add(muted(["ann"], for: 0), muteUntil: .unset, by: operatorNamed("adam"))
    let popped = notices.popDue(at: Self.at(0), wall: 0)
    let notice = try #require(popped)
    var ann = MemberChange(userID: "ann")
    (ann.muteTime, ann.role) = (0, .custom(200))
    #expect(notice.changes == [ann] + muted(["bob"]) && notice.by == operatorNamed("adam"))
  }

  /// "Seconds left", rounded up, at the moment of the event.
  @Test func aMuteIsToldByWhatIsLeftOfIt() throws {
    for (wall, left) in [(0, 60), (1, 60), (999, 60), (1000, 59), (59_999, 1), (60_000, 0), (70_000, 0)] as [(Int64, Seconds)] {
      var notices = MemberInfoNotices()
      notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
      let popped = notices.popDue(at: Self.at(0), wall: WallInstant(milliseconds: wall))
      let notice = try #require(popped)
      #expect(notice.changes == muted(["ann"], for: left), "\(wall)")
    }
  }

  @Test func anEventNamesFiftyAndTheOperatorOfTheLastOfThem() throws {
    var notices = MemberInfoNotices()
    let users = (0..<120).map { UserID(stringLiteral: "u\($0)") }
    for (index, user) in users.enumerated() {
      notices.add(muted([user]), muteUntil: 60_000, by: operatorNamed(index < 60 ? "olga" : "adam"))
    }
    var named: [[UserID]] = []
    for round in 0..<3 as Range<Int64> {
      if round > 0 { #expect(notices.popDue(at: Self.at(round * 220 - 1), wall: 0) == nil) }
      let popped = notices.popDue(at: Self.at(round * 220), wall: 0)
      let notice = try #require(popped)
      #expect(notice.by == operatorNamed(round == 0 ? "olga" : "adam"))
      named.append(notice.changes.map(\.userID))
    }
    #expect(named.map(\.count) == [50, 50, 20] && named.flatMap { $0 } == users)
  }

  @Test func nobodyIsToldOfWhatWasRemoved() {
    var notices = MemberInfoNotices()
    notices.add(muted(["ann", "bob"]), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(notices.users == ["ann", "bob"])
    notices.removeAll()
    #expect(notices.due == nil && notices.users.isEmpty && notices.popDue(at: Self.at(0), wall: 0) == nil)
  }

  @Test func aUserWhoWasRemovedIsNotNamed() throws {
    var notices = MemberInfoNotices()
    notices.add(muted(["ann", "bob"]), muteUntil: 60_000, by: operatorNamed("olga"))
    notices.remove("ann")
    notices.remove("cat")
    #expect(notices.users == ["bob"])
    notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
    let popped = notices.popDue(at: Self.at(0), wall: 0)
    #expect(popped?.changes == muted(["bob", "ann"]), "each once")
    notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
    notices.remove("ann")
    #expect(notices.due == nil)
  }

  @Test func aRoleThatIsToldOtherwiseLeavesTheMute() throws {
    var notices = MemberInfoNotices()
    notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
    for user in ["ann", "bob"] as [UserID] {
      notices.add(given(user, .custom(200)), muteUntil: .unset, by: operatorNamed("olga"))
    }
    for user in ["ann", "bob", "cat"] as [UserID] { notices.removeRole(of: user) }
    let popped = notices.popDue(at: Self.at(0), wall: 0)
    #expect(popped?.changes == muted(["ann"]))
  }

  @Test func theNextEventWaitsForOneThatTheStoreHolds() throws {
    var notices = MemberInfoNotices()
    notices.add(muted(["ann"]), muteUntil: 60_000, by: operatorNamed("olga"))
    _ = notices.popDue(at: Self.at(0), wall: 0)
    notices.postpone()
    notices.add(muted(["bob"]), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(notices.due == nil && !notices.isEmpty && notices.popDue(at: Self.at(5000), wall: 0) == nil)
    notices.deliverPostponed(at: Self.at(5000))
    #expect(notices.due == Self.at(5220))
    let popped = notices.popDue(at: Self.at(5220), wall: 0)
    #expect(popped?.changes == muted(["bob"]) && notices.isEmpty)
  }

  @Test func aBoundedNumberOfUsersWaits() {
    var notices = MemberInfoNotices()
    let users = (0..<10_000).map { UserID(stringLiteral: "u\($0)") }
    notices.add(muted(Array(users.dropLast())), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(!notices.isFull)
    notices.add(muted([users[9999]]), muteUntil: 60_000, by: operatorNamed("olga"))
    #expect(notices.isFull)
    _ = notices.popDue(at: Self.at(0), wall: 0)
    #expect(!notices.isFull && notices.users.count == 9950)
  }

  // MARK: A state that is discarded

  @Test func whatWasNotToldIsTakenUpAsItIsThen() throws {
    var waiting = MemberInfoNotices()
    waiting.add(muted(["dan"]), muteUntil: 60_000, by: operatorNamed("olga"))
    _ = waiting.popDue(at: Self.at(100), wall: 0)
    waiting.add(muted(["ann", "cat"]), muteUntil: 60_000, by: operatorNamed("adam"))
    waiting.add(given("eve", .custom(200)), muteUntil: .unset, by: operatorNamed("olga"))
    let lost = [
      MemberInfoNotices.Notice(changes: muted(["bob"]) + given("ann", .custom(7)), by: operatorNamed("olga")),
      MemberInfoNotices.Notice(changes: muted(["fay"]), by: operatorNamed("olga")),
    ]
    var notices = MemberInfoNotices(lost: lost, waiting: waiting)
    #expect(notices.users == ["bob", "ann", "fay", "cat", "eve"] && notices.due == Self.at(320))
    notices.update { user in
      switch user {
      case "bob": (60_000, .member)
      case "ann": (.unset, .custom(9))
      case "eve": (60_000, .member)
      case "cat": (30_000, .admin)
      default: nil
      }
    }
    let popped = notices.popDue(at: Self.at(320), wall: 0)
    let notice = try #require(popped)
    var ann = MemberChange(userID: "ann")
    (ann.muteTime, ann.role) = (0, .custom(9))
    #expect(notice.changes == muted(["bob"]) + [ann] + muted(["cat"], for: 30) + given("eve", .member))
    #expect(notice.by == operatorNamed("olga"), "the last of those who wait")
    #expect(notices.due == nil)
  }

  /// Whatever happens: at most 5 events in any second, and in the end each user's last state is told.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func theLastStateArrivesAndNoSecondHasMoreThanFive(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var notices = MemberInfoNotices()
    let users = (0..<90).map { UserID(stringLiteral: "u\($0)") }
    var (roles, told): ([UserID: Role], [UserID: Role]) = ([:], [:])
    var events: [Int64] = []
    func tell(_ now: Int64) {
      guard let notice = notices.popDue(at: Self.at(now), wall: 0) else { return }
      events.append(now)
      #expect(notice.changes.count <= 50)
      for change in notice.changes { told[change.userID] = change.role }
    }
    for now in 0..<3000 as Range<Int64> {
      if Int.random(in: 0..<20, using: &random) == 0 {
        for user in users where Int.random(in: 0..<4, using: &random) == 0 {
          let role = Role.custom(Int32.random(in: 100...105, using: &random))
          roles[user] = role
          notices.add(given(user, role), muteUntil: .unset, by: operatorNamed("olga"))
        }
      }
      tell(now)
    }
    for now in 3000..<6000 as Range<Int64> { tell(now) }
    #expect(told == roles && notices.due == nil)
    for (index, first) in events.enumerated() where index + 5 < events.count { #expect(events[index + 5] - first >= 1000) }
  }
}
