import Dispatch
import Foundation
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import StoreTables
import Synchronization

/// The one writer of this process. It runs on a queue of its own.
final class Writer: StoreWriter, @unchecked Sendable {
  let core: WriterCore
  private let worker = DispatchQueue(label: "throng.store.writer")
  /// Nil while this process is no node.
  private let node: Mutex<Int64?>
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let options: PostgreSQLOptions
  private let isRemoved = Atomic<Bool>(false)
  private let isProbing = Atomic<Bool>(false)
  private let inDoubt = InDoubt()
  private let measured = Mutex(WriterHolds())
  /// Where messages are removed, it gets the groups of new ones.
  let backlog: GroupBacklog?
  let connections = WriterConnections()
  /// Nil = this process has the database alone.
  private let fence = Mutex<CommitFence?>(nil)
  /// @unchecked: used on `worker` only, like the number of the last batch and the window.
  private var connection: PostgreSQLConnection?
  private var lastBatch: Int64 = 0
  private var window = CommitWindow()

  init(
    _ connection: PostgreSQLConnection, node: Int64?,
    connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection,
    backlog: GroupBacklog?, options: PostgreSQLOptions, logger: Logger
  ) {
    core = WriterCore(options.engine, clocks: SystemClocks(), logger: logger)
    self.backlog = backlog
    self.connection = connection
    self.node = Mutex(node)
    self.connect = connect
    self.options = options
  }

  var queue: CommitQueue { core.queue }
  private var logger: Logger { core.logger }

  /// Ends the sessions that the last process left.
  func begin(sessionsEndedAt time: WallInstant) throws {
    let postsUserOffline = options.postsUserOffline
    try worker.sync {
      try transact { transaction in
        if postsUserOffline {
          // No platform is kept of a session.
          try transaction.check()
          for user in try transaction.connection.onlineUsers() {
            try transaction.append(WebhookEntry(.userOffline, .presence(user, .unknown), in: .user(user), at: time))
          }
        }
        try transaction.run("UPDATE knownUser SET offlineSince = $1 WHERE offlineSince = 0", [time])
      }
    }
  }

  /// Starts the work of each second: makes users durable, probes a failed store.
  func tick() {
    if queue.request(flushUsers: true) { wake() }
    // A probe of a host that is silent takes seconds, and commits wait behind it: one at a time.
    if !core.canPersist, !isProbing.exchange(true, ordering: .acquiringAndReleasing) {
      worker.async {
        self.probe()
        self.isProbing.store(false, ordering: .releasing)
      }
    }
  }

  /// Runs a body of background work in a transaction behind the commits that wait. Blocks
  /// meanwhile.
  func performAndWait<Value>(_ task: MaintenanceTask, _ body: (WriteTransaction) throws -> Value) throws(StoreError) -> Value {
    let outcome: Result<Value, StoreError> = worker.sync {
      let start = options.clocks.monotonic
      defer { measured.withLock { $0.note(task.rawValue, options.clocks.monotonic - start) } }
      return Result { try inBackground(body) }.mapError(StoreError.init(describing:))
    }
    if case .failure(let failure) = outcome, failure.kind == .unavailable { core.note(failure: failure) }
    return try outcome.get()
  }

  private func inBackground<Value>(_ body: (WriteTransaction) throws -> Value) throws -> Value {
    var value: Value?
    try transact { transaction in
      // A crash of the database may undo it, and it is done again: nobody is told of a success.
      try transaction.run("SET LOCAL synchronous_commit = off", [])
      value = try body(transaction)
    }
    guard let value else { throw StoreError(.unavailable, "the transaction was not run") }
    return value
  }

  /// How long background work has held the writer.
  var holds: WriterHolds { measured.withLock { $0 } }

  /// Waits until every commit has been answered, apart from those of which the database does not tell
  /// in time whether they are durable, and those behind them. Call it with the queue closed.
  func finish() {
    worker.sync {
      while !core.hasHalted, let batch = queue.nextBatch() { perform(batch, ()) }
      if !core.hasHalted, let batch = queue.lastBatch() { perform(batch, ()) }
      connection = nil
    }
  }

  /// Lets only those commits through that the fence admits.
  func use(_ fence: CommitFence) {
    self.fence.withLock { $0 = fence }
    queue.use(fence)
  }

  /// Writes as this node from now on.
  /// - Parameter node: nil = the lease was lost. What waits was decided under it, and fails.
  func use(node: Int64?) {
    self.node.withLock { $0 = node }
    if node == nil { queue.breakAll() }
  }

  /// The node was removed: nothing is written any more.
  func didRemoveNode() {
    guard !isRemoved.exchange(true, ordering: .acquiringAndReleasing) else { return }
    core.note(failure: StoreError(.unavailable, "another process has taken over the database: this one writes nothing more"))
  }

