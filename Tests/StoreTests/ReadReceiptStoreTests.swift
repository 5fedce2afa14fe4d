import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

private let dave = UserID("dave")!

/// Read receipts are kept.
/// The readers of a message, in both stores.
@Suite struct ReadReceiptStoreTests {
  /// A group whose messages 1, 2 (with receipts) and 3 (without) alice sent, and 4 (with) bob.
  private static let sent: [StoreChange] = [
    .create(), .append(.sample(1, needReadReceipt: true)), .putReceiptMembers([alice, bob, carol], from: 1, in: club),
    .append(.sample(2, needReadReceipt: true)), .append(.sample(3)), .append(.sample(4, from: bob, needReadReceipt: true)),
    .putReceiptMembers([alice, bob, carol, dave], from: 4, in: club),
  ]

  private func counts(_ store: any AnyStore, _ seqs: [Int64] = [4, 3, 2, 1, 9]) async throws -> [[Int64]] {
    try await store.receiptCounts(of: seqs, in: club, epoch: "e1").map { [$0.seq, Int64($0.read), Int64($0.unread)] }
  }

  @Test(arguments: Backing.allCases)
  func countsAreOfThoseWhoWereMembersWhenTheMessageWasSent(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put(Self.sent).get()
      #expect(
        try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.needReadReceipt) == [
          true, true, false, true,
        ])
      #expect(try await counts(store) == [[1, 0, 2], [2, 0, 2], [4, 0, 3]])
      try await store.put([.addReadReceipts([1, 4], of: carol, in: club)]).get()
      try await store.put([.addReadReceipts([1], of: bob, in: club), .addReadReceipts([4], of: carol, in: club)]).get()
      #expect(try await counts(store) == [[1, 2, 0], [2, 0, 2], [4, 1, 2]])
      #expect(try await counts(store, [2]) == [[2, 0, 2]])
      #expect(try await store.receiptCounts(of: [1], in: club, epoch: "e1").map(\.sender) == [alice])
      var revoked = Message.sample(1, needReadReceipt: true)
      revoked.isRevoked = true
      try await store.put([.revise(revoked)]).get()
      #expect(try await counts(store) == [[2, 0, 2], [4, 1, 2]])
    }
  }

  @Test(arguments: Backing.allCases)
  func aReaderMayConfirmOnceWhatOthersSentWhileTheReaderWasAMember(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put(Self.sent).get()
      func confirmable(_ user: UserID) async throws -> [Int64] {
        try await store.confirmable([9, 4, 3, 2, 1, 0, 1], of: club, epoch: "e1", by: user)
      }
      #expect(try await confirmable(alice) == [4])
      #expect(try await confirmable(bob) == [1, 2])
      #expect(try await confirmable(carol) == [1, 2, 4])
      #expect(try await confirmable(dave) == [4])
      for part in ["car", "rol", "bo", "arol"] { #expect(try await confirmable(UserID(part)!) == [], "a part of a name is none") }
      try await store.put([.addReadReceipts([2], of: carol, in: club)]).get()
      #expect(try await confirmable(carol) == [1, 4])
    }
  }

  @Test(arguments: Backing.allCases)
  func theReadersOfAMessage(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put(Self.sent + [.addReadReceipts([1, 2], of: carol, in: club)]).get()
      func readers(_ seq: Int64, _ epoch: String = "e1") async throws -> MessageReaders? {
        try await store.readers(of: seq, in: club, epoch: epoch)
      }
      #expect(
        try await readers(1)
          == MessageReaders(sender: alice, isRevoked: false, members: [alice, bob, carol], readers: [carol]))
      #expect(try await readers(3) == MessageReaders(sender: alice, isRevoked: false, members: nil, readers: []))
      #expect(try await readers(4)?.members == [alice, bob, carol, dave])
      #expect(try await readers(5) == nil)
      #expect(try await readers(1, "e2") == nil)
      #expect(try await store.confirmable([1], of: club, epoch: "e2", by: carol) == [])
      #expect(try await store.receiptCounts(of: [1], in: club, epoch: "e2") == [])
    }
  }

  @Test(arguments: Backing.allCases)
  func receiptsOfAGroupThatIsGoneAreNotThoseOfTheNext(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put(Self.sent + [.addReadReceipts([1], of: carol, in: club)]).get()
      try await store.put([.dismiss(club, at: 9)]).get()
      #expect(await store.put([.addReadReceipts([1], of: carol, in: club)]).failure == .inconsistent)
      #expect(await store.put([.putReceiptMembers([alice], from: 1, in: club)]).failure == .inconsistent)
      try await store.put([
        .create(epoch: "e2"), .append(.sample(1, needReadReceipt: true)), .putReceiptMembers([alice, carol], from: 1, in: club),
      ]).get()
      #expect(try await store.receiptCounts(of: [1], in: club, epoch: "e2").map { [$0.read, $0.unread] } == [[0, 1]])
    }
  }

  @Test func aReadersConfirmationsOfABlockAreOneRowAndARepetitionWritesNothing() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let messages = (1...50).map { StoreChange.append(.sample($0, needReadReceipt: true)) }
        let users = (0..<200).map { UserID("user\($0)")! }
        try await store.put([.create(), .putReceiptMembers([alice] + users, from: 1, in: club)] + messages).get()
        func rows(_ seqs: [Int64], _ user: UserID) async throws -> Int {
          try await store.pool.write { db in
            let before = db.totalChangesCount
            try db.apply(.addReadReceipts(seqs, of: user, in: club))
            return db.totalChangesCount - before
          }
        }
        for user in users { #expect(try await rows(Array(1...50), user) == 1) }
        #expect(try await rows([7, 8], users[0]) == 0)
        #expect(try await counts(store, Array(1...50)) == (1...50).map { [$0, 200, 0] })
        let size = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT max(length(seqs)) FROM readReceipt") }
        #expect(size == 7, "as many bytes as the last bit needs")
      }
    }
  }

  @Test func countingReadsTheRowsOfTheBlocksAloneByTheirKey() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(Self.sent).get()
        let log = RecordedStatements()
        try await store.pool.read { db in
          db.trace(options: .statement) { log.add($0.expandedDescription) }
          _ = try db.receiptCounts(of: [1, 2, 4], number: 1)
          _ = try db.confirmable([1, 2, 4], by: carol, number: 1)
          _ = try db.readers(of: 1, number: 1)
          db.trace(options: [])
        }
        #expect(log.all.count == 6)
        for sql in log.all {
          let plan = try await store.pool.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
          }
          let scans = plan.filter { $0.hasPrefix("SCAN") && !$0.contains("wanted") && !$0.contains("CONSTANT") }
          #expect(scans.isEmpty && !plan.contains { $0.contains("TEMP B-TREE") }, "\(sql): \(plan)")
        }
      }
    }
  }

  @Test func aGroupThatIsDisbandedLeavesNoReceipts() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.cleanupRows = 2 }) { store in
        try await store.put(Self.sent).get()
        for user in [bob, carol, dave] { try await store.put([.addReadReceipts([1, 2000, 5000], of: user, in: club)]).get() }
        try await store.put([.create(team), .append(.sample(1, in: team, needReadReceipt: true))]).get()
        try await store.put([.putReceiptMembers([alice], from: 1, in: team), .addReadReceipts([1], of: bob, in: team)]).get()
        try await store.put([.dismiss(club, at: 9)]).get()
        await store.waitForWriter()
        let left = try await store.pool.read { db in
          [
            try Int.fetchOne(db, sql: "SELECT count(*) FROM readReceipt"),
            try Int.fetchOne(db, sql: "SELECT count(*) FROM receiptMembers"),
            try Int.fetchOne(db, sql: "SELECT count(*) FROM dismissedGroup"),
          ]
        }
        #expect(left == [1, 1, 0])
      }
      #expect(try StoreCheck.faults(directory: directory, database: nil).isEmpty)
    }
  }

  @Test func whatBelongsToMessagesBeforeOneAloneCanBeRemovedABoundedNumberOfRowsAtATime() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(Self.sent).get()
        for user in [bob, carol] { try await store.put([.addReadReceipts([1, 1030, 2100], of: user, in: club)]).get() }
        try await store.put([.putReceiptMembers([alice, bob], from: 1500, in: club)]).get()
        func remove(before seq: Int64) async throws -> (steps: Int, blocks: [Int], lists: [Int]) {
          try await store.pool.write { db in
            var steps = 0
            while try ReadReceiptRows.remove(number: 1, before: seq, limit: 1, in: db) { steps += 1 }
            return (
              steps, try Int.fetchAll(db, sql: "SELECT DISTINCT block FROM readReceipt ORDER BY block"),
              try Int.fetchAll(db, sql: "SELECT seq FROM receiptMembers ORDER BY seq")
            )
          }
        }
        #expect(try await remove(before: 1) == (0, [0, 1, 2], [1, 4, 1500]))
        #expect(try await remove(before: 1023) == (1, [0, 1, 2], [4, 1500]))
        #expect(try await remove(before: 1499) == (2, [1, 2], [4, 1500]), "message 1499 needs the list of 4")
        #expect(try await remove(before: 1500) == (1, [1, 2], [1500]))
        #expect(try await remove(before: 9999) == (4, [], [1500]), "the next message may need it")
      }
    }
  }

  @Test func valuesThatMakeNoSenseAreInconsistentNotATrap() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(Self.sent + [.addReadReceipts([1], of: carol, in: club)]).get()
        func kind() async -> StoreError.Kind? {
          await failure { () async throws(StoreError) in try await store.readers(of: 1, in: club, epoch: "e1") }?.kind
        }
        #expect(await kind() == nil)
        for damage in ["UPDATE receiptMembers SET userIDs = '@x'", "UPDATE readReceipt SET userID = ''"] {
          try await store.pool.writeWithoutTransaction { try $0.execute(sql: damage) }
          #expect(await kind() == .inconsistent, "\(damage)")
        }
        try await store.pool.writeWithoutTransaction {
          try $0.execute(sql: "UPDATE readReceipt SET userID = 'carol', seqs = zeroblob(129)")
        }
        #expect(
          await failure { () async throws(StoreError) in try await store.receiptCounts(of: [1], in: club, epoch: "e1") }?.kind
            == .inconsistent)
      }
    }
  }

  @Test func aMessageWithoutItsListOfMembersIsAContradiction() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put(Self.sent).get()
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM receiptMembers WHERE seq = 1") }
      }
      #expect(
        try StoreCheck.faults(directory: directory, database: nil) == ["2 messages with read receipts have no list of members"])
    }
  }
}

/// The texts of statements, with their values.
final class RecordedStatements: @unchecked Sendable {
  // GRDB traces on the connection's queue, and the test reads when the reading has ended.
  private(set) var all: [String] = []
  func add(_ sql: String) { all.append(sql) }
}
