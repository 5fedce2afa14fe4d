import GroupModel
import GroupRuntime

/// The messages that a group keeps (`history.…`; Protocol.md, "Retention").
public struct HistoryLimits: Sendable, Equatable {
  /// How long; nil = for ever.
  public var age: Duration?
  /// How many; nil = all.
  public var count: Int64?

  /// Limits; nil = none.
  public init(age: Duration? = nil, count: Int64? = nil) {
    self.age = age
    self.count = count
  }
}

/// Tells whether the wall clock may be believed where messages would be lost for good. A clock that
/// jumps is believed after an hour, in which the operator may correct it.
struct ClockTrust {
  /// The least jump that counts.
  private static let jump: Int64 = 60_000
  private static let doubt = Duration.seconds(3600)

  /// The wall clock's milliseconds at the start of the monotonic clock.
  private var trusted: Int64
  private var doubtedSince: MonotonicInstant?

  init(_ now: ClockReading) { trusted = ClockTrust.difference(now) }

  private static func difference(_ now: ClockReading) -> Int64 {
    now.wall.milliseconds - now.monotonic.nanoseconds / 1_000_000
  }

  /// Call it at least every few seconds.
  mutating func isTrusted(_ now: ClockReading) -> Bool {
    let difference = ClockTrust.difference(now)
    if abs(difference - trusted) >= ClockTrust.jump {
      let since = doubtedSince ?? now.monotonic
      doubtedSince = since
      guard now.monotonic - since >= ClockTrust.doubt else { return false }
    }
    // A clock that is slowly corrected is followed.
    (trusted, doubtedSince) = (difference, nil)
    return true
  }
}
