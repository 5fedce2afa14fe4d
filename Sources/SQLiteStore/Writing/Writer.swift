import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// The one writer of the database: everything pending shares one transaction, and completions
/// follow the COMMIT in order. It runs on the queue of the pool's writer connection.
final class Writer: Sendable {
  let writeQueue: WriteQueue
  let pool: DatabasePool
  let options: StoreOptions
  let logger: Logger
  let persists = Atomic<Bool>(true)
  private let refusal = Mutex<StoreError?>(nil)
  private let failedCommits = FailedCommits()
  let background: BackgroundWork
  let webhookNumbers = WebhookNumbers()
  let meter = CommitMeter()

  init(pool: DatabasePool, options: StoreOptions, logger: Logger) {
    self.pool = pool
    self.options = options
    self.logger = logger
    background = BackgroundWork(options)
    writeQueue = WriteQueue(
      maxCommits: options.commitsPerTransaction, maxPending: options.pendingCommits, maxBytes: options.pendingBytes)
  }

  var canPersist: Bool { persists.load(ordering: .acquiring) }

  /// Ends the sessions that the last run left, and tries whether the disk takes anything.
  /// - Throws: GRDB's error where the database is damaged. A full disk is no obstacle: writes wait.
  func begin(sessionsEndedAt time: WallInstant) throws {
    try pool.writeWithoutTransaction { db in
      webhookNumbers.begin(after: max(try WebhookRows.lastNumber(in: db), try WebhookIndexing.through(in: db)))
      do throws(StoreError) {
        _ = try transaction(db) {
          if options.postsUserOffline { try postUserOffline(at: time, db) }
          try UserRows.endAllSessions(at: time, db)
          try fillProbe(db)
        }
        _ = try transaction(db) { try clearProbe(db) }
      } catch {
        guard error.kind == .unavailable else { throw error }
        note(failure: error)
        for user in try UserRows.onlineUsers(in: db) { writeQueue.setPresence(.offline(since: time), of: user) }
      }
    }
  }

  /// No platform is kept of a session.
  private func postUserOffline(at time: WallInstant, _ db: Database) throws {
    var appends = WebhookAppends(webhookNumbers)
    for user in try UserRows.onlineUsers(in: db) {
      try appends.append(WebhookEntry(.userOffline, .presence(user, .unknown), in: .user(user), at: time), in: db)
    }
    try appends.finish(in: db)
  }

  /// Refuses every write from now on; nil accepts them again.
  func refuse(because reason: StoreError?) {
    refusal.withLock { $0 = reason }
    if let reason { note(failure: reason) }
  }

  func commit(_ commit: Commit) {
    switch writeQueue.enqueue(commit) {
    case .wake: wake()
    case .queued: break
    case .full(let mustWake):
      note(failure: StoreError(.unavailable, "the disk does not keep up: too many commits wait"))
      if mustWake { wake() }
    case .closed: refuse(commit)
    }
  }

  /// Starts the work of each second: makes users durable, probes a failed store, begins tasks.
  func tick(_ tasks: Set<MaintenanceTask> = []) {
    failedCommits.tryAgain()
    let tasks = webhookNumbers.tick() ? tasks.union([.indexWebhooks]) : tasks
    if writeQueue.request(flushUsers: true, probe: !canPersist, tasks) { wake() }
  }

  /// Begins tasks.
  func begin(_ tasks: Set<MaintenanceTask>) {
    if !tasks.isEmpty, writeQueue.request(tasks) { wake() }
  }

  /// Waits until every commit has been answered. Call it with the write queue closed.
  func finish() {
    failedCommits.end()
    // The pool's writer is serial, so earlier batches are done. A caller that has added a commit
    // may not have woken the writer yet: the commits that are left are taken out here.
    pool.writeWithoutTransaction { db in
      while let batch = writeQueue.nextBatch() { perform(batch, db) }
      let users = writeQueue.pendingUpdates
      if !users.isEmpty { transact(WriteQueue.Batch(users: users), db) }
    }
  }

  private func wake() {
    pool.asyncWriteWithoutTransaction { db in
      while let batch = self.writeQueue.nextBatch() { self.perform(batch, db) }
    }
  }

