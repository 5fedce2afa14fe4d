import GroupModel

/// A clock that ran ahead and was set back: mutes and bans that were decided meanwhile must not
/// last longer than requested.
struct ClockCorrection {
  /// The time by the corrected clock.
  let now: WallInstant
  /// How far the clock was set back; nil = unknown, and the mutes and bans begin now.
  let shift: Duration?

  /// How far to move back what was decided at that instant; zero = it does not lie ahead.
  func lead(of decided: WallInstant) -> Duration { decided > now ? shift ?? (decided - now) : .zero }
}

/// The changes that correct the stored ends of mutes and bans, until a commit holds them. Without
/// them the next loading would begin these mutes and bans once more.
struct ClockCorrections: Sendable {
  /// By how many milliseconds the wall clock was ahead of the monotonic one at most, since the last
  /// correction.
  private var mostAhead: Int64 = .min
  private var changes: [StoreChange] = []

  var isEmpty: Bool { changes.isEmpty }

  /// Notes a reading of the clocks.
  /// - Returns: how far the wall clock was set back since the last correction; nil = less than a
  ///   second, which daily adjustments of a clock stay below.
  mutating func nextShift(at now: ClockReading) -> Duration? {
    let ahead = now.wall.milliseconds - now.monotonic.nanoseconds / 1_000_000
    if ahead >= mostAhead { mostAhead = ahead }
    guard mostAhead - ahead >= 1000 else { return nil }
    defer { mostAhead = ahead }
    return .milliseconds(mostAhead - ahead)
  }

  mutating func append(_ change: StoreChange) { changes.append(change) }

  /// Removes and returns the changes, for one commit.
  mutating func popAll() -> [StoreChange] {
    defer { changes = [] }
    return changes
  }

  /// The commit of these changes has failed.
  mutating func restore(_ failed: [StoreChange]) { changes.insert(contentsOf: failed, at: 0) }
}
