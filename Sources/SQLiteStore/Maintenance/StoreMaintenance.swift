import Dispatch
import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import Synchronization

/// The work of about every second beside the writer: checkpoints, the time in the lock file, and
/// the tick of the writer.
final class StoreMaintenance: Sendable {
  private let writer: Writer
  // A connection of its own: on the writer's, a checkpoint would hold every commit up.
  private let connection: DatabaseQueue
  private let queue = DispatchQueue(label: "throng.store.maintenance")
  private let isStopped = Atomic<Bool>(false)
  private let canCheckpoint = Atomic<Bool>(true)
  private let canWriteLockFile = Atomic<Bool>(true)
  private let isDatabaseLost = Atomic<Bool>(false)
  /// The log as the last checkpoint has found it.
  private let logMark = Mutex<RunRecord.LogMark?>(nil)
  private let lastDeletion: Mutex<ClockReading>
  private let reclaims = Mutex(Reclaims())
  private let lock: DatabaseLock
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let logger: Logger

  /// Those who wait until what was deleted is out of the files.
  private struct Reclaims {
    var waiting: [@Sendable (Bool) -> Void] = []
    /// The groups that were disbanded before, and are still to be cleared away; nil = not looked yet.
    var disbanded: Set<Int64>?
    var since = MonotonicInstant.distantPast
    var hasTold = false
  }

  /// After so long the log tells that something keeps old bytes in the files.
  private static let reclaimPatience = Duration.seconds(600)

  /// The least difference between the two clocks that counts as a jump.
  private static let clockJump = Duration.seconds(60)

  init(writer: Writer, connection: DatabaseQueue, lock: DatabaseLock, options: StoreOptions, logger: Logger) {
    self.writer = writer
    self.connection = connection
    self.lock = lock
    clocks = options.clocks
    alarms = options.alarms
    lastDeletion = Mutex(options.clocks.now)
    self.logger = logger
  }

  /// Runs the first round: groups that were disbanded before the last end may not be cleared yet.
  func begin() {
    lastDeletion.withLock { $0 = clocks.now }
    writeLockFile()
    writer.tick([.clearDisbandedGroups, .deleteExpiredRows, .clearReactions])
  }

  /// Ticks until `stop()` or the end of this object.
  func start(every interval: Duration) {
    alarms.schedule(at: clocks.monotonic + interval, on: queue) { [weak self] in
      guard let self, !self.isStopped.load(ordering: .acquiring) else { return }
      self.tick()
      self.start(every: interval)
    }
  }

  func tick() {
    inspectFiles()
    writeLockFile()
    writer.tick(isDeletionDue() ? [.deleteExpiredRows] : [])
    checkpoint()
    // After the checkpoint: where nothing else writes, it reaches the end of the log, which starts
    // over then.
    if writer.core.canPersist { writer.begin(writer.background.beginTick(at: clocks.monotonic)) }
    finishReclaims()
  }

  // MARK: Deleted users

  /// Takes free pages out of the file, and old bytes out of the log, while the server goes on.
  /// - Parameter completion: is called on a thread of the store; false = the store was closed before.
  func reclaim(_ completion: @escaping @Sendable (Bool) -> Void) {
    let isClosed = reclaims.withLock { reclaims in
      if isStopped.load(ordering: .acquiring) { return true }
      reclaims.waiting.append(completion)
      (reclaims.disbanded, reclaims.since, reclaims.hasTold) = (nil, clocks.monotonic, false)
      writer.background.beginReclaim()
      return false
    }
    if isClosed { completion(false) }
  }

  /// Ends the waiting where everything has gone that was there when it began.
  private func finishReclaims() {
    let count = reclaims.withLock { $0.waiting.count }
    guard count > 0, writer.core.canPersist else { return }
    do {
      guard try hasClearedGroups(), writer.background.hasReclaimed, try checkpoint(.truncate).walFrameCount == 0 else {
        return tellOfReclaim()
      }
    } catch let fault as DurabilityFault {
      return writer.halt(fault)
    } catch {
      // A reader or the writer is at work; other faults are told by the checkpoint of each tick.
      return tellOfReclaim()
    }
    let done = reclaims.withLock { reclaims in
      let done = Array(reclaims.waiting.prefix(count))
      reclaims.waiting.removeFirst(done.count)
      if reclaims.waiting.isEmpty { writer.background.endReclaim() }
      return done
    }
    for completion in done { completion(true) }
  }

  /// Groups that are disbanded lose their rows in the background.
  private func hasClearedGroups() throws -> Bool {
    let there = Set(try connection.read { try Int64.fetchAll($0, sql: "SELECT number FROM dismissedGroup") })
    return reclaims.withLock { reclaims in
      let left = (reclaims.disbanded ?? there).intersection(there)
      reclaims.disbanded = left
      return left.isEmpty
    }
  }

