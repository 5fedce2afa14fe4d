import GroupModel
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// PostgreSQL plans the statements of each message, and those of each page, well.
@Suite struct PostgreSQLPlanTests {
  /// The plan of a statement over empty tables: a connection plans a statement once, when the tables
  /// may still be small, and keeps the plan.
  private func planned(_ sql: String, types: [String] = [], values: [String]) async throws -> [String] {
    var plan: [String] = []
    try await withSchema { url, schema in
      try openPostgreSQL(url, schema).close()
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try connection.run("SET plan_cache_mode = force_generic_plan")
      let declared = types.isEmpty ? "" : " (\(types.joined(separator: ", ")))"
      try connection.run("PREPARE planned\(declared) AS \(sql)")
      plan = try connection.rows("EXPLAIN EXECUTE planned (\(values.joined(separator: ", ")))", []) { try $0.text() }
    }
    return plan
  }

  @Test func aMessageIsAppendedWithoutALookAtThoseOfOtherGroups() async throws {
    let plan = try await planned(MessageRows.appendSQL, values: Array(repeating: "NULL", count: 15))
    #expect(plan.contains { $0.contains("Index") && $0.contains("message") }, "\(plan)")
    // A hashed subplan reads the messages with this seq of all groups.
    #expect(!plan.contains { $0.contains("hashed") }, "\(plan)")
  }

  @Test func stampsAreReadAndWrittenByTheIndexOfGroups() async throws {
    let read = try await planned(GroupRows.stampsSQL, types: ["text[]"], values: ["NULL"])
    #expect(!read.contains { $0.contains("Seq Scan") }, "\(read)")
    let written = try await planned(GroupRows.stampSQL, types: ["text", "bigint", "bigint"], values: ["'g'", "1", "1"])
    #expect(!written.contains { $0.contains("Seq Scan") }, "\(written)")
  }

  @Test(arguments: [true, false])
  func hiddenMessagesAreFoundByTheirIndex(_ newestFirst: Bool) async throws {
    let plan = try await planned(
      MessageExtrasRows.hiddenSQL(newestFirst: newestFirst), types: ["bigint", "bigint", "bigint", "text", "bigint"],
      values: ["1", "1", "9", "'u'", "9"])
    #expect(plan.contains { $0.contains("Index") && $0.contains("messagetargeted") }, "\(plan)")
    #expect(plan.contains { $0.contains("Index Cond: ((number = $1) AND (seq >= $2) AND (seq <= $3))") }, "\(plan)")
    #expect(!plan.contains { $0.contains("Sort") || $0.contains("Seq Scan") }, "\(plan)")
  }

  /// What a statement about replies looks at stands in their index, however many are for others.
  private func expectTheIndexAlone(_ answered: String, _ plan: [String]) {
    #expect(plan.contains { $0.contains("Index Only Scan using messagereply") }, "\(plan)")
    let seek = "Index Cond: ((number = $1) AND (countedreplyto = \(answered)) AND (seq >= $3) AND (seq <= $4))"
    #expect(plan.contains { $0.contains(seek) }, "\(plan)")
    #expect(!plan.contains { $0.contains("Sort") || $0.contains("Seq Scan") || $0.contains("Hash") }, "\(plan)")
  }

  @Test(arguments: [Visibility.Reader.user(alice), .application])
  func repliesAreFoundAndCountedInTheirIndexAlone(_ reader: Visibility.Reader) async throws {
    let condition = VisibilityCondition(reader, in: .postgreSQL, after: 5)
    let (types, values) = condition.reader == nil ? ([] as [String], [] as [String]) : (["text"], ["'u'"])
    let found = try await planned(
      MessageExtrasRows.replySeqsSQL(condition), types: Array(repeating: "bigint", count: 5) + types,
      values: ["1", "1", "1", "9", "9"] + values)
    expectTheIndexAlone("$2", found)
    let counted = try await planned(
      MessageExtrasRows.replyCountsSQL(condition), types: ["bigint", "bigint[]", "bigint", "bigint", "bigint"] + types,
      values: ["1", "'{1,2}'", "1", "9", "9"] + values)
    expectTheIndexAlone("wanted.seq", counted)
  }

  /// A join is planned over small tables so that all messages of the group are read for each.
  @Test func eachMessageThatDoesNotCountIsLookedUpByItsKey() async throws {
    let plan = try await planned(
      UnreadStatements.countedSQL, types: ["text", "bigint", "bigint", "text", "boolean", "bigint"],
      values: ["'g'", "1", "9", "'u'", "false", "9"])
    #expect(plan.contains { $0.contains("using messageuncounted") }, "\(plan)")
    #expect(plan.contains { $0.contains("Index Cond: ((number = e.number) AND (seq = e.seq))") }, "\(plan)")
    #expect(!plan.contains { $0.contains("Join") || $0.contains("Nested Loop") || $0.contains("Seq Scan") }, "\(plan)")
  }
}
