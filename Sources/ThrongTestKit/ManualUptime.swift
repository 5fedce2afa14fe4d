import GroupRuntime
import Synchronization

/// A monotonic clock that tests move.
public final class ManualUptime: Uptime, Sendable {
  private let uptime = Mutex(Duration.zero)

  /// A time that begins now.
  public init() {}

  /// How much has passed.
  public func now() -> Duration { uptime.withLock { $0 } }

  /// Lets time pass.
  public func advance(by duration: Duration) { uptime.withLock { $0 += duration } }
}
