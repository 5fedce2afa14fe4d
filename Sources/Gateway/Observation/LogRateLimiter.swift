import Synchronization

/// Limits log lines that clients can cause to five a second.
public final class LogRateLimiter: Sendable {
  private static let perSecond = 5

  private struct Second {
    var begun: ContinuousClock.Instant
    var written = 0
    var dropped = 0
  }

  private let second = Mutex(Second(begun: .now))

  /// No line has been written yet.
  public init() {}

  /// Counts a line.
  /// - Returns: nil = drop the line; else how many lines were dropped before it.
  public func acquire(at now: ContinuousClock.Instant) -> Int? {
    second.withLock { second in
      if now - second.begun >= .seconds(1) {
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
