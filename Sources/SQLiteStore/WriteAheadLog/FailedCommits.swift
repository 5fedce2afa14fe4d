import Dispatch
import GRDB
import GroupRuntime
import Synchronization

/// Removes from the log the frames that a failed COMMIT left there. SQLite writes a transaction's
/// frames, syncs them and then moves the end of the log: where the sync or the move fails, a whole
/// transaction lies behind the end, which a restart takes for committed.
final class FailedCommits: Sendable {
  // The end of transactions whose failure was reported to no caller: those may come back.
  private let harmless = Mutex<WriteAheadLog.Position?>(nil)
  private let isWaiting = Atomic<Bool>(false)
  private let isEnding = Atomic<Bool>(false)
  private let retry = DispatchSemaphore(value: 0)

  /// Tries once, for a transaction whose outcome no caller awaits.
  func discard(_ db: Database) {
    let left = try? remainder(db)
    if let left { harmless.withLock { $0 = left } }
  }

  /// Returns when a restart would not find the transaction, or the store is being closed. Tries
  /// with each `tryAgain()`.
  /// - Parameter isStuck: called once where the first try fails.
  func discardOrWait(_ db: Database, isStuck: (any Error) -> Void) {
    var isFirst = true
    while let obstacle = obstacle(db) {
      if isFirst { isStuck(obstacle) }
      isFirst = false
      isWaiting.store(true, ordering: .sequentiallyConsistent)
      // A store that is being closed has no sessions left to answer.
      if isEnding.load(ordering: .sequentiallyConsistent) { return }
      retry.wait()
    }
  }

  /// Wakes the waiting writer, once a second.
  func tryAgain() {
    if isWaiting.exchange(false, ordering: .sequentiallyConsistent) { retry.signal() }
  }

  /// The store is being closed.
  func end() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    tryAgain()
  }

  private func obstacle(_ db: Database) -> (any Error)? {
    do {
      guard let left = try remainder(db), left != harmless.withLock({ $0 }) else { return nil }
      return StoreError(.unavailable, "the disk refuses to take a failed transaction out of the log")
    } catch {
      return error
    }
  }

  /// The end of the frames that are left after a try to remove them; nil = none are left.
  private func remainder(_ db: Database) throws -> WriteAheadLog.Position? {
    try db.rollback()
    // The write lock keeps others from moving the end of the log and from writing behind it.
    try db.beginTransaction(.immediate)
    defer { try? db.rollback() }
    guard let log = try OpenWriteAheadLog(of: db), let found = try log.unknownCommits() else { return nil }
    log.cut(at: found.start)
    return try log.unknownCommits()?.end
  }
}
