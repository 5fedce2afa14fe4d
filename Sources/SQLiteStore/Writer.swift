import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// The one writer of the database: everything pending goes into one transaction, completions follow the COMMIT in order.
/// It runs on the queue of the pool's writer connection.
final class Writer: Sendable {
  let inbox: Inbox
  let pool: DatabasePool
  let options: StoreOptions
  let logger: Logger
  let persists = Atomic<Bool>(true)
  private let refusal = Mutex<StoreError?>(nil)
  private let failedCommits = FailedCommits()

  init(pool: DatabasePool, options: StoreOptions, logger: Logger) {
    self.pool = pool
    self.options = options
    self.logger = logger
    inbox = Inbox(maxCommits: options.commitsPerTransaction, maxPending: options.pendingCommits, maxBytes: options.pendingBytes)
  }

  var canPersist: Bool { persists.load(ordering: .acquiring) }

  /// Ends the sessions that the last run left, and tries whether the disk takes anything.
  /// - Throws: GRDB's error where the database is damaged. A disk without room is no obstacle: what is to be written waits.
  func begin(sessionsEndedAt time: Instant) throws {
    try pool.writeWithoutTransaction { db in
      do throws(StoreError) {
        _ = try transaction(db) {
          try UserRows.endAllSessions(at: time, db)
          try makeRoom(db)
        }
        _ = try transaction(db) { try emptyRoom(db) }
      } catch {
        guard error.kind == .unavailable else { throw error }
        note(failure: error)
        for user in try UserRows.present(in: db) { inbox.put(.gone(since: time), of: user) }
      }
    }
  }

  /// From now on everything is refused; nil = no more.
  func refuse(because reason: StoreError?) {
    refusal.withLock { $0 = reason }
    if let reason { note(failure: reason) }
  }

  func commit(_ commit: Commit) {
    switch inbox.put(commit) {
    case .wake: wake()
    case .queued: break
    case .full(let mustWake):
      note(failure: StoreError(.unavailable, "the disk does not keep up: too many commits wait"))
      if mustWake { wake() }
    case .closed: refuse(commit)
    }
  }

  /// Does once a second what no commit causes: users become durable, a sick store is tried, and chores begin.
  func tick(_ chores: Set<Inbox.Chore> = []) {
    failedCommits.tryAgain()
    if inbox.ask(flushUsers: true, probe: !canPersist, chores) { wake() }
  }

  /// Waits until everything that was taken in has been answered. Call it with the inbox closed.
  func finish() {
    failedCommits.end()
    // The writer's queue is serial: what was woken before runs before. Whoever put a commit in may not have come to wake it yet,
    // so the rest is taken out here.
    pool.writeWithoutTransaction { db in
      while let portion = inbox.take() { perform(portion, db) }
      let users = inbox.waitingUsers
      if !users.isEmpty { transact(Inbox.Portion(users: users), db) }
    }
  }

  private func wake() {
    pool.asyncWriteWithoutTransaction { db in
      while let portion = self.inbox.take() { self.perform(portion, db) }
    }
  }

  // The port promises a thread of the store, and a caller may hold a lock that its completion wants.
  private func refuse(_ commit: Commit) {
    commit.lineage.markBroken()
    Self.refusals.async { commit.completion(.failure(StoreError(.unavailable, "the store is closed"))) }
  }

  private static let refusals = DispatchQueue(label: "throng.store.refusals")

  private func perform(_ portion: Inbox.Portion, _ db: Database) {
    if !portion.commits.isEmpty || !portion.users.isEmpty { transact(portion, db) }
    if portion.probe && !canPersist { probe(db) }
    for chore in portion.chores { perform(chore, db) }
  }
}

// MARK: - Commits

extension Writer {
  private typealias Outcome = Result<Void, StoreError>

