import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// What happens about once a second beside the writer: the log is carried into the database, the lock file says that the store lives,
/// and the writer is told the time.
final class Housekeeping: Sendable {
  private let writer: Writer
  // A connection of its own: on the writer's, a checkpoint would hold every commit up.
  private let connection: DatabaseQueue
  private let queue = DispatchQueue(label: "throng.store.housekeeping")
  private let isStopped = Atomic<Bool>(false)
  private let checkpoints = Atomic<Bool>(true)
  private let signsOfLife = Atomic<Bool>(true)
  private let isLost = Atomic<Bool>(false)
  private let lastSweep = Atomic<Instant>(0)
  private let lastSweepUptime = Atomic<Instant>(0)
  private let lock: DatabaseLock
  private let now: @Sendable () -> Instant
  private let uptime: @Sendable () -> Instant
  private let logger: Logger

  /// Between two sweeps, in milliseconds.
  private static let sweepInterval: Instant = 3_600_000
  /// By how much more than time has passed a clock that jumped has gone on, in milliseconds.
  private static let clockJump: Instant = 60_000

  init(writer: Writer, connection: DatabaseQueue, lock: DatabaseLock, options: StoreOptions, logger: Logger) {
    self.writer = writer
    self.connection = connection
    self.lock = lock
    now = options.now
    uptime = options.uptime
    self.logger = logger
  }

  /// The first round: groups that were disbanded before the last end may not be cleared yet.
  func begin() {
    lastSweep.store(now(), ordering: .relaxed)
    lastSweepUptime.store(uptime(), ordering: .relaxed)
    showLife()
    writer.tick([.purge, .sweep])
  }

  /// Begins to tick, until `stop()` or the end of this object.
  func start(every interval: DispatchTimeInterval) {
    queue.asyncAfter(deadline: .now() + interval) { [weak self] in
      guard let self, !self.isStopped.load(ordering: .acquiring) else { return }
      self.tick()
      self.start(every: interval)
    }
  }

  func tick() {
    inspectFiles()
    showLife()
    writer.tick(isSweepDue() ? [.sweep] : [])
    checkpoint()
  }

  // The wall clock may be put right, in both directions. Right after it jumped nothing is swept: if it is wrong now, bans and mutes that
  // have not ended would be gone before it is put right.
  private func isSweepDue() -> Bool {
    let (time, up) = (now(), uptime())
    let (passed, upPassed) = (time - lastSweep.load(ordering: .relaxed), up - lastSweepUptime.load(ordering: .relaxed))
    guard abs(passed) >= Self.sweepInterval else { return false }
    lastSweep.store(time, ordering: .relaxed)
    lastSweepUptime.store(up, ordering: .relaxed)
    return abs(passed - upPassed) < Self.clockJump
  }

  /// Writes down that the store lives, for sessions that do not outlive the process ended then, and how far the log is.
  private func showLife() {
    if lock.touch(at: now(), log: logMark()) {
      signsOfLife.store(true, ordering: .relaxed)
    } else if signsOfLife.exchange(false, ordering: .relaxed) {
      logger.warning("cannot write to the lock file", metadata: ["error": "\(lastSystemError())"])
    }
  }

  private func logMark() -> RunNote.LogMark? {
    let index = try? connection.read { db in
      // A connection that has not read yet has not opened the log.
      try db.execute(sql: "PRAGMA schema_version")
      return try OpenLog(of: db)?.index()
    }
    return index?.end.map { RunNote.LogMark(salt: $0.salt, frames: $0.frames, checkpointed: index?.checkpointed ?? 0) }
  }

  // Whoever removes or replaces files below a server that runs lets a second one in, or takes what is written out of the world.
  private func inspectFiles() {
    switch lock.inspect() {
    case .unchanged: takeBack()
    case .lockFileMadeAgain:
      logger.warning("the lock file was removed or replaced: it was made again")
      takeBack()
    case .lost(let reason):
      if !isLost.exchange(true, ordering: .relaxed) { logger.error("writes are refused", metadata: ["reason": "\(reason)"]) }
      writer.refuse(because: StoreError(.unavailable, reason))
    }
  }

  private func takeBack() {
    guard isLost.exchange(false, ordering: .relaxed) else { return }
    logger.notice("the files of the database are in their places again")
    writer.refuse(because: nil)
  }

  private func checkpoint() {
    do {
      _ = try connection.writeWithoutTransaction { try $0.checkpoint(.passive) }
      checkpoints.store(true, ordering: .relaxed)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The writer does it itself just now.
    } catch {
      if checkpoints.exchange(false, ordering: .relaxed) {
        logger.warning("checkpoint failed", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Ticks no more, waits for a tick under way and closes the connection.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync {}
    do {
      try connection.close()
    } catch {
      logger.warning("closing the checkpoint connection failed", metadata: ["error": "\(error)"])
    }
  }
}
