import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Pages of members with a filter: "owner, admins, others, each by joinTime then userID; nobody
/// twice while others join".
@Suite struct MemberOrderTests {
  /// A group whose members join, leave and change while lists are read.
  private struct Population {
    var members: [UserID: Member] = [:]
    var order = MemberOrder([])
    var now: WallInstant = 1000
    private var lastOrdinal: Int64 = 0

    mutating func join(_ name: String, role: Role) {
      lastOrdinal += 1
      let user = UserID(stringLiteral: name)
      let member = Member(userID: user, role: role, joinTime: now, ordinal: lastOrdinal, receiveOption: .receive)
      members[user] = member
      order.update(member, was: nil, among: members)
    }

    mutating func leave(_ user: UserID) {
      guard let member = members.removeValue(forKey: user) else { return }
      order.update(nil, was: member, among: members)
    }

    mutating func change(_ user: UserID, _ change: (inout Member) -> Void) {
      guard let member = members[user] else { return }
      var changed = member
      change(&changed)
      members[user] = changed
      order.update(changed, was: member, among: members)
    }

    /// The specification of a live room's list: "owner, admins present, then the 300 newest others".
    var newest: [UserID] {
      let others = members.values.filter { $0.role.rank == 1 }.sorted { $0.ordinal > $1.ordinal }
      return expected(.rank(3)) + expected(.rank(2)) + others.prefix(MemberOrder.newestListed).map(\.userID)
    }

    /// The specified order of the members in a filter.
    func expected(_ filter: Filter) -> [UserID] {
      members.values.filter { filter.includes($0, at: now) }
        .sorted { ($1.role.rank, $0.joinTime, $0.userID) < ($0.role.rank, $1.joinTime, $1.userID) }
        .map(\.userID)
    }

    mutating func page(_ filter: Filter, after nextSeq: Int64 = 0, count: Int) -> MemberOrder.Page {
      switch filter {
      case .all: order.page(of: members, rank: nil, after: nextSeq, count: count)
      case .rank(let rank): order.page(of: members, rank: rank, after: nextSeq, count: count)
      case .muted: order.mutedPage(of: members, at: now, after: nextSeq, count: count)
      }
    }

    mutating func newestPage(rank: Int? = nil, after nextSeq: Int64 = 0, count: Int) -> MemberOrder.Page {
      order.newestPage(of: members, rank: rank, after: nextSeq, count: count)
    }
  }

  enum Filter: Sendable, CaseIterable {
    case all, muted
    case rank(Int)

    static let allCases: [Filter] = [.all, .rank(3), .rank(2), .rank(1), .rank(0), .muted]

    func includes(_ member: Member, at now: WallInstant) -> Bool {
      switch self {
      case .all: true
      case .rank(let rank): member.role.rank == rank
      case .muted: member.muteUntil > now
      }
    }
  }

  private func population(using random: inout SeededGenerator) -> Population {
    var population = Population()
    for number in 0..<40 {
      population.now += Int64.random(in: 0...1, using: &random)
      let role: Role = number == 0 ? .owner : number % 7 == 0 ? .admin : number % 3 == 0 ? .custom(200) : .member
      population.join("u\(number * 11 % 40)", role: role)
    }
    for user in population.members.keys.sorted() where Bool.random(using: &random) {
      // Some mutes have ended.
      let until = Bool.random(using: &random) ? population.now + 1_000_000 : population.now
      population.change(user) { $0.muteUntil = until }
    }
    return population
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>, Filter.allCases)
  func pagesOfAFilterGiveItsMembersOnceInOrder(seed: UInt64, filter: Filter) {
    var random = SeededGenerator(seed: seed)
    var population = population(using: &random)
    for count in [1, 3, 8, 50] {
      var listed: [UserID] = []
      var next: Int64 = 0
      repeat {
        let page = population.page(filter, after: next, count: count)
        #expect(page.members.count == count || page.nextSeq == 0)
        listed += page.members.map(\.userID)
        next = page.nextSeq
      } while next != 0
      #expect(listed == population.expected(filter), "seed \(seed), pages of \(count)")
    }
  }

