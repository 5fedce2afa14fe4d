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
  private let logLength = LogLength()
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
      logLength.observe(db)
      webhookNumbers.begin(after: max(try WebhookRows.lastNumber(in: db), try WebhookIndexing.through(in: db)))
      do throws(StoreError) {
        _ = try transaction(db) {
          if options.postsUserOffline { try postUserOffline(at: time, db) }
          try db.endAllSessions(at: time)
          try fillProbe(db)
        }
        _ = try transaction(db) { try clearProbe(db) }
      } catch {
        guard error.kind == .unavailable, !core.hasHalted else { throw error }
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
    let tasks = webhookNumbers.tick() ? tasks.union([.indexWebhooks]) : tasks
    if queue.request(flushUsers: true, probe: !core.canPersist, tasks) { wake() }
  }

  /// Begins tasks.
  func begin(_ tasks: Set<MaintenanceTask>) {
    if !tasks.isEmpty, queue.request(tasks) { wake() }
  }

  /// Waits until every commit has been answered; after a `DurabilityFault` none is. Call it with the
  /// write queue closed.
  func finish() {
    // The pool's writer is serial, so earlier batches are done. A caller that has added a commit
    // may not have woken the writer yet: the commits that are left are taken out here.
    pool.writeWithoutTransaction { db in
      while !core.hasHalted, let batch = queue.nextBatch() { work(on: batch, db) }
      if !core.hasHalted, let batch = queue.lastBatch() { perform(batch, db) }
    }
  }

  func wake() {
    pool.asyncWriteWithoutTransaction { db in
      while !self.core.hasHalted, let batch = self.queue.nextBatch() { self.work(on: batch, db) }
    }
  }

  private func work(on batch: CommitQueue.Batch, _ db: Database) {
    if !batch.commits.isEmpty || !batch.users.isEmpty { perform(batch, db) }
    if core.hasHalted { return }
    if batch.probe && !core.canPersist { probe(db) }
    for task in batch.tasks where !task.isBrief { perform(task, db) }
    if logLength.popFrames() >= options.autocheckpointPages { checkpoint(db) }
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
    let wrote = try transaction(db) {
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
  /// - Returns: whether anything was written.
  /// - Throws: where a restart does not find the transaction, or nothing is answered any more.
  func transaction(_ db: Database, _ body: () throws -> Void) throws(StoreError) -> Bool {
    if core.hasHalted { throw StoreError(.unavailable, "a sync of the disk has failed: the process ends") }
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    var isCommitting = false
    do {
      let before = db.totalChangesCount
      // By SQLite's C interface: GRDB's observation of transactions, of which nobody hears, costs a
      // stored message a twentieth.
      try db.run("BEGIN IMMEDIATE TRANSACTION") { _ in }
      try body()
      isCommitting = true
      try db.run("COMMIT TRANSACTION") { _ in }
      return db.totalChangesCount > before
    } catch {
      if isCommitting { didFailToCommit(error, db) } else { rollBack(db) }
      throw StoreError(describing: error)
    }
  }

  /// Sees to it that no restart finds a transaction whose COMMIT has failed, or ends all answers.
  private func didFailToCommit(_ error: any Error, _ db: Database) {
    switch FailedCommit(error) {
    case .partial: rollBack(db)
    case .unknown:
      halt(DurabilityFault(.commit, error, in: db))
      rollBack(db)
    case .behindTheEnd:
      rollBack(db)
      if let fault = overwriteEnd(db) { halt(fault) }
    }
  }

  /// Writes a transaction without meaning behind the end of the log, and so over one that lies there.
  /// - Returns: why nobody can say whether the other is gone; nil = it is.
  private func overwriteEnd(_ db: Database) -> DurabilityFault? {
    var isCommitting = false
    do {
      try db.run("BEGIN IMMEDIATE TRANSACTION") { _ in }
      // SQLite would not write a page that stays the same.
      try db.run("UPDATE probe SET room = randomblob(16)", [])
      isCommitting = true
      try db.run("COMMIT TRANSACTION") { _ in }
      return nil
    } catch {
      // Where the index cannot grow, this transaction lies there itself, synced like the other.
      let isWritten = isCommitting && FailedCommit.isOfTheIndex(error)
      let fault = isWritten ? nil : DurabilityFault(.commit, error, in: db)
      rollBack(db)
      return fault
    }
  }

  /// Copies what it can of a long log into the database. SQLite would do so itself after a commit, but
  /// tell nobody of a sync that fails.
  private func checkpoint(_ db: Database) {
    do {
      _ = try db.checkpoint(.passive)
    } catch {
      // Anything else is done by the next one: `StoreMaintenance` tells of it.
      if FailedCommit.isOfASync(error) { halt(DurabilityFault(.checkpoint, error, in: db)) }
    }
  }

  /// Ends all answers and all writing, and tells who ends the process. Any thread.
  func halt(_ fault: DurabilityFault) {
    if core.halt() { options.onDurabilityFault(fault) }
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
