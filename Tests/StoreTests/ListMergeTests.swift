import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Lists over several groups.
/// Lists that come from several sources, page by page, also while groups are being cleared away.
@Suite struct ListMergeTests {
  private static let groups = (1...4).map { GroupID("group\($0)")! }

  /// alice manages the groups but the last, and is invited to all.
  private func fill(_ store: any AnyStore, seed: UInt64) async throws -> [String] {
    var random = SeededGenerator(seed: seed)
    let groups = Self.groups
    try await store.put(groups.map { .create($0) }).get()
    try await store.put(groups.enumerated().map { .join(alice, $1, as: [.owner, .admin, .admin, .member][$0]) }).get()
    var ids: [String] = []
    for number in 1...60 {
      let index = Int.random(in: 0..<4, using: &random)
      let isInvitation = Int.random(in: 0..<3, using: &random) == 0
      let invited = Bool.random(using: &random) ? alice : carol
      let id = "\(number) \(groups[index])"
      var application = GroupApplication.sample(
        id, to: groups[index], isInvitation ? .invite : .join, inviting: invited, at: WallInstant(number))
      if Bool.random(using: &random) { application = application.handled(at: 1000) }
      try await store.put([.apply(application)]).get()
      if isInvitation ? invited == alice : index < 3 { ids.append(id) }
    }
    return ids.reversed()
  }

  private func pages(_ limit: Int, of user: UserID?, _ store: any AnyStore) async throws -> [String] {
    var (ids, next) = ([String](), Int64(0))
    repeat {
      let page = try await store.applications(decidableBy: user, before: next, limit: limit)
      #expect(page.count <= limit)
      ids += page.map(\.application.id)
      next = page.last?.number ?? 0
    } while next != 0
    return ids
  }

