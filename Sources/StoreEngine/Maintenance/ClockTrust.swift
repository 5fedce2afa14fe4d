import GroupModel

/// Tells whether the wall clock may be believed where messages would be lost for good. A clock that
/// jumps is believed after an hour, in which the operator may correct it.
package struct ClockTrust: Sendable {
  /// The least jump that counts.
  private static let jump: Int64 = 60_000
  private static let doubt = Duration.seconds(3600)

  /// The wall clock's milliseconds at the start of the monotonic clock.
  private var trusted: Int64
  private var doubtedSince: MonotonicInstant?

  /// Believes the clock as it is.
  package init(_ now: ClockReading) { trusted = ClockTrust.difference(now) }

  private static func difference(_ now: ClockReading) -> Int64 {
    now.wall.milliseconds - now.monotonic.nanoseconds / 1_000_000
  }

  /// Whether the clock is believed. Call it at least every few seconds.
  package mutating func isTrusted(_ now: ClockReading) -> Bool {
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