  @Test(arguments: 1...25 as ClosedRange<UInt64>, [.all, .rank(1), .muted] as [Filter])
  func noMemberIsListedTwiceWhileOthersChange(seed: UInt64, filter: Filter) {
    var random = SeededGenerator(seed: seed)
    var population = population(using: &random)
    let present = Set(population.expected(filter))
    var unsteady: Set<UserID> = []
    var listed: [UserID] = []
    var next: Int64 = 0
    var fresh = 0
    repeat {
      let page = population.page(filter, after: next, count: Int.random(in: 1...5, using: &random))
      listed += page.members.map(\.userID)
      next = page.nextSeq
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        population.now += Int64.random(in: 0...1, using: &random)
        fresh += 1
        let user = population.members.keys.sorted().randomElement(using: &random) ?? "u0"
        switch Int.random(in: 0..<3, using: &random) {
        case 0: population.join("new\(fresh)", role: .member)
        case 1 where population.members[user]?.role != .owner:
          population.leave(user)
          unsteady.insert(user)
        default:
          let until = Bool.random(using: &random) ? population.now + 1_000_000 : 0
          population.change(user) { $0.muteUntil = until }
          unsteady.insert(user)
        }
      }
    } while next != 0
    #expect(Set(listed).count == listed.count, "seed \(seed): \(listed)")
    #expect(present.subtracting(unsteady).isSubset(of: listed), "seed \(seed)")
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func aLiveRoomListsTheOwnerAndTheNewest(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var population = Population()
    population.join("olga", role: .owner)
    for step in 0..<1500 {
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<500, using: &random))")
      if population.members[user] == nil {
        population.join(user.rawValue, role: .member)
      } else if step % 3 == 0 {
        population.leave(user)
      }
      guard step % 50 == 0 else { continue }
      let listed = population.newestPage(count: 1000)
      #expect(listed.members.map(\.userID) == population.newest, "seed \(seed), step \(step)")
    }
    #expect(population.members.count > MemberOrder.newestListed, "seed \(seed)")
  }

  /// The order is updated with each change, and never sorted again.
  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func everyListStaysInItsOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var population = population(using: &random)
    for step in 0..<300 {
      population.now += Int64.random(in: -1...2, using: &random)
      let user = UserID(stringLiteral: "u\(Int.random(in: 0..<60, using: &random))")
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        if population.members[user] == nil {
          population.join(user.rawValue, role: Bool.random(using: &random) ? .member : .admin)
        }
      case 1: population.leave(user)
      case 2:
        let role: Role = [.owner, .admin, .custom(7), .member].randomElement(using: &random) ?? .member
        population.change(user) { $0.role = role }
      default:
        let until = population.now + Int64.random(in: -20...20, using: &random)
        population.change(user) { $0.muteUntil = until }
      }
      for filter in Filter.allCases {
        let listed = population.page(filter, count: 100).members.map(\.userID)
        #expect(listed == population.expected(filter), "seed \(seed), step \(step), \(filter)")
      }
    }
  }

  @Test func departedMembersAreNotInALiveRoomsList() {
    var population = Population()
    population.join("olga", role: .owner)
    for number in 0..<400 { population.join("u\(number)", role: .member) }
    func expectTheNewest(_ what: String) {
      #expect(population.newestPage(count: 1000).members.map(\.userID) == population.newest, "\(what)")
    }
    expectTheNewest("before")
    for number in 0..<700 { population.join("v\(number)", role: .member) }
    for number in 0..<700 { population.leave(UserID(stringLiteral: "v\(number)")) }
    for _ in 0..<2 { expectTheNewest("they are skipped, and then forgotten") }
    for _ in 0..<1500 {
      population.join("w", role: .member)
      population.leave("w")
    }
    population.join("w", role: .member)
    expectTheNewest("one who came and went very often")
  }

  @Test func binarySearchTakesFewSteps() {
    let numbers = (0..<100_000).map { $0 / 3 }
    for wanted in [0, 1, 17_000, 33_332, 33_333, 40_000] {
      var steps = 0
      let index = numbers.firstIndexInOrder { number in
        steps += 1
        return number >= wanted
      }
      #expect(index == numbers.firstIndex { $0 >= wanted } ?? numbers.endIndex)
      #expect(steps <= 17)
    }
  }

  @Test func aListContinuesAfterAMemberWhoBecameAdmin() {
    var population = Population()
    population.join("olga", role: .owner)
    for name in ["a", "b", "c", "d"] { population.join(name, role: .member) }
    let first = population.page(.all, count: 3)
    #expect(first.members.map(\.userID) == ["olga", "a", "b"])
    population.change("b") { $0.role = .admin }
    #expect(population.page(.all, after: first.nextSeq, count: 9).members.map(\.userID) == ["c", "d"])
  }

  @Test func aListContinuesAfterAMemberWhoHasLeft() {
    var population = Population()
    population.join("olga", role: .owner)
    for name in ["d", "c", "b", "a"] {
      population.now += 1
      population.join(name, role: .member)
    }
    let first = population.page(.rank(1), count: 2)
    #expect(first.members.map(\.userID) == ["d", "c"])
    population.leave("c")
    population.leave("b")
    #expect(population.page(.rank(1), after: first.nextSeq, count: 9).members.map(\.userID) == ["a"])
  }

  @Test func theFilterCommonOfALiveRoomListsTheNewestOnly() {
    var population = Population()
    population.join("olga", role: .owner)
    for number in 1...MemberOrder.newestListed + 5 { population.join("u\(number)", role: .member) }
    let owners = population.newestPage(rank: 3, count: 50)
    #expect(owners.members.map(\.userID) == ["olga"] && owners.nextSeq == 0)
    let common = population.newestPage(rank: 1, count: 500)
    #expect(common.members.count == MemberOrder.newestListed && common.members.first?.userID == "u305")
    #expect(common.members.last?.userID == "u6")
  }

  // MARK: Live rooms with admins

  /// An owner, two admins who joined in the midst of the others, and 350 others.
  private func moderatedRoom() -> Population {
    var population = Population()
    population.join("olga", role: .owner)
    for number in 1...350 {
      if number == 10 { population.join("zoe", role: .admin) }
      if number == 20 {
        population.now += 1
        population.join("adam", role: .admin)
      }
      population.join("u\(number)", role: number % 3 == 0 ? .custom(200) : .member)
    }
    return population
  }

  @Test(arguments: [1, 2, 3, 50, 400])
  func aLiveRoomListsItsAdminsBeforeTheNewestOthers(count: Int) {
    var population = moderatedRoom()
    var (listed, next): ([UserID], Int64) = ([], 0)
    repeat {
      let page = population.newestPage(after: next, count: count)
      listed += page.members.map(\.userID)
      next = page.nextSeq
    } while next != 0 && listed.count < 1000
    #expect(listed == population.newest && listed.count == 303)
    #expect(listed.prefix(4) == ["olga", "zoe", "adam", "u350"] && listed.last == "u51")
  }

  @Test func filtersOfALiveRoomListAllManagersAndTheNewestOthers() {
    var population = moderatedRoom()
    #expect(population.newestPage(rank: 3, count: 50).members.map(\.userID) == ["olga"])
    let admins = population.newestPage(rank: 2, count: 1)
    #expect(admins.members.map(\.userID) == ["zoe"] && admins.nextSeq != 0)
    let rest = population.newestPage(rank: 2, after: admins.nextSeq, count: 1)
    #expect(rest.members.map(\.userID) == ["adam"] && rest.nextSeq == 0)
    let common = population.newestPage(rank: 1, count: 500).members
    #expect(common.count == 300 && common.first?.userID == "u350" && common.last?.userID == "u51")
  }

  @Test func aPageOfALiveRoomGoesOnBehindAnAdminWhoHasLeft() {
    var population = moderatedRoom()
    let first = population.newestPage(count: 2)
    #expect(first.members.map(\.userID) == ["olga", "zoe"])
    population.leave("zoe")
    #expect(population.newestPage(after: first.nextSeq, count: 2).members.map(\.userID) == ["adam", "u350"])
    population.leave("adam")
    #expect(population.newestPage(after: first.nextSeq, count: 2).members.map(\.userID) == ["u350", "u349"])
  }

  @Test func nobodyOfALiveRoomIsListedTwiceWhileRolesChange() {
    var population = moderatedRoom()
    let first = population.newestPage(count: 5)
    #expect(first.members.map(\.userID) == ["olga", "zoe", "adam", "u350", "u349"])
    population.change("u349") { $0.role = .admin }
    #expect(population.newestPage(after: first.nextSeq, count: 2).members.map(\.userID) == ["u348", "u347"])
    population.join("late", role: .admin)
    #expect(population.newestPage(after: first.nextSeq, count: 1).members.map(\.userID) == ["u348"])
    let managers = population.newestPage(count: 3)
    population.change("adam") { $0.role = .member }
    #expect(population.newestPage(after: managers.nextSeq, count: 3).members.map(\.userID) == ["late", "u349", "u350"])
  }

  @Test func theManagersAreKeptInOrder() {
    var population = moderatedRoom()
    #expect(population.order.managers.map(\.userID) == ["olga", "zoe", "adam"])
    population.change("olga") { $0.role = .member }
    population.change("u5") { $0.role = .owner }
    population.leave("zoe")
    #expect(population.order.managers.map(\.userID) == ["u5", "adam"])
  }

  // MARK: Large groups

  private static func members(_ count: Int) -> [Member] {
    (1...Int64(count)).map { number in
      Member(userID: UserID(stringLiteral: "user\(number)"), role: .member, joinTime: 1, ordinal: number, receiveOption: .receive)
    }
  }

  /// Otherwise the first list of a large group would sort all of its members on a loop.
  @Test func largeGroupsHaveTheirListsBeforeTheyAreAsked() {
    let members = Self.members(MemberOrder.keptFrom)
    let kept = MemberOrder(members, keeping: .all)
    #expect(kept.hasPlaces && kept.hasArrivals)
    let unkept = MemberOrder(members)
    #expect(!unkept.hasPlaces && !unkept.hasArrivals)
    var order = MemberOrder(members.dropLast(), keeping: .all)
    #expect(!order.hasPlaces && !order.hasArrivals)
    var byID = Dictionary(uniqueKeysWithValues: members.map { ($0.userID, $0) })
    order.update(members.last, was: nil, among: byID)
    #expect(order.hasPlaces && order.hasArrivals, "it has grown so far")
    let first = order.page(of: byID, rank: nil, after: 0, count: 3).members.map(\.userID)
    #expect(first == members.map(\.userID).sorted().prefix(3).map(\.self))
    byID[members[0].userID] = nil
    order.update(nil, was: members[0], among: byID)
    let second = order.page(of: byID, rank: nil, after: 0, count: 2)
    #expect(second.members.map(\.userID) == ["user10", "user100"])
    // The list goes on behind a member who has left.
    byID["user100"] = nil
    order.update(nil, was: second.members[1], among: byID)
    let third = order.page(of: byID, rank: nil, after: second.nextSeq, count: 1).members.map(\.userID)
    #expect(third == ["user1000"])
  }

  /// A live room lists its newest members alone.
  @Test func largeLiveRoomsHaveTheirJoinsInOrder() {
    let members = Self.members(MemberOrder.keptFrom)
    let loaded = MemberOrder(members, keeping: .arrivals)
    #expect(loaded.hasArrivals && !loaded.hasPlaces)
    var order = MemberOrder(members.dropLast(), keeping: .arrivals)
    #expect(!order.hasArrivals)
    var byID = Dictionary(uniqueKeysWithValues: members.map { ($0.userID, $0) })
    order.update(members.last, was: nil, among: byID)
    #expect(order.hasArrivals && !order.hasPlaces, "it has grown so far")
    byID["user1000"] = nil
    order.update(nil, was: members[999], among: byID)
    let first = order.newestPage(of: byID, rank: nil, after: 0, count: 2)
    #expect(first.members.map(\.userID) == ["user999", "user998"])
    byID["user998"] = nil
    order.update(nil, was: members[997], among: byID)
    let second = order.newestPage(of: byID, rank: nil, after: first.nextSeq, count: 1)
    #expect(second.members.map(\.userID) == ["user997"])
  }

  @Test func aPageLooksAtSoManyMembersOnly() {
    var members = Self.members(2 * MemberOrder.maxScanned + 1)
    members[2 * MemberOrder.maxScanned].infoTime = 5
    let byID = Dictionary(uniqueKeysWithValues: members.map { ($0.userID, $0) })
    var order = MemberOrder(members, keeping: .all)
    var (pages, listed, nextSeq) = (0, [UserID](), Int64(0))
    repeat {
      let page = order.page(of: byID, rank: nil, changedSince: 5, after: nextSeq, count: 10)
      (pages, nextSeq) = (pages + 1, page.nextSeq)
      listed += page.members.map(\.userID)
    } while nextSeq != 0
    #expect(pages == 3 && listed == [members[2 * MemberOrder.maxScanned].userID])
  }
}
