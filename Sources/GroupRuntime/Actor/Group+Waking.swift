import GroupModel

/// What is due by itself.
extension Group {
  /// How long a group begins nothing by itself after the store has failed, in milliseconds.
  static let restAfterFailure: Instant = 1000

  var isResting: Bool { rest.contains(services.clock.now()) }

  /// - Parameter due: when the state wants to be woken; nil = nothing is to come by itself.
  func setAlarm(for due: Instant?) {
    guard let due else { return }
    let instant = due < rest.upperBound && isResting ? rest.upperBound : due
    guard instant < alarm ?? .max else { return }
    alarm = instant
    guard alarmsSet.insert(instant).inserted else { return }
    services.alarms.ring(at: instant, on: executor) { [weak self] in
      self?.assumeIsolated { $0.wake(instant) }
    }
  }

  /// - Parameter instant: the alarm that rings; an earlier one has been set since where it is not the one waited for.
  func wake(_ instant: Instant) {
    alarmsSet.remove(instant)
    guard instant == alarm else { return }
    alarm = nil
    wakeState()
  }

  /// Lets happen what is due, unless the store has just failed.
  func wakeState() {
    guard !isResting else {
      setAlarm(for: withState { $0.nextWake } ?? nil)
      return
    }
    let decision = change { state, now, users in state.wake(at: now, usersSignedIn: users) }
    if let decision, !decision.isEmpty { carryOut(decision) { _ in } }
  }

  /// A user who signs in after having been away too long has left the room meanwhile, though nobody has noticed.
  func endGrace(of user: UserID, awaySince: Instant) {
    guard services.clock.now() - awaySince > services.rules.limits.offlineGrace else { return }
    let decision = change { state, now, _ in state.removeAfterGrace(user, at: now) }
    if let decision, !decision.changes.isEmpty { carryOut(decision) { _ in } }
  }
}
