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
  /// How much of the clock's lead the ends have been corrected by.
  private var correctedLead = Duration.zero
  private var changes: [StoreChange] = []

  var isEmpty: Bool { changes.isEmpty }

  /// How far the clock was set back since the last correction; nil = less than a second, which
  /// daily adjustments of a clock stay below.
  /// - Parameter lead: how far it was set back in all.
  mutating func nextShift(forLead lead: Duration) -> Duration? {
    let shift = lead - correctedLead
    guard shift >= .seconds(1) else { return nil }
    correctedLead = lead
    return shift
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
