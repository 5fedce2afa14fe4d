import GroupModel

/// When a request that failed is tried again: after 1 s, 2 s, 4 s … 5 min, the last time when its
/// retention ends. Without jitter: the client's connections bound how many come at once.
public struct RetrySchedule: Sendable, Equatable {
  /// The step after a failed attempt.
  public enum Decision: Sendable, Equatable {
    /// An attempt at that time.
    case retry(at: WallInstant)
    /// It is a dead letter.
    case giveUp
  }

  private let retention: Int64

  private static let firstDelay: Int64 = 1000
  private static let longestDelay: Int64 = 300_000

  /// - Parameter retention: how long after it was made a request is tried.
  public init(retention: Duration) { self.retention = retention.wholeMilliseconds }

  /// - Parameters:
  ///   - attempts: how many have failed, at least one.
  ///   - creation: when the request was made.
  ///   - now: when the last attempt failed. A clock set back counts as no time.
  public func decision(afterAttempts attempts: Int, of creation: WallInstant, now: WallInstant) -> Decision {
    let remaining = retention - max(0, now.milliseconds(since: creation))
    guard remaining > 0 else { return .giveUp }
    return .retry(at: now.advanced(byMilliseconds: min(RetrySchedule.delay(afterAttempts: attempts), remaining)))
  }

  /// In milliseconds.
  private static func delay(afterAttempts attempts: Int) -> Int64 {
    // The longest delay is reached long before the shift overflows.
    min(firstDelay << min(max(attempts, 1) - 1, 20), longestDelay)
  }
}
