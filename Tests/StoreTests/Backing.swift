import Foundation
import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import StoreTables
import Synchronization
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore

typealias AnyStore = GroupStore & MessageStore & UserStore & PersonalStore & WebhookStore & AccessStore & ReportStore
  & StoreHealth

/// The stores that share a suite of rules.
enum Backing: String, CaseIterable, CustomTestStringConvertible {
  case memory, sqlite, postgresql

  var testDescription: String { rawValue }

  /// Runs the body with an empty store.
  func withStore(_ body: (any AnyStore) async throws -> Void) async throws {
    switch self {
    case .memory: try await body(InMemoryStore())
    case .sqlite:
      try await withDirectory { directory in
        try await withSQLite(directory) { try await body($0) }
      }
    case .postgresql: try await withPostgreSQL { try await body($0) }
    }
  }
}

/// A directory that is removed with the test.
func withDirectory(_ body: (String) async throws -> Void) async throws {
  let path = FileManager.default.temporaryDirectory.path + "/throng-store-" + UUID().uuidString
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}

/// A store with a stopped clock and without scheduled maintenance: tests call `tick()`.
func openSQLite(
  _ directory: String, database: String? = nil, sync: SyncMode = .full, logger: Logger? = nil,
  _ tune: (inout StoreOptions) -> Void = { _ in }
) throws(StoreOpenError) -> SQLiteStore {
  var options = StoreOptions()
  options.maintenanceInterval = nil
  options.clocks = ManualClocks(at: 1_000_000)
  options.alarms = ManualAlarms()
  tune(&options)
  return try SQLiteStore.open(directory: directory, database: database, sync: sync, logger: logger ?? quiet, options: options)
}

func withSQLite(
  _ directory: String, sync: SyncMode = .full, _ tune: (inout StoreOptions) -> Void = { _ in },
  _ body: (SQLiteStore) async throws -> Void
) async throws {
  let store = try openSQLite(directory, sync: sync, tune)
  defer { store.close() }
  try await body(store)
}

private let quiet = Logger(label: "store-tests") { _ in SwiftLogNoOpLogHandler() }

/// Keeps the lines of a store's log: level, text and metadata by name.
final class RecordedLog: Sendable {
  private let kept = Mutex<[String]>([])

  var lines: [String] { kept.withLock { $0 } }
  var logger: Logger { Logger(label: "store-tests") { _ in Handler(log: self) } }

  func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let values = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
      log.kept.withLock { $0.append("\(event.level): \(event.message)" + values.joined()) }
    }
  }
}

extension SQLiteStore {
  /// Waits until the writer has nothing to do.
  func waitForWriter() async {
    // The writer's queue is serial.
    await withCheckedContinuation { continuation in
      pool.asyncWriteWithoutTransaction { _ in continuation.resume() }
    }
  }

  /// Runs the maintenance of a second.
  func tick() async {
    maintenance.tick()
    await waitForWriter()
  }
}

/// Removes the messages of a group before one, as retention does.
func removeMessages(of group: GroupID, before seq: Int64, from store: any AnyStore) async throws {
  if let store = store as? InMemoryStore { _ = store.removeMessages(of: group, before: seq) }
  if let store = store as? PostgreSQLStore { try store.removeMessages(of: group, before: seq) }
  guard let store = store as? SQLiteStore else { return }
  try await store.pool.write { db in
    guard
      let number = try Int64.fetchOne(db, sql: "SELECT number FROM groupRecord WHERE groupID = ?", arguments: [group.rawValue]),
      let newest = try db.newestSeq(number: number)
    else { return }
    let time = try Int64.fetchOne(
      db,
      sql: """
        SELECT max(m.timestamp) FROM message AS m \(Message.joinedExtras) WHERE m.number = ? AND m.seq < ?
        AND e.toUserIDs IS NULL AND coalesce(e.isExcludedFromLastMessage, 0) = 0
        """, arguments: [number, seq])
    _ = try MessageRemoval.remove(through: seq - 1, of: group, number: number, in: db)
    try db.execute(
      sql: "UPDATE groupRecord SET firstSeq = max(firstSeq, ?), removedTime = coalesce(?, removedTime) WHERE number = ?",
      arguments: [min(seq, newest + 1), time, number])
  }
}

extension GroupStore {
  /// Commits and waits for the answer.
  @discardableResult
  func put(_ changes: [StoreChange], _ generation: CommitGeneration = CommitGeneration()) async -> Result<Void, StoreError> {
    await answer(to: changes, generation).map { _ in }
  }

  /// Commits changes that succeed.
  /// - Returns: the after-events among them as they were stored.
  @discardableResult
  func store(_ changes: [StoreChange]) async throws(StoreError) -> [WebhookEntry] {
    try await answer(to: changes, CommitGeneration()).get()
  }

  private func answer(to changes: [StoreChange], _ generation: CommitGeneration) async -> Commit.Answer {
    await withCheckedContinuation { continuation in
      commit(Commit(changes: changes, generation: generation) { continuation.resume(returning: $0) })
    }
  }

  /// Commits all at once, without waiting in between.
  /// - Returns: the answers in the order of the commits.
  func putTogether(_ commits: [([StoreChange], CommitGeneration)]) async -> [Commit.Answer] {
    let answers = Answers(expected: commits.count)
    return await withCheckedContinuation { continuation in
      answers.whenAllCame { continuation.resume(returning: $0) }
      for (index, (changes, generation)) in commits.enumerated() {
        commit(Commit(changes: changes, generation: generation) { answers.came($0, index) })
      }
    }
  }
}

extension Result where Failure == StoreError {
  /// nil = success.
  var failure: StoreError.Kind? {
    if case .failure(let error) = self { error.kind } else { nil }
  }
}

/// The error that the body throws; nil = none.
func failure<Value>(_ body: () async throws(StoreError) -> Value) async -> StoreError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}

extension Database {
  /// Makes a change past the writer.
  func apply(_ change: StoreChange) throws {
    let transaction = SQLiteTransaction(self, WebhookNumbers())
    try transaction.apply(change)
    try transaction.finishAppends()
  }
}
