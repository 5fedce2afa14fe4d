import Dispatch

/// Runs tasks on a queue outside the pool, so that a test may wait for them.
final class QueueTaskExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "throng.tests.reading")

  /// Waits until everything queued so far has run, tasks up to where they wait.
  func drain() { queue.sync {} }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
