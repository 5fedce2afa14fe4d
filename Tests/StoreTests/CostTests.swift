import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: what a change costs.
@Suite struct CostTests {
  /// How many statements a change runs, however often they were prepared before.
  private func statements(of change: StoreChange, after: [StoreChange] = []) async throws -> Int {
    let counter = Counter()
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice)] + after).get()
        try await store.pool.write { db in
          db.trace(options: .statement) { _ in counter.increment() }
          try db.apply(change)
          db.trace(options: [])
        }
      }
    }
    return counter.count
  }

  @Test func aMessageIsOneStatement() async throws {
    #expect(try await statements(of: .append(.sample(1))) == 1)
    #expect(try await statements(of: .append(.sample(2, isFromManager: true)), after: [.append(.sample(1))]) == 1)
  }

  @Test func whatMostMessagesHaveNotIsOneStatementMore() async throws {
    var message = Message.sample(1)
    message.extras = MessageExtras(extension: "data", toUserIDList: [bob])
    #expect(try await statements(of: .append(message)) == 2)
    #expect(try await statements(of: .putLastShown(seq: 1, at: 1, in: club), after: [.append(.sample(1))]) == 1)
  }

  @Test func aRecallIsTwoStatementsWithAndWithoutThem() async throws {
    for extras in [nil, MessageExtras(replyTo: ReplyReference(seq: 1, sender: bob), toUserIDList: [bob])] {
      var message = Message.sample(1)
      message.extras = extras
      let sent = message
      message.isRevoked = true
      #expect(try await statements(of: .revise(message), after: [.append(sent)]) == 2)
    }
  }

  @Test func thousandsWhoFindAGroupAgainAreOneStatement() async throws {
    let users = (0..<3000).map { UserID("user\($0)")! }
    let joins = users.map { StoreChange.join($0, club) }
    #expect(try await statements(of: .endHidden(users, at: 5000, in: club), after: joins) == 1)
  }

  @Test func aCounterIsTwoStatementsAndTakesNoMoreRoomWhenItChanges() async throws {
    #expect(try await statements(of: .putCounters([.init(key: "k", value: 1)], in: club)) == 2)
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .putCounters([.init(key: "k", value: 1)], in: club)]).get()
        func pages() async throws -> Int? { try await store.pool.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } }
        let before = try await pages()
        for value in 2...500 { try await store.put([.putCounters([.init(key: "k", value: Int64(value))], in: club)]).get() }
        #expect(try await pages() == before)
      }
    }
  }

  @Test func onlyWhoIsNewCanHaveLeftBefore() async throws {
    var member = Member.sample(alice)
    member.readSeq = 7
    #expect(try await statements(of: .putMember(member, in: club, isKnown: true)) == 1)
    #expect(try await statements(of: .join(bob)) == 3)
  }

  @Test func ofAGroupsMessagesOnlyThoseAreReadThatItsLoadingNeeds() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let sent = Message.sample(2, clientMsgID: "c")
        try await store.put([.create(), .append(.sample(1)), .append(sent), .append(.sample(3)), .append(.sample(4))]).get()
        func damage(_ seq: Int64) async throws {
          try await store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE message SET kind = '?' WHERE seq = \(seq)") }
        }
        for seq in [1, 3] as [Int64] { try await damage(seq) }
        let group = try #require(try await store.group(club, sentSince: 0))
        #expect(group.lastMessage == .sample(4) && group.recentlySent == [SentMessage(sent)])
        try await damage(2)
        #expect(try await store.group(club, sentSince: 0)?.recentlySent == group.recentlySent, "what it says is not read")
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE message SET sender = '' WHERE seq = 2") }
        #expect(try await store.group(club, sentSince: 3)?.recentlySent == [])
        #expect(await failure { () async throws(StoreError) in try await store.group(club, sentSince: 2) }?.kind == .inconsistent)
      }
    }
  }

  @Test func ofFormerMembersNoMoreRowsAreReadThanAreAskedFor() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.rowsPerRead = 4 }) { store in
        let former = (0..<60).map { number in
          // The first twenty are banned, the last twenty long forgotten and not swept yet.
          let bannedUntil = number < 20 ? WallInstant(Int64.max - Int64(number)) : .unset
          let leftTime = number < 40 ? WallInstant((1 << 41) - number) : .unset
          return FormerMember(
            userID: UserID("user\(number)")!, visibleRanges: [1...2], bannedUntil: bannedUntil, leftTime: leftTime)
        }
        try await store.put([.create()] + former.map { .putFormer($0, in: club) }).get()
        func loaded(_ most: Int) async throws -> [FormerMember]? {
          try await store.group(club, sentSince: 0, at: WallInstant(1 << 41), mostFormer: most)?.former
        }
        for (most, unread) in [(30, 30..<60), (10, 10..<60)] {
          let names = unread.map { "'user\($0)'" }.joined(separator: ", ")
          try await store.pool.writeWithoutTransaction {
            try $0.execute(sql: "UPDATE formerMember SET stays = '?' WHERE userID IN (\(names))")
          }
          #expect(try await loaded(most) == Array(former.prefix(most)))
          #expect(
            await failure { () async throws(StoreError) in
              try await store.group(club, sentSince: 0, at: WallInstant(1 << 41), mostFormer: most + 1)
            }?.kind == .inconsistent)
        }
      }
    }
  }

  @Test(arguments: [1, 6_000])
  func notifyingIsThreeStatementsForAnyNumberOfUsers(_ count: Int) async throws {
    let users = (0..<count).map { UserID("user\($0)")! }
    #expect(try await statements(of: .notify(.sample(), .users(users))) == 3)
  }

  /// How many rows and statements changes take in a group with so many managers, and how many the
  /// managers' lists take then.
  private func cost(
    managers: Int, _ changes: [StoreChange]
  ) async throws -> (rows: Int, statements: Int, reading: Int) {
    let (writing, reading) = (Counter(), Counter())
    var rows = 0
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let admins = (1..<managers).map { StoreChange.join(UserID("admin\($0)")!, as: .admin) }
        try await store.put([.create(), .join(alice, as: .owner)] + admins).get()
        rows = try await store.pool.write { db in
          let before = db.totalChangesCount
          db.trace(options: .statement) { _ in writing.increment() }
          for change in changes { try db.apply(change) }
          db.trace(options: [])
          return db.totalChangesCount - before
        }
        try await store.pool.read { db in
          db.trace(options: .statement) { _ in reading.increment() }
          _ = try db.newestNotifications(of: alice, since: 0)
          db.trace(options: [])
        }
      }
    }
    return (rows, writing.count, reading.count)
  }

  @Test func applyingToAGroupAndEndingItCostsTheSameForOneManagerAndFor5900() async throws {
    let application = GroupApplication.sample("a")
    let notification = SystemNotification(
      kind: .addGroupRequest, groupID: club, opUser: "{}", applicationID: "a", timestamp: 1)
    for changes in [
      [.apply(application), .notify(notification, .managers(of: club))],
      [
        .apply(application), .notify(notification, .managers(of: club)), .apply(application),
        .notify(notification, .managers(of: club)),
      ], [.dismiss(club, at: 9, notifying: .sample(.groupDismissed))],
    ] as [[StoreChange]] {
      let (one, many) = (try await cost(managers: 1, changes), try await cost(managers: 5_900, changes))
      #expect(one == many && many.rows <= 10, "\(changes.count) changes: \(one), \(many)")
    }
  }
}

final class Counter: Sendable {
  private let value = Atomic<Int>(0)
  var count: Int { value.load(ordering: .relaxed) }
  func increment() { value.wrappingAdd(1, ordering: .relaxed) }
}