  private func transact(_ portion: Inbox.Portion, _ db: Database) {
    let outcomes = outcomes(of: portion, db)
    for (commit, outcome) in zip(portion.commits, outcomes) where outcome.isFailure { commit.lineage.markBroken() }
    for (commit, outcome) in zip(portion.commits, outcomes) { commit.completion(outcome) }
  }

  private func outcomes(of portion: Inbox.Portion, _ db: Database) -> [Outcome] {
    do {
      return try durable(portion, apart: false, db)
    } catch let failure where failure.kind == .unavailable {
      return failed(portion, failure)
    } catch {
      // Some commit contradicts what is stored. Again, each behind a savepoint, so that only that one fails.
      do {
        return try durable(portion, apart: true, db)
      } catch {
        return failed(portion, error)
      }
    }
  }

  /// Everything in one transaction, durable when this returns.
  /// - Parameter apart: a commit that is `.inconsistent` fails alone instead of failing all.
  private func durable(_ portion: Inbox.Portion, apart: Bool, _ db: Database) throws(StoreError) -> [Outcome] {
    var outcomes: [Outcome] = []
    let wrote = try transaction(db, isAwaited: !portion.commits.isEmpty) {
      for (user, note) in portion.users { try UserRows.put(note, of: user, db) }
      for commit in portion.commits {
        if commit.lineage.isBroken {
          outcomes.append(.failure(.abandoned))
        } else if apart {
          outcomes.append(try self.applyApart(commit, db))
        } else {
          for change in commit.changes { try db.apply(change) }
          outcomes.append(.success(()))
        }
      }
    }
    inbox.forget(portion.users)
    if wrote { noteSuccess() }
    if portion.commits.contains(where: \.dismisses) { _ = inbox.ask([.purge]) }
    return outcomes
  }

  private func applyApart(_ commit: Commit, _ db: Database) throws -> Outcome {
    do {
      try db.inSavepoint {
        for change in commit.changes { try db.apply(change) }
        return .commit
      }
      return .success(())
    } catch {
      let failure = StoreError(describing: error)
      // Without its transaction every further change would be durable by itself.
      if failure.kind == .unavailable || !db.isInsideTransaction { throw failure }
      commit.lineage.markBroken()
      logger.error("commit refused", metadata: ["error": "\(failure)"])
      return .failure(failure)
    }
  }

  private func failed(_ portion: Inbox.Portion, _ failure: StoreError) -> [Outcome] {
    note(failure: failure)
    return portion.commits.map { .failure($0.lineage.isBroken ? .abandoned : failure) }
  }

  /// Runs the body in a transaction and commits it.
  /// - Parameter isAwaited: somebody is told when it fails. Then this returns only when nothing of it can come back, unless the store is
  ///   being closed.
  /// - Returns: whether anything was written.
  func transaction(_ db: Database, isAwaited: Bool = false, _ body: () throws -> Void) throws(StoreError) -> Bool {
    if let refusal = refusal.withLock({ $0 }) { throw refusal }
    var isCommitting = false
    do {
      let before = db.totalChangesCount
      try db.beginTransaction(.immediate)
      try body()
      isCommitting = true
      try db.commit()
      return db.totalChangesCount > before
    } catch {
      rollBack(db)
      // Before COMMIT the log has no frame that ends a transaction.
      if isCommitting { discardFailedCommit(db, isAwaited: isAwaited) }
      throw StoreError(describing: error)
    }
  }

  // While it waits, commits wait in the inbox, which has its bounds, and reads go on.
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
      // The next transaction fails at BEGIN and comes here again: nothing is acknowledged meanwhile.
      logger.error("rollback failed", metadata: ["error": "\(StoreError(describing: error))"])
    }
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}

extension Commit {
  fileprivate var dismisses: Bool {
    changes.contains { if case .dismiss = $0 { true } else { false } }
  }
}

extension StoreError {
  fileprivate static let abandoned = StoreError(.abandoned, "an earlier commit of the same lineage failed")
}