  private func tellOfReclaim() {
    let isLate = reclaims.withLock { reclaims in
      guard !reclaims.hasTold, clocks.monotonic - reclaims.since >= Self.reclaimPatience else { return false }
      reclaims.hasTold = true
      return true
    }
    if isLate { logger.warning("bytes of a deleted user are still in the files: something has been reading for long") }
  }

  // The wall clock may be corrected, in both directions. Nothing is deleted right after a jump: a
  // wrong clock would delete bans and mutes that have not ended.
  private func isDeletionDue() -> Bool {
    let now = clocks.now
    return lastDeletion.withLock { last in
      let passed = now.wall.milliseconds(since: last.wall)
      guard .milliseconds(abs(passed)) >= ExpiredRows.interval else { return false }
      let jump = passed - now.monotonic.milliseconds(since: last.monotonic)
      last = now
      return .milliseconds(abs(jump)) < Self.clockJump
    }
  }

  /// Notes in the lock file that the store is running, because sessions end with the process, and
  /// how far the log is.
  private func writeLockFile() {
    if lock.touch(at: clocks.wall, log: logMark.withLock { $0 }) {
      canWriteLockFile.store(true, ordering: .relaxed)
    } else if canWriteLockFile.exchange(false, ordering: .relaxed) {
      logger.warning("cannot write to the lock file", metadata: ["error": "\(lastSystemError())"])
    }
  }

  // A removed or replaced file lets a second server in, or loses everything that is written to it.
  private func inspectFiles() {
    switch lock.inspect() {
    case .unchanged: acceptWrites()
    case .lockFileMadeAgain:
      logger.warning("the lock file was removed or replaced: it was made again")
      acceptWrites()
    case .lost(let reason):
      if !isDatabaseLost.exchange(true, ordering: .relaxed) {
        logger.error("writes are refused", metadata: ["reason": "\(reason)"])
      }
      writer.refuse(because: StoreError(.unavailable, reason))
    }
  }

  private func acceptWrites() {
    guard isDatabaseLost.exchange(false, ordering: .relaxed) else { return }
    logger.notice("the files of the database are in their places again")
    writer.refuse(because: nil)
  }

  private func checkpoint() {
    if writer.core.hasHalted { return }
    do {
      let result = try checkpoint(.passive)
      if result.checkpointedFrameCount == result.walFrameCount, writer.background.mayShortenLog { try shortenLog() }
      // Noted at once: until the next round the log may have been lost, or have ended early.
      writeLockFile()
      canCheckpoint.store(true, ordering: .relaxed)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
      // The writer is checkpointing itself.
    } catch let fault as DurabilityFault {
      writer.halt(fault)
    } catch {
      if canCheckpoint.exchange(false, ordering: .relaxed) {
        logger.warning("checkpoint failed", metadata: ["error": "\(error)"])
      }
    }
  }

  /// The log has grown with what was removed. Nothing is left to be copied, so this waits for no
  /// disk; where a reader or the writer is at work, the log stays as long as it is.
  private func shortenLog() throws {
    if try checkpoint(.truncate).walFrameCount == 0 { writer.background.didShortenLog() }
  }

  /// Copies what it can from the log into the database, and takes the log's mark.
  private func checkpoint(_ kind: Database.CheckpointMode) throws -> (walFrameCount: Int, checkpointedFrameCount: Int) {
    let before = WriteAheadLog.salt(of: lock.database.logPath)
    let result = try connection.writeWithoutTransaction { db in
      do {
        return try db.checkpoint(kind)
      } catch {
        if FailedCommit.isOfASync(error) { throw DurabilityFault(.checkpoint, error, in: db) }
        throw error
      }
    }
    // A shortened log has no salt of its own yet: it goes on behind the last one.
    let salt = result.walFrameCount == 0 ? logMark.withLock { $0?.salt } ?? before : before
    let after = WriteAheadLog.salt(of: lock.database.logPath)
    // The log may have started over meanwhile: then nobody can say which one the numbers are of.
    if let salt, after == nil || after == before {
      let mark = RunRecord.LogMark(salt: salt, frames: result.walFrameCount, checkpointed: result.checkpointedFrameCount)
      logMark.withLock { $0 = mark }
    }
    return result
  }

  /// Ends the ticks, waits for one that is running and closes the connection.
  func stop() {
    isStopped.store(true, ordering: .releasing)
    queue.sync {}
    let waiting = reclaims.withLock { exchange(&$0.waiting, with: []) }
    for completion in waiting { completion(false) }
    do {
      try connection.close()
    } catch {
      logger.warning("closing the checkpoint connection failed", metadata: ["error": "\(error)"])
    }
  }
}
