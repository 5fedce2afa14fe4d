import CTransport
import Dispatch
import Synchronization

/// What waits to run on one loop: jobs of actors, and closures. First in, first out for each thread that adds.
///
/// @unchecked Sendable: `local`, `batch` and `background` are touched only on the loop's thread, or, once that has ended, by the one
/// drain that `remote.draining` lets in.
final class JobQueue: @unchecked Sendable {
  enum Work {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
  }

  private struct Remote {
    var work: [Work] = []
    /// Whether the loop has been told that there is work.
    var armed = false
    /// Whether the loop's thread is gone; work then runs on a queue of Dispatch.
    var ended = false
    var draining = false
  }

  private let remote = Mutex(Remote())
  /// Whether `remote` has work, so that the loop need not lock to see that it has none. Set within the lock.
  private let hasRemoteWork = Atomic(false)
  private var local: [Work] = []
  private var batch: [Work] = []
  /// What may wait, the newest first; each turn takes the oldest. There are few.
  private var background: [@Sendable () -> Void] = []

  /// How many pieces of work run before the sockets get their turn.
  private static let budget = 4096

  func add(_ work: Work, on executor: LoopExecutor) {
    if executor.handle.isCurrent {
      local.append(work)
      return
    }
    let (wake, drain) = remote.withLock { remote in
      remote.work.append(work)
      hasRemoteWork.store(true, ordering: .releasing)
      defer {
        remote.armed = true
        remote.draining = remote.ended
      }
      return (!remote.armed && !remote.ended, remote.ended && !remote.draining)
    }
    if wake { ct_loop_wake(executor.handle.pointer) }
    if drain { DispatchQueue.global().async { self.drainAfterEnd(on: executor) } }
  }

  /// Adds what may wait, on the loop's thread.
  func addInBackground(_ body: @escaping @Sendable () -> Void) { background.insert(body, at: 0) }

  /// Runs what waits, up to the budget, and one thing that may wait longer. Returns whether there is more.
  func drain(on executor: LoopExecutor) -> Bool {
    if hasRemoteWork.load(ordering: .acquiring) {
      remote.withLock { remote in
        remote.armed = false
        take(&remote)
      }
    }
    var ran = 0
    while !local.isEmpty && ran < Self.budget {
      swap(&local, &batch)
      for work in batch { run(work, on: executor) }
      ran += batch.count
      batch.removeAll(keepingCapacity: true)
    }
    if let body = background.popLast() { body() }
    return !local.isEmpty || !background.isEmpty
  }

  /// Runs everything on the loop's thread for the last time; later work goes to Dispatch.
  func end(on executor: LoopExecutor) {
    repeat {
      while drain(on: executor) {}
    } while !finish { $0.ended = true }
  }

  private func drainAfterEnd(on executor: LoopExecutor) {
    ct_loop_adopt_thread(executor.handle.pointer)
    repeat {
      while drain(on: executor) {}
    } while !finish { $0.draining = false }
    ct_loop_adopt_thread(nil)
  }

  /// Changes the state if nothing waits; what waits is moved to the local list otherwise.
  private func finish(_ change: (inout Remote) -> Void) -> Bool {
    remote.withLock { remote in
      take(&remote)
      guard local.isEmpty else { return false }
      change(&remote)
      return true
    }
  }

  private func take(_ remote: inout Remote) {
    hasRemoteWork.store(false, ordering: .relaxed)
    local.append(contentsOf: remote.work)
    remote.work.removeAll(keepingCapacity: remote.work.capacity <= Self.budget)
  }

  private func run(_ work: Work, on executor: LoopExecutor) {
    switch work {
    case .job(let job): job.runSynchronously(on: executor.asUnownedSerialExecutor())
    case .body(let body): body()
    }
  }
}
