import Dispatch
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import Synchronization

/// Deletes what is left over or too old, beside the sign of life, which must never wait for it.
/// Each chunk of rows has a transaction of its own, so that commits pass in between.
final class PostgreSQLCleanup: @unchecked Sendable {
  let retention: Retention
  private let writer: Writer
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let options: PostgreSQLOptions
  private let logger: Logger
  private let queue = DispatchQueue(label: "throng.store.cleanup")
  private let isStopped = Atomic<Bool>(false)
  /// @unchecked: these are used on `queue` only.
  private var connection: PostgreSQLConnection?
  private var lastDeletion: MonotonicInstant
  private var lastRemoval: MonotonicInstant?
  private var hasFailed = false

  /// Groups or reactions that are found at a time.
  private static let foundAtOnce = 100

  init(
    writer: Writer, retention: Retention, connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection,
    options: PostgreSQLOptions, logger: Logger
  ) {
    self.writer = writer
    self.retention = retention
    self.connect = connect
    self.options = options
    self.logger = logger
    lastDeletion = options.clocks.monotonic
  }

  /// Ticks until `stop()` or the end of this object.
  func start(every interval: Duration) {
    options.alarms.schedule(at: options.clocks.monotonic + interval, on: queue) { [weak self] in
      guard let self, !self.stopped else { return }
      self.tick()
      self.start(every: interval)
    }
  }

  /// One round, for tests that schedule none.
  func runRound() { queue.sync { tick() } }

  private var stopped: Bool { isStopped.load(ordering: .acquiring) }

  private func tick() {
    // It is looked at each time: a jump must be seen before something is deleted.
    let trustsClock = retention.checkClock()
    guard writer.core.canPersist else { return }
    do {
      let current = try connection.flatMap { $0.isOpen ? $0 : nil } ?? connect()
      connection = current
      try clearDisbandedGroups(current)
      try removeMessages(current, trustsClock)
      try clearReactions(current)
      if options.indexesMessages, options.leadership.leadsDatabase { try MessageTextIndex.mergeRecent(current) }
      if options.leadership.leadsDatabase, trustsClock { try deleteExpiredRows() }
      hasFailed = false
    } catch {
      if !hasFailed {
        logger.warning("clearing away was interrupted", metadata: ["error": "\(StoreError(describing: error))"])
      }
      hasFailed = true
    }
  }

  private func clearDisbandedGroups(_ db: PostgreSQLConnection) throws {
    var found: [DisbandedGroupCleanup.Group]
    var after: Int64 = 0
    repeat {
      found = try DisbandedGroupCleanup.groups(after: after, limit: Self.foundAtOnce, in: db)
      for group in found where options.leadership.leads(group.id) {
        try repeatWhileMore(.clearDisbandedGroups) { try DisbandedGroupCleanup.chunk(of: group, $0, $1) }
      }
      after = found.last?.number ?? after
    } while found.count == Self.foundAtOnce && !stopped
  }

  private func clearReactions(_ db: PostgreSQLConnection) throws {
    var found: [ReactionCleanup.Reaction] = []
    repeat {
      found = try ReactionCleanup.reactions(behind: found.last, limit: Self.foundAtOnce, in: db)
      for reaction in found where reaction.group.map(options.leadership.leads) ?? options.leadership.leadsDatabase {
        try repeatWhileMore(.clearReactions) { try ReactionCleanup.chunk(of: reaction, $0, $1) }
      }
    } while found.count == Self.foundAtOnce && !stopped
  }

  private func removeMessages(_ db: PostgreSQLConnection, _ trustsClock: Bool) throws {
    let now = options.clocks.monotonic
    guard !options.history.isEmpty, lastRemoval.map({ now - $0 >= HistoryBounds.interval }) ?? true else { return }
    lastRemoval = now
    try retention.runRound(db, writer, trustsClock: trustsClock) { self.stopped }
  }

  private func deleteExpiredRows() throws {
    guard options.clocks.monotonic - lastDeletion >= ExpiredRows.interval else { return }
    lastDeletion = options.clocks.monotonic
    try deleteExpired()
  }

  /// Deletes rows that are too old to be asked for.
  func deleteExpired() throws {
    let (now, retention) = (options.clocks.wall, options.reportRetention)
    try repeatWhileMore(.deleteExpiredRows) {
      try ExpiredRowCleanup.chunk(of: $0, at: now, reportRetention: retention, $1)
    }
  }

  private func repeatWhileMore(_ task: MaintenanceTask, _ chunk: (_ rows: Int, WriteTransaction) throws -> Bool) throws {
    let rows = options.cleanupRows
    while !stopped, try writer.performAndWait(task, { try chunk(rows, $0) }) {}
  }

  /// Ends the ticks, and waits for one that is running.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync { connection = nil }
  }
}
