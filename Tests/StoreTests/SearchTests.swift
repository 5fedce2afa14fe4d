import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit
import WireProtocol

@testable import SQLiteStore

/// Search, on every store.
@Suite struct SearchTests {
  private static let names: Set<SearchGroups.Field> = [.groupID, .groupName]
  private static let members: Set<SearchGroups.Field> = [.memberUserID, .memberNameCard]

  private static func group(
    _ name: String, _ type: GroupType = .public, isSearchable: Bool = false, isMemberVisible: Bool = true, called: String = "-"
  ) -> StoreChange {
    var record = GroupRecord.sample(GroupID(name)!, type: type)
    record.name = called
    record.policy.isSearchable = isSearchable
    record.policy.isMemberVisible = isMemberVisible
    return .putGroup(record, isNew: true)
  }

  private static func find(
    _ store: any AnyStore, _ keywords: [String], in fields: Set<SearchGroups.Field> = names, ignoresCase: Bool = true,
    joinedOnly: Bool = false, by reader: UserID?
  ) async throws -> [String] {
    let query = GroupSearch(keywords, in: fields, ignoresCase: ignoresCase, joinedOnly: joinedOnly, by: reader)
    let page = try await store.search(query, after: 0, limit: 100)
    #expect(page.next == 0)
    return page.groups.map(\.groupID.rawValue)
  }

  @Test(arguments: Backing.allCases)
  func joinedGroupsAreFoundAndOthersThatSaySoAWorkGroupNever(_ backing: Backing) async throws {
    try await backing.withStore { store in
      for type in GroupType.allCases {
        try await store.put([
          Self.group("\(type.rawValue)-hidden", type), Self.group("\(type.rawValue)-shown", type, isSearchable: true),
          Self.group("\(type.rawValue)-joined", type), .join(alice, GroupID("\(type.rawValue)-joined")!),
        ]).get()
      }
      func found(_ suffix: String, _ reader: UserID?) async throws -> [String] {
        try await Self.find(store, ["-\(suffix)"], by: reader)
      }
      let all = ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]
      #expect(try await found("joined", alice) == all.map { $0 + "-joined" })
      #expect(try await found("shown", alice) == all.dropFirst().map { $0 + "-shown" })
      #expect(try await found("hidden", alice) == ["BChatRoom-hidden"])
      #expect(try await found("joined", bob) == ["BChatRoom-joined"])
      for suffix in ["joined", "shown", "hidden"] {
        #expect(try await found(suffix, nil) == all.map { "\($0)-\(suffix)" })
      }
      func joined(_ suffix: String, _ reader: UserID?) async throws -> [String] {
        try await Self.find(store, ["-\(suffix)"], joinedOnly: true, by: reader)
      }
      #expect(try await joined("joined", alice) == all.map { $0 + "-joined" })
      for suffix in ["shown", "hidden"] { #expect(try await joined(suffix, alice) == ["BChatRoom-\(suffix)"]) }
      #expect(try await joined("joined", bob) == ["BChatRoom-joined"])
      #expect(try await joined("hidden", nil) == all.map { $0 + "-hidden" }, "for the application every group is joined")
    }
  }

