import Dispatch
import GRDB
import GroupRuntime
import Synchronization

/// Takes out of the log what a failed COMMIT left there. SQLite writes the frames of a transaction, syncs them and then moves the end of the
/// log: where the sync or the move fails, a whole transaction lies behind the end, which only a restart sees, and takes for committed.
final class FailedCommits: Sendable {
  // Of transactions whose failure nobody was told: what comes back of those harms nobody.
  private let harmless = Mutex<WriteAheadLog.Position?>(nil)
  private let isWaiting = Atomic<Bool>(false)
  private let isEnding = Atomic<Bool>(false)
  private let retry = DispatchSemaphore(value: 0)

  /// Tries once, for a transaction of which nobody awaits the outcome.
  func discard(_ db: Database) {
    let left = try? remainder(db)
    if let left { harmless.withLock { $0 = left } }
  }

  /// Returns when a restart does not find the transaction, or the store is being closed. Tries with each `tryAgain()`.
  /// - Parameter isStuck: called once where the first try fails.
  func discardOrWait(_ db: Database, isStuck: (any Error) -> Void) {
    var isFirst = true
    while let obstacle = obstacle(db) {
      if isFirst { isStuck(obstacle) }
      isFirst = false
      isWaiting.store(true, ordering: .sequentiallyConsistent)
      // Nobody hears an answer of a store that is being closed: the sessions have gone before.
      if isEnding.load(ordering: .sequentiallyConsistent) { return }
      retry.wait()
    }
  }

  /// Wakes whoever waits, once a second.
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

  /// Behind what is still there after a try to take it out; nil = nothing.
  private func remainder(_ db: Database) throws -> WriteAheadLog.Position? {
    try db.rollback()
    // Under the write lock the end of the log stands still, and nobody else writes behind it.
    try db.beginTransaction(.immediate)
    defer { try? db.rollback() }
    guard let log = try OpenLog(of: db), let found = try log.unknownCommits() else { return nil }
    log.cut(at: found.start)
    return try log.unknownCommits()?.end
  }
}
