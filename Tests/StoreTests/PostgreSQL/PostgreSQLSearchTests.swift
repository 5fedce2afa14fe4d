import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// PostgreSQL: the search of messages, and durability.
@Suite struct PostgreSQLSearchTests {
  private func found(_ keyword: String, _ store: PostgreSQLStore) async throws -> [Int64] {
    try await store.messages(matching: MessageSearch([keyword], by: bob), after: 0, limit: 99).found.compactMap(\.message.seq)
  }

  private func put(_ texts: [String], _ store: PostgreSQLStore) async throws {
    try await store.put(
      [.create(), .join(bob)] + texts.enumerated().map { .append(.sample(Int64($0.offset + 1), .text($0.element))) }
    ).get()
  }

  @Test func lettersWhoseLowerCasePostgreSQLWritesOtherwiseAreFound() async throws {
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
    ("世界", "%世界%", false), ("こんに", "%こんに%", true), ("Σίσυφος", "%_ί_υφο_%", true), ("Quiz", "%_uiz%", true),
  ])
  func aKeywordBecomesAPattern(keyword: String, pattern: String, hasTrigrams: Bool) {
    let made = MessagePattern([keyword], Self.folding)
    #expect(made.alternatives == [pattern] && made.hasTrigrams == hasTrigrams)
  }

  private static let folding = MessageFolding(collation: "und-x-icu", differing: ["q"], hasTrigramsOfAllLetters: true)

  @Test func oneShortKeywordIsEnoughToReadEveryMessage() {
    #expect(!MessagePattern(["hello", "ab"], Self.folding).hasTrigrams)
  }

  @Test func lettersThatPostgreSQLFoldsOtherwiseOrThatItsIndexDoesNotKnowMakeNoTrigrams() {
    #expect(MessagePattern(["Quiqa", "σσσ"], Self.folding) == MessagePattern(["quiqa", "ςΣσ"], Self.folding))
    #expect(MessagePattern(["Quiqa"], Self.folding).alternatives == ["%_ui_a%"])
    #expect(!MessagePattern(["abqab"], Self.folding).hasTrigrams && MessagePattern(["abcqab"], Self.folding).hasTrigrams)
    let ascii = MessageFolding(collation: "und-x-icu", differing: [], hasTrigramsOfAllLetters: false)
    #expect(!MessagePattern(["жизнь"], ascii).hasTrigrams && MessagePattern(["life"], ascii).hasTrigrams)
    #expect(MessagePattern(["a\u{378}b"], Self.folding).alternatives == ["%a_b%"], "it may be a letter elsewhere")
  }

  @Test func aRareKeywordIsFoundByTheIndexBesideManyMessages() async throws {
    try await withPostgreSQL({ $0.indexesMessages = true }) { store in
      try await put((1...3_000).map { $0 == 1_234 ? "a needle" : "hay \($0)" }, store)
      // Otherwise the newest are in a list that is cheaper not to read.
      store.cleanup.runRound()
      try analyze(store)
      let folded = try #require(store.folding).folded("m.content")
      let plan = try await store.searches.connection.read { db in
        try db.rows(
          """
          EXPLAIN SELECT seq FROM message AS m WHERE m.number = $1 AND m.seq BETWEEN $2 AND $3 AND m.kind = 'Text'
          AND NOT m.isRevoked AND \(folded) LIKE ANY ($4) ORDER BY m.seq DESC LIMIT $5
          """, [1, 1, 3_000, ["%needle%"], 20]
        ) { try $0.text() }
      }.get()
      #expect(plan.contains { $0.contains("messagebyfoldedtext") }, "\(plan)")
      #expect(try await found("needle", store) == [1_234])
    }
  }

  private func analyze(_ store: PostgreSQLStore) throws {
    try DatabaseOpener(url: try PostgreSQLServer.shared.get().url, options: store.options).connect().run("ANALYZE message")
  }

  // MARK: The database's collation

  /// A database of a collation, which is dropped with the test.
  private func withDatabase(_ locale: String, _ body: (_ url: String, _ schema: String) async throws -> Void) async throws {
    try await withSchema { url, schema in
      let owner = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      try owner.runScript("CREATE DATABASE \(schema) TEMPLATE template0 ENCODING UTF8 \(locale)")
      let outcome: Result<Void, any Error>
      do {
        outcome = .success(try await body(url.replacing("dbname=postgres", with: "dbname=\(schema)"), schema))
      } catch {
        outcome = .failure(error)
      }
      try owner.runScript("DROP DATABASE \(schema) WITH (FORCE)")
      try outcome.get()
    }
  }

  static let foldedTexts = [
    "INFO about", "info About", "İstanbul", "ISTANBUL", "istanbul", "ıstanbul", "ISI ısı", "ISI", "JĮ\u{307}Ì", "j\u{303}",
    "ZÜRICH",
    "zürich", "ЖУКИ", "жуки", "ΟΔΟΣ", "οδος", "Kelvin", "\u{212A}ELVIN", "ＦＵＬＬ", "\u{1C90}\u{1C91}\u{1C92}", "აბგ", "\u{A7CB}abc",
    "ɤabc",
  ]

  @Test(arguments: ["tr", "az", "lt", "LC_CTYPE C"])
  func aSearchFindsTheSameInDatabasesOfAllCollations(_ locale: String) async throws {
    let icu = "LOCALE_PROVIDER icu LOCALE 'C.UTF-8' ICU_LOCALE '\(locale)'"
    try await withDatabase(locale == "LC_CTYPE C" ? "LOCALE 'C'" : icu) { url, schema in
      let store = try openPostgreSQL(url, schema) { $0.indexesMessages = true }
      defer { store.close() }
      try await put(Self.foldedTexts + (1...2_000).map { "hay \($0)" }, store)
      store.cleanup.runRound()
      try DatabaseOpener(url: url, options: store.options).connect().run("ANALYZE message")
      for keyword in Self.foldedTexts {
        let search = MessageSearch([keyword], by: bob)
        let expected = Self.foldedTexts.enumerated().filter { search.matches($0.element, from: alice) }.map {
          Int64($0.offset + 1)
        }
        #expect(try await found(keyword, store).sorted() == expected, "\(keyword)")
      }
    }
  }

  @Test func everyLetterIsFoundInEitherCase() async throws {
    try await withPostgreSQL({ $0.indexesMessages = true }) { store in
      let folding = try #require(store.folding)
      let scalars = (1..<0x11_0000 as Range<UInt32>).compactMap(Unicode.Scalar.init).filter {
        $0.properties.lowercaseMapping != String($0)
      }
      #expect(scalars.count > 1_300)
      var (texts, patterns): ([String], [String]) = ([], [])
      for letter in scalars.map({ String($0) }) {
        for (text, keyword) in [(letter, letter), (letter, letter.lowercased()), (letter.lowercased(), letter)] {
          texts.append("a" + text + "b")
          patterns += MessagePattern(["a" + keyword + "b"], folding).alternatives
        }
      }
      let (all, wanted) = (texts, patterns)
      let missed = try await store.read { db in
        try db.rows(
          "SELECT t FROM unnest($1, $2) AS given (t, pattern) WHERE NOT \(folding.folded("t")) LIKE pattern", [all, wanted]
        ) { try $0.text() }
      }
      #expect(missed.isEmpty)
    }
  }

  @Test func anIndexThatWentByTheDatabasesCollationIsReplaced() async throws {
    try await withSchema { url, schema in
      try await withStore(url, schema) { try await put(["a needle"], $0) }
      try connection(url, schema).run("CREATE INDEX messageByText ON message USING gin (content public.gin_trgm_ops)")
      let store = try openPostgreSQL(url, schema) { $0.indexesMessages = true }
      defer { store.close() }
      let names = try await store.read { db in
        try db.rows("SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'message'::regclass ORDER BY 1", []) {
          try $0.text()
        }
      }
      #expect(names == ["message_pkey", "messagebyfoldedtext"])
      #expect(try await found("NEEDLE", store) == [1])
    }
  }

  @Test(arguments: [5, 40]) func aPageDoesBoundedWork(work: Int) async throws {
    let tune: (inout PostgreSQLOptions) -> Void = {
      $0.indexesMessages = true
      $0.searchedMessages = work
    }
    try await withPostgreSQL(tune) { store in
      for group in ["a", "b", "c"].compactMap({ GroupID($0) }) {
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

  @Test func switchingItOffDropsTheIndexSwitchingItOnMakesItForWhatIsStored() async throws {
    try await withSchema { url, schema in
      func indexes(_ isOn: Bool, _ body: (PostgreSQLStore) async throws -> Void = { _ in }) async throws -> Int {
        let store = try openPostgreSQL(url, schema) { $0.indexesMessages = isOn }
        defer { store.close() }
        try await body(store)
        return try await store.read {
          try $0.count("SELECT count(*) FROM pg_class WHERE oid = to_regclass('messageByFoldedText')", [])
        }
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

  @Test func theIndexIsBuiltBesideTheServerWhereThereAreManyMessages() async throws {
    try await withSchema { url, schema in
      try await withStore(url, schema) { try await put(["a needle", "hay"], $0) }
      try await withStore(url, schema) { store in
        let log = RecordedLog()
        let folding = try MessageFolding(try connection(url, schema))
        MessageTextIndex.build(folding, log.logger) { () throws(PostgreSQLError) in try connection(url, schema) }
        try await waitUntil("the index is there") { log.contains("all messages are indexed") }
        let count = try await store.read {
          try $0.count("SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('messageByFoldedText') AND indisvalid", [])
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
  func storeSyncDecidesWhetherACommitWaitsForTheDisk(syncs: Bool, expected: String) async throws {
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
