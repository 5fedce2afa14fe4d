import GroupModel
import WireProtocol

/// Raising the group's stamp, and telling it with the events (Cluster.md, "Stamps").
extension Group {
  // MARK: Beginning

  /// The group was loaded.
  func beginStamps(in box: StateBox) {
    guard services.keepsStamps else { return }
    guard box.type.isStamped else { return told.end() }
    let (isPending, lost) = (isBoardPending(in: box), lostAnnouncements.map(\.changeSeq))
    told.begin(&box.state, isBoardPending: isPending, lostChanges: lost)
  }

  /// The group was made. Another of the same groupID may have been disbanded a moment ago.
  func beginStamps(ofNew box: StateBox) {
    guard services.keepsStamps else { return }
    if box.type.isStamped { told.begin(new: &box.state) } else { told.end() }
  }

  /// The event of a change that was lost with a state is made again, or cannot be.
  func didAnnounceLostChange(of beginning: Int) {
    told.didMakeLostChange(of: beginning)
    guard told.known != nil, box != nil else { return }
    // Those that wait were made before.
    submit(Decision()) { _ in }
  }

  /// Holds commits until the nodes of the members who are signed in know the group's stamp.
  func waitForFollowers(in box: StateBox) {
    guard services.keepsStamps, box.type.isStamped, let topic else { return }
    let number = followGate.close()
    topic.whenFollowed { [weak self] in
      guard let self else { return }
      self.executor.perform { self.assumeIsolated { $0.openGate(number) } }
    }
    guard followGate.isClosed else { return }
    services.alarms.schedule(at: services.clocks.monotonic + FollowGate.maxWait, on: executor) { [weak self] in
      self?.assumeIsolated { $0.openGate(number) }
    }
  }

  private func openGate(_ number: Int) {
    for commit in followGate.open(number) { services.groups.commit(commit) }
  }

  // MARK: Decisions

  /// Raises the stamp by a decision, before its changes go to the store.
  func stamp(_ decision: inout Decision) {
    guard let box, box.type.isStamped, !decision.disbands else { return }
    let visibility = decision.visibility { users, session in topic?.hears(users, except: session) ?? true }
    if let change = told.raise(visibility, in: &box.state) { decision.changes.append(change) }
    if let noted = decision.notedChange {
      decision.changes.append(.putChangeOrigin(noted.origin, seq: noted.seq, changeSeq: noted.changeSeq, in: id))
    }
    decision.stamp = told.note(visibility, of: &box.state)
  }

  /// The changes of a write of counters, with the stamp that they raise.
  func stamped(_ changes: [StoreChange], in box: StateBox) -> [StoreChange] {
    guard services.keepsStamps, box.type.isStamped else { return changes }
    let visibility = changes.reduce(into: DecisionVisibility()) { $0.formUnion($1.visibility) }
    return told.raise(visibility, in: &box.state).map { changes + [$0] } ?? changes
  }

  // MARK: Telling

  /// Performs the effects of a decision, and tells how far it leads.
  /// - Parameter isInOrder: all decisions before it are delivered.
  func tell(_ decision: inout Decision, isInOrder: Bool) {
    let before = told.known
    let stamp = isInOrder ? decision.stamp : nil
    if let stamp { told.didDeliver(stamp) }
    // Most decisions answer a question.
    if decision.effects.isEmpty, told.known == before, stamp?.isOnBoard != true { return performEffects(of: &decision) }
    tell { performEffects(of: &decision) }
  }

  /// Performs what belongs together for those who follow the group. Where it opens no topic, nothing is
  /// told.
  func tell(_ body: () -> Void) {
    guard services.keepsStamps, !isTelling else { return body() }
    let before = topic
    beginTelling()
    body()
    endTelling(begunBy: before)
  }

  /// Begins to tell what belongs together, also over several turns.
  func beginTelling() {
    guard services.keepsStamps else { return }
    isTelling = true
    topic?.beginTelling()
  }

  /// All of it was told; nothing where nothing was begun.
  /// - Parameter earlier: the topic that there was at the beginning.
  func endTelling(begunBy earlier: (any GroupTopic)? = nil) {
    guard isTelling else { return }
    isTelling = false
    // Its last events wait for the end of the call, too.
    if let earlier, topic !== earlier { earlier.didTell(nil) }
    if let box, box.type.isStamped, !isBoardPending(in: box) { told.didTellBoard(of: &box.state) }
    topic?.didTell(told.known)
  }

  /// Whether members are still to be told of a last state.
  private func isBoardPending(in box: StateBox) -> Bool {
    told.hasUndelivered || box.state.attributes.eventDue != nil || box.state.counters.isToTell || !receiptNotices.isIdle
  }
}
