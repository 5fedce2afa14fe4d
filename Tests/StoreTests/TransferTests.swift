import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit
import WireProtocol

@testable import PostgreSQLStore
@testable import SQLiteStore

/// throng migrate: from SQLite to PostgreSQL.
@Suite struct TransferTests {
  /// An after-event that waits.
  private struct Entry: Equatable {
    let number: Int64
    let id: String
    let data: [UInt8]
    let trace: TraceContext?
  }

  private func entries(_ store: any AnyStore) async throws -> [Entry] {
    try await store.webhooks(in: nil, after: 0, limit: 99, bytes: .max).map {
      Entry(number: $0.storedNumber, id: $0.id, data: $0.data, trace: $0.trace)
    }
  }

  private struct Contents {
    var answers: [ModelTests.Answers] = []
    var entries: [Entry] = []
  }

  /// Fills a database in a file with what the stores' model makes, and with what it leaves out.
  private func fill(_ directory: String, seed: UInt64) async throws -> Contents {
    var contents = Contents()
    try await withSQLite(directory) { store in
      var changes = RandomChanges(seed: seed)
      for _ in 1...240 { if await store.put(changes.next()).failure != nil { changes.wasRefused() } }
      let group = GroupID("extra")!
      try await store.put([.create(group), .join(alice, group)]).get()
      for (index, text) in difficultTexts.enumerated() {
        try await store.put([.append(.sample(Int64(index + 1), in: group, .text(text)))]).get()
      }
      let receipts: [StoreChange] = [
        .putReceiptMembers([alice, bob], from: 1, in: group), .addReadReceipts([1, 9], of: bob, in: group),
      ]
      try await store.put(receipts).get()
      var reacted = Message.sample(1, in: group, .text(difficultTexts[0]))
      reacted.changeSeq = 1
      let origin = ChangeOrigin(.reaction, by: bob, on: .web, reaction: "a\0b")
      try await store.put([
        .noteChange(reacted), .putChangeSeq(1, at: 5, in: group), .putStamp(revision: 7, board: 8, in: group),
        .putChangeOrigin(origin, seq: 1, changeSeq: 1, in: group),
      ]).get()
      for seq in 14...20 as ClosedRange<Int64> {
        let message = Message.sample(seq, in: group)
        let content = WebhookContent.messageSent(MessageInfo(message, senderProfile: nil), isStored: true)
        let trace: TraceContext? = seq.isMultiple(of: 2) ? .begin() : nil
        let sent = WebhookEntry(.messageSent, content, in: .group(group), at: 5, trace: trace)
        try await store.put([.append(message), .appendWebhook(sent)]).get()
      }
      for id in ["a", "b"] {
        let entry = WebhookEntry(
          id: id, .messageSent, data: [1, 0, 255], in: .user(bob), at: 5, since: 6, number: 0, trace: .begin())
        let stored = try await store.store([.appendWebhook(entry)])
        if id == "b" { try await store.put([.giveUpWebhook(stored[0], attempts: 3, lastError: "no\0answer")]).get() }
      }
      // All users are offline, because a start ends all sessions.
      for user in RandomChanges.users { store.notePresence(of: user, offlineSince: 700) }
      try await store.put([.create(GroupID("last")!)]).get()
      contents.answers = try await ModelTests.Answers.all(of: store)
      contents.entries = try await entries(store)
    }
    return contents
  }

  private func importInto(_ url: String, _ schema: String, _ source: SQLiteExport) throws -> PostgreSQLImport {
    var options = PostgreSQLOptions()
    options.schema = schema
    return try PostgreSQLImport(url, from: try source.identity(), options: options)
  }

