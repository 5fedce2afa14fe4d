import GroupModel

/// The time by which the rates, waits and memories of a group run while it is in memory: the wall clock's, but where that is set back it goes
/// on from where it was when it was looked at last. So nothing that was noted is ever of a time to come, and instants are noted in their
/// order. What passed between that look and the setting back is not counted: no wait is cut short, and one may grow by that much.
struct AdvancingTime: Sendable {
  /// What the clock showed last.
  private var clock: Instant
  /// By how much the clock has been set back in all.
  private(set) var lead: Instant = 0

  /// A time that is the clock's now.
  init(at now: Instant) { clock = now }

  /// What time it is when the clock shows that.
  func time(at now: Instant) -> Instant { max(now, clock) + lead }

  /// The clock shows that now.
  /// - Returns: what time it is.
  mutating func advance(to now: Instant) -> Instant {
    lead += max(0, clock - now)
    clock = now
    return now + lead
  }

  /// What the clock shows at such a time, unless it is set again before.
  func clock(at time: Instant) -> Instant { time - lead }
}
