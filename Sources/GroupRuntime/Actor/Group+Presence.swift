import GroupModel

/// Members' sessions.
extension Group {
  func refreshPresence(of user: UserID) {
    // A pending admission attaches the user when it is delivered.
    guard let option = receiveOption(of: user), !pipeline.willAdmit(user) else { return }
    setOnline(user, openTopic().attach(user, receiving: option))
  }

  /// A member's choice of chat; nil = no member, or one who is about to leave after the grace.
  private func receiveOption(of user: UserID) -> ReceiveOption? {
    guard let box, box.state.isMember(user) else { return nil }
    return box.state.isGraceExceeded(by: user, at: services.clocks.wall) ? nil : box.state.receiveOption(of: user)
  }

  func setOnline(_ user: UserID, _ isOnline: Bool) {
    box?.state.setOnline(user, isOnline, since: services.clocks.wall)
    scheduleWake()
  }

  /// Lets a user leave who signs in after the grace, though no alarm has noticed the end.
  func endGrace(of user: UserID, awaySince: WallInstant) {
    let now = services.clocks.wall
    guard let box, now - awaySince > services.rules.limits.offlineGrace else { return }
    submit(box.state.removeAfterGrace(user, at: now)) { _ in }
  }
}
