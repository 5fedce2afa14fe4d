import GroupModel

/// Which members have sessions.
extension Group {
  func refreshPresence(of user: UserID) {
    guard case .live(let state) = phase, state.isMember(user) else { return }
    // Somebody whose joining is not durable yet hears nothing before it; the sessions are looked up then.
    guard !pipeline.willAdmit(user) else { return }
    attach(user, to: openTopic())
  }

  func attach(_ user: UserID, to topic: any GroupTopic) {
    guard case .live(let state) = phase else { return }
    setOnline(user, topic.attach(user, receiving: state.receiveOption(of: user)))
  }

  func setOnline(_ user: UserID, _ isOnline: Bool) {
    guard case .live(var state) = phase, state.members[user] != nil else { return }
    phase = .unloaded
    state.setOnline(user, isOnline, since: services.clock.now())
    phase = .live(state)
    setAlarm()
  }
}
