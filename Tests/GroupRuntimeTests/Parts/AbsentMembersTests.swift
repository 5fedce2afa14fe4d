import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The absent members of a live room, compared with a plain list.
@Suite struct AbsentMembersTests {
  @Test func loadedAbsencesExpireInTheirOrder() {
    var absent = AbsentMembers(since: ["mary": 300, "adam": 100, "carl": 200])
    func removeExpired(_ limit: WallInstant, _ count: Int = 10) -> [UserID] {
      absent.removeExpired(absentSince: limit, atMost: count)
    }
    #expect(absent.count == 3 && absent.firstEnd(after: .milliseconds(1000)) == 1100)
    #expect(removeExpired(200) == ["adam", "carl"])
    #expect(absent.count == 1 && absent.firstEnd(after: .milliseconds(1000)) == 1300)
  }

  @Test func removesAtMostTheRequestedNumber() {
    var absent = AbsentMembers(since: ["mary": 3, "adam": 1, "carl": 2])
    func removeExpired(_ limit: WallInstant, _ count: Int = 10) -> [UserID] {
      absent.removeExpired(absentSince: limit, atMost: count)
    }
    #expect(removeExpired(10, 2) == ["adam", "carl"])
    #expect(absent.firstEnd(after: .milliseconds(5)) == 8)
    #expect(removeExpired(10, 2) == ["mary"])
    #expect(absent.firstEnd(after: .milliseconds(5)) == nil && absent.count == 0)
  }

  @Test func addingAgainKeepsTheFirstInstant() {
    var absent = AbsentMembers(since: ["mary": 100])
    absent.add("mary", since: 900)
    #expect(absent.firstEnd(after: .milliseconds(0)) == 100)
  }

  @Test func aSecondAbsenceCountsFromItsOwnStart() {
    var absent = AbsentMembers(since: [:])
    func removeExpired(_ limit: WallInstant, _ count: Int = 10) -> [UserID] {
      absent.removeExpired(absentSince: limit, atMost: count)
    }
    absent.add("mary", since: 100)
    absent.remove("mary")
    #expect(absent.count == 0 && absent.firstEnd(after: .milliseconds(0)) == nil)
    absent.add("mary", since: 500)
    #expect(removeExpired(499).isEmpty)
    #expect(removeExpired(500) == ["mary"])
  }

  /// The specification: each absent user with the start of the absence, the longest first.
  private struct PlainList {
    var absences: [(user: UserID, since: WallInstant)] = []

    mutating func add(_ user: UserID, since: WallInstant) {
      if !absences.contains(where: { $0.user == user }) { absences.append((user, since)) }
    }

    mutating func remove(_ user: UserID) { absences.removeAll { $0.user == user } }

    mutating func removeExpired(absentSince limit: WallInstant, atMost count: Int) -> [UserID] {
      let removed = absences.prefix { $0.since <= limit }.prefix(count).map(\.user)
      absences.removeFirst(removed.count)
      return removed
    }
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func agreesWithAPlainList(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var absent = AbsentMembers(since: [:])
    var list = PlainList()
    var now: WallInstant = 0
    for step in 0..<600 {
      now += Int64.random(in: 0...3, using: &random)
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<30, using: &random))")
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        absent.add(user, since: now)
        list.add(user, since: now)
      case 5..<9:
        absent.remove(user)
        list.remove(user)
      default:
        let limit = now - Int64.random(in: 0...60, using: &random)
        let count = Int.random(in: 1...4, using: &random)
        let removed = absent.removeExpired(absentSince: limit, atMost: count)
        let expected = list.removeExpired(absentSince: limit, atMost: count)
        #expect(removed == expected, "seed \(seed), step \(step)")
      }
      #expect(absent.count == list.absences.count, "seed \(seed), step \(step)")
      #expect(absent.firstEnd(after: .milliseconds(7)) == list.absences.first.map { $0.since + 7 }, "seed \(seed), step \(step)")
    }
  }
}
