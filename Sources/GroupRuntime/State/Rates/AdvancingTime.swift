import GroupModel

/// The time of a group's rates, waits and memories while it is loaded: the wall clock's, but it
/// continues from the last reading where the clock is set back. Time between that reading and the
/// setting back is not counted, so a wait may grow by it; none is cut short.
struct AdvancingTime: Sendable {
  /// The last reading of the clock.
  private var clock: WallInstant
  /// The sum of the times by which the clock was set back, in milliseconds.
  private(set) var lead: Int64 = 0

  /// A time that equals the clock.
  init(at now: WallInstant) { clock = now }

  /// The time at a reading of the clock, without noting the reading.
  func time(at now: WallInstant) -> WallInstant { max(now, clock).advanced(byMilliseconds: lead) }

  /// Notes a reading of the clock.
  /// - Returns: the time.
  mutating func advance(to now: WallInstant) -> WallInstant {
    lead += max(0, clock.milliseconds(since: now))
    clock = now
    return now.advanced(byMilliseconds: lead)
  }

  /// The reading of the clock at a time to come, unless the clock is set before.
  func clock(at time: WallInstant) -> WallInstant { time.advanced(byMilliseconds: -lead) }
}
