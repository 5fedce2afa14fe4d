/// A length of time in whole seconds, where the wire counts seconds.
public typealias Seconds = Int64

extension Duration {
  /// The duration in whole milliseconds, rounded towards zero.
  public var wholeMilliseconds: Int64 {
    components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
  }
}

/// A point in time on the wall clock, which operators and the network may set back and ahead: for
/// everything that clients see or the store keeps.
public struct WallInstant: Comparable, Hashable, Sendable, CustomStringConvertible {
  /// No instant: the end of a mute that there is not, for example. It lies before every instant of
  /// a clock, and is 0 on the wire and on disk. An `Optional` would take twice the memory.
  @inlinable public static var unset: WallInstant { WallInstant(milliseconds: 0) }
  /// Before all others.
  @inlinable public static var distantPast: WallInstant { WallInstant(milliseconds: .min) }
  /// After all others.
  @inlinable public static var distantFuture: WallInstant { WallInstant(milliseconds: .max) }

  /// Since the start of 1970 (UTC), as on the wire and on disk.
  public let milliseconds: Int64

  /// The instant so many milliseconds after the start of 1970 (UTC).
  @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// Whether it is an instant: see `unset`.
  @inlinable public var isSet: Bool { milliseconds > 0 }

  @inlinable public static func == (left: WallInstant, right: WallInstant) -> Bool {
    left.milliseconds == right.milliseconds
  }

  @inlinable public static func < (left: WallInstant, right: WallInstant) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The milliseconds, as on the wire and on disk.
  public var description: String { "\(milliseconds)" }

  // MARK: In 64 bits, for every message: `Duration` computes in 128

  /// The milliseconds from an earlier instant to this one.
  @inlinable public func milliseconds(since earlier: WallInstant) -> Int64 { milliseconds - earlier.milliseconds }

  /// The instant so many milliseconds later.
  @inlinable public func advanced(byMilliseconds length: Int64) -> WallInstant {
    WallInstant(milliseconds: milliseconds + length)
  }

  // MARK: By `Duration`

  /// The length of time between two instants.
  public static func - (later: WallInstant, earlier: WallInstant) -> Duration {
    .milliseconds(later.milliseconds - earlier.milliseconds)
  }

  /// The instant a length of time later, in whole milliseconds.
  public static func + (instant: WallInstant, duration: Duration) -> WallInstant {
    instant.advanced(byMilliseconds: duration.wholeMilliseconds)
  }

  /// The instant a length of time earlier, in whole milliseconds.
  public static func - (instant: WallInstant, duration: Duration) -> WallInstant {
    instant.advanced(byMilliseconds: -duration.wholeMilliseconds)
  }

  /// Moves the instant back.
  public static func -= (instant: inout WallInstant, duration: Duration) { instant = instant - duration }
}

/// A point in time on the monotonic clock, which never goes back. Its start has no meaning, and no
/// instant outlives the process.
public struct MonotonicInstant: Comparable, Hashable, Sendable {
  /// Before all others.
  @inlinable public static var distantPast: MonotonicInstant { MonotonicInstant(nanoseconds: .min) }
  /// After all others: a deadline that never comes.
  @inlinable public static var distantFuture: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

  /// Since the start of the clock.
  public let nanoseconds: Int64

  /// The instant so many nanoseconds after the start of the clock.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  @inlinable public static func == (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds == right.nanoseconds
  }

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
