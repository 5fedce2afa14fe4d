import Dispatch
import GroupRuntime
import Synchronization

/// Runs groups on a dispatch queue, as a loop does on its thread.
public final class SerialTestExecutor: GroupExecutor {
  private static let mark = DispatchSpecificKey<ObjectIdentifier>()
  private let queue = DispatchQueue(label: "throng.testkit.executor")
  private let background = Mutex(Background())

  private struct Background {
    var isHeld = false
    var bodies: [@Sendable () -> Void] = []
  }

  /// An executor with a queue of its own.
  public init() { queue.setSpecific(key: SerialTestExecutor.mark, value: ObjectIdentifier(self)) }

  /// Runs `body` behind what is queued.
  public func enqueue(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// Runs `body` behind what is queued, or when a test lets it (`holdBackground`).
  public func enqueueInBackground(_ body: @escaping @Sendable () -> Void) {
    let isHeld = background.withLock { background in
      if background.isHeld { background.bodies.append(body) }
      return background.isHeld
    }
    if !isHeld { queue.async(execute: body) }
  }

  /// From now on background work waits for `runBackground`.
  public func holdBackground() { background.withLock { $0.isHeld = true } }

  /// Runs the oldest piece of background work that was held back, and what it queues.
  /// - Returns: false where there is none.
  public func runBackground() -> Bool {
    let body = background.withLock { background -> (@Sendable () -> Void)? in
      background.bodies.isEmpty ? nil : background.bodies.removeFirst()
    }
    guard let body else { return false }
    queue.sync(execute: body)
    drain()
    return true
  }

  /// Waits until everything queued so far has run. Not to be called from the executor itself.
  public func drain() { queue.sync {} }

  /// Queues a job of an actor.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// The executor as actors name it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the caller runs on this executor.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Stops a caller that does not run on this executor.
  public func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

  /// Whether the caller runs on this executor.
  public var isCurrent: Bool { DispatchQueue.getSpecific(key: SerialTestExecutor.mark) == ObjectIdentifier(self) }
}
