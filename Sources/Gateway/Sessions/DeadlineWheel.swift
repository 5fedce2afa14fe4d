import GroupModel

/// Wakes sessions at instants: one entry per session, moved and removed in constant time, so that what is closed leaves nothing
/// behind. Belongs to one loop.
struct DeadlineWheel {
  /// Milliseconds per slot, as often as the transport ticks.
  private static let slot: Instant = 100

  private var slots: [Instant: [ObjectIdentifier: Session]] = [:]
  private var turned: Instant

  /// How many sessions are to be woken.
  var count: Int { slots.values.reduce(0) { $0 + $1.count } }

  /// An empty wheel.
  init(now: Instant) { turned = now / DeadlineWheel.slot }

  /// The slot of an instant, which is never one that has been turned past.
  private func slot(of instant: Instant) -> Instant { max(turned + 1, (instant + DeadlineWheel.slot - 1) / DeadlineWheel.slot) }

  /// Puts a session where it is woken at an instant or up to a tick later.
  /// - Returns: what `remove` wants to know.
  mutating func insert(_ session: Session, at instant: Instant) -> Instant {
    let slot = slot(of: instant)
    slots[slot, default: [:]][ObjectIdentifier(session)] = session
    return slot
  }

  /// Takes a session out of the slot it was put in.
  mutating func remove(_ session: Session, from slot: Instant) {
    slots[slot]?[ObjectIdentifier(session)] = nil
    if slots[slot]?.isEmpty == true { slots[slot] = nil }
  }

  /// Turns the wheel to an instant.
  /// - Returns: the sessions whose time has come; they are out of the wheel.
  mutating func turn(to now: Instant) -> [Session] {
    let target = now / DeadlineWheel.slot
    guard target > turned else { return [] }
    var due: [Session] = []
    if target - turned <= Instant(slots.count) {
      for slot in (turned + 1)...target { due += (slots.removeValue(forKey: slot) ?? [:]).values }
    } else {
      for slot in slots.keys.filter({ $0 <= target }).sorted() { due += (slots.removeValue(forKey: slot) ?? [:]).values }
    }
    turned = target
    return due
  }
}
