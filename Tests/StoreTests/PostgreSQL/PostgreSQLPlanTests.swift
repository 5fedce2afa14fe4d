import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// PostgreSQL plans the statements of each message well.
@Suite struct PostgreSQLPlanTests {
  /// A connection plans a statement once, when the tables may still be small, and keeps the plan.
  @Test func aMessageIsAppendedWithoutALookAtThoseOfOtherGroups() async throws {
    try await withSchema { url, schema in
      try openPostgreSQL(url, schema).close()
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try connection.run("SET plan_cache_mode = force_generic_plan")
      try connection.run("PREPARE append AS \(MessageRows.appendSQL)")
      let values = Array(repeating: "NULL", count: 15).joined(separator: ", ")
      let plan = try connection.rows("EXPLAIN EXECUTE append (\(values))", []) { try $0.text() }
      #expect(plan.contains { $0.contains("Index") && $0.contains("message") }, "\(plan)")
      // A hashed subplan reads the messages with this seq of all groups.
      #expect(!plan.contains { $0.contains("hashed") }, "\(plan)")
    }
  }
}
