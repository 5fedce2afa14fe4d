import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Who is away from a live room since when, against a plain list.
@Suite struct AbsentMembersTests {
  @Test func whoWasGoneWhenTheGroupWasLoadedLeavesInTheOrderOfGoing() {
    var absent = AbsentMembers(since: ["mary": 300, "adam": 100, "carl": 200])
    func take(_ limit: Instant, _ count: Int = 10) -> [UserID] { absent.take(absentSince: limit, atMost: count) }
    #expect(absent.count == 3 && absent.firstEnd(after: 1000) == 1100)
    #expect(take(200) == ["adam", "carl"])
    #expect(absent.count == 1 && absent.firstEnd(after: 1000) == 1300)
  }

  @Test func noMoreThanAsManyAsWantedAreTaken() {
    var absent = AbsentMembers(since: ["mary": 3, "adam": 1, "carl": 2])
    func take(_ limit: Instant, _ count: Int = 10) -> [UserID] { absent.take(absentSince: limit, atMost: count) }
    #expect(take(10, 2) == ["adam", "carl"])
    #expect(absent.firstEnd(after: 5) == 8)
    #expect(take(10, 2) == ["mary"])
    #expect(absent.firstEnd(after: 5) == nil && absent.count == 0)
  }

  @Test func anAbsenceGoesOnWhenItIsNotedAgain() {
    var absent = AbsentMembers(since: ["mary": 100])
    absent.note("mary", since: 900)
    #expect(absent.firstEnd(after: 0) == 100)
  }

  @Test func whoIsBackIsForgottenAndASecondAbsenceCountsFromItself() {
    var absent = AbsentMembers(since: [:])
    func take(_ limit: Instant, _ count: Int = 10) -> [UserID] { absent.take(absentSince: limit, atMost: count) }
    absent.note("mary", since: 100)
    absent.forget("mary")
    #expect(absent.count == 0 && absent.firstEnd(after: 0) == nil)
    absent.note("mary", since: 500)
    #expect(take(499).isEmpty)
    #expect(take(500) == ["mary"])
  }

  /// What the type says it is: each absent user with the instant of going, longest first.
  private struct PlainList {
    var absences: [(user: UserID, since: Instant)] = []

    mutating func note(_ user: UserID, since: Instant) {
      if !absences.contains(where: { $0.user == user }) { absences.append((user, since)) }
    }

    mutating func forget(_ user: UserID) { absences.removeAll { $0.user == user } }

    mutating func take(absentSince limit: Instant, atMost count: Int) -> [UserID] {
      let taken = absences.prefix { $0.since <= limit }.prefix(count).map(\.user)
      absences.removeFirst(taken.count)
      return taken
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func whateverHappensItIsWhatAPlainListGives(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var absent = AbsentMembers(since: [:])
    var list = PlainList()
    var now: Instant = 0
    for step in 0..<600 {
      now += Int64.random(in: 0...3, using: &random)
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<30, using: &random))")
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        absent.note(user, since: now)
        list.note(user, since: now)
      case 5..<9:
        absent.forget(user)
        list.forget(user)
      default:
        let limit = now - Int64.random(in: 0...60, using: &random)
        let count = Int.random(in: 1...4, using: &random)
        let taken = absent.take(absentSince: limit, atMost: count)
        let expected = list.take(absentSince: limit, atMost: count)
        #expect(taken == expected, "seed \(seed), step \(step)")
      }
      #expect(absent.count == list.absences.count, "seed \(seed), step \(step)")
      #expect(absent.firstEnd(after: 7) == list.absences.first.map { $0.since + 7 }, "seed \(seed), step \(step)")
    }
  }
}
