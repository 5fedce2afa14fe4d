import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

@Suite("PostgreSQL: the search of messages, and durability")
struct PostgreSQLSearchTests {
  private func found(_ keyword: String, _ store: PostgreSQLStore) async throws -> [Int64] {
    try await store.messages(matching: MessageSearch([keyword], by: bob), after: 0, limit: 99).found.compactMap(\.message.seq)
  }

  private func put(_ texts: [String], _ store: PostgreSQLStore) async throws {
    try await store.put(
      [.create(), .join(bob)] + texts.enumerated().map { .append(.sample(Int64($0.offset + 1), .text($0.element))) }
    ).get()
  }

  @Test func `letters whose lower case PostgreSQL writes otherwise are found`() async throws {
    try await withPostgreSQL({ $0.indexesMessages = true }) { store in
      try await put(["İstanbul", "istanbul", "ΟΔΟΣ", "οδος", "50% _off_ \\o/", "Kelvin", "ΟΔΟΣΑ"], store)
      for (keyword, seqs) in [
        ("İstanbul", [1]), ("istanbul", [2]), ("ΟΔΟΣ", [7, 3]), ("οδος", [4]), ("0% _", [5]), ("_off_", [5]), ("\\o/", [5]),
        ("%%%", []), ("___", []), ("KELVIN", [6]),
      ] as [(String, [Int64])] {
        #expect(try await found(keyword, store) == seqs, "\(keyword)")
      }
    }
  }

  @Test(arguments: [
    ("hello", "%hello%", true), ("He", "%he%", false), ("a b c", "%a b c%", false), ("100%", "%100\\%%", true),
    ("世界", "%世界%", false), ("こんに", "%こんに%", true), ("Σίσυφος", "%_ί_υφο_%", true),
  ])
  func `a keyword becomes a pattern`(keyword: String, pattern: String, hasTrigrams: Bool) {
    let made = MessagePattern([keyword])
    #expect(made.alternatives == [pattern] && made.hasTrigrams == hasTrigrams)
  }

  @Test func `one short keyword is enough to read every message`() {
    #expect(!MessagePattern(["hello", "ab"]).hasTrigrams)
  }

  @Test func `a rare keyword is found by the index, beside many messages`() async throws {
    try await withPostgreSQL({ $0.indexesMessages = true }) { store in
      try await put((1...3_000).map { $0 == 1_234 ? "a needle" : "hay \($0)" }, store)
      // Otherwise the newest are in a list that is cheaper not to read.
      store.cleanup.runRound()
      let plan = try await store.searches.connection.read { db in
        try db.run("ANALYZE message")
        return try db.rows(
          """
          EXPLAIN SELECT seq FROM message AS m WHERE m.number = $1 AND m.seq BETWEEN $2 AND $3 AND m.kind = 'Text'
          AND NOT m.isRevoked AND m.content COLLATE "default" ILIKE ANY ($4) ORDER BY m.seq DESC LIMIT $5
          """, [1, 1, 3_000, ["%needle%"], 20]
        ) { try $0.text() }
      }.get()
      #expect(plan.contains { $0.contains("messagebytext") }, "\(plan)")
      #expect(try await found("needle", store) == [1_234])
    }
  }

  @Test(arguments: [5, 40]) func `a page does bounded work`(work: Int) async throws {
    let tune: (inout PostgreSQLOptions) -> Void = {
      $0.indexesMessages = true
      $0.searchedMessages = work
    }
    try await withPostgreSQL(tune) { store in
      for group in ["a", "b", "c"].compactMap(GroupID.init) {
        try await store.put(
          [.create(group), .join(bob, group)]
            + (1...2_500 as ClosedRange<Int64>).map { .append(.sample($0, in: group, .text($0 == 7 ? "rare" : "often"))) }
        ).get()
      }
      for keyword in ["rare", "ra"] {
        var (all, pages, place): ([String], Int, Int64) = ([], 0, 0)
        repeat {
          let page = try await store.messages(matching: MessageSearch([keyword], by: bob), after: place, limit: 9)
          all += page.found.map { "\($0.message.groupID)/\($0.message.seq ?? 0)" }
          (pages, place) = (pages + 1, page.next)
        } while place != 0
        #expect(all == ["a/7", "b/7", "c/7"])
        #expect(pages > 1)
      }
    }
  }

  @Test func `switching it off drops the index, switching it on makes it for what is stored`() async throws {
    try await withSchema { url, schema in
      func indexes(_ isOn: Bool, _ body: (PostgreSQLStore) async throws -> Void = { _ in }) async throws -> Int {
        let store = try openPostgreSQL(url, schema) { $0.indexesMessages = isOn }
        defer { store.close() }
        try await body(store)
        return try await store.read { try $0.count("SELECT count(*) FROM pg_class WHERE oid = to_regclass('messageByText')", []) }
      }
      let first = try await indexes(false) { store in
        try await put(["a needle"], store)
        let error = await failure { () async throws(StoreError) in
          try await store.messages(matching: MessageSearch(["needle"], by: bob), after: 0, limit: 9)
        }
        #expect(error?.kind == .unavailable)
      }
      #expect(first == 0)
      let second = try await indexes(true) { store in
        let seqs = try await found("needle", store)
        #expect(seqs == [1])
      }
      #expect(second == 1)
      let third = try await indexes(false)
      #expect(third == 0)
    }
  }

  @Test func `the index is built beside the server where there are many messages`() async throws {
    try await withSchema { url, schema in
      try await withStore(url, schema) { try await put(["a needle", "hay"], $0) }
      try await withStore(url, schema) { store in
        let log = RecordedLog()
        MessageTextIndex.build(log.logger) { () throws(PostgreSQLError) in try connection(url, schema) }
        try await waitUntil("the index is there") { log.contains("all messages are indexed") }
        let count = try await store.read {
          try $0.count("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('messageByText') AND indisvalid", [])
        }
        #expect(count == 1)
      }
    }
  }

  private func withStore(_ url: String, _ schema: String, _ body: (PostgreSQLStore) async throws -> Void) async throws {
    let store = try openPostgreSQL(url, schema)
    defer { store.close() }
    try await body(store)
  }

  private func connection(_ url: String, _ schema: String) throws(PostgreSQLError) -> PostgreSQLConnection {
    try PostgreSQLConnection(url, options: [(name: "search_path", value: "\(schema),public")], timeout: 60_000)
  }

  @Test(arguments: [(true, "on"), (false, "off")])
  func `store sync decides whether a commit waits for the disk`(syncs: Bool, expected: String) async throws {
    try await withSchema { url, schema in
      let log = RecordedLog()
      let store = try openPostgreSQL(url, schema, logger: log.logger) { $0.syncsCommits = syncs }
      defer { store.close() }
      #expect(log.contains("fsync=off") == syncs, "the server of the tests runs with fsync=off")
      let opener = DatabaseOpener(url: url, options: store.options)
      let setting = try opener.connect(for: .writing).rows("SHOW synchronous_commit", []) { try $0.text() }
      #expect(setting == [expected])
    }
  }
}
