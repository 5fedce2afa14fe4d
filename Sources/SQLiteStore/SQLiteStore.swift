import Dispatch
import Foundation
import GRDB
import GroupModel
import GroupRuntime
import Logging

/// When a commit counts as durable (contract section 9, `store.sync`).
public enum SyncMode: String, Sendable, CaseIterable {
  /// When the disk says that it has it: survives a power failure.
  case full
  /// When the operating system has it: survives the end of the process, not that of the machine.
  case normal
}

/// How the store is tuned; tests make the numbers small.
struct StoreOptions {
  /// More would only make the first of a transaction wait longer for its answer.
  var commitsPerTransaction = 2_000
  /// About five seconds of full load; who comes later is told at once that the disk does not keep up.
  var pendingCommits = 100_000
  /// Content of messages, and other texts of any length, that waits with them (64 MiB).
  var pendingBytes = 64 << 20
  /// Reads that run at once, but for sign-ins and searches, which have a reader each.
  var readers = 4
  /// Rows that one read takes at most where it goes on page by page: a few milliseconds.
  var rowsPerRead = 2_000
  /// Rows of a disbanded group, or old ones, that go between two transactions: a few milliseconds.
  var purgeRows = 500
  /// The length of the log, in pages of 4 KiB, from which on the writer carries it over itself (64 MiB).
  var autocheckpointPages = 16_384
  /// Between two rounds of housekeeping; nil = none by itself.
  var housekeeping: DispatchTimeInterval? = .seconds(1)
  /// The clock, in Unix milliseconds.
  var now: @Sendable () -> Instant = { Instant(Date().timeIntervalSince1970 * 1000) }
  /// A clock that never goes back, in milliseconds; its start means nothing.
  var uptime: @Sendable () -> Instant = { Instant(DispatchTime.now().uptimeNanoseconds / 1_000_000) }
  /// Groups that one page of a search looks at, at most.
  var searchedGroups = 20_000
  /// Members that one page of a search looks at, at most, but those of one group all.
  var searchedMembers = 200_000
  /// Searches that stand in line: two seconds where each looks at as much as it may.
  var searchesInLine = 32
  /// Those of one user.
  var searchesInLinePerReader = 4
}

/// Groups, memberships, messages, users and what waits for them in one SQLite database.
public final class SQLiteStore: StoreHealth, Sendable {
  let pool: DatabasePool
  let writer: Writer
  let housekeeping: Housekeeping
  let searches: SearchLine
  /// A reader that no other read can keep busy.
  let signIns: DatabaseQueue
  let options: StoreOptions
  private let readers: ReadScheduler
  let signInTurns = ReadScheduler(readers: 1)
  private let lock: DatabaseLock
  let logger: Logger

  /// Opens the store, and makes the database and its directory where they are missing, the directory with mode 0700.
  /// - Parameters:
  ///   - directory: the data directory (contract section 9, `dataDir`).
  ///   - database: the path of the database (contract section 9, `store.url`), from the data directory on where it is relative; nil =
  ///     `throng.db`.
  ///   - sync: when a commit counts as durable.
  /// - Throws: `StoreOpenError` with a sentence for the operator. A database that is damaged, foreign or newer is left as it was
  ///   found.
  public static func open(
    directory: String, database: String? = nil, sync: SyncMode, logger: Logger
  ) throws(StoreOpenError) -> SQLiteStore {
    try open(directory: directory, database: database, sync: sync, logger: logger, options: StoreOptions())
  }

  static func open(
    directory: String, database: String? = nil, sync: SyncMode, logger: Logger, options: StoreOptions
  ) throws(StoreOpenError) -> SQLiteStore {
    let opening = Opening(database: try DatabaseFile(database, dataDirectory: directory), sync: sync, options: options)
    let lock = try DatabaseLock(of: opening.database, now: options.now())
    do throws(StoreOpenError) {
      let report = LogReport(of: opening.database, lastRun: lock.lastRun)
      try opening.prepareDatabase(lock)
      report.write(to: logger)
      let store = SQLiteStore(
        pool: try opening.pool(), checkpoints: try opening.checkpointConnection(), searches: try opening.readConnection("search"),
        signIns: try opening.readConnection("sign-in"), lock: lock, options: options, logger: logger)
      if opening.isOnReadOnlyDisk {
        logger.error("the disk of the database is read-only: writes are refused until a restart finds it writable")
      }
      try store.start(opening)
      return store
    } catch {
      lock.close()
      throw error
    }
  }

  private init(
    pool: DatabasePool, checkpoints: DatabaseQueue, searches: DatabaseQueue, signIns: DatabaseQueue, lock: DatabaseLock,
    options: StoreOptions, logger: Logger
  ) {
    self.pool = pool
    self.options = options
    self.signIns = signIns
    readers = ReadScheduler(readers: options.readers)
    self.lock = lock
    self.logger = logger
    writer = Writer(pool: pool, options: options, logger: logger)
    self.searches = SearchLine(
      connection: searches, maxCount: options.searchesInLine, maxCountPerReader: options.searchesInLinePerReader)
    housekeeping = Housekeeping(writer: writer, connection: checkpoints, lock: lock, options: options, logger: logger)
  }

  private func start(_ opening: Opening) throws(StoreOpenError) {
    try opening.attempt("begin with \(opening.databasePath)") { try writer.begin(sessionsEndedAt: lock.lastAlive) }
    lock.begin()
    housekeeping.begin()
    if let interval = options.housekeeping { housekeeping.start(every: interval) }
  }

  /// Whether the last write succeeded; after a failed one the store tries again by itself about once a second.
  public var canPersist: Bool { writer.canPersist }

  /// Waits until every commit taken in has been answered, carries the log into the database and gives it back.
  /// Later commits and reads are `.unavailable`. Blocks; a second call does nothing.
  public func close() {
    guard writer.inbox.close() else { return }
    writer.finish()
    housekeeping.stop()
    var isLogCarriedOver = false
    do {
      try searches.connection.close()
      try signIns.close()
      isLogCarriedOver = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate).walFrameCount == 0 }
      try pool.close()
    } catch {
      // Nothing is lost: the log is read at the next opening.
      logger.warning("the store was not closed cleanly", metadata: ["error": "\(StoreError(describing: error))"])
    }
    lock.release(at: options.now(), isLogCarriedOver: isLogCarriedOver)
  }

  /// Reads in one snapshot, beside the writer, when it is the requester's turn.
  /// - Parameter reader: nil = one of the pool's; another reader has no turns.
  func read<Value: Sendable>(
    on reader: DatabaseQueue? = nil, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    if let reader { return try await perform(body, on: reader) }
    return try await readers.run(for: Requester.current) { () async throws(StoreError) in try await perform(body, on: pool) }
  }

  private func perform<Value: Sendable>(
    _ read: @escaping @Sendable (Database) throws -> Value, on reader: any DatabaseReader
  ) async throws(StoreError) -> Value {
    if writer.inbox.isClosed { throw StoreError(.unavailable, "the store is closed") }
    // Not GRDB's `async` read: it would turn the end of a Task into an error that the port does not have.
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      reader.asyncRead { access in
        continuation.resume(returning: Result { try read(access.get()) }.mapError(StoreError.init(describing:)))
      }
    }
    return try result.get()
  }
}
