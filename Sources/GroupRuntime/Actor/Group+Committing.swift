import GroupModel
import WireProtocol

/// The way of a decision through the store.
extension Group {
  /// Commits a decision's changes, and delivers it behind all decisions before it.
  /// - Parameter caller: of its request; nil = it has none.
  func submit(_ decision: consuming Decision, _ completion: @escaping Completion, by caller: Caller? = nil) {
    if isOnlyRead, !decision.isEmpty { isOnlyRead = false }
    if services.keepsStamps { stamp(&decision) }
    let missing = showProfiles(in: &decision)
    if decision.changes.isEmpty, missing.isEmpty, pipeline.isEmpty || decision.passesPipeline {
      scheduleWake()
      return deliver(decision, completion, isInOrder: pipeline.isEmpty)
    }
    let box = box
    box?.state.storeCorrections(with: &decision)
    let (changes, disbands, changesMessages) = (decision.changes, decision.disbands, decision.changesMessages)
    let number = pipeline.append(decision, from: box, awaitsProfiles: !missing.isEmpty, completion)
    if changesMessages { box?.state.messages.recentChanges.noteCommit(number) }
    if !missing.isEmpty { readProfiles(of: missing, for: number) }
    if disbands {
      commitCounters(isLast: true)
      leaveState(for: .absent)
    } else {
      scheduleWake()
    }
    if !changes.isEmpty { commit(changes, by: caller) }
  }

  private func commit(_ changes: [StoreChange], by caller: Caller? = nil) {
    if let box { footprint.note(box.state.estimatedBytes()) }
    if let trace = caller?.trace, trace.isSampled, let spans = services.spans {
      return commit(changes, causedBy: trace, spans)
    }
    let generation = generation
    pass(Commit(changes: changes, generation: generation) { self.didAnswer($0, to: generation) })
  }

  /// Gives a commit to the store, unless it waits for those who follow the group.
  func pass(_ commit: consuming Commit) {
    // Nothing of it is looked at where no node follows.
    guard services.keepsStamps else { return services.groups.commit(commit) }
    if let commit = followGate.pass(commit) { services.groups.commit(commit) }
  }

  /// The same in a trace.
  private func commit(_ changes: [StoreChange], causedBy trace: TraceContext, _ spans: any SpanRecorder) {
    let (generation, count, clocks) = (generation, changes.count, services.clocks)
    let start = clocks.monotonic
    pass(
      Commit(changes: changes, generation: generation) { answer in
        let isStored = if case .success = answer { true } else { false }
        spans.record(
          Span(
            .commit(group: self.id, changes: count, isStored: isStored), causedBy: trace, from: start, to: clocks.monotonic))
        self.didAnswer(answer, to: generation)
      })
  }

  /// Commits of one generation complete in their order, so this is the pipeline's oldest.
  func didCommit(_ answer: Commit.Answer, of generation: CommitGeneration) {
    // What is behind a commit that has failed has failed, too.
    guard generation === self.generation, failureOfCommit == nil else { return }
    switch answer {
    case .success(let stored):
      pipeline.didCommit(stored)
      deliverPending()
      forgetChanges()
    case .failure(let error):
      // Durable decisions are delivered, though their profiles are not there yet.
      if pipeline.stopAwaitingProfiles() { deliverPending() }
      // While users are attached, durable decisions may wait before the one that has failed.
      if !isAttaching, counterCommits.noneInFlight, pipeline.returnFailedCorrections(to: box) {
        beginBackoff(after: error)
        deliverPending()
        forgetChanges()
      } else {
        discard(after: error)
      }
    }
  }

  /// Discards everything that depends on a failed commit.
  func discard(after error: StoreError) {
    // Durable decisions are delivered, though their profiles are not there yet, and those that
    // depend on no commit. Commits that their completions begin are discarded below.
    _ = pipeline.stopAwaitingProfiles()
    repeat {
      // Those who get them may be very many: they go on being attached a few in a turn.
      if isAttaching, !unattached.isEmpty { return failureOfCommit = failureOfCommit ?? error }
      finishAttaching()
      deliverPending()
    } while isAttaching
    reload(after: error)
  }

  func deliverPending() {
    // A decision may begin to attach users, who get the events of later ones.
    while !isAttaching, var pending = pipeline.popDeliverable(from: box, at: services.clocks) {
      if pending.movesNextWake { scheduleWake() }
      // Moved out: to perform the effects of a second decision would copy them.
      deliver(exchange(&pending.decision, with: Decision()), pending.completion)
    }
  }

  // MARK: Profiles

  /// Gives the events of a decision the profiles in memory.
  /// - Returns: the users whose profiles are to be read.
  private func showProfiles(in decision: inout Decision) -> [UserID] {
    guard decision.showsMembers, !decision.effects.isEmpty else { return [] }
    let users = decision.shownUsers
    if users.isEmpty { return [] }
    let (found, missing) = services.profiles.lookUp(users)
    decision.show(found)
    return missing
  }

  /// Reads profiles beside the commit; the events wait for both. Its task stays out of the way of decisions.
  @inline(never)
  private func readProfiles(of users: [UserID], for entry: Int) {
    Task {
      // For the server: the events are due also when the session behind them has ended.
      let read = await Requester.$current.withValue(nil) { await readProfiles(of: users) }
      pipeline.show(read, in: entry)
      deliverPending()
      forgetChanges()
    }
  }

  /// None where the store has failed: an event without profiles is better than none.
  private nonisolated func readProfiles(of users: [UserID]) async -> [UserID: UserProfile] {
    do throws(StoreError) {
      return try await services.profiles.profiles(of: users)
    } catch {
      services.observer.storeFailed(error, group: id)
      return [:]
    }
  }

  /// Commits corrected ends of mutes and bans that no decision has taken along. The request that
  /// has found them was answered before: it does not depend on them.
  func commitCorrections() {
    guard let box, !box.state.corrections.isEmpty, !isBackingOff else { return }
    let changes = box.state.corrections.popAll()
    pipeline.append(corrections: changes)
    commit(changes)
  }

  // MARK: Failures

  /// How long a group starts no commit by itself after the store has failed: a commit that is
  /// due would fail again, at once and without end.
  static let backoffTime = Duration.seconds(1)

  var isBackingOff: Bool { services.clocks.monotonic < backoffEnd }

  private func beginBackoff(after error: StoreError) {
    services.observer.storeFailed(error, group: id)
    generation = CommitGeneration()
    backoffEnd = services.clocks.monotonic + Group.backoffTime
  }

  /// Discards the state, which is ahead of the disk, and all decisions since; loads the group
  /// again.
  private func reload(after error: StoreError) {
    beginBackoff(after: error)
    alarm = nil
    mustRepublishAttributes = mustRepublishAttributes || box?.state.attributes.eventDue != nil
    interruptCounters()
    if let box, box.type.mergesMemberInfo {
      interruptedMemberNotices = MemberInfoNotices(lost: pipeline.memberNotices, waiting: box.state.memberNotices)
    }
    let unwritten = counterCommits.discard()
    lostAnnouncements += pipeline.announcements + (box?.state.announcements.all ?? [])
    var discarded = pipeline.discard(with: box, at: services.clocks.wall)
    keepSlowMode(without: discarded.unsent)
    followGate.drop()
    tell { performEffects(of: &discarded.drops) }
    topic?.close()
    topic = nil
    // Loading starts first, so that inputs from completions wait for it.
    load(for: nil)
    for completion in discarded.completions + unwritten.inFlight + unwritten.waiting { completion(.error(.temporary)) }
  }
}
