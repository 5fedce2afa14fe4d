import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// What a sign-in reads, on every store; decisions and profiles are in AccessStoreTests and
/// UserInfoTests.
@Suite struct SignInRecordTests {
  @Test(arguments: Backing.allCases)
  func itHasTheGroupsByTheirNumbersAndNoneThatWasDisbanded(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(team), .create(club), .join(bob, club), .join(bob, team), .join(alice, club)]).get()
      let record = try await store.signInRecord(of: bob)
      #expect(try await store.memberships(of: bob) == record.memberships)
      #expect(record.memberships.map(\.groupID) == [team, club])
      try await store.put([.dismiss(team, at: 9)]).get()
      #expect(try await store.signInRecord(of: bob).memberships.map(\.groupID) == [club])
      #expect(try await store.signInRecord(of: carol) == SignInRecord(memberships: [], offlineSince: nil))
    }
  }

  @Test(arguments: Backing.allCases)
  func itHasTheEndOfTheLastSessionBeforeThatIsDurableToo(_ backing: Backing) async throws {
    try await backing.withStore { store in
      store.notePresence(of: alice, offlineSince: 5)
      #expect(try await store.signInRecord(of: alice).offlineSince == 5)
      try await store.put([.create(), .join(alice)]).get()
      var record = try await store.signInRecord(of: alice)
      #expect(record.offlineSince == 5 && record.memberships.map(\.groupID) == [club])
      store.notePresence(of: alice, offlineSince: nil)
      #expect(try await store.signInRecord(of: alice).offlineSince == nil)
      try await store.put([.create(team)]).get()
      record = try await store.signInRecord(of: alice)
      #expect(record.offlineSince == nil && record.memberships.map(\.groupID) == [club])
    }
  }

  @Test(arguments: Backing.allCases)
  func itIsReadWithoutATaskToo(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice)]).get()
      let read: Result<SignInRecord, StoreError> = await withCheckedContinuation { continuation in
        store.readSignInRecord(of: alice) { continuation.resume(returning: $0) }
      }
      #expect(try await store.signInRecord(of: alice) == read.get())
    }
  }

  /// SQLite: it sees one instant without a transaction, and nothing is scanned or sorted.
  @Test func itIsOneStatementThatSeeks() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice)]).get()
        let log = RecordedStatements()
        try await store.pool.read { db in
          db.trace(options: .statement) { log.add($0.expandedDescription) }
          let record = try db.signInRecord(of: alice, nil)
          #expect(record.memberships.map(\.groupID) == [club])
          db.trace(options: [])
        }
        #expect(log.all.count == 1)
        let sql = try #require(log.all.first)
        let plan = try await store.pool.read { db in
          try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
        }
        let scans = plan.filter { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" && !$0.hasPrefix("SCAN (subquery") }
        #expect(scans.isEmpty && plan.count { $0.hasPrefix("SEARCH") } == 6, "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
      }
    }
  }

  @Test func aStoreThatIsClosedSaysSo() async throws {
    try await withDirectory { directory in
      let store = try openSQLite(directory)
      store.close()
      let fault = await failure { () async throws(StoreError) in _ = try await store.signInRecord(of: alice) }
      #expect(fault?.kind == .unavailable)
    }
  }
}
