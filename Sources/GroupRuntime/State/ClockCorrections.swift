import GroupModel

/// A clock that ran ahead and was set back: mutes and bans that were decided meanwhile must not
/// last longer than requested.
struct ClockCorrection {
  /// The time by the corrected clock.
  let now: Instant
  /// How far the clock was set back; nil = unknown, and the mutes and bans begin now.
  let shift: Instant?

  /// How far to move back what was decided at that instant; 0 = it does not lie ahead.
  func lead(of decided: Instant) -> Instant { decided > now ? shift ?? (decided - now) : 0 }
}

/// The changes that correct the stored ends of mutes and bans, until a commit holds them. Without
/// them the next loading would begin these mutes and bans once more.
struct ClockCorrections: Sendable {
  /// How much of the clock's lead the ends have been corrected by.
  private var correctedLead: Instant = 0
  private var changes: [StoreChange] = []

  var isEmpty: Bool { changes.isEmpty }

  /// How far the clock was set back since the last correction; nil = less than a second, which
  /// daily adjustments of a clock stay below.
  /// - Parameter lead: how far it was set back in all.
  mutating func nextShift(forLead lead: Instant) -> Instant? {
    let shift = lead - correctedLead
    guard shift >= 1000 else { return nil }
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