  @Test(arguments: Backing.allCases)
  func onlyTheFieldsAskedForAreComparedInTheCaseAskedFor(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([
        Self.group("Alpha", isSearchable: true, called: "Füße 群聊"), Self.group("beta", isSearchable: true, called: "an alphabet"),
      ]).get()
      #expect(try await Self.find(store, ["alpha"], by: bob) == ["Alpha", "beta"])
      #expect(try await Self.find(store, ["alpha"], ignoresCase: false, by: bob) == ["beta"])
      #expect(try await Self.find(store, ["alpha"], in: [.groupID], by: bob) == ["Alpha"])
      #expect(try await Self.find(store, ["alpha"], in: [.groupName], by: bob) == ["beta"])
      #expect(try await Self.find(store, ["FÜSSE", "FÜßE"], by: bob) == ["Alpha"])
      #expect(try await Self.find(store, ["群"], by: bob) == ["Alpha"])
      #expect(try await Self.find(store, ["et", "聊"], by: bob) == ["Alpha", "beta"])
      #expect(try await Self.find(store, ["%"], by: bob).isEmpty)
      #expect(try await Self.find(store, ["alpha"], in: Self.members, by: nil).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func membersAreFoundByMembersWhereTheyMaySeeEachOther(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let groups = ["open", "closed", "live"].map { GroupID($0)! }
      try await store.put([
        Self.group("open", isSearchable: true), Self.group("closed", isSearchable: true, isMemberVisible: false),
        Self.group("live", .bChatRoom),
      ]).get()
      for group in groups {
        var named = Member.sample(carol)
        named.nameCard = "The\0Treasurer"
        try await store.put([.join(alice, group, as: .admin), .join(bob, group), .putMember(named, in: group)]).get()
      }
      for (keyword, field) in [("CAROL", SearchGroups.Field.memberUserID), ("\0tr", .memberNameCard)] {
        let (fields, other) = (Set([field]), Self.members.subtracting([field]))
        #expect(try await Self.find(store, [keyword], in: fields, by: alice) == ["open", "closed"])
        #expect(try await Self.find(store, [keyword], in: fields, by: bob) == ["open"])
        #expect(try await Self.find(store, [keyword], in: fields, by: UserID("dave")!).isEmpty)
        #expect(try await Self.find(store, [keyword], in: fields, by: nil) == ["open", "closed", "live"])
        #expect(try await Self.find(store, [keyword], in: other, by: nil).isEmpty)
      }
      #expect(try await Self.find(store, ["open", "carol"], in: [.groupID, .memberUserID], by: bob) == ["open"])
    }
  }

  @Test(arguments: Backing.allCases)
  func pagesHoldTogether(_ backing: Backing) async throws {
    try await backing.withStore { store in
      for index in 1...20 {
        try await store.put([Self.group("g\(index)", isSearchable: true, called: index.isMultiple(of: 3) ? "yes" : "no")]).get()
      }
      let query = GroupSearch(["yes"], in: [.groupName], ignoresCase: false, by: bob)
      let all = try await store.search(query, after: 0, limit: 100)
      #expect(all.groups.map(\.groupID.rawValue) == ["g3", "g6", "g9", "g12", "g15", "g18"] && all.next == 0)
      for limit in 1...7 {
        var (found, next, pages) = ([Membership](), Int64(0), 0)
        repeat {
          let page = try await store.search(query, after: next, limit: limit)
          #expect(page.groups.count <= limit)
          found += page.groups
          next = page.next
          pages += 1
        } while next != 0 && pages < 100
        #expect(found == all.groups && pages < 100)
      }
      #expect(try await store.search(query, after: 7, limit: 0) == GroupSearch.Page(groups: [], next: 7))
      // The last group is the last match: nothing is left to look at.
      let last = GroupSearch(["g20"], in: [.groupID], ignoresCase: true, by: bob)
      #expect(try await store.search(last, after: 0, limit: 1).next == 0)
    }
  }
}

