import GroupModel
import Synchronization

/// Limits log lines that clients can cause to five a second.
public final class LogRateLimiter: Sendable {
  private static let perSecond = 5

  private struct Second {
    var begun = MonotonicInstant.distantPast
    var written = 0
    var dropped = 0
  }

  private let second = Mutex(Second())

  /// No line has been written yet.
  public init() {}

  /// Counts a line.
  /// - Returns: nil = drop the line; else how many lines were dropped before it.
  public func acquire(at now: MonotonicInstant) -> Int? {
    second.withLock { second in
      if second.begun + .seconds(1) <= now {
        second = Second(begun: now, written: 0, dropped: second.dropped)
      }
      guard second.written < LogRateLimiter.perSecond else {
        second.dropped += 1
        return nil
      }
      second.written += 1
      defer { second.dropped = 0 }
      return second.dropped
    }
  }
}
