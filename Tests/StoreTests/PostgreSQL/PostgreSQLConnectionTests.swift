import Foundation
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit
import WireProtocol

@testable import PostgreSQLStore

/// Connections to PostgreSQL.
@Suite struct PostgreSQLConnectionTests {
  @Test func settingsOfTheStoreWinOverThoseOfTheURLAndOthersOfTheURLStay() async throws {
    try await withSchema { url, schema in
      let given = [
        "statement_timeout=0", "lock_timeout=0", "idle_in_transaction_session_timeout=0", "plan_cache_mode=auto", "jit=on",
        "default_transaction_isolation=serializable", "synchronous_commit=off", "search_path=pg_catalog", "work_mem=7MB",
      ]
      let url = url + " client_encoding=LATIN1 options='" + given.map { "-c \($0)" }.joined(separator: " ") + "'"
      var options = PostgreSQLOptions()
      options.schema = schema
      let opener = DatabaseOpener(url: url, options: options)
      func shown(_ use: DatabaseOpener.Use, _ names: [String]) throws -> [String] {
        let connection = try opener.connect(for: use)
        return try names.flatMap { try connection.rows("SHOW \($0)", []) { try $0.text() } }
      }
      let common = ["idle_in_transaction_session_timeout", "jit", "default_transaction_isolation", "client_encoding", "work_mem"]
      for use: DatabaseOpener.Use in [.reading, .writing, .searching, .leasing, .building] {
        let (found, path) = (try shown(use, common), try shown(use, ["search_path"]))
        #expect(found == ["3s", "off", "read committed", "UTF8", "7MB"])
        #expect(path.map { $0.replacing(" ", with: "") } == ["\(schema),public"])
      }
      for use: DatabaseOpener.Use in [.reading, .writing, .searching] {
        #expect(try shown(use, ["statement_timeout", "lock_timeout"]) == ["5s", "3s"])
      }
      #expect(try shown(.leasing, ["statement_timeout", "lock_timeout"]) == ["1s", "500ms"])
      #expect(try shown(.building, ["statement_timeout", "client_connection_check_interval"]) == ["0", "2s"])
      #expect(try shown(.reading, ["plan_cache_mode"]) == ["force_generic_plan"])
      #expect(try shown(.searching, ["plan_cache_mode"]) == ["force_custom_plan"])
      #expect(try shown(.writing, ["synchronous_commit"]) == ["on"])
    }
  }

  @Test func aURLThatLibpqCannotReadIsNotRepeated() {
    for url in ["postgres://u:hidden%zz@h/d", "host=h password='hidden", "postgres://h/d?password=a&hidden"] {
      let error = #expect(throws: PostgreSQLError.self) { _ = try PostgreSQLConnection(url, options: [], timeout: 1_000) }
      #expect(error?.message.contains("libpq cannot read the URL") == true && error?.message.contains("hidden") == false)
    }
  }

  // MARK: Limits

  /// A role with a name of the test's own, which is dropped with it.
  private func withRole(
    _ attributes: String, _ body: (_ url: String, _ schema: String, _ role: String) async throws -> Void
  ) async throws {
    try await withSchema { url, schema in
      let owner = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      let role = schema + "r"
      try owner.runScript("CREATE ROLE \(role) LOGIN \(attributes)")
      try owner.runScript("GRANT CREATE, CONNECT ON DATABASE postgres TO \(role)")
      let outcome: Result<Void, any Error>
      do {
        outcome = .success(try await body(url.replacing("user=throng", with: "user=\(role)"), schema, role))
      } catch {
        outcome = .failure(error)
      }
      try owner.runScript("DROP OWNED BY \(role) CASCADE; DROP ROLE \(role)")
      try outcome.get()
    }
  }

  private func refusal(_ url: String, _ schema: String, _ tune: (inout PostgreSQLOptions) -> Void = { _ in })
    -> PostgreSQLOpenError?
  {
    do throws(PostgreSQLOpenError) {
      try openPostgreSQL(url, schema) {
        $0.leaseDuration = .milliseconds(100)
        tune(&$0)
      }.close()
      return nil
    } catch {
      return error
    }
  }

