import GroupModel

/// Work that is due at an instant, without an input.
extension Group {
  /// Sets the alarm for the instant that the state wants, if any.
  func scheduleWake() {
    guard let box, let due = box.state.currentNextWake() else { return }
    let instant = max(due, backoffEnd)
    guard instant < alarm ?? .distantFuture else { return }
    alarm = instant
    guard pendingAlarms.insert(instant).inserted else { return }
    services.alarms.schedule(at: instant, on: executor) { [weak self] in
      self?.assumeIsolated { $0.alarmRang(at: instant) }
    }
  }

  /// An alarm cannot be cancelled: one that was replaced rings in vain.
  private func alarmRang(at instant: MonotonicInstant) {
    pendingAlarms.remove(instant)
    guard instant == alarm else { return }
    alarm = nil
    runDueWork()
  }

  func runDueWork() {
    // Behind attaching it is run again.
    guard case .loaded(let box) = phase else { return }
    guard !isBackingOff else { return scheduleWake() }
    submit(box.state.wake(at: services.clocks.now, usersSignedIn: usersSignedIn(for: box))) { _ in }
    commitCounters()
    publishCounters()
  }
}
