/// An instant in Unix milliseconds; 0 means none.
public typealias Instant = Int64

/// A length of time in whole seconds.
public typealias Seconds = Int64

/// A point in time on the monotonic clock, which never goes back. Its start has no meaning, and no
/// instant outlives the process.
public struct MonotonicInstant: Comparable, Hashable, Sendable {
  /// After all others: a deadline that never comes.
  public static let distantFuture = MonotonicInstant(nanoseconds: .max)

  /// Since the start of the clock.
  public let nanoseconds: Int64

  /// The instant so many nanoseconds after the start of the clock.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @inlinable public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  // MARK: In 64 bits, for limiters: `Duration` computes in 128

  /// The nanoseconds from an earlier instant to this one.
  @inlinable public func nanoseconds(since earlier: MonotonicInstant) -> Int64 { nanoseconds - earlier.nanoseconds }

  /// The whole milliseconds from an earlier instant to this one.
  @inlinable public func milliseconds(since earlier: MonotonicInstant) -> Int64 {
    nanoseconds(since: earlier) / 1_000_000
  }

  /// The instant so many milliseconds later; `distantFuture` beyond 292 years.
  @inlinable public func advanced(byMilliseconds milliseconds: Int64) -> MonotonicInstant {
    let (length, isTooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, isTooLate) = nanoseconds.addingReportingOverflow(length)
    return isTooLong || isTooLate ? .distantFuture : MonotonicInstant(nanoseconds: sum)
  }

  // MARK: By `Duration`

  /// The length of time between two instants.
  public static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
    .nanoseconds(later.nanoseconds - earlier.nanoseconds)
  }

  /// The instant a length of time later, in whole nanoseconds; `distantFuture` beyond 285 years.
  public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
    guard duration < .seconds(9_000_000_000) else { return .distantFuture }
    let (seconds, attoseconds) = duration.components
    let length = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let (sum, isTooLate) = instant.nanoseconds.addingReportingOverflow(length)
    return isTooLate ? .distantFuture : MonotonicInstant(nanoseconds: sum)
  }
}