  @Test func aRoleWithTooFewConnectionsIsToldAtTheStartWithItsLimitAndTheWayOut() async throws {
    try await withRole("CONNECTION LIMIT 4") { url, schema, role in
      let error = try #require(refusal(url, schema))
      #expect(error.kind == .unavailable)
      for part in [
        "7 connections", "only 4", "CONNECTION LIMIT 4", "ALTER ROLE \(role) CONNECTION LIMIT 7", "too many connections",
      ] {
        #expect(error.description.contains(part), "\(error)")
      }
      let needs = PostgreSQLStore.Needs(isShared: true, carriesBus: true, indexesMessages: true)
      #expect(needs.connections == 16)
      let found = #expect(throws: PostgreSQLOpenError.self) { try PostgreSQLStore.check(url, needs) }
      #expect(found?.description.contains("ALTER ROLE") == true)
      _ = try PostgreSQLStore.check(url, .besideRunning)
    }
  }

  @Test func aDatabaseWithTooFewConnectionsIsToldAtTheStart() async throws {
    try await withRole("") { url, schema, role in
      let owner = try PostgreSQLConnection(try PostgreSQLServer.shared.get().url, options: [], timeout: 60_000)
      let database = schema + "d"
      try owner.runScript("CREATE DATABASE \(database) OWNER \(role) CONNECTION LIMIT 3")
      let error = refusal(url.replacing("dbname=postgres", with: "dbname=\(database)"), schema)
      try owner.runScript("DROP DATABASE \(database) WITH (FORCE)")
      #expect(
        error?.description.contains("ALTER DATABASE \(database) CONNECTION LIMIT 7") == true, "\(String(describing: error))")
    }
  }

  @Test func asManyConnectionsAsTheStartAsksForAreEnough() async throws {
    var options = PostgreSQLOptions()
    options.readers = 2
    try await withRole("CONNECTION LIMIT \(options.connectionCount)") { url, schema, _ in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await store.put([.create(), .join(alice)]).get()
      async let first = store.memberships(of: alice)
      async let second = store.memberships(of: alice)
      let search = GroupSearch(["Club"], in: [.groupName], ignoresCase: true, by: alice)
      async let page = store.search(search, after: 0, limit: 9)
      async let record = store.signInRecord(of: alice)
      let found = (try await first, try await second, try await page, try await record)
      #expect(found.0.count == 1 && found.1.count == 1 && found.2.groups.count == 1 && found.3.memberships.count == 1)
      store.maintenance.runRound()
      store.cleanup.runRound()
      #expect(store.canPersist)
    }
  }

  // MARK: Poolers

  private func withPooler(_ settings: String..., body: (_ url: String, _ schema: String) async throws -> Void) async throws {
    try await withSchema { url, schema in
      let pooler = try Pooler(to: url, settings.joined(separator: "\n"))
      defer { pooler.close() }
      try await body(pooler.url, schema)
    }
  }

  @Test(arguments: ["transaction", "statement"], ["server_round_robin=0", "server_round_robin=1"])
  func aPoolerThatSharesSessionsIsToldAtTheStart(_ mode: String, _ order: String) async throws {
    try await withPooler("pool_mode=\(mode)", order) { url, schema in
      // The second finds sessions that the first has used.
      for _ in 1...2 {
        let error = try #require(refusal(url, schema))
        #expect(error.kind == .unavailable && error.description.contains("pool_mode=session"), "\(error)")
      }
      let found = #expect(throws: PostgreSQLOpenError.self) { try PostgreSQLStore.check(url, .besideRunning) }
      #expect(found?.description.contains("pool_mode=session") == true)
    }
  }

  @Test func aPoolerThatKeepsASessionForEachConnectionIsUsed() async throws {
    try await withPooler("pool_mode=session") { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await store.put([.create(), .join(alice)]).get()
      #expect(try await store.memberships(of: alice).map(\.groupID) == [club])
    }
  }

  @Test func aPoolerWithTooSmallAPoolIsToldAtTheStart() async throws {
    try await withPooler("pool_mode=session", "default_pool_size=3") { url, schema in
      let error = try #require(refusal(url, schema) { $0.statementTimeout = 500 })
      #expect(error.description.contains("default_pool_size") && error.description.contains("only 3"), "\(error)")
    }
  }
}
