import CTransport
import Dispatch
import Synchronization

/// Runs jobs of actors, and closures, on one event loop's thread: first in, first out for each
/// thread that adds them.
///
/// An actor that returns this from `unownedExecutor` may be entered by `assumeIsolated` in every
/// callback of the transport on that loop, and is awaited from there without a change of thread.
///
/// @unchecked Sendable: `pointer` never changes, and each C function says which threads may call
/// it. `local`, `batch` and `background` are used only on the loop's thread, or, once that has
/// ended, by the one drain that `remote.isDraining` admits.
public final class LoopExecutor: SerialExecutor, @unchecked Sendable {
  private enum Work {
    case job(UnownedJob)
    case body(@Sendable () -> Void)
  }

  private struct Remote {
    var work: [Work] = []
    /// Whether the loop has been woken for this work.
    var isWoken = false
    /// Whether the loop's thread has ended; work then runs on a queue of Dispatch.
    var hasEnded = false
    var isDraining = false
  }

  /// The C loop. It is freed with this object, when nothing can run on it any more.
  let pointer: OpaquePointer
  private let remote = Mutex(Remote())
  /// Whether `remote` has work: saves the loop the lock when it has none. Set within the lock.
  private let hasRemoteWork = Atomic(false)
  private var local: [Work] = []
  private var batch: [Work] = []
  /// Whether there is local or background work: most turns have none.
  private var hasLocalWork = false
  /// Background work, the newest first; each turn runs the oldest. There are few.
  private var background: [@Sendable () -> Void] = []

  /// The pieces of work of one drain. A turn of the loop drains eight times at most, and a piece takes
  /// less than a microsecond where there are many, such as the subscriptions of a large group.
  static let budget = 1024
  /// The pieces for which a queue keeps its memory.
  private static let keptCapacity = 4096

  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  deinit { ct_loop_destroy(pointer) }

  /// Whether the caller is on this executor's loop.
  public var isCurrent: Bool { ct_loop_is_current(pointer) }

  /// Queues a job; any thread.
  public func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  /// Queues `body`: it runs in a later turn, or later in this one, behind earlier work of the same
  /// thread.
  public func enqueue(_ body: @escaping @Sendable () -> Void) { add(.body(body)) }

  /// Queues background work, on the loop's thread.
  public func enqueueInBackground(_ body: @escaping @Sendable () -> Void) {
    background.insert(body, at: 0)
    hasLocalWork = true
  }

  /// The executor as actors know it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the caller is on the loop's thread; `assumeIsolated` outside a task depends on this.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Traps when the caller is not on the loop's thread.
  public func checkIsolated() { precondition(isCurrent, "not on the thread of this event loop") }

  private func add(_ work: Work) {
    if isCurrent {
      local.append(work)
      hasLocalWork = true
      return
    }
    let (wakes, drains) = remote.withLock { remote in
      remote.work.append(work)
      hasRemoteWork.store(true, ordering: .releasing)
      defer {
        remote.isWoken = true
        remote.isDraining = remote.hasEnded
      }
      return (!remote.isWoken && !remote.hasEnded, remote.hasEnded && !remote.isDraining)
    }
    if wakes { wake() }
    if drains { DispatchQueue.global().async { self.drainAfterEnd() } }
  }

  /// Runs a body, and wakes each loop for which it queues work once, behind it: so a loop finds all of that
  /// in one turn. What other threads queue there meanwhile waits, too: the body must be short.
  public static func joiningWakes(_ body: () -> Void) {
    // Within another one, its wakes are held already.
    guard ct_held_wakes() == nil else { return body() }
    var held: [LoopExecutor] = []
    withUnsafeMutablePointer(to: &held) { list in
      ct_hold_wakes(list)
      body()
      ct_hold_wakes(nil)
    }
    for executor in held { ct_loop_wake(executor.pointer) }
  }

  private func wake() {
    guard let held = ct_held_wakes() else { return ct_loop_wake(pointer) }
    // `joiningWakes` on this thread has it.
    held.assumingMemoryBound(to: [LoopExecutor].self).pointee.append(self)
  }

  /// Runs the queued work, up to the budget, and one piece of background work. Returns whether
  /// there is more.
  func drain() -> Bool {
    if hasRemoteWork.load(ordering: .acquiring) {
      remote.withLock { remote in
        remote.isWoken = false
        moveToLocal(&remote)
      }
    }
    guard hasLocalWork else { return false }
    var count = 0
    while !local.isEmpty && count < Self.budget {
      moveToBatch(atMost: Self.budget - count)
      for work in batch { run(work) }
      count += batch.count
      batch.removeAll(keepingCapacity: true)
    }
    if let body = background.popLast() { body() }
    hasLocalWork = !local.isEmpty || !background.isEmpty
    return hasLocalWork
  }

  /// Runs everything on the loop's thread for the last time; later work goes to Dispatch. From then on
  /// the caller is not on the loop: what it still releases would work beside that.
  func end() {
    repeat {
      while drain() {}
    } while !changeIfIdle { $0.hasEnded = true }
    ct_loop_adopt_thread(nil)
  }

  private func drainAfterEnd() {
    ct_loop_adopt_thread(pointer)
    repeat {
      while drain() {}
    } while !changeIfIdle { $0.isDraining = false }
    ct_loop_adopt_thread(nil)
  }

  /// Changes the state if no work is queued; moves remote work to the local list otherwise.
  private func changeIfIdle(_ change: (inout Remote) -> Void) -> Bool {
    remote.withLock { remote in
      moveToLocal(&remote)
      guard local.isEmpty else { return false }
      change(&remote)
      return true
    }
  }

  /// Moves the oldest local work to the empty batch.
  private func moveToBatch(atMost count: Int) {
    guard local.count > count else { return swap(&local, &batch) }
    batch.append(contentsOf: local[..<count])
    local.removeFirst(count)
  }

  private func moveToLocal(_ remote: inout Remote) {
    hasRemoteWork.store(false, ordering: .relaxed)
    local.append(contentsOf: remote.work)
    hasLocalWork = !local.isEmpty || !background.isEmpty
    remote.work.removeAll(keepingCapacity: remote.work.capacity <= Self.keptCapacity)
  }

  private func run(_ work: Work) {
    switch work {
    case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
    case .body(let body): body()
    }
  }
}
