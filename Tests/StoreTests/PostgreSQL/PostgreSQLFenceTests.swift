import Dispatch
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// One process at a time uses a PostgreSQL database.
@Suite struct PostgreSQLFenceTests {
  private func connection(_ url: String, _ schema: String) throws(PostgreSQLError) -> PostgreSQLConnection {
    try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
  }

  @Test func aProcessThatShowsNoLifeLosesTheDatabaseAndWritesNothingMore() async throws {
    try await withSchema { url, schema in
      let log = RecordedLog()
      let first = try openPostgreSQL(url, schema, logger: log.logger) { $0.leaseDuration = .seconds(600) }
      defer { first.close() }
      try await first.put([.create(), .append(.sample(1))]).get()
      // However old its sign of life says that it is: the second waits for the time of a lease.
      try connection(url, schema).run("UPDATE node SET heartbeat = clock_timestamp() + interval '1 hour'")
      let second = try openPostgreSQL(url, schema) { $0.leaseDuration = .seconds(2) }
      defer { second.close() }
      #expect(try #require(second.node).number > #require(first.node).number)
      try await second.put([.append(.sample(2))]).get()

      #expect(await first.put([.append(.sample(3))]).failure == .unavailable)
      #expect(!first.canPersist)
      #expect(log.contains("another process has taken over the database"))
      first.maintenance.runRound()
      #expect(await first.put([.create(team)]).failure == .unavailable)
      #expect(try await second.group(club, sentSince: 0)?.lastMessage?.seq == 2)
      #expect(try await second.group(team, sentSince: 0) == nil)
    }
  }

  @Test func aSecondProcessIsRefusedWhileTheFirstShowsLife() async throws {
    try await withSchema { url, schema in
      let (clocks, alarms) = (ManualClocks(), ManualAlarms())
      let first = try openPostgreSQL(url, schema) { options in
        options.maintenanceInterval = .milliseconds(500)
        (options.clocks, options.alarms) = (clocks, alarms)
        options.leaseDuration = .seconds(600)
      }
      defer { first.close() }
      let connection = try connection(url, schema)
      clocks.advance(by: 500)
      alarms.ring(upTo: clocks.monotonic)
      try await waitUntil("the first shows life") { try connection.count("SELECT beat FROM node", []) == 1 }
      // It does so again and again, while the second waits for its end, and a step of the clock says otherwise.
      try connection.run("UPDATE node SET heartbeat = clock_timestamp() - interval '1 hour'")
      try connection.runScript(
        "CREATE OR REPLACE FUNCTION throng_sign(n node) RETURNS text VOLATILE LANGUAGE sql AS "
          + "$body$ SELECT random()::text $body$")
      let error = #expect(throws: PostgreSQLOpenError.self) {
        _ = try openPostgreSQL(url, schema) { $0.leaseDuration = .seconds(2) }
      }
      #expect(error?.kind == .locked)
      try await first.put([.create()]).get()
    }
  }

  @Test func afterACleanEndTheNextProcessBeginsAtOnceWithWhatWasStored() async throws {
    try await withSchema { url, schema in
      let first = try openPostgreSQL(url, schema) { $0.leaseDuration = .seconds(600) }
      first.notePresence(of: alice, offlineSince: nil)
      try await first.put([.create(), .join(alice)]).get()
      first.close()
      #expect(await failure { () async throws(StoreError) in try await first.memberships(of: alice) }?.kind == .unavailable)
      let second = try openPostgreSQL(url, schema) { $0.leaseDuration = .seconds(600) }
      defer { second.close() }
      #expect(try await second.memberships(of: alice).map(\.groupID) == [club])
      // No session outlives a process.
      #expect(try await second.offlineSince(of: alice) != nil)
    }
  }

  @Test func aDatabaseOfANewerVersionStaysAsItIs() async throws {
    try await withSchema { url, schema in
      try openPostgreSQL(url, schema).close()
      try connection(url, schema).run("INSERT INTO schemaVersion VALUES (99)")
      let error = #expect(throws: PostgreSQLOpenError.self) { _ = try openPostgreSQL(url, schema) }
      #expect(error?.kind == .version)
    }
  }

  @Test func aServerThatIsNotThereIsToldInASentence() {
    let error = #expect(throws: PostgreSQLOpenError.self) { _ = try openPostgreSQL("host=/nonexistent", "none") }
    #expect(error?.kind == .unavailable)
  }
}