  /// Waits for commits of which nobody knows yet whether they are durable. A group must not be read
  /// before that.
  func waitForFates() async throws(StoreError) { try await inDoubt.wait() }

  func wake() {
    worker.async { self.writeNext() }
  }

  // A block for each batch: background work gets its turn however many commits wait.
  private func writeNext() {
    waitForCommits()
    guard !core.hasHalted, let batch = queue.nextBatch() else { return }
    let start = options.clocks.monotonic.nanoseconds
    perform(batch, ())
    window.note(
      from: start, to: options.clocks.monotonic.nanoseconds, commits: batch.commits.count, waiting: queue.pendingCommits)
    worker.async { self.writeNext() }
  }

  private func waitForCommits() {
    guard !queue.isClosed, fence.withLock({ $0 })?.hasOtherNodes == true else { return }
    let wait = window.wait(for: queue.pendingCommits, at: options.clocks.monotonic.nanoseconds)
    if wait > 0 { Thread.sleep(forTimeInterval: Double(wait) / 1e9) }
  }
}

// MARK: - Commits

extension Writer {
  func write(
    _ batch: CommitQueue.Batch, _ access: Void, _ body: (WriteTransaction) throws -> Void
  ) throws(StoreError) -> [WebhookEntry] {
    var appends = WebhookAppends()
    do {
      try transact(for: batch.commits, leaseCount: batch.leaseCount) { transaction in
        appends = transaction.appends
        if self.options.isShared { try NotificationOrder.lock(batch.commits.lazy.flatMap(\.changes), transaction) }
        try transaction.put(batch.users)
        try body(transaction)
      }
      return appends.entries
    } catch {
      throw StoreError(describing: error)
    }
  }

  func didWrite(_ commits: [Commit]) { backlog?.noteAppends(commits) }

  /// Runs the body in a transaction and commits it. Returns only when the transaction is durable.
  /// - Parameters:
  ///   - commits: those who wait for them are told of a failure, so a lost COMMIT's fate is waited for. A
  ///     transaction that was lost with its connection is done again once. Empty = nobody waits.
  ///   - leaseCount: of the lease under which the changes were decided; nil = any.
  ///   - body: may run twice.
  private func transact(
    for commits: [Commit] = [], leaseCount: Int? = nil, _ body: (WriteTransaction) throws -> Void
  ) throws {
    for isLastAttempt in [commits.isEmpty, true] {
      do {
        return try attempt(for: commits, leaseCount: leaseCount, body)
      } catch let lost as LostTransaction {
        if isLastAttempt { throw lost.error }
      }
    }
  }

  /// The connection was lost, and the transaction is not durable.
  private struct LostTransaction: Error {
    let error: any Error
  }

  private func attempt(
    for commits: [Commit], leaseCount: Int?, _ body: (WriteTransaction) throws -> Void
  ) throws {
    // The next batch would cover the trace of one whose fate is unknown.
    if core.hasHalted { throw StoreError(.unavailable, "nobody knows whether a commit is durable") }
    if isRemoved.load(ordering: .acquiring) {
      throw StoreError(.unavailable, "another process has taken over the database")
    }
    // The node first: one that has joined again has counted the lease that was lost.
    guard let node = node.withLock({ $0 }), leaseCount == nil || leaseCount == queue.leaseCount else {
      throw StoreError(.unavailable, "the lease under which this was decided is lost")
    }
    let current = try connection.flatMap { $0.isOpen ? $0 : nil } ?? reconnect()
    lastBatch += 1
    var transaction: WriteTransaction?
    do {
      let begun = try WriteTransaction(current, node: node, batch: lastBatch)
      transaction = begun
      try body(begun)
      try begun.commit()
      core.noteSuccess()
    } catch {
      if (error as? PostgreSQLError)?.isFenced == true {
        if let fence = fence.withLock({ $0 }) { fence.wasRefused() } else { didRemoveNode() }
      }
      if current.isOpen {
        transaction?.forgetSent()
        transaction?.rollBack()
      }
      if !current.isOpen || (error as? PostgreSQLError)?.isOnStandby == true { connection = nil }
      guard !current.isOpen else { throw error }
      guard transaction?.isCommitSent == true, !commits.isEmpty else { throw LostTransaction(error: error) }
      let sent = SentBatch(node: node, number: lastBatch)
      // The number behind it is for the question.
      lastBatch += 1
      try learnFate(of: sent, commits, after: error)
    }
  }
}

// MARK: - Lost COMMITs

