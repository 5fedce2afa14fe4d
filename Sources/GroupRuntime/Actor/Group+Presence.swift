import GroupModel

/// Which members have sessions.
extension Group {
  func refreshPresence(of user: UserID) {
    // Somebody whose joining is not durable yet hears nothing before it; the sessions are looked up then.
    guard let option = wish(of: user), !pipeline.willAdmit(user) else { return }
    setOnline(user, openTopic().attach(user, receiving: option))
  }

  /// Which chat a member wants; nil = no member, or one whose grace has ended and who is about to leave.
  private func wish(of user: UserID) -> ReceiveOption? {
    let now = services.clock.now()
    return withState { $0.isMember(user) && !$0.isGraceExceeded(by: user, at: now) ? $0.receiveOption(of: user) : nil } ?? nil
  }

  func setOnline(_ user: UserID, _ isOnline: Bool) {
    let now = services.clock.now()
    let due = withState { state in
      state.setOnline(user, isOnline, since: now)
      return state.nextWake
    }
    setAlarm(for: due ?? nil)
  }

  /// Changes the state of a live group in its place.
  /// - Returns: nil where the group is not live.
  @discardableResult
  func withState<Result>(_ body: (inout GroupState) -> Result) -> Result? {
    guard case .live(let live) = phase else { return nil }
    return body(&live.state)
  }
}
