import CSQLiteSettings
import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreEngine

/// The durability of a commit, `store.sync` (Protocol.md, "Durability").
public enum SyncMode: String, Sendable, CaseIterable {
  /// The disk has confirmed it: survives a power failure.
  case full
  /// The operating system has it: survives the end of the process, not that of the machine.
  case normal
}

/// Bounds and clocks of the store; tests make the numbers small.
@dynamicMemberLookup
struct StoreOptions {
  /// Those of all stores.
  var engine = EngineOptions(maintenanceInterval: .seconds(1))
  /// The length of the log, in pages of 4 KiB, from which on the writer checkpoints itself (64 MiB): a
  /// checkpoint beside a busy writer never reaches the end of the log, where it could start over.
  var autocheckpointPages = 16_384
  /// Is told, once, that nothing is answered any more, and ends the process; by default nobody, for
  /// those that only read.
  var onDurabilityFault: @Sendable (DurabilityFault) -> Void = { _ in }

  subscript<Value>(dynamicMember option: WritableKeyPath<EngineOptions, Value>) -> Value {
    get { engine[keyPath: option] }
    set { engine[keyPath: option] = newValue }
  }
}

/// Groups, memberships, messages, users and their notifications in one SQLite database.
package final class SQLiteStore: DatabaseStore, HistoryStore {
  let pool: DatabasePool
  let writer: Writer
  let maintenance: StoreMaintenance
  let searches: SearchQueue<DatabaseQueue>
  /// A reader for sign-ins alone, so that other reads cannot delay them.
  let signIns: DatabaseQueue
  let options: StoreOptions
  private let readers: ReadScheduler
  let signInScheduler = ReadScheduler(readers: 1)
  private let lock: DatabaseLock
  let logger: Logger

  /// Opens the store, and creates the database and its directory (mode 0700) where they are
  /// missing.
  /// - Parameters:
  ///   - directory: the data directory, `dataDir`.
  ///   - database: the path of the database, relative to the data directory or absolute; nil =
  ///     `throng.db` (Operations.md, "Store").
  ///   - sync: the durability of a commit.
  ///   - postsUserOffline: makes a userOffline for each user whom a crash has found online.
  ///   - indexesMessages: whether messages can be searched. Switching it on indexes the stored ones in
  ///     the background; switching it off drops the index.
  ///   - history: the messages that groups keep, by type; a type that is absent keeps all.
  ///   - reportRetention: the time that a report of a message is kept.
  ///   - clocks, alarms: the time that everything of the store goes by.
  ///   - onDurabilityFault: ends the process, on a thread of the store's. From its call on no commit is
  ///     answered, because nobody can say what is durable.
  /// - Throws: `StoreOpenError` with a sentence for the operator. A database that is damaged,
  ///   foreign or newer stays unchanged.
  package static func open(
    directory: String, database: String? = nil, sync: SyncMode, postsUserOffline: Bool = false,
    history: [GroupType: HistoryLimits] = [:], indexesMessages: Bool = false,
    reportRetention: Duration = EngineOptions.standardReportRetention, clocks: any Clocks = SystemClocks(),
    alarms: any Alarms = SystemAlarms(), logger: Logger, onDurabilityFault: @escaping @Sendable (DurabilityFault) -> Void
  ) throws(StoreOpenError) -> SQLiteStore {
    var options = StoreOptions()
    options.onDurabilityFault = onDurabilityFault
    options.clocks = clocks
    options.alarms = alarms
    options.postsUserOffline = postsUserOffline
    options.indexesMessages = indexesMessages
    options.reportRetention = reportRetention
    options.history = history.filter { $0.value != HistoryLimits() }
    return try open(directory: directory, database: database, sync: sync, logger: logger, options: options)
  }

  static func open(
    directory: String, database: String? = nil, sync: SyncMode, logger: Logger, options: StoreOptions
  ) throws(StoreOpenError) -> SQLiteStore {
    _ = disableMemoryStatistics
    let opener = DatabaseOpener(database: try DatabaseFile(database, dataDirectory: directory), sync: sync, options: options)
    let lock = try DatabaseLock(of: opener.database, now: options.clocks.wall)
    do throws(StoreOpenError) {
      let report = RecoveryReport(of: opener.database, lastRun: lock.lastRun)
      try opener.prepareDatabase(lock)
      report.write(to: logger)
      // Nothing of the log has been answered by this process yet.
      try LogRewrite.perform(on: opener.database.logPath, logger)
      let pool = try opener.pool()
      try opener.attempt("prepare the index of messages") {
        try MessageIndex.prepare(pool, isOn: options.indexesMessages, logger)
      }
      if !options.history.isEmpty { try opener.makeShrinkable(pool, logger) }
      let store = SQLiteStore(
        pool: pool, checkpoints: try opener.checkpointConnection(), searches: try opener.readConnection("search"),
        signIns: try opener.readConnection("sign-in"), lock: lock, options: options, logger: logger)
      if opener.isOnReadOnlyDisk {
        logger.error("the disk of the database is read-only: writes are refused until a restart finds it writable")
      }
      try store.start(opener)
      return store
    } catch {
      lock.close()
      throw error
    }
  }

  /// Runs once, before the process's first database: saves a stored message 2,500 instructions.
  /// Lost are sqlite3_memory_used and the limits of SQLite's heap, which Throng does not use.
  private static let disableMemoryStatistics: Void = cs_disable_memory_statistics()

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
    self.searches = SearchQueue(
      connection: searches, maxCount: options.queuedSearches, maxCountPerReader: options.queuedSearchesPerReader)
    maintenance = StoreMaintenance(writer: writer, connection: checkpoints, lock: lock, options: options, logger: logger)
  }

  private func start(_ opener: DatabaseOpener) throws(StoreOpenError) {
    try opener.attempt("begin with \(opener.databasePath)") { try writer.begin(sessionsEndedAt: lock.lastAlive) }
    lock.beginRun()
    maintenance.begin()
    if let interval = options.maintenanceInterval { maintenance.start(every: interval) }
  }

  /// How many reads wait for their turn.
  package var waitingReads: Int { readers.waitingCount + signInScheduler.waitingCount }
  /// How many searches run or wait.
  package var openSearches: Int { searches.count }
  /// How many groups background work has noted, because they got messages.
  package var notedGroups: Int { writer.background.removal.count + writer.background.indexing.count }

  package var engineOptions: EngineOptions { options.engine }
  package var core: WriterCore { writer.core }

  /// A commit is durable or not when it is answered.
  package func waitForFates() {}

  /// Enqueues the commit; pending commits share one transaction, and completions follow it in
  /// order.
  package func commit(_ commit: Commit) { writer.commit(commit) }

  /// Calls a handler for each group after its messages were removed, from a thread of the store.
  /// Groups that are loaded later are read without these messages.
  package func onRemoval(_ handler: @escaping @Sendable (HistoryRemoval) -> Void) { writer.background.onRemoval(handler) }

  /// How background work has held the writer.
  package var writerHolds: WriterHolds { writer.background.holds }

  /// The bytes of the database and its log on the disk.
  package var fileBytes: Int { lock.database.bytesOnDisk }

  /// The bytes that may still be written to the disk of the database; nil where the system does not
  /// say.
  package var diskFreeBytes: Int? { lock.database.freeBytesOnDisk }

  /// Waits until every commit has been answered, checkpoints the log and releases the database; after
  /// a `DurabilityFault` none is answered. Later commits and reads are `.unavailable`. Blocks; a second
  /// call does nothing.
  package func close() {
    guard writer.queue.close() else { return }
    writer.finish()
    maintenance.stop()
    var isCheckpointed = false
    do {
      try searches.connection.close()
      try signIns.close()
      // After a failed sync the next start has to write the log once more.
      if !writer.core.hasHalted {
        isCheckpointed = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate).walFrameCount == 0 }
      }
      try pool.close()
    } catch {
      // Nothing is lost: the next start reads the log.
      logger.warning("the store was not closed cleanly", metadata: ["error": "\(StoreError(describing: error))"])
    }
    lock.release(at: options.clocks.wall, isCheckpointed: isCheckpointed)
  }

  /// Each read is one transaction, beside the writer.
  package func read<Value: Sendable>(
    _ isolation: ReadIsolation = .snapshot, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try await readers.run(for: Requester.current) { () async throws(StoreError) in try await perform(body, on: pool) }
  }

  package func readForSearch<Value: Sendable>(
    of reader: UserID?, _ body: @escaping @Sendable (Database) throws -> Value
  ) async throws(StoreError) -> Value {
    try await searches.run(for: reader, logger) { connection throws(StoreError) in try await perform(body, on: connection) }
  }

  private func perform<Value: Sendable>(
    _ read: @escaping @Sendable (Database) throws -> Value, on reader: any DatabaseReader
  ) async throws(StoreError) -> Value {
    if writer.queue.isClosed { throw StoreError(.unavailable, "the store is closed") }
    // GRDB's `async` read would turn a cancelled task into an error that the port does not have.
    let result: Result<Value, StoreError> = await withCheckedContinuation { continuation in
      // Unsafe is a read without a transaction; it has one.
      reader.asyncUnsafeRead { access in
        continuation.resume(
          returning: Result { try access.get().readTransaction(read) }.mapError(StoreError.init(describing:)))
      }
    }
    return try result.get()
  }
}

extension Database {
  /// A transaction of a connection that only reads. Its statements stay prepared: GRDB's `asyncRead`
  /// would parse them for each read, at 28,000 instructions.
  fileprivate func readTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try run("BEGIN DEFERRED TRANSACTION") { _ in }
    defer { endRead() }
    return try body(self)
  }

  private func endRead() {
    do {
      try run("COMMIT TRANSACTION") { _ in }
    } catch {
      // What was read is as good. Where this fails too there is no transaction any more, or GRDB ends
      // the process.
      try? rollback()
    }
  }
}