extension Writer {
  /// Waits until the database tells whether a transaction has become durable, whose COMMIT had no
  /// answer, however long that takes. Its commits, and those behind them of the same generations, have no
  /// answer meanwhile: a failure would say that nothing was changed.
  /// - Throws: where it has not become durable. Where the store is closed first, answers have ended.
  private func learnFate(of batch: SentBatch, _ commits: [Commit], after failure: any Error) throws {
    inDoubt.begin()
    let generations = Set(commits.map { ObjectIdentifier($0.generation) })
    let deadline = SystemClocks().monotonic + .milliseconds(options.commitTimeout)
    while true {
      if let isDurable = try? lookUpFate(of: batch) {
        inDoubt.end()
        guard isDurable else { throw LostTransaction(error: failure) }
        logger.notice("a commit whose answer was lost is durable")
        core.noteSuccess()
        return
      }
      let isLate = SystemClocks().monotonic >= deadline
      if isLate {
        if queue.isClosed {
          _ = core.halt()
          inDoubt.giveUp()
          throw failure
        }
        refuseOthers(than: generations, after: failure)
      }
      // Nothing tells when a server that is away is back, or when one that answers gives up a lock.
      Thread.sleep(forTimeInterval: isLate ? 1 : 0.05)
    }
  }

  /// Refuses what waits and depends on no commit whose fate is unknown: nothing of it was written. No
  /// group is read before that fate is known.
  private func refuseOthers(than generations: Set<ObjectIdentifier>, after failure: any Error) {
    if inDoubt.giveUp() {
      logger.error("nobody knows yet whether a commit is durable", metadata: ["error": "\(StoreError(describing: failure))"])
      core.note(failure: StoreError(.unavailable, "nobody knows yet whether a commit is durable"))
    }
    let refused = queue.popCommits(except: generations)
    core.meter.noteFailures(refused.count)
    for commit in refused {
      commit.generation.markBroken()
      commit.completion(.failure(StoreError(.unavailable, "nobody knows yet whether an earlier commit is durable")))
    }
  }

  private func reconnect() throws(PostgreSQLError) -> PostgreSQLConnection {
    let made = try connect()
    connections.noteNew()
    connection = made
    return made
  }

  /// A batch that is not durable yet never becomes so, though the server may have its statements
  /// unread: the number behind it keeps it from passing the fence.
  /// - Returns: nil = the database has forgotten this process.
  private func lookUpFate(of batch: SentBatch) throws -> Bool? {
    let current = try connection.flatMap { $0.isOpen ? $0 : nil } ?? reconnect()
    do {
      // The lock waits for a transaction that has not ended yet.
      let found = try current.rows(
        "UPDATE writer SET batch = CASE WHEN batch < $2 THEN $2 + 1 ELSE batch END WHERE node = $1 RETURNING batch",
        [batch.node, batch.number]
      ) { try $0.integer() }
      return found.first.map { $0 == batch.number }
    } catch let error as PostgreSQLError where error.isOnStandby {
      // Another server knows it now.
      connection = nil
      throw error
    }
  }

  private func probe() {
    do {
      try transact { transaction in
        try transaction.run(
          "INSERT INTO probe VALUES (1, clock_timestamp()) ON CONFLICT (id) DO UPDATE SET time = excluded.time", [])
      }
    } catch {
      let failure = StoreError(describing: error)
      if failure.kind == .unavailable { core.note(failure: failure) }
    }
  }
}

/// A transaction whose COMMIT was sent: the node that it was sent as, and its number there.
private struct SentBatch {
  let node: Int64
  let number: Int64
}

/// Commits of which nobody knows yet whether they are durable.
final class InDoubt: Sendable {
  private enum Phase {
    /// The database is asked. → certain, late
    case asked
    /// It has not answered in time, and is asked on. → certain
    case late
    case certain
  }

  private struct State {
    var phase = Phase.certain
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func begin() { enter(.asked) }
  func end() { enter(.certain) }

  /// Lets those who wait go without an answer.
  /// - Returns: false where they went before.
  @discardableResult
  func giveUp() -> Bool { enter(.late) }

  @discardableResult
  private func enter(_ phase: Phase) -> Bool {
    let (isNew, waiting) = state.withLock { state in
      let isNew = state.phase != phase
      state.phase = phase
      defer { if phase != .asked { state.waiting = [] } }
      return (isNew, phase == .asked ? [] : state.waiting)
    }
    for continuation in waiting { continuation.resume() }
    return isNew
  }

  /// Waits while the database is asked.
  func wait() async throws(StoreError) {
    await withCheckedContinuation { continuation in
      let isWaiting = state.withLock { state in
        if state.phase == .asked { state.waiting.append(continuation) }
        return state.phase == .asked
      }
      if !isWaiting { continuation.resume() }
    }
    if state.withLock({ $0.phase == .late }) {
      throw StoreError(.unavailable, "nobody knows yet whether a commit is durable")
    }
  }
}