  // Asynchronous, because a caller may hold a lock that its completion wants.
  private func refuse(_ commit: Commit) {
    commit.generation.markBroken()
    Self.refusals.async { commit.completion(.failure(StoreError(.unavailable, "the store is closed"))) }
  }

  private static let refusals = DispatchQueue(label: "throng.store.refusals")

  private func perform(_ batch: WriteQueue.Batch, _ db: Database) {
    if !batch.commits.isEmpty || !batch.users.isEmpty { transact(batch, db) }
    if batch.probe && !canPersist { probe(db) }
    for task in batch.tasks where !task.isBrief { perform(task, db) }
    // One of these, so that commits wait for one alone.
    if let task = MaintenanceTask.brief.first(where: batch.tasks.contains) { performBriefly(task, db) }
  }
}

// MARK: - Commits

extension Writer {

  private func transact(_ batch: WriteQueue.Batch, _ db: Database) {
    let begun = options.clocks.monotonic
    let outcomes = outcomes(of: batch, db)
    let ended = options.clocks.monotonic
    var failures = 0
    for (commit, outcome) in zip(batch.commits, outcomes) where outcome.isFailure {
      commit.generation.markBroken()
      failures += 1
    }
    if !batch.commits.isEmpty {
      meter.record(nanoseconds: ended.nanoseconds(since: begun), commits: batch.commits.count, failures: failures)
    }
    for (commit, outcome) in zip(batch.commits, outcomes) { commit.completion(outcome) }
  }

  private func outcomes(of batch: WriteQueue.Batch, _ db: Database) -> [Commit.Answer] {
    do {
      return try durable(batch, apart: false, db)
    } catch let failure where failure.kind == .unavailable {
      return failed(batch, failure)
    } catch {
      // A commit contradicts the stored rows: a savepoint for each lets only that one fail.
      do {
        return try durable(batch, apart: true, db)
      } catch {
        return failed(batch, error)
      }
    }
  }

  /// Writes the batch in one transaction, durable when this returns.
  /// - Parameter apart: a commit that is `.inconsistent` fails alone instead of failing all.
  private func durable(_ batch: WriteQueue.Batch, apart: Bool, _ db: Database) throws(StoreError) -> [Commit.Answer] {
    var outcomes: [Commit.Answer] = []
    let wrote = try transaction(db, isAwaited: !batch.commits.isEmpty) {
      for (user, update) in batch.users { try UserRows.put(update, of: user, db) }
      var appends = WebhookAppends(webhookNumbers)
      for commit in batch.commits {
        if commit.generation.isBroken {
          outcomes.append(.failure(.abandoned))
        } else if apart {
          outcomes.append(try self.applyApart(commit, db))
        } else {
          for change in commit.changes { try db.apply(change, &appends) }
          outcomes.append(.success(appends.takeStored()))
        }
      }
      try appends.finish(in: db)
    }
    writeQueue.removeDurable(batch.users)
    if wrote { noteSuccess() }
    if background.notesAppends { background.noteAppends(batch.commits) }
    let tasks = batch.commits.reduce(into: Set<MaintenanceTask>()) { $0.formUnion($1.tasks) }
    if !tasks.isEmpty { _ = writeQueue.request(tasks) }
    return outcomes
  }

  private func applyApart(_ commit: Commit, _ db: Database) throws -> Commit.Answer {
    do {
      var appends = WebhookAppends(webhookNumbers)
      try db.inSavepoint {
        for change in commit.changes { try db.apply(change, &appends) }
        try appends.finish(in: db)
        return .commit
      }
      return .success(appends.takeStored())
    } catch {
      let failure = StoreError(describing: error)
      // Outside the transaction every further change would be durable by itself.
      if failure.kind == .unavailable || !db.isInsideTransaction { throw failure }
      commit.generation.markBroken()
      logger.error("commit refused", metadata: ["error": "\(failure)"])
      return .failure(failure)
    }
  }

  private func failed(_ batch: WriteQueue.Batch, _ failure: StoreError) -> [Commit.Answer] {
    note(failure: failure)
    return batch.commits.map { .failure($0.generation.isBroken ? .abandoned : failure) }
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
      note(failure: StoreError(describing: obstacle))
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

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
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

extension StoreError {
  fileprivate static let abandoned = StoreError(.abandoned, "an earlier commit of the same generation failed")
}
