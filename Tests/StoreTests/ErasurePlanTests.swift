import GRDB
import GroupModel
import GroupRuntime
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore
@testable import StoreEngine

/// What a deletion and an export look for is found by an index in both dialects, however much there is of
/// others; and so are statuses, blocks and reports (Protocol.md, "Deleting a user", "Exporting a user",
/// "Presence", "Blocked users" and "Reports").
@Suite struct ErasurePlanTests {
  /// A look of a step, from its beginning or from its second part.
  struct Look: Sendable, CustomTestStringConvertible {
    let step: UserDeletion.Step
    var place = UserDeletion.Place.start

    var testDescription: String { "\(step) from \(place.number), \(place.seq)" }

    func run(_ db: Database) throws {
      let deletion = UserDeletion(userID: alice, messages: .revoke, step: step, place: place, requestTime: 1)
      var scan = ErasureScan(deletion, scanning: 2000, in: db)
      _ = try scan.run()
    }
  }

  /// The steps that look into the store.
  static let looks =
    UserDeletion.Step.allCases.filter { ![.sessions, .profile, .check, .file, .done].contains($0) }.map { Look(step: $0) }
    + [Look(step: .webhooks, place: UserDeletion.Place(number: 0, seq: 1))]

  /// A store with a group in which alice has said something.
  private func withGroup(_ body: (SQLiteStore) async throws -> Void) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice), .noteGroup([alice], in: club), .append(.sample(1, from: alice))]).get()
        try await body(store)
      }
    }
  }

  /// The statements that a body runs, with their values.
  private func statements(
    of store: SQLiteStore, _ body: @escaping @Sendable (Database) throws -> Void
  ) async throws -> [String] {
    let log = RecordedStatements()
    try await store.pool.write { db in
      db.trace(options: .statement) { log.add($0.expandedDescription) }
      try body(db)
      db.trace(options: [])
    }
    // Not those of triggers.
    return log.all.filter { !$0.hasPrefix("--") }
  }

  private func plan(_ sql: String, in store: SQLiteStore) async throws -> [String] {
    try await store.pool.write { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
    }
  }

  /// - Parameter mayBeSorted: a bounded number of rows.
  private func expectSeeks(_ sql: String, in store: SQLiteStore, mayBeSorted: Bool = false) async throws {
    let plan = try await plan(sql, in: store)
    // A list of the statement itself, or two that are merged.
    let own = ["SCAN CONSTANT ROW", "SCAN a", "SCAN b"]
    let scans = plan.filter { $0.hasPrefix("SCAN") && !own.contains($0) && !$0.contains("VIRTUAL TABLE") }
    let sorts = plan.filter { $0.contains("TEMP B-TREE") && !mayBeSorted }
    #expect(scans.isEmpty && sorts.isEmpty && plan.contains { $0.hasPrefix("SEARCH") }, "\(sql): \(plan)")
  }

  // MARK: SQLite

  @Test(arguments: looks) func everyLookSeeks(look: Look) async throws {
    try await withGroup { store in
      let asked = try await statements(of: store) { try look.run($0) }
      #expect(!asked.isEmpty)
      for sql in asked {
        let bounds = ["LIMIT ", "min(number)", "block BETWEEN", "FROM groupRecord WHERE number = "]
        #expect(bounds.contains { sql.contains($0) }, "\(sql) may read any number of rows")
        // A list of each kind has a limit; few groups of a user are disbanded and not cleared away.
        try await expectSeeks(sql, in: store, mayBeSorted: sql.contains("UNION ALL") || sql.contains("dismissedGroup"))
      }
    }
  }

  @Test func theCheckAndTheExportSeek() async throws {
    try await withGroup { store in
      // Nothing is found, so that everything is looked for.
      let check = try await statements(of: store) { db in
        let step = try db.remains(of: carol)
        #expect(step == nil)
      }
      #expect(check.count >= 11)
      for sql in check { try await expectSeeks(sql, in: store) }
      let export = try await statements(of: store) { db in
        var scan = PersonalScan(of: alice, limit: 200, scanning: 2000, in: db)
        let page = try scan.page(after: .start)
        #expect(page.next == nil && !page.rows.isEmpty)
      }
      for sql in export where sql.contains("number > ") { try await expectSeeks(sql, in: store) }
    }
  }

  @Test func everyRowIsErasedByItsKey() async throws {
    let bytes: [UInt8] = [0x7b, 0x7d]
    let rows: [ErasedRow] = [
      .profile(alice), .nameCard(number: 1, seq: 1, sender: alice), .tips(number: 1, seq: 1, content: "{}"),
      .application(number: 1), .answer(ofApplication: 1), .notification(addressee: "alice", number: 1),
      .notice(addressee: "bob", number: 1, opUser: "{}"), .receipts(number: 1, block: 0, alice),
      .receiptList(number: 1, seq: 1, [bob]), .targets(number: 1, seq: 1, [bob]), .formerMember(number: 1, alice),
      .disbandedMember(number: 1, alice), .report(number: 1), .reportedMessage(number: 1, message: bytes),
      .webhook(number: 1, data: bytes), .failure(number: 1, data: bytes), .groupOfUser(number: 1, alice), .departures(alice),
      .marks(alice), .known(alice),
    ]
    try await withGroup { store in
      for row in rows {
        let asked = try await statements(of: store) { try $0.apply(.erase([row])) }
        #expect(!asked.isEmpty, "\(row)")
        for sql in asked { try await expectSeeks(sql, in: store) }
      }
    }
  }

  @Test func statusesBlocksAndReportsAreSought() async throws {
    try await withGroup { store in
      let asked = try await statements(of: store) { db in
        _ = try db.statuses(of: [alice, bob], known: [])
        _ = try db.blocks(behind: "", limit: 50)
        _ = try db.decidedUser(number: 1)
        for group in [nil, club] { _ = try db.reports(state: .open, in: group, below: .max, limit: 50) }
        _ = try db.report("id")
        _ = try db.openReports()
      }
      #expect(asked.count == 7)
      for sql in asked { try await expectSeeks(sql, in: store) }
    }
  }

  // MARK: PostgreSQL

  /// The same statements there: none needs to read a table or to sort what it finds.
  @Test func everyLookSeeksInPostgreSQL() async throws {
    var asked: [String] = []
    try await withGroup { store in
      for look in Self.looks { asked += try await statements(of: store) { try look.run($0) } }
      asked += try await statements(of: store) { _ = try $0.remains(of: carol) }
    }
    // Each dialect has its own condition of the index of applications.
    let shared = Set(asked.map { $0.replacing("isGroupGone = 0", with: "NOT isGroupGone") })
    try await withSchema { url, schema in
      try openPostgreSQL(url, schema).close()
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      // A table that is empty is read as a whole unless that is forbidden.
      for setting in ["enable_seqscan", "enable_sort", "enable_bitmapscan"] { try connection.run("SET \(setting) = off") }
      for sql in shared {
        let plan = try connection.rows("EXPLAIN \(sql)", []) { try $0.text() }
        let bad = plan.filter { line in ["Seq Scan", "Sort  ", "hashed", "Bitmap"].contains { line.contains($0) } }
        #expect(bad.isEmpty, "\(sql): \(plan)")
      }
    }
  }
}
