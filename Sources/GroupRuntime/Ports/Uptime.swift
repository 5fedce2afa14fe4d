/// Tells how much time passes, whatever becomes of the wall clock. Tests bring one of their own.
public protocol Uptime: Sendable {
  /// How long it is since an instant that stays the same while the process runs.
  func now() -> Duration
}

/// The time of the system's monotonic clock, which goes on while the machine sleeps.
public struct SystemUptime: Uptime {
  private let start = ContinuousClock.now

  /// A time that begins now.
  public init() {}

  public func now() -> Duration { start.duration(to: .now) }
}
