import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: a sign-in finds the decisions about its user by seeks, however many there are. Nothing of
/// them is kept in memory.
@Suite struct AccessPlanTests {
  @Test func theDecisionsAboutAUserAreFoundBySeeks() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let users = (0..<3000).map { UserID("user\($0)")! }
        try await store.put(users.map { .putBlock($0, UserAccess.Block(reason: "spam"), at: 5) }).get()
        let log = RecordedStatements()
        try await store.pool.read { db in
          db.trace(options: .statement) { log.add($0.expandedDescription) }
          let (blocked, free) = (try db.access(of: users[7]).access, try db.access(of: alice).access)
          #expect(blocked == UserAccess(block: UserAccess.Block(reason: "spam")))
          #expect(free == .unlimited)
          db.trace(options: [])
        }
        #expect(log.all.count == 3)
        for sql in log.all {
          let plan = try await store.pool.read { db in
            try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
          }
          let scans = plan.filter { detail in
            ["SCAN userAccess", "SCAN userDeletion", "SCAN a", "SCAN d"].contains { detail.hasPrefix($0) }
          }
          #expect(scans.isEmpty && plan.count { $0.hasPrefix("SEARCH") } >= 2, "\(sql): \(plan)")
        }
      }
    }
  }
}