// One after the other: they hold the same lock, and a wait for it holds a thread.
/// Several processes number notifications in a PostgreSQL database.
@Suite(.serialized) struct NotificationOrderTests {
  /// Holds the lock of a user as another process does whose transaction has numbered a
  /// notification.
  private func holding(_ user: UserID, _ url: String, _ body: (PostgreSQLConnection) async throws -> Void) async throws {
    let other = try PostgreSQLConnection(url, options: [], timeout: 60_000)
    try other.run("BEGIN")
    try other.run("SELECT pg_advisory_xact_lock(1416131178, hashtext($1) & 1023)", [user.rawValue])
    try await body(other)
    try other.run("ROLLBACK")
  }

  private func isWaiting(_ connection: PostgreSQLConnection, _ schema: String) throws -> Bool {
    try connection.count(
      """
      SELECT count(*) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)
      WHERE l.locktype = 'advisory' AND NOT l.granted AND a.application_name = $1
      """, [schema]) > 0
  }

  @Test(arguments: ["to a user", "to managers", "to the members of a disbanded group"])
  func aNotificationWaitsForOneThatAnotherProcessNumbersForTheSameUser(_ kind: String) async throws {
    let change: StoreChange =
      switch kind {
      case "to a user": .notify(.sample(), .users([bob, alice]))
      case "to managers": .notify(.sample(), .managers(of: club))
      default: .dismiss(club, at: 9, notifying: .sample())
      }
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema) { ($0.isShared, $0.lockTimeout, $0.statementTimeout) = (true, 60_000, 60_000) }
      defer { store.close() }
      var manager = Member.sample(alice)
      manager.role = .owner
      try await store.put([.create(), .putMember(manager, in: club)]).get()
      try await holding(alice, url) { other in
        try await store.put([.append(.sample(1)), .notify(.sample(), .users([carol]))]).get()
        async let answer = store.put([change])
        try await waitUntil("the commit waits for the lock") { (try? isWaiting(other, schema)) == true }
        try other.run("ROLLBACK")
        try await answer.get()
      }
      #expect(try await store.notifications(of: alice, since: 0, before: 0, limit: 9).count == 1)
    }
  }

  @Test func aProcessAloneLocksNothing() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await holding(alice, url) { _ in
        try await store.put([.create(), .notify(.sample(), .users([alice]))]).get()
      }
    }
  }
}

/// Faults between the store and PostgreSQL.
@Suite struct PostgreSQLFaultTests {
  private func withProxy(
    _ tune: (inout PostgreSQLOptions) -> Void = { _ in }, _ body: (SocketProxy, PostgreSQLStore) async throws -> Void
  ) async throws {
    try await withProxyInSchema(tune) { proxy, store, _, _ in try await body(proxy, store) }
  }

  private func withProxyInSchema(
    _ tune: (inout PostgreSQLOptions) -> Void = { _ in },
    _ body: (SocketProxy, PostgreSQLStore, _ url: String, _ schema: String) async throws -> Void
  ) async throws {
    try await withSchema { url, schema in
      let directory = String(url.dropFirst("host=".count).prefix { $0 != " " })
      let proxy = try SocketProxy(to: directory)
      defer { proxy.close() }
      let store = try openPostgreSQL(proxy.url, schema, tune)
      defer { store.close() }
      try await store.put([.create(), .join(alice)]).get()
      try await body(proxy, store, url, schema)
    }
  }

