import GroupModel

/// Wakes groups at instants of the wall clock.
public protocol Alarms: Sendable {
  /// Runs `body` once on the executor, at the instant or soon after it. There is no way back: who does not want it any more ignores it.
  func ring(at instant: Instant, on executor: any GroupExecutor, _ body: @escaping @Sendable () -> Void)
}

/// Alarms by the tasks of the process, for a clock that runs as the system's does.
public struct TaskAlarms: Alarms {
  private let clock: any WallClock

  /// Alarms that know from a clock how long it is to an instant.
  public init(clock: any WallClock) { self.clock = clock }

  public func ring(at instant: Instant, on executor: any GroupExecutor, _ body: @escaping @Sendable () -> Void) {
    let wait = Duration.milliseconds(max(0, instant - clock.now()))
    Task {
      // Nobody cancels this task, so the sleep cannot fail.
      try? await Task.sleep(for: wait)
      executor.perform(body)
    }
  }
}
