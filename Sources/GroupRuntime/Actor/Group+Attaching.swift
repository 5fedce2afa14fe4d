import GroupModel

/// Attaching the sessions of many users, a few of them in a turn of the executor. Inputs, events and what
/// is due by itself wait until all are attached.
extension Group {
  /// How many users are attached in a turn.
  static let attachedAtOnce = 64

  /// Whether sessions are being attached.
  var isAttaching: Bool {
    if case .attaching = phase { true } else { false }
  }

  /// Attaches users in this turn and in later ones.
  func attach(_ users: [UserID]) { attachNext(beginAttaching(users[...])) }

  /// - Returns: the number by which later turns know that they still belong to it.
  private func beginAttaching(_ users: ArraySlice<UserID>) -> Int {
    attachings += 1
    unattached = users
    return attachings
  }

  /// A group of everybody was made: attaches all who are signed in, those of later turns behind the
  /// effects of its decision.
  func attachSignedInUsers() {
    let users = services.broker.signedInUsers()
    for user in users.prefix(Group.attachedAtOnce) { refreshPresence(of: user) }
    let others = users.dropFirst(Group.attachedAtOnce)
    guard !others.isEmpty, case .loaded(let box) = phase else { return }
    phase = .attaching(box)
    attachLater(beginAttaching(others))
  }

  private func attachNext(_ number: Int) {
    guard isAttaching, number == attachings else { return }
    let next = unattached.prefix(Group.attachedAtOnce)
    unattached = unattached.dropFirst(Group.attachedAtOnce)
    tell { for user in next { refreshPresence(of: user) } }
    if unattached.isEmpty { didAttach(number) } else { attachLater(number) }
  }

  private func attachLater(_ number: Int) {
    executor.enqueueInBackground { self.assumeIsolated { $0.attachNext(number) } }
  }

  private func didAttach(_ number: Int) {
    endTelling()
    if let failure = exchange(&failureOfCommit, with: nil) { return discard(after: failure) }
    guard let topic else { return endAttaching(number) }
    topic.whenTold { self.executor.perform { self.assumeIsolated { $0.endAttaching(number) } } }
  }

  private func endAttaching(_ number: Int) {
    guard case .attaching(let box) = phase, number == attachings else { return }
    phase = .loaded(box)
    waitForFollowers(in: box)
    deliverPending()
    processBacklog()
  }

  /// All are attached, and the state goes: nobody waits until they are told.
  func finishAttaching() {
    guard case .attaching(let box) = phase else { return }
    endTelling()
    phase = .loaded(box)
  }

  /// The group leaves memory: nobody is attached any more.
  func stopAttaching() {
    unattached = []
    failureOfCommit = nil
    guard isTelling else { return }
    isTelling = false
    topic?.didTell(nil)
  }
}

// MARK: Freeing

extension Group {
  /// A state that nobody uses any more. @unchecked Sendable: it is only freed.
  private struct Remains: @unchecked Sendable {
    let box: StateBox
  }

  /// The least members of a state that is freed off the executor: to free 100,000 keeps a loop for longer than
  /// a turn may last.
  static let freedAtOnce = 1000

  /// Forgets the state.
  /// - Parameter next: the phase that follows.
  func leaveState(for next: Phase) {
    let left = box
    phase = next
    guard let left, left.state.roster.count > Group.freedAtOnce else { return }
    let remains = Remains(box: left)
    // Behind this turn, which may use it to its end.
    executor.enqueueInBackground { Task.detached { _ = remains } }
  }
}
