import CTransport

/// Runs the jobs of actors on one event loop's thread, in order.
///
/// An actor that returns this from `unownedExecutor` may be entered by `assumeIsolated` in every callback of the
/// transport on that loop, and is awaited from the same loop without a change of thread.
public final class LoopExecutor: SerialExecutor {
  let handle: LoopHandle
  let queue: JobQueue

  init(handle: LoopHandle, queue: JobQueue) {
    self.handle = handle
    self.queue = queue
  }

  /// Queues a job; any thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    queue.add(.job(UnownedJob(job)), on: self)
  }

  /// The executor as actors know it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  /// Whether the caller is on the loop's thread; this is what makes `assumeIsolated` work outside a task.
  public func isIsolatingCurrentContext() -> Bool? { handle.isCurrent }

  /// Traps when the caller is not on the loop's thread.
  public func checkIsolated() {
    precondition(handle.isCurrent, "not on the thread of this event loop")
  }
}
