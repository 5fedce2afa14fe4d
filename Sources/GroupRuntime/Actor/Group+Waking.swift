import GroupModel

/// What is due by itself.
extension Group {
  func setAlarm() {
    guard case .live(let state) = phase, let instant = state.nextWake, instant < alarm ?? .max else { return }
    alarm = instant
    services.alarms.ring(at: instant, on: executor) { [weak self] in
      self?.assumeIsolated { $0.wake(instant) }
    }
  }

  /// - Parameter instant: the alarm that rings; an earlier one has been set since where it is not the one waited for.
  func wake(_ instant: Instant) {
    guard instant == alarm else { return }
    alarm = nil
    wakeState()
  }

  func wakeState() {
    let decision = change { state, now, users in state.wake(at: now, usersSignedIn: users) }
    if let decision, !(decision.changes.isEmpty && decision.effects.isEmpty) { carryOut(decision) { _ in } }
  }

  /// A user who signs in after having been away too long has left the room meanwhile, though nobody has noticed.
  func endGrace(of user: UserID, awaySince: Instant) {
    guard services.clock.now() - awaySince > services.rules.limits.offlineGrace else { return }
    let decision = change { state, now, _ in state.endGrace(of: user, at: now) }
    if let decision, !decision.changes.isEmpty { carryOut(decision) { _ in } }
  }
}
