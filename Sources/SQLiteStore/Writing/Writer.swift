import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import Synchronization

/// The one writer of the database. It runs on the queue of the pool's writer connection.
final class Writer: StoreWriter {
  let core: WriterCore
  let pool: DatabasePool
  let options: StoreOptions
  private let refusal = Mutex<StoreError?>(nil)
  private let failedCommits = FailedCommits()
  let background: BackgroundWork
  let webhookNumbers = WebhookNumbers()

  var queue: CommitQueue { core.queue }
  var logger: Logger { core.logger }

  init(pool: DatabasePool, options: StoreOptions, logger: Logger) {
    self.pool = pool
    self.options = options
    core = WriterCore(options.engine, clocks: options.clocks, logger: logger)
    background = BackgroundWork(options)
  }

  /// Ends the sessions that the last run left, and tries whether the disk takes anything.
  /// - Throws: GRDB's error where the database is damaged. A full disk is no obstacle: writes wait.
  func begin(sessionsEndedAt time: WallInstant) throws {
    try pool.writeWithoutTransaction { db in
      webhookNumbers.begin(after: max(try WebhookRows.lastNumber(in: db), try WebhookIndexing.through(in: db)))
      do throws(StoreError) {
        _ = try transaction(db) {
          if options.postsUserOffline { try postUserOffline(at: time, db) }
          try db.endAllSessions(at: time)
          try fillProbe(db)
        }
        _ = try transaction(db) { try clearProbe(db) }
      } catch {
        guard error.kind == .unavailable else { throw error }
        core.note(failure: error)
        for user in try db.onlineUsers() { queue.setPresence(.offline(since: time), of: user) }
      }
    }
  }

  /// No platform is kept of a session.
  private func postUserOffline(at time: WallInstant, _ db: Database) throws {
    let transaction = SQLiteTransaction(db, webhookNumbers)
    for user in try db.onlineUsers() {
      try transaction.append(WebhookEntry(.userOffline, .presence(user, .unknown), in: .user(user), at: time))
    }
    try transaction.finishAppends()
  }

  /// Refuses every write from now on; nil accepts them again.
  func refuse(because reason: StoreError?) {
    refusal.withLock { $0 = reason }
    if let reason { core.note(failure: reason) }
  }

  /// Starts the work of each second: makes users durable, probes a failed store, begins tasks.
  func tick(_ tasks: Set<MaintenanceTask> = []) {
    failedCommits.tryAgain()
    let tasks = webhookNumbers.tick() ? tasks.union([.indexWebhooks]) : tasks
    if queue.request(flushUsers: true, probe: !core.canPersist, tasks) { wake() }
  }

  /// Begins tasks.
  func begin(_ tasks: Set<MaintenanceTask>) {
    if !tasks.isEmpty, queue.request(tasks) { wake() }
  }

  /// Waits until every commit has been answered. Call it with the write queue closed.
  func finish() {
    failedCommits.end()
    // The pool's writer is serial, so earlier batches are done. A caller that has added a commit
    // may not have woken the writer yet: the commits that are left are taken out here.
    pool.writeWithoutTransaction { db in
      while let batch = queue.nextBatch() { work(on: batch, db) }
      if let batch = queue.lastBatch() { perform(batch, db) }
    }
  }

  func wake() {
    pool.asyncWriteWithoutTransaction { db in
      while let batch = self.queue.nextBatch() { self.work(on: batch, db) }
    }
  }

  private func work(on batch: CommitQueue.Batch, _ db: Database) {
    if !batch.commits.isEmpty || !batch.users.isEmpty { perform(batch, db) }
    if batch.probe && !core.canPersist { probe(db) }
    for task in batch.tasks where !task.isBrief { perform(task, db) }
    // One of these, so that commits wait for one alone.
    if let task = MaintenanceTask.brief.first(where: batch.tasks.contains) { performBriefly(task, db) }
  }
}

// MARK: - Commits

extension Writer {
  func write(
    _ batch: CommitQueue.Batch, _ db: Database, _ body: (SQLiteTransaction) throws -> Void
  ) throws(StoreError) -> [WebhookEntry] {
    var appended: [WebhookEntry] = []
    let wrote = try transaction(db, isAwaited: !batch.commits.isEmpty) {
      for (user, update) in batch.users { try db.put(update, of: user) }
      let transaction = SQLiteTransaction(db, webhookNumbers)
      try body(transaction)
      try transaction.finishAppends()
      appended = transaction.appended
    }
    if wrote { noteSuccess() }
    return appended
  }

  func didWrite(_ commits: [Commit]) {
    if background.notesAppends { background.noteAppends(commits) }
    let tasks = commits.reduce(into: Set<MaintenanceTask>()) { $0.formUnion($1.tasks) }
    if !tasks.isEmpty { _ = queue.request(tasks) }
  }

  /// Runs the body in a transaction and commits it.
  /// - Parameter isAwaited: a caller is told of a failure. Then this returns only when a restart
  ///   cannot bring the transaction back, unless the store is being closed.
  /// - Returns: whether anything was written.
  func transaction(_ db: Database, isAwaited: Bool = false, _ body: () throws -> Void) throws(StoreError) -> Bool {
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    var isCommitting = false
    do {
      let before = db.totalChangesCount
      // Prepared once: GRDB's beginTransaction and commit would parse them for each transaction.
      try db.cachedStatement(sql: "BEGIN IMMEDIATE TRANSACTION").execute()
      try body()
      isCommitting = true
      try db.cachedStatement(sql: "COMMIT TRANSACTION").execute()
      return db.totalChangesCount > before
    } catch {
      rollBack(db)
      // Before COMMIT the log holds no frame that ends a transaction.
      if isCommitting { discardFailedCommit(db, isAwaited: isAwaited) }
      throw StoreError(describing: error)
    }
  }

  // Commits wait in the write queue meanwhile, which has its bounds, and reads go on.
  private func discardFailedCommit(_ db: Database, isAwaited: Bool) {
    guard isAwaited else { return failedCommits.discard(db) }
    failedCommits.discardOrWait(db) { obstacle in
      core.note(failure: StoreError(describing: obstacle))
      logger.error(
        "refusals wait: what failed would come back with a restart", metadata: ["error": "\(StoreError(describing: obstacle))"])
    }
  }

  private func rollBack(_ db: Database) {
    do {
      try db.rollback()
    } catch {
      // The next transaction fails at BEGIN and comes here again: nothing is acknowledged
      // meanwhile.
      logger.error("rollback failed", metadata: ["error": "\(StoreError(describing: error))"])
    }
  }
}

extension Commit {
  /// The background work that its changes leave.
  fileprivate var tasks: Set<MaintenanceTask> {
    var tasks: Set<MaintenanceTask> = []
    for change in changes {
      switch change {
      case .dismiss: tasks.insert(.clearDisbandedGroups)
      case .removeReactions: tasks.insert(.clearReactions)
      default: break
      }
    }
    return tasks
  }
}