  private func withFilled(
    seed: UInt64 = 1, _ body: (_ directory: String, _ url: String, _ schema: String, Contents) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      let contents = try await fill(directory, seed: seed)
      try await withSchema { url, schema in try await body(directory, url, schema, contents) }
    }
  }

  /// Fails at the beginning of a write, as an interruption does.
  private final class Interrupting: RowTarget {
    let target: PostgreSQLImport
    var writesLeft: Int
    var rowsWritten = 0

    init(_ target: PostgreSQLImport, writes: Int) { (self.target, writesLeft) = (target, writes) }

    func progress(of table: StoredTable) throws(StoreError) -> TransferProgress { try target.progress(of: table) }
    func finish(_ numbers: StoredNumbers) throws(StoreError) { try target.finish(numbers) }

    func rows(of table: StoredTable, behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row] {
      try target.rows(of: table, behind: last, limit: limit)
    }

    func write(_ rows: [StoredTable.Row], to table: StoredTable, _ progress: TransferProgress) throws(StoreError) {
      guard writesLeft > 0 else { throw StoreError(.unavailable, "interrupted") }
      writesLeft -= 1
      try target.write(rows, to: table, progress)
      rowsWritten += rows.count
    }
  }

  @Test(arguments: 0..<3)
  func theNewStoreAnswersAsTheOldOneDidAlsoWhereTheMigrationWasInterrupted(_ seed: UInt64) async throws {
    try await withFilled(seed: seed) { directory, url, schema, contents in
      let source = try SQLiteExport(directory: directory, database: nil)
      defer { source.close() }
      var (attempts, written, isDone) = (0, 0, false)
      while !isDone {
        let target = Interrupting(try importInto(url, schema, source), writes: seed == 0 ? .max : 11)
        attempts += 1
        do {
          try StoreTransfer(from: source, to: target, rowsPerPage: 3) { _ in }.run()
          isDone = true
        } catch let error as StoreError {
          try #require(error.kind == .unavailable, "\(error)")
          #expect(throws: PostgreSQLOpenError.self) { _ = try openPostgreSQL(url, schema) }
        }
        written += target.rowsWritten
      }
      #expect(seed == 0 ? attempts == 1 : attempts > 3)
      var total = 0
      for table in StoredTable.all { total += try source.count(of: table) }
      #expect(written == total, "no row was copied twice")

      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      let got = try await ModelTests.Answers.all(of: store)
      for (wanted, got) in zip(contents.answers, got) { try #require(got == wanted) }
      let extra = GroupID("extra")!
      let texts = try await store.messages(of: extra, in: 1...13, newestFirst: false, limit: 13).map(\.content)
      #expect(texts == difficultTexts.map(Message.Content.text))
      let copied = try await entries(store)
      #expect(copied == contents.entries && copied.count == 8)
      #expect(try await store.webhookFailures(after: 0, limit: 9, bytes: .max).map(\.lastError) == ["no\0answer"])
    }
  }

  @Test func numbersGoOnBehindThoseOfTheOldStore() async throws {
    try await withFilled { directory, url, schema, _ in
      let source = try SQLiteExport(directory: directory, database: nil)
      let numbers = try source.numbers()
      do {
        defer { source.close() }
        try StoreTransfer(from: source, to: try importInto(url, schema, source), rowsPerPage: 500) { _ in }.run()
      }
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      let entry = WebhookEntry(id: "c", .messageSent, data: [1], in: .user(bob), at: 5, since: 6, number: 0)
      let stored = try await store.store([
        .create(GroupID("new")!), .appendWebhook(entry), .notify(.sample(at: 900), .users([alice])),
        .putReport(.sample(by: bob)), .putBlock(UserID("new")!, UserAccess.Block(), at: 900),
      ])
      let groups = try await store.groups(ofType: nil, after: 0, limit: 99)
      #expect(groups.last?.groupID == GroupID("new") && groups.last?.groupNumber ?? 0 > numbers.group)
      #expect(stored.map(\.id) == [entry.id] && stored[0].storedNumber > numbers.webhook)
      let newest = try await store.notifications(of: alice, since: 0, before: 0, limit: 9).first
      #expect(newest?.number ?? 0 > numbers.notification)
      // A number that a row has already would have refused the commit.
      let report = try await store.report(MessageReport.sample(by: bob).id)
      #expect(numbers.report > 0 && numbers.userAccess > 0 && report?.number ?? 0 > numbers.report)
      #expect(try await store.access(of: UserID("new")!).block != nil)
    }
  }

  @Test func aCopyThatDiffersIsToldAndNoServerBeginsWithIt() async throws {
    try await withFilled { directory, url, schema, _ in
      let source = try SQLiteExport(directory: directory, database: nil)
      defer { source.close() }
      let other = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      let target = try importInto(url, schema, source)
      let transfer = StoreTransfer(from: source, to: target, rowsPerPage: 500) { report in
        if case .copied(let table, _) = report, table.name == "message" {
          _ = try? other.run("UPDATE message SET nameCard = 'x' WHERE seq = 1")
        }
      }
      let error = #expect(throws: StoreError.self) { try transfer.run() }
      #expect(error?.kind == .inconsistent && error?.description.contains("message") == true)
      #expect(throws: PostgreSQLOpenError.self) { _ = try openPostgreSQL(url, schema) }
    }
  }

  @Test func databasesThatAreInUseNotEmptyOrChangedMeanwhileAreRefused() async throws {
    try await withFilled { directory, url, schema, _ in
      try await withSQLite(directory) { _ in
        #expect(throws: StoreOpenError.self) { _ = try SQLiteExport(directory: directory, database: nil) }
      }
      let source = try SQLiteExport(directory: directory, database: nil)
      defer { source.close() }
      #expect(throws: StoreOpenError.self) { _ = try openSQLite(directory) }

      let server = try openPostgreSQL(url, schema)
      #expect(kind { try importInto(url, schema, source) } == .locked, "a server uses it")
      try await server.put([.create()]).get()
      server.close()
      #expect(kind { try importInto(url, schema, source) } == .locked, "it is not empty")
      try await withSchema { url, schema in
        let first = try importInto(url, schema, source)
        #expect(kind { try importInto(url, schema, source) } == .locked, "another migration is running")
        _ = try first.progress(of: .webhook)
      }
      try await withSchema { url, schema in
        do { _ = try importInto(url, schema, source) }
        var options = PostgreSQLOptions()
        options.schema = schema
        #expect(kind { try PostgreSQLImport(url, from: "another source", options: options) } == .locked)
        try StoreTransfer(from: source, to: try importInto(url, schema, source), rowsPerPage: 500) { _ in }.run()
        #expect(kind { try importInto(url, schema, source) } == .locked, "it is finished")
      }
    }
  }

  private func kind(_ body: () throws -> PostgreSQLImport) -> PostgreSQLOpenError.Kind? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? PostgreSQLOpenError)?.kind
    }
  }

  // MARK: Checksums

  @Test func aChecksumDoesNotDependOnTheOrderOfRowsAndTellsAnyOtherDifference() {
    func sum(_ rows: [StoredTable.Row]) -> RowChecksum {
      var checksum = RowChecksum()
      for row in rows { checksum.add(row) }
      return checksum
    }
    let rows: [StoredTable.Row] = [[.integer(1), .text("a")], [.integer(2), .null], [.flag(true), .bytes([1])]]
    #expect(sum(rows) == sum(rows.reversed()))
    let others: [[StoredTable.Row]] = [
      [], [rows[0], rows[1]], rows + [rows[0]], [[.integer(1), .text("b")], rows[1], rows[2]],
      [[.integer(1), .bytes([97])], rows[1], rows[2]], [[.text("a"), .integer(1)], rows[1], rows[2]],
      [rows[0], [.integer(2), .text("")], rows[2]], [rows[0], rows[1], [.integer(1), .bytes([1])]],
    ]
    #expect(Set(others.map { sum($0).sum }).count == others.count)
    #expect(others.allSatisfy { sum($0) != sum(rows) })
    #expect(sum([[.text("ab"), .text("c")]]) != sum([[.text("a"), .text("bc")]]))
  }

  @Test func everyTableOfBothDatabasesIsCopiedWithEveryColumn() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let own: Set = [
          "webhookIndexing", "notificationNumber", "userAccessNumber", "probe", "grdb_migrations", "sqlite_sequence",
          "sqlite_stat1",
        ]
        let tables = try await store.pool.read { db in
          try String.fetchAll(db, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        #expect(Set(tables).subtracting(own) == Set(StoredTable.all.map(\.name)))
        for table in StoredTable.all where table != .webhook {
          let columns = try await store.pool.read { try $0.columns(in: table.name).map(\.name) }
          let computed: Set = table.name == "formerMember" ? ["restrictedUntil"] : []
          #expect(Set(columns) == Set(table.columns.map(\.name)).union(computed), "\(table.name)")
        }
      }
    }
    try await withPostgreSQL { store in
      for table in StoredTable.all {
        let columns = try await store.read { db in
          try db.rows(
            """
            SELECT column_name::text FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = lower($1) AND is_generated = 'NEVER'
            """, [table.name]
          ) { try $0.text() }
        }
        #expect(Set(columns) == Set(table.columns.map { $0.name.lowercased() }), "\(table.name)")
      }
    }
  }
}
