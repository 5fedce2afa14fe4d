import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// A bounded number of former members; those without a ban or mute are forgotten first.
@Suite struct FormerMembersTests {
  private static let maxCount = FormerMembers.maxCount
  private static let day: Int64 = 86_400_000

  private func user(_ number: Int) -> UserID { UserID(stringLiteral: "u\(number)") }

  /// A former member who has seen messages, and so is remembered for 30 days.
  private func departed(
    _ number: Int, at time: WallInstant, banned: WallInstant = 0, muted: WallInstant = 0, role: Role? = nil, saw: Bool = true
  ) -> FormerMember {
    var former = FormerMember(
      userID: user(number), visibleRanges: saw ? [1...2] : [], muteUntil: muted, bannedUntil: banned, leftTime: time)
    former.role = role
    return former
  }

  /// The maximum of former members; `u0` left first.
  private func full(at now: WallInstant, restricted: ClosedRange<Int>? = nil) -> FormerMembers {
    FormerMembers(
      (0..<Self.maxCount).map {
        departed($0, at: WallInstant($0), banned: restricted?.contains($0) == true ? now + Self.day : 0)
      },
      at: now)
  }

  @Test func beyondTheMaximumTheEarliestDepartureIsForgotten() {
    let now = WallInstant(Self.maxCount)
    var former = full(at: now)
    #expect(former.count == Self.maxCount)
    #expect(former.add(departed(Self.maxCount, at: now), at: now) == [user(0)])
    #expect(former.count == Self.maxCount && former[user(0)] == nil && former[user(Self.maxCount)] != nil)
    #expect(former.add(departed(1, at: now), at: now).isEmpty, "known already")
    #expect(former.add(departed(Self.maxCount + 1, at: now), at: now) == [user(2)], "u1 has left again since")
  }

