import GroupModel

/// The wall clock. Tests bring one of their own.
public protocol WallClock: Sendable {
  /// The current instant.
  func now() -> Instant
}

/// The time that passes, however the wall clock is set. Tests bring one of their own.
public protocol Uptime: Sendable {
  /// The time since an instant that is fixed while the process runs.
  func now() -> Duration
}

/// The system's monotonic clock, which includes time that the machine sleeps.
public struct SystemUptime: Uptime {
  private let start = ContinuousClock.now

  /// A time that starts now.
  public init() {}

  public func now() -> Duration { start.duration(to: .now) }
}

/// Wakes groups at instants of the wall clock.
public protocol Alarms: Sendable {
  /// Runs `body` once on the executor, at the instant or soon after it. It cannot be cancelled.
  func ring(at instant: Instant, on executor: any GroupExecutor, _ body: @escaping @Sendable () -> Void)
}

/// Alarms by tasks that sleep, for a clock that advances as the system's does.
public struct TaskAlarms: Alarms {
  private let clock: any WallClock

  /// - Parameter clock: tells how long to sleep.
  public init(clock: any WallClock) { self.clock = clock }

  public func ring(at instant: Instant, on executor: any GroupExecutor, _ body: @escaping @Sendable () -> Void) {
    let wait = Duration.milliseconds(max(0, instant - clock.now()))
    Task {
      // This task is never cancelled, so the sleep cannot fail.
      try? await Task.sleep(for: wait)
      executor.perform(body)
    }
  }
}
