import GroupModel
import WebSocketTransport
import WireProtocol

/// The state that the sessions of one loop share.
///
/// @unchecked Sendable: used on the loop's thread only, by sessions (actors of that loop's
/// executor) and by `Gateway` in callbacks of the transport.
final class LoopContext: @unchecked Sendable {
  let parser = JSONParser()
  var wheel = DeadlineWheel(now: MonotonicClock.now())
  /// The sessions with an open connection, signed in or not.
  var open: [ObjectIdentifier: Session] = [:]
  /// Sign-ins whose token is not yet checked.
  var signIns = SignInQueue()
  /// When the drain ends, on the monotonic clock; nil while the server does not drain.
  var drainEnd: Instant?
}

/// The sessions of one loop by the time of their next deadline: one entry per session, moved and
/// removed in constant time, so that closed sessions leave nothing behind.
struct DeadlineWheel {
  /// Milliseconds per slot, as often as the transport ticks.
  private static let slot: Instant = 100

  private var slots: [Instant: [ObjectIdentifier: Session]] = [:]
  private var position: Instant

  /// How many sessions have a deadline.
  var count: Int { slots.values.reduce(0) { $0 + $1.count } }

  /// An empty wheel.
  init(now: Instant) { position = now / DeadlineWheel.slot }

  /// The slot of an instant, which is never a past one.
  private func slot(of instant: Instant) -> Instant { max(position + 1, (instant + DeadlineWheel.slot - 1) / DeadlineWheel.slot) }

  /// Adds a session, which is due at an instant or up to a tick later.
  /// - Returns: its slot, for `remove`.
  mutating func insert(_ session: Session, at instant: Instant) -> Instant {
    let slot = slot(of: instant)
    slots[slot, default: [:]][ObjectIdentifier(session)] = session
    return slot
  }

  /// Removes a session from the slot that `insert` has returned.
  mutating func remove(_ session: Session, from slot: Instant) {
    slots[slot]?[ObjectIdentifier(session)] = nil
    if slots[slot]?.isEmpty == true { slots[slot] = nil }
  }

  /// Advances to an instant.
  /// - Returns: the sessions that are due, which are removed.
  mutating func advance(to now: Instant) -> [Session] {
    let target = now / DeadlineWheel.slot
    guard target > position else { return [] }
    var due: [Session] = []
    if target - position <= Instant(slots.count) {
      for slot in (position + 1)...target { due += (slots.removeValue(forKey: slot) ?? [:]).values }
    } else {
      for slot in slots.keys.filter({ $0 <= target }).sorted() { due += (slots.removeValue(forKey: slot) ?? [:]).values }
    }
    position = target
    return due
  }
}