  @Test(arguments: Backing.allCases, 1...4 as ClosedRange<UInt64>)
  func invitationsAndTheRequestsOfSeveralGroupsComeInTheOrderOfNumbers(
    _ backing: Backing, _ seed: UInt64
  ) async throws {
    try await backing.withStore { store in
      var expected = try await fill(store, seed: seed)
      for limit in [1, 2, 7, 100] { #expect(try await pages(limit, of: alice, store) == expected, "pages of \(limit)") }
      #expect(try await store.unreadApplications(of: alice, limit: 1000) == expected.count)
      for limit in 0...12 { #expect(try await store.unreadApplications(of: alice, limit: limit) == limit) }
      #expect(try await store.unreadApplications(of: nil, limit: 3) == 3)
      try await store.put([.markApplicationsRead(alice, through: 40)]).get()
      let newer = expected.filter { Int($0.prefix { $0 != " " }) ?? 0 > 40 }.count
      #expect(try await store.unreadApplications(of: alice, limit: 1000) == newer)
      // Disbanded groups leave nothing in the lists, cleared or not.
      for group in [Self.groups[1], Self.groups[3]] {
        expected.removeAll { $0.hasSuffix(group.rawValue) }
        if let store = store as? SQLiteStore {
          try await store.pool.write { try $0.apply(.dismiss(group, at: 9)) }
        } else {
          try await store.put([.dismiss(group, at: 9)]).get()
        }
        #expect(try await pages(3, of: alice, store) == expected)
      }
      let unread = expected.filter { Int($0.prefix { $0 != " " }) ?? 0 > 40 }.count
      #expect(try await store.unreadApplications(of: alice, limit: 1000) == unread)
      let all = try await pages(100, of: nil, store)
      guard let store = store as? SQLiteStore else { return }
      while try await store.pool.write({ try DisbandedGroupCleanup.chunk(of: 2, in: $0) }) {
        #expect(try await pages(3, of: alice, store) == expected)
        #expect(try await pages(100, of: nil, store) == all)
        #expect(try await store.unreadApplications(of: alice, limit: 1000) == unread)
      }
      #expect(try await pages(3, of: alice, store) == expected)
      #expect(try await pages(100, of: nil, store) == all)
      #expect(try await store.unreadApplications(of: nil, limit: 1000) == all.count)
    }
  }

  @Test(arguments: [1, 2, 5])
  func eachGroupThatWasLeftOrDisbandedComesOnceAlsoWhileItIsClearedAway(_ limit: Int) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let groups = (0..<20).map { GroupID("group\($0)")! }
        try await store.put(groups.flatMap { [.create($0), .join(alice, $0), .join(bob, $0)] }).get()
        // 0 = stays, 1 = left, 2 = disbanded, 3 = left and disbanded, 4 = disbanded and joined
        // again under another number
        let left = groups.indices.filter { $0 % 5 == 1 || $0 % 5 == 3 }
        for index in left.reversed() { try await store.put([.removeMember(alice, from: groups[index], at: 5)]).get() }
        for index in groups.indices where index % 5 >= 2 {
          try await store.pool.write { try $0.apply(.dismiss(groups[index], at: 6)) }
        }
        for index in groups.indices where index % 5 == 4 {
          try await store.pool.write { db in
            try db.apply(.create(groups[index], epoch: "e2"))
            try db.apply(.join(alice, groups[index]))
          }
        }
        let departed = groups.indices.filter { (1...3).contains($0 % 5) }.map { groups[$0] }
        let joined =
          groups.indices.filter { $0 % 5 == 0 }.map { groups[$0] } + groups.indices.filter { $0 % 5 == 4 }.map { groups[$0] }
        for purges in [false, true, false] {
          var (found, listed): ([GroupID], [GroupID]) = ([], [])
          var (after, listedAfter): (Int64, Int64) = (0, 0)
          repeat {
            let page = try await store.departures(of: alice, type: nil, since: 5, after: after, limit: limit)
            #expect(page.count <= limit && page.map(\.groupNumber) == page.map(\.groupNumber).sorted())
            found += page.map(\.groupID)
            after = page.last?.groupNumber ?? 0
            if purges { _ = try await store.pool.write { try DisbandedGroupCleanup.chunk(of: 1, in: $0) } }
            let more = try await store.listedMemberships(of: alice, type: nil, changedSince: 0, after: listedAfter, limit: limit)
            listed += more.map(\.groupID)
            listedAfter = more.last?.groupNumber ?? .max
          } while after != 0
          while listedAfter != .max {
            let more = try await store.listedMemberships(of: alice, type: nil, changedSince: 0, after: listedAfter, limit: limit)
            listed += more.map(\.groupID)
            listedAfter = more.last?.groupNumber ?? .max
          }
          #expect(found == departed && listed == joined, "purges \(purges)")
          if purges { while try await store.pool.write({ try DisbandedGroupCleanup.chunk(of: 1, in: $0) }) {} }
        }
        let later = try await store.departures(of: alice, type: .public, since: 6, after: 0, limit: 100).map(\.groupID)
        #expect(later == groups.indices.filter { $0 % 5 == 2 }.map { groups[$0] }, "left before it was disbanded")
        #expect(try await store.departures(of: alice, type: .work, since: 0, after: 0, limit: 100).isEmpty)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func whatHasNotChangedSinceIsLeftOutAndNothingThatHas(_ backing: Backing) async throws {
    try await backing.withStore { store in
      func edited(_ change: (inout GroupRecord) -> Void) -> [StoreChange] {
        var record = GroupRecord.sample()
        change(&record)
        return [.putGroup(record, isNew: false)]
      }
      func member(_ change: (inout Member) -> Void) -> [StoreChange] {
        var member = Member.sample(alice)
        change(&member)
        return [.putMember(member, in: club)]
      }
      let changes: [[StoreChange]] = [
        edited { $0.lastInfoTime = 5000 }, edited { $0.changeTime = 5000 },
        edited { $0.mute = GroupMute(mode: .ordinary, muteUntil: 5000) }, member { $0.changeTime = 5000 },
        member { $0.muteUntil = 5000 }, [.append(.sample(1, at: 5000))],
        [.append(.sample(1, at: 4000)), .append(.sample(2, from: bob, at: 5000))],
      ]
      for (round, change) in changes.enumerated() {
        try await store.put([.create(), .create(team), .join(alice), .join(alice, team)]).get()
        func listed(_ since: WallInstant) async throws -> [GroupID] {
          try await store.listedMemberships(of: alice, type: nil, changedSince: since, after: 0, limit: 9).map(\.groupID)
        }
        #expect(try await listed(0) == [club, team])
        #expect(try await listed(1000) == [club, team])
        try await store.put(change).get()
        let found = try await listed(5000)
        #expect(found.contains(club), "round \(round)")
        if backing == .sqlite {
          #expect(found == [club], "round \(round)")
          #expect(try await listed(5001) == [], "round \(round)")
          #expect(try await listed(1001) == [club], "round \(round)")
          #expect(try await listed(1000) == [club, team], "round \(round)")
        }
        try await store.put([.dismiss(club, at: 1), .dismiss(team, at: 1)]).get()
      }
    }
  }

  /// "With NotReceive a message does not make the group appear under updatedSince."
  @Test(arguments: Backing.allCases, ReceiveOption.allCases)
  func aMessageThatIsNotReceivedIsNoChange(_ backing: Backing, _ option: ReceiveOption) async throws {
    try await backing.withStore { store in
      var member = Member.sample(alice)
      member.receiveOption = option
      try await store.put([.create(), .putMember(member, in: club), .append(.sample(1, from: bob, at: 5000))]).get()
      func listed(_ since: WallInstant) async throws -> Bool {
        try await store.listedMemberships(of: alice, type: nil, changedSince: since, after: 0, limit: 9).count == 1
      }
      // The store in memory lists unchanged groups too.
      if option != .notReceive || backing != .memory { #expect(try await listed(5000) == (option != .notReceive)) }
      #expect(try await listed(1000))
    }
  }

  @Test func aGroupReadInSmallPagesIsTheWholeGroup() async throws {
    try await withDirectory { directory in
      let users = (0..<7).map { UserID("user\($0)")! }
      for type in [GroupType.public, .avChatRoom] {
        let id = type == .public ? club : team
        try await withSQLite(directory) { store in
          let former = (0..<5).map {
            FormerMember(userID: UserID("gone\($0)")!, visibleRanges: [1...2], bannedUntil: 9, leftTime: 7)
          }
          let changes: [StoreChange] =
            [.create(id, type: type)] + users.map { .join($0, id) } + former.map { .putFormer($0, in: id) }
            + (0..<5).map { .apply(.sample("\(type) \($0)", to: id)) }
            + (1...9).map { .append(.sample($0, in: id, clientMsgID: $0 == 4 ? nil : "c\($0)")) }
          try await store.put(changes).get()
          for (index, user) in users.enumerated() where index % 2 == 0 {
            store.notePresence(of: user, offlineSince: WallInstant(100 + index))
          }
          await store.waitForWriter()
        }
        var groups: [StoredGroup] = []
        for rows in [1, 2, 3, 7, 1000] {
          try await withSQLite(directory, { $0.rowsPerRead = rows }) { store in
            groups.append(try #require(try await store.group(id, sentSince: 3)))
          }
        }
        for group in groups {
          #expect(group.members.map(\.userID) == users && group.former.count == 5 && group.openApplications.count == 5)
          #expect(group.recentlySent.map(\.seq) == [3, 5, 6, 7, 8, 9] && group.lastMessage?.seq == 9)
          #expect(group.members == groups[4].members && group.former == groups[4].former)
          #expect(group.openApplications == groups[4].openApplications && group.recentlySent == groups[4].recentlySent)
          #expect(group.offlineSince == groups[4].offlineSince)
        }
      }
    }
  }
}