  @Test func usersWithoutABanAreForgottenBeforeBannedOnes() {
    let now = WallInstant(Self.maxCount)
    var former = full(at: now, restricted: 0...9)
    for number in 10...12 { #expect(former.add(departed(Self.maxCount + number, at: now), at: now) == [user(number)]) }
    #expect((0...9).allSatisfy { former[user($0)] != nil })
  }

  @Test func ifAllAreBannedTheEarliestEndingBanIsForgotten() {
    var former = FormerMembers(
      (0..<Self.maxCount).map { departed($0, at: 1, banned: 1000 + Int64(Self.maxCount - $0)) }, at: 10)
    #expect(former.add(departed(Self.maxCount, at: 10, banned: 500_000), at: 10) == [user(Self.maxCount - 1)])
    #expect(former.add(departed(Self.maxCount + 1, at: 10), at: 10) == [user(Self.maxCount + 1)], "the only one who is free")
    #expect(former.count == Self.maxCount)
  }

  @Test func holdersOfARoleAreForgottenLast() {
    let later = WallInstant(1000 * Self.day)
    var former = FormerMembers(
      (0..<Self.maxCount - 1).map { departed($0, at: WallInstant($0), role: .admin, saw: false) }
        + [departed(Self.maxCount, at: 9, banned: later + Self.day, saw: false)],
      at: later)
    #expect(former.count == Self.maxCount, "a role has no end")
    let new = departed(Self.maxCount + 1, at: later, role: .custom(200), saw: false)
    #expect(former.add(new, at: later) == [user(Self.maxCount)], "the ban")
    let next = departed(Self.maxCount + 2, at: later, role: .admin, saw: false)
    #expect(former.add(next, at: later) == [user(0)], "the role of the earliest departure")
  }

  /// A role that is given to somebody who left long ago takes the place of the departure.
  @Test func aRoleKeepsARecordThatWouldGo() {
    let now = WallInstant(Self.maxCount)
    var former = full(at: now)
    #expect(former.add(departed(0, at: 0, role: .admin), at: now).isEmpty, "known already")
    #expect(former.add(departed(Self.maxCount, at: now), at: now) == [user(1)])
    #expect(former[user(0)]?.role == .admin)
    #expect(former.add(departed(0, at: 0), at: now).isEmpty, "the role has ended")
    #expect(former.add(departed(Self.maxCount + 1, at: now), at: now) == [user(2)])
    #expect(former.count == Self.maxCount)
  }

  @Test func aRoleThatIsGivenToABannedUserOutlastsTheBan() {
    var former = FormerMembers([departed(1, at: 1, banned: 100, saw: false)], at: 1)
    _ = former.add(departed(1, at: 1, banned: 100, role: .admin, saw: false), at: 2)
    for number in 2..<6 { _ = former.add(departed(number, at: 200), at: 200) }
    #expect(former[user(1)]?.role == .admin)
    let lifted = former.liftBan(of: user(1), at: 50)
    #expect(lifted?.role == .admin && lifted?.bannedUntil == 0)
  }

  @Test func rolesThatComeAndGoDoNotAccumulate() {
    var former = FormerMembers([departed(0, at: 0)], at: 0)
    for time in 1...5000 as ClosedRange<Int64> {
      let role: Role? = time % 3 == 0 ? nil : time % 3 == 1 ? .admin : .custom(200)
      _ = former.add(departed(1, at: 1, muted: 100_000, role: role), at: WallInstant(time))
    }
    #expect(former.count == 2 && former.departureCount < 100 && former[user(1)]?.role == .custom(200))
  }

  @Test func aLongBanDoesNotKeepOthersFromBeingForgotten() {
    var former = FormerMembers(
      [departed(0, at: 0, banned: WallInstant(1000 * Self.day))]
        + (1..<Self.maxCount).map { departed($0, at: WallInstant($0), banned: 20_000) },
      at: 15_000)
    for number in 0..<20 {
      let forgotten = former.add(departed(Self.maxCount + number, at: 30_000 + Int64(number)), at: 30_000 + Int64(number))
      #expect(!forgotten.contains(user(0)))
    }
    #expect(former[user(0)] != nil && former.count <= Self.maxCount)
  }

  /// It is kept as long as the group, and is forgotten in the order of departures where there are too many.
  @Test func aClearedHistoryDoesNotKeepOthersFromBeingForgotten() {
    var cleared = departed(0, at: 0, saw: false)
    cleared.clearedSeq = 5
    var former = FormerMembers([cleared], at: 0)
    for number in 1...8 { _ = former.add(departed(number, at: WallInstant(number)), at: WallInstant(number)) }
    let later = WallInstant(10) + FormerMember.lifetime
    for number in 20..<24 { _ = former.add(departed(number, at: later), at: later) }
    #expect(former.byUser.keys.sorted() == [user(0)] + (20..<24).map(user) && former.departureCount == 5)
    let now = WallInstant(Self.maxCount)
    var many = (0..<Self.maxCount).map { departed($0, at: WallInstant($0)) }
    for number in [1, 2] { many[number].clearedSeq = 5 }
    former = FormerMembers(many, at: now)
    for number in 0..<4 {
      #expect(former.add(departed(Self.maxCount + number, at: now), at: now) == [user(number)], "the earliest, cleared or not")
    }
  }

  /// With a ban or a mute besides, it goes on when that ends.
  @Test func aClearedHistoryOutlastsABan() {
    var cleared = departed(0, at: 0, banned: 100, saw: false)
    cleared.clearedSeq = 5
    var former = FormerMembers([cleared], at: 0)
    for number in 1..<5 { _ = former.add(departed(number, at: 200), at: 200) }
    let later = WallInstant(201) + FormerMember.lifetime
    for number in 10..<14 { _ = former.add(departed(number, at: later), at: later) }
    #expect(former[user(0)]?.clearedSeq == 5 && former.count == 5 && former.departureCount == 5)
  }

  @Test func removingForgetsAUser() {
    var former = FormerMembers([departed(1, at: 5), departed(2, at: 6)], at: 10)
    #expect(former.remove(user(1)) == departed(1, at: 5))
    #expect(former.remove(user(1)) == nil && former[user(1)] == nil && former.count == 1)
    #expect(former.add(departed(1, at: 7), at: 10).isEmpty)
    #expect(former[user(1)] == departed(1, at: 7))
  }

  @Test func endedRecordsAreDropped() {
    var former = FormerMembers([], at: 0)
    for number in 0..<8 {
      _ = former.add(departed(number, at: WallInstant(number), banned: 100, saw: false), at: WallInstant(number))
    }
    _ = former.add(departed(8, at: 9, muted: 300, saw: false), at: 9)
    for number in 20..<24 { _ = former.add(departed(number, at: 150), at: 150) }
    #expect((0..<8).allSatisfy { former[user($0)] == nil } && former[user(8)] != nil)
    let later = WallInstant(151) + FormerMember.lifetime
    for number in 30..<34 { _ = former.add(departed(number, at: later), at: later) }
    #expect(former.byUser.keys.sorted() == (30..<34).map(user))
  }

  @Test func visibleRangesOutlastABan() {
    var former = FormerMembers([departed(1, at: 1, banned: 100)], at: 1)
    for number in 2..<5 { _ = former.add(departed(number, at: 200), at: 200) }
    #expect(former[user(1)]?.visibleRanges == [1...2])
  }

  @Test func loadingLeavesOutEndedRecords() {
    let stored = [
      departed(1, at: 1, saw: false), departed(2, at: 1, banned: 10, saw: false), departed(3, at: 1, muted: 11, saw: false),
      departed(4, at: 1),
      departed(5, at: 10 - FormerMember.lifetime), departed(6, at: 11 - FormerMember.lifetime),
    ]
    let former = FormerMembers(stored.reversed(), at: 10)
    #expect(former.byUser.keys.sorted() == [user(3), user(4), user(6)])
    #expect(former.hasDeparture(after: 0) && !former.hasDeparture(after: 1))
  }

  @Test func repeatedDeparturesDoNotAccumulate() {
    var former = FormerMembers([departed(0, at: 0)], at: 0)
    for time in 1...10_000 as ClosedRange<Int64> {
      _ = former.add(
        departed(1, at: WallInstant(time), banned: time % 2 == 0 ? WallInstant(time + Self.day) : 0), at: WallInstant(time))
      _ = former.remove(user(1))
    }
    #expect(former.count == 1 && former.departureCount < 100)
  }

  // MARK: Bans

  private func listed(_ former: inout FormerMembers, at now: WallInstant, count: Int = 3) -> [UserID] {
    var (listed, next): ([UserID], Int64) = ([], 0)
    repeat {
      let page = former.bannedPage(at: now, after: next, count: count)
      listed += page.members.map(\.userID)
      next = page.nextSeq
    } while next != 0 && listed.count < 100
    return listed
  }

  @Test func bansAreListedByTheirEndsThenByUser() {
    var former = FormerMembers(
      [departed(4, at: 1, banned: 50), departed(2, at: 2, banned: 90), departed(3, at: 3, banned: 50), departed(1, at: 4)], at: 5)
    for count in 1...4 { #expect(listed(&former, at: 10, count: count) == [user(3), user(4), user(2)]) }
    _ = former.add(departed(5, at: 10, banned: 60), at: 10)
    _ = former.add(departed(6, at: 10, muted: 60), at: 10)
    _ = former.remove(user(4))
    #expect(listed(&former, at: 10) == [user(3), user(5), user(2)])
    #expect(listed(&former, at: 50) == [user(5), user(2)] && listed(&former, at: 89) == [user(2)])
    #expect(listed(&former, at: 90) == [])
  }

  @Test func aLaterBanOfAUserTakesThePlaceOfTheFirst() {
    var former = FormerMembers([departed(1, at: 1, banned: 50)], at: 2)
    #expect(listed(&former, at: 2) == [user(1)])
    _ = former.remove(user(1))
    _ = former.add(departed(1, at: 3, banned: 40), at: 3)
    #expect(listed(&former, at: 3, count: 1) == [user(1)])
  }

  @Test func manyBansOfOneEndGoPageByPageWhileSomeAreLifted() {
    var former = FormerMembers((0..<60).map { departed(100 + $0, at: 1, banned: 1000) }, at: 1)
    var (seen, next): ([UserID], Int64) = ([], 0)
    repeat {
      let page = former.bannedPage(at: 10, after: next, count: 7)
      for member in page.members { #expect(former.liftBan(of: member.userID, at: 10) != nil) }
      seen += page.members.map(\.userID)
      next = page.nextSeq
    } while next != 0 && seen.count < 100
    #expect(seen == (100..<160).map(user))
    #expect(listed(&former, at: 10) == [])
  }

  @Test func strangePositionsAreAnswered() {
    var former = FormerMembers([departed(1, at: 1, banned: 50), departed(2, at: 1, banned: 60)], at: 2)
    for next in [1, 1023, 50 * 1024 + 999, 1 << 53, Int64.max] as [Int64] {
      #expect(former.bannedPage(at: 2, after: next, count: 5).members.count <= 2, "\(next)")
    }
    #expect(former.bannedPage(at: 2, after: 50 * 1024 + 999, count: 5).members.map(\.userID) == [user(2)])
  }

  @Test func endedBansDoNotAccumulate() {
    var former = FormerMembers([departed(0, at: 0)], at: 0)
    _ = listed(&former, at: 0)
    for time in (1...2000).map({ WallInstant($0) }) {
      _ = former.add(departed(1, at: time, banned: time + Self.day), at: time)
      #expect(former.liftBan(of: user(1), at: time)?.visibleRanges == [1...2])
      #expect(former.liftBan(of: user(1), at: time) == nil)
      _ = former.remove(user(1))
    }
    #expect(former.count == 1 && former.departureCount < 200)
    _ = former.add(departed(2, at: 2001, banned: 3000), at: 2001)
    #expect(listed(&former, at: 2001) == [user(2)])
  }

  @Test func aLiftedBanKeepsTheMuteAndTheMessages() {
    var former = FormerMembers(
      [departed(1, at: 1, banned: 50, muted: 70, saw: false), departed(2, at: 1, banned: 50, saw: false)], at: 2)
    let muted = former.liftBan(of: user(1), at: 2)
    #expect(muted?.bannedUntil == 0 && muted?.muteUntil == 70 && former[user(1)] == muted)
    #expect(former.liftBan(of: user(2), at: 2)?.isMemorable(at: 2) == false && former[user(2)] == nil)
    #expect(former.liftBan(of: user(3), at: 2) == nil)
  }

  // MARK: All records

  @Test func updatingAllChangesRecordsAndTheirOrder() {
    let now = WallInstant(Self.maxCount)
    var former = full(at: now, restricted: 0...9)
    let changed = former.updateAll(at: now) { former in
      former.leftTime -= 5 as Int64
      if former.bannedUntil > 0 { former.bannedUntil -= 7 as Int64 }
    }
    #expect(changed.count == Self.maxCount && former.updateAll(at: now) { _ in }.isEmpty)
    #expect(former.count == Self.maxCount)
    #expect(former[user(3)] == departed(3, at: -2, banned: now + Self.day - 7) && former[user(30)]?.leftTime == 25)
    #expect(former.add(departed(Self.maxCount, at: now), at: now) == [user(10)], "the free go first as ever")
    #expect(!former.hasDeparture(after: now))
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func agreesWithAPlainDictionary(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var now: WallInstant = 1_000_000
    var left: [UserID: FormerMember] = [:]
    let start = (0..<Self.maxCount - 50).map { departed($0, at: WallInstant($0), banned: $0 % 3 == 0 ? now + Int64($0) * 10 : 0) }
    for member in start { left[member.userID] = member }
    var former = FormerMembers(start, at: now)
    for step in 0..<1500 {
      now += Int64.random(in: 1...50, using: &random)
      let number = Int.random(in: 0..<Self.maxCount + 500, using: &random)
      if Int.random(in: 0..<4, using: &random) == 0 {
        #expect((former.remove(user(number)) != nil) == (left.removeValue(forKey: user(number)) != nil), "seed \(seed) \(step)")
        continue
      }
      let bans: [WallInstant] = [0, 0, now + 60, now + 5_000, now + Self.day]
      let ban = bans.randomElement(using: &random) ?? 0
      let member = departed(number, at: now, banned: ban)
      left[member.userID] = member
      let needed = left.count > Self.maxCount
      let forgotten = former.add(member, at: now)
      #expect(forgotten.count == (needed ? 1 : 0), "seed \(seed) \(step)")
      let isFreeLeft = left.values.contains { !$0.isRestricted(at: now) }
      for user in forgotten {
        let known = left.removeValue(forKey: user)
        #expect(known.map { !$0.isRestricted(at: now) || !isFreeLeft } == true, "seed \(seed) \(step)")
      }
      if step % 100 == 0 {
        #expect(former.byUser == left, "seed \(seed) \(step)")
        let known = left.values.filter { $0.leftTime.isSet }.sorted { ($1.leftTime, $0.userID) < ($0.leftTime, $1.userID) }
        let found = former.departures(since: 0, at: now)
        #expect(found.users == known.prefix(1000).map(\.userID), "seed \(seed) \(step)")
      }
    }
    #expect(former.byUser == left && former.count == left.count && former.departureCount <= 2 * former.count + 64)
  }
}