/// SQLite: search.
@Suite struct BoundedSearchTests {
  @Test func aPageLooksAtABoundedNumberOfGroupsAndOfMembers() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { ($0.searchedGroups, $0.searchedMembers) = (4, 5) }) { store in
        let ids = (1...10).map { GroupID("g\($0)")! }
        for id in ids {
          try await store.put([.create(id)] + [alice, bob, carol].map { .join($0, id) }).get()
        }
        let numbers = try await store.groups(ofType: nil, after: 0, limit: 10).map(\.groupNumber)
        func next(_ fields: Set<SearchGroups.Field>, after: Int64) async throws -> Int64 {
          let query = GroupSearch(["nobody"], in: fields, ignoresCase: true, by: nil)
          let page = try await store.search(query, after: after, limit: 9)
          #expect(page.groups.isEmpty)
          return page.next
        }
        #expect(try await next([.groupName], after: 0) == numbers[3])
        #expect(try await next([.groupName], after: numbers[3]) == numbers[7])
        #expect(try await next([.groupName], after: numbers[7]) == 0)
        // Two groups of three members are more than five.
        #expect(try await next([.memberUserID], after: 0) == numbers[1])
      }
    }
  }

  @Test func namesOfMembersAreLookedForInJoinedGroupsAlone() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.searchedGroups = 4 }) { store in
        let ids = (1...12).map { GroupID("g\($0)")! }
        for id in ids { try await store.put([.create(id), .join(bob, id)]).get() }
        for id in [ids[7], ids[10]] { try await store.put([.join(alice, id)]).get() }
        let joined = try await store.memberships(of: alice)
        for limit in 1...2 {
          let query = GroupSearch(["bob"], in: [.memberUserID], ignoresCase: true, by: alice)
          let page = try await store.search(query, after: 0, limit: limit)
          #expect(page == GroupSearch.Page(groups: Array(joined.prefix(limit)), next: limit == 1 ? joined[0].groupNumber : 0))
        }
        // Joined groups alone are looked at, whatever the field.
        let names = GroupSearch(["g"], in: [.groupID, .memberUserID], ignoresCase: true, joinedOnly: true, by: alice)
        let page = try await store.search(names, after: joined[0].groupNumber, limit: 9)
        #expect(page == GroupSearch.Page(groups: [joined[1]], next: 0))
        // With a field of groups among them all are looked at.
        let query = GroupSearch(["bob"], in: [.memberUserID, .groupName], ignoresCase: true, by: alice)
        #expect(try await store.search(query, after: 0, limit: 9).groups.isEmpty)
      }
    }
  }
}

/// SQLite: searches in line.
@Suite struct SearchQueueTests {
  private static func search(_ store: SQLiteStore, by reader: UserID?) async -> StoreError.Kind? {
    let query = GroupSearch(["club"], in: [.groupID], ignoresCase: true, by: reader)
    return await failure { () async throws(StoreError) in try await store.search(query, after: 0, limit: 9) }?.kind
  }

  @Test func searchesWaitForOneAnotherNobodyElseForThem() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice)]).get()
        let gate = DispatchSemaphore(value: 0)
        let ended = Counter()
        store.searches.connection.asyncRead { _ in gate.wait() }
        try await withThrowingTaskGroup { group in
          // The tasks must end for the group to end, also when the test fails.
          defer { gate.signal() }
          // More than the pool has readers.
          for index in 0..<8 {
            group.addTask {
              let outcome = await Self.search(store, by: UserID("user\(index)")!)
              ended.increment()
              return outcome
            }
          }
          try await waitUntil("eight searches are asked for") { store.searches.count + ended.count >= 8 }
          #expect(ended.count == 0)
          #expect(try await store.memberships(of: alice).count == 1)
          #expect(try await store.group(club, sentSince: 0)?.members.count == 1)
          gate.signal()
          for try await outcome in group { #expect(outcome == nil) }
        }
        #expect(store.searches.count == 0)
      }
    }
  }

  @Test func theLineIsBoundedForOneUserToo() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { ($0.queuedSearches, $0.queuedSearchesPerReader) = (5, 2) }) { store in
        try await store.put([.create()]).get()
        let line = store.searches
        for reader in [alice, alice, bob, nil] { #expect(line.enter(reader)) }
        #expect(await Self.search(store, by: alice) == .unavailable)
        #expect(await Self.search(store, by: bob) == nil && line.count == 4)
        #expect(line.enter(nil))
        for reader in [bob, nil] { #expect(await Self.search(store, by: reader) == .unavailable) }
        #expect(store.canPersist)
        for reader in [alice, alice, bob, nil, nil] { line.leave(reader) }
        for reader in [alice, bob, nil] { #expect(await Self.search(store, by: reader) == nil) }
      }
    }
  }
}
