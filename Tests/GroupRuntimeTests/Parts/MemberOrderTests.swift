import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Pages of members with a filter: "owner, admins, others, each by joinTime then userID; nobody twice while others join".
@Suite struct MemberOrderTests {
  /// A group whose members come, go and change while lists are read.
  private struct Crowd {
    var members: [UserID: Member] = [:]
    var order = MemberOrder()
    var now: Instant = 1000
    private var lastOrdinal: Int64 = 0

    mutating func come(_ name: String, role: Role) {
      lastOrdinal += 1
      let user = UserID(stringLiteral: name)
      let member = Member(userID: user, role: role, joinTime: now, ordinal: lastOrdinal, receiveOption: .receive)
      order.noteArrival(of: member, to: members)
      members[user] = member
    }

    mutating func go(_ user: UserID) {
      guard let member = members.removeValue(forKey: user) else { return }
      order.noteDeparture(of: member)
    }

    mutating func give(_ role: Role, to user: UserID) {
      members[user]?.role = role
      order.invalidate()
    }

    /// What the contract says of a live room: "owner, then the 300 newest, newest first".
    var newest: [UserID] {
      let others = members.values.filter { $0.role != .owner }.sorted { $0.ordinal > $1.ordinal }
      return members.values.filter { $0.role == .owner }.map(\.userID) + others.prefix(MemberOrder.newestListed).map(\.userID)
    }

    /// What the contract says of the order, of those in a filter.
    func expected(_ takes: (Member) -> Bool) -> [UserID] {
      members.values.filter(takes)
        .sorted { ($1.role.rank, $0.joinTime, $0.userID) < ($0.role.rank, $1.joinTime, $1.userID) }
        .map(\.userID)
    }

    mutating func page(
      after nextSeq: Int64, count: Int, newestFirst: Bool = false, where takes: (Member) -> Bool
    ) -> MemberOrder.Page {
      let members = members
      return order.page(of: members, after: nextSeq, count: count, newestFirst: newestFirst) { user, rank in
        let member = members[user]
        #expect(member?.role.rank == rank)
        return member.map(takes) ?? false
      }
    }
  }

  private static let filters: [@Sendable (Member) -> Bool] = [
    { _ in true }, { $0.role == .owner }, { $0.role == .admin }, { $0.role.rank == 1 }, { $0.muteUntil > 0 }, { _ in false },
  ]

  private func crowd(using random: inout SeededGenerator) -> Crowd {
    var crowd = Crowd()
    for number in 0..<40 {
      crowd.now += Int64.random(in: 0...1, using: &random)
      let role: Role = number == 0 ? .owner : number % 7 == 0 ? .admin : number % 3 == 0 ? .custom(200) : .member
      crowd.come("u\(number * 11 % 40)", role: role)
    }
    for user in crowd.members.keys.sorted() where Bool.random(using: &random) { crowd.members[user]?.muteUntil = 1 }
    return crowd
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>, 0..<filters.count)
  func pagesOfAFilterGiveItsMembersOnceInOrder(seed: UInt64, filter: Int) {
    var random = SeededGenerator(seed: seed)
    var crowd = crowd(using: &random)
    let takes = MemberOrderTests.filters[filter]
    for count in [1, 3, 8, 50] {
      var listed: [UserID] = []
      var next: Int64 = 0
      repeat {
        let page = crowd.page(after: next, count: count, where: takes)
        #expect(page.members.count == count || page.nextSeq == 0)
        listed += page.members.map(\.userID)
        next = page.nextSeq
      } while next != 0
      #expect(listed == crowd.expected(takes), "seed \(seed), pages of \(count)")
    }
  }

  @Test(arguments: 1...25 as ClosedRange<UInt64>, [0, 3, 4])
  func whileOthersComeGoAndAreSilencedNobodyIsListedTwice(seed: UInt64, filter: Int) {
    var random = SeededGenerator(seed: seed)
    var crowd = crowd(using: &random)
    let takes = MemberOrderTests.filters[filter]
    let present = Set(crowd.expected(takes))
    var unsteady: Set<UserID> = []
    var listed: [UserID] = []
    var next: Int64 = 0
    var fresh = 0
    repeat {
      let page = crowd.page(after: next, count: Int.random(in: 1...5, using: &random), where: takes)
      listed += page.members.map(\.userID)
      next = page.nextSeq
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        crowd.now += Int64.random(in: 0...1, using: &random)
        fresh += 1
        let user = crowd.members.keys.sorted().randomElement(using: &random) ?? "u0"
        switch Int.random(in: 0..<3, using: &random) {
        case 0: crowd.come("new\(fresh)", role: .member)
        case 1 where crowd.members[user]?.role != .owner:
          crowd.go(user)
          unsteady.insert(user)
        default:
          crowd.members[user]?.muteUntil = Int64.random(in: 0...1, using: &random)
          unsteady.insert(user)
        }
      }
    } while next != 0
    #expect(Set(listed).count == listed.count, "seed \(seed): \(listed)")
    #expect(present.subtracting(unsteady).isSubset(of: listed), "seed \(seed)")
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func whoeverComesAndGoesALiveRoomListsTheOwnerAndTheNewest(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var crowd = Crowd()
    crowd.come("olga", role: .owner)
    for step in 0..<1500 {
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<500, using: &random))")
      if crowd.members[user] == nil { crowd.come(user.rawValue, role: .member) } else if step % 3 == 0 { crowd.go(user) }
      guard step % 50 == 0 else { continue }
      let listed = crowd.page(after: 0, count: 1000, newestFirst: true) { _ in true }
      #expect(listed.members.map(\.userID) == crowd.newest, "seed \(seed), step \(step)")
    }
    #expect(crowd.members.count > MemberOrder.newestListed, "seed \(seed)")
  }

  @Test func aListGoesOnBehindSomebodyWhoWasMadeAnAdmin() {
    var crowd = Crowd()
    crowd.come("olga", role: .owner)
    for name in ["a", "b", "c", "d"] { crowd.come(name, role: .member) }
    let first = crowd.page(after: 0, count: 3) { _ in true }
    #expect(first.members.map(\.userID) == ["olga", "a", "b"])
    crowd.give(.admin, to: "b")
    #expect(crowd.page(after: first.nextSeq, count: 9) { _ in true }.members.map(\.userID) == ["c", "d"])
  }

  @Test func aListGoesOnBehindSomebodyWhoHasLeft() {
    var crowd = Crowd()
    crowd.come("olga", role: .owner)
    for name in ["d", "c", "b", "a"] {
      crowd.now += 1
      crowd.come(name, role: .member)
    }
    let first = crowd.page(after: 0, count: 2) { $0.role == .member }
    #expect(first.members.map(\.userID) == ["d", "c"])
    crowd.go("c")
    crowd.go("b")
    #expect(crowd.page(after: first.nextSeq, count: 9) { $0.role == .member }.members.map(\.userID) == ["a"])
  }

  @Test func aFilterOfALiveRoomTakesOfTheNewestListedOnly() {
    var crowd = Crowd()
    crowd.come("olga", role: .owner)
    for number in 1...MemberOrder.newestListed + 5 { crowd.come("u\(number)", role: .member) }
    let owners = crowd.page(after: 0, count: 50, newestFirst: true) { $0.role == .owner }
    #expect(owners.members.map(\.userID) == ["olga"] && owners.nextSeq == 0)
    let common = crowd.page(after: 0, count: 500, newestFirst: true) { $0.role == .member }
    #expect(common.members.count == MemberOrder.newestListed && common.members.first?.userID == "u305")
    #expect(common.members.last?.userID == "u6")
  }
}