  @Test func aCommitWhoseAnswerIsLostIsAnsweredAsDurableAndIsThereOnce() async throws {
    try await withProxy { proxy, store in
      proxy.lose(.answer)
      try await store.put([.append(.sample(1))]).get()
      try await store.put([.append(.sample(2))]).get()
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.seq) == [1, 2])
      #expect(store.canPersist)
    }
  }

  @Test func aCommitThatIsLostOnItsWayIsDoneAgain() async throws {
    try await withProxy { proxy, store in
      proxy.lose(.request)
      try await store.put([.append(.sample(1))]).get()
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.seq) == [1])
    }
  }

  @Test func aCommitThatIsLostOnItsWayDoesNotBecomeDurableLater() async throws {
    try await withProxyInSchema { proxy, store, url, schema in
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      let node = try #require(store.node).number
      try await store.put([.append(.sample(1))]).get()
      let before = try connection.count("SELECT batch FROM writer", [])
      proxy.lose(.request)
      try await store.put([.append(.sample(2))]).get()
      // It was lost, its fate was asked, and it was done again.
      #expect(try connection.count("SELECT batch FROM writer", []) == before + 3)
      for late in 1...3 {
        let error = #expect(throws: PostgreSQLError.self) {
          try connection.run("SELECT throng_fence($1, $2)", [node, Int64(before + late)])
        }
        #expect(error?.isFenced == true)
      }
      try await store.put([.append(.sample(3))]).get()
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.seq) == [1, 2, 3])
    }
  }

  /// A COMMIT whose answer is lost, on a database that is away from then on.
  private func commitInDoubt(
    _ proxy: SocketProxy, _ store: PostgreSQLStore, _ generation: CommitGeneration, _ answers: Answers
  ) async throws {
    // Statements are prepared by it: those of the next one travel with their COMMIT.
    try await store.put([.create(team), .append(.sample(1))]).get()
    proxy.lose(.answer, goesAway: true)
    store.commit(Commit(changes: [.append(.sample(2))], generation: generation) { answers.came($0, 0) })
    try await waitUntil("the answer is lost") { proxy.isAway }
  }

  @Test func aCommitHasNoAnswerWhileNobodyKnowsWhetherItIsDurableAndOthersAreRefused() async throws {
    try await withProxy({ $0.commitTimeout = 0 }) { proxy, store in
      let generation = CommitGeneration()
      let answers = Answers(expected: 2)
      try await commitInDoubt(proxy, store, generation, answers)
      store.commit(Commit(changes: [.append(.sample(3))], generation: generation) { answers.came($0, 1) })
      #expect(await store.put([.append(.sample(1, in: team))]).failure == .unavailable)
      #expect(answers.order.isEmpty && !store.canPersist && store.commitMeter.counts.failures == 1)
      let isRead = await failure { () async throws(StoreError) in _ = try await store.group(club, sentSince: 0) }
      #expect(isRead?.kind == .unavailable, "no group is read before")
      proxy.comeBack()
      #expect(await answers.all().map(\.failure) == [nil, nil])
      #expect(answers.order == [0, 1] && store.canPersist)
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.seq) == [1, 2, 3])
      #expect(try await store.messages(of: team, in: 1...9, newestFirst: false, limit: 9).isEmpty)
      try await store.put([.append(.sample(1, in: team))]).get()
    }
  }

  @Test func aCommitThatIsRefusedOvertakesNoneOfWhichNobodyKnowsWhetherItIsDurable() async throws {
    try await withProxy({ $0.commitTimeout = 0 }) { proxy, store in
      let generation = CommitGeneration()
      let answers = Answers(expected: 2)
      try await commitInDoubt(proxy, store, generation, answers)
      store.writer.queue.use(NobodyMayWrite())
      store.commit(Commit(changes: [.append(.sample(3))], generation: generation) { answers.came($0, 1) })
      #expect(await store.put([.append(.sample(1, in: team))]).failure == .unavailable)
      #expect(answers.order.isEmpty)
      proxy.comeBack()
      #expect(await answers.all().map(\.failure) == [nil, .abandoned])
      #expect(answers.order == [0, 1])
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).map(\.seq) == [1, 2])
    }
  }

  private struct WaitingStatement: Equatable {
    let backend: Int64
    let start: String
  }

  /// A statement of the store that waits for a lock. The connection must be outside a transaction, which
  /// would see the same each time.
  private func waitingStatement(_ connection: PostgreSQLConnection, _ schema: String) throws -> WaitingStatement? {
    try connection.rows(
      """
      SELECT pid::bigint, query_start::text FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'
      """, [schema]
    ) { WaitingStatement(backend: try $0.integer(), start: try $0.text()) }.first
  }

  @Test func whetherACommitIsDurableIsAskedAgainOnTheSameConnectionWhileThatIsOpen() async throws {
    try await withProxyInSchema { proxy, store, url, schema in
      let answers = Answers(expected: 1)
      try await commitInDoubt(proxy, store, CommitGeneration(), answers)
      let holder = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try holder.run("BEGIN")
      try holder.run("SELECT batch FROM writer FOR UPDATE")
      proxy.comeBack()
      let watcher = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      var found: WaitingStatement?
      try await waitUntil("the question waits for the lock") {
        found = try waitingStatement(watcher, schema)
        return found != nil
      }
      let first = try #require(found)
      try watcher.run("SELECT pg_cancel_backend($1::integer)", [first.backend])
      try await waitUntil("it waits again") {
        found = try waitingStatement(watcher, schema)
        return found.map { $0 != first } ?? false
      }
      #expect(found?.backend == first.backend)
      try holder.run("ROLLBACK")
      #expect(await answers.all().map(\.failure) == [nil])
    }
  }

  @Test func aCommitOfWhichNobodyKnowsWhetherItIsDurableHasNoAnswerWhenTheStoreIsClosed() async throws {
    let answers = Answers(expected: 2)
    try await withProxy({ $0.commitTimeout = 0 }) { proxy, store in
      let generation = CommitGeneration()
      try await commitInDoubt(proxy, store, generation, answers)
      store.commit(Commit(changes: [.append(.sample(3))], generation: generation) { answers.came($0, 1) })
      store.close()
      #expect(answers.order.isEmpty)
    }
    #expect(answers.order.isEmpty)
  }

  @Test func readsGoOnAfterAllConnectionsWereEnded() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await store.put([.create(), .join(alice)]).get()
      func backends() async throws -> [Int64] { [try await store.read { $0.backend }, try await store.read { $0.backend }] }
      let before = try await backends()
      let connection = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      let ended = try connection.rows(
        """
        SELECT pid::bigint FROM (
          SELECT pid, pg_terminate_backend(pid, 60000) AS isEnded FROM pg_stat_activity WHERE application_name = $1) AS backend
        WHERE isEnded
        """, [schema]
      ) { try $0.integer() }
      #expect(before.allSatisfy(ended.contains), "the readers were among those that ended")
      #expect(try await store.memberships(of: alice).map(\.groupID) == [club])
      let after = try await backends()
      #expect(!after.contains(where: before.contains), "the readers have new connections")
      try await store.put([.append(.sample(1))]).get()
      #expect(try await store.signInRecord(of: alice).memberships.map(\.groupID) == [club])
    }
  }

  @Test func ofSeveralHostsTheOneThatAnswersIsUsed() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url.replacing("host=", with: "host=/nowhere,"), schema)
      defer { store.close() }
      try await store.put([.create(), .join(alice)]).get()
      #expect(try await store.memberships(of: alice).map(\.groupID) == [club])
    }
  }

  @Test func aServerThatTakesNoWritesAsAReplicaIsNotUsed() async throws {
    try await withSchema { url, schema in
      let readOnly = url + " options='-c default_transaction_read_only=on'"
      let error = #expect(throws: PostgreSQLOpenError.self) { try openPostgreSQL(readOnly, schema) }
      #expect(error?.kind == .unavailable && error?.description.contains("read-only") == true)
    }
  }

  @Test func aStatementThatTakesTooLongFailsAndTheNextOneIsServed() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema) { $0.statementTimeout = 2_000 }
      defer { store.close() }
      try await store.put([.create()]).get()
      let other = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try other.run("BEGIN")
      try other.run("LOCK TABLE message IN ACCESS EXCLUSIVE MODE")
      #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
      #expect(!store.canPersist)
      try other.run("ROLLBACK")
      try await store.put([.append(.sample(1))]).get()
      #expect(store.canPersist)
    }
  }
}

/// Texts in PostgreSQL.
@Suite struct StoredTextTests {
  @Test(arguments: difficultTexts + ["\u{1}", "\u{1}\u{2}", "\u{1}\0\u{2}", "a\u{1}"])
  func everyTextComesBack(_ text: String) {
    var bytes: [UInt8] = []
    StoredText.append(text, to: &bytes)
    #expect(!bytes.contains(0))
    #expect(bytes.withUnsafeBufferPointer { StoredText.text($0) }?.bytes == text.bytes)
  }

  @Test(arguments: [[1], [1, 3], [97, 1], [0xff]] as [[UInt8]])
  func bytesThatWereNeverWrittenAreNoText(_ bytes: [UInt8]) {
    #expect(bytes.withUnsafeBufferPointer { StoredText.text($0) } == nil)
  }
}
