import GroupModel
import WireProtocol

/// From a request to a decision, and from there to the store.
extension Group {
  func decide(_ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    lastUse = services.uptime.now()
    let decision = change { state, now, users in
      state.decide(request, by: caller, at: now, usersSignedIn: users)
    }
    guard var decision else { return }
    if case .stored(let answer, _) = decision.answer { decision.answer = .stored(answer, for: caller.requester) }
    carryOut(decision, completion)
    commitCorrections()
  }

  /// Lets the state of a live group decide something.
  func change(_ body: (inout GroupState, Instant, _ usersSignedIn: Int) -> Decision) -> Decision? {
    let now = services.clock.now()
    let isBehind = !pipeline.isEmpty
    var due: Instant?
    let decision = withState { state in
      let usersSignedIn = state.record.type.everyoneIsMember ? services.broker.usersSignedIn : 0
      var decision = body(&state, now, usersSignedIn)
      state.storeCorrections(with: &decision)
      if isBehind || !decision.changes.isEmpty { state.rateLimiter?.hold(decision.deliveries) }
      due = state.nextWakeInPlace()
      return decision
    }
    guard let decision else { return nil }
    if decision.disbands { phase = .absent } else { setAlarm(for: due) }
    return decision
  }

  /// Some requests are decided over a stored message. Whatever happens while it is read is looked at again then.
  func lookUp(_ seq: Int64, by caller: Caller, _ completion: @escaping Completion) {
    lookUps += 1
    Task {
      do throws(StoreError) {
        let found = try await services.messages.messages(of: id, in: seq...seq, newestFirst: false, limit: 1).first
        lookUps -= 1
        take(.request(.revokeFound(seq: seq, message: found), caller, completion))
      } catch {
        lookUps -= 1
        services.observer.storeFailed(error, group: id)
        completion(.error(.temporary))
      }
      forgetRevoked()
    }
  }

  /// What was recalled shows in what is read from now on.
  func forgetRevoked() {
    if lookUps == 0, pipeline.isEmpty { withState { $0.messages.forgetRecalls() } }
  }

  func actWhileAbsent(on work: Work) {
    switch work {
    case .presence(_, let completion): completion()
    case .request(.create(let request, let owner, let facts), let caller, let completion):
      begin(completion) { () throws(WireError) in
        try GroupState.create(
          request, id: id, owner: owner, facts, by: caller, at: services.clock.now(), rules: services.rules)
      }
    case .request(.importGroup(let request, let owner, let facts), _, let completion):
      begin(completion) { () throws(WireError) in
        try GroupState.imported(request, id: id, owner: owner, facts, at: services.clock.now(), rules: services.rules)
      }
    case .request(_, _, let completion): carryOut(Decision(answer: .reply(.error(.noSuchGroup))), completion)
    }
  }

  /// The group comes to be.
  func begin(
    _ completion: @escaping Completion, _ make: () throws(WireError) -> (GroupState, Decision)
  ) {
    do throws(WireError) {
      let (state, decision) = try make()
      if state.record.type.everyoneIsMember { registry?.noteEveryoneIsMember(of: self) }
      phase = .live(Live(state))
      noteFootprint()
      carryOut(decision, completion)
    } catch {
      carryOut(Decision(answer: .reply(.failure(error))), completion)
    }
  }

  /// Makes durable first, acts then; what changes nothing waits for what was decided before it, unless nothing is decided yet.
  func carryOut(_ decision: Decision, _ completion: @escaping Completion) {
    if isOnlyRead, !decision.isEmpty { isOnlyRead = false }
    guard !decision.changes.isEmpty else {
      if pipeline.isEmpty || decision.awaitsLookUp { finish(decision, completion) } else { pipeline.append(decision, completion) }
      return
    }
    commit(decision, completion)
  }

  /// Stores ends that were brought back with the clock and that no decision takes along. A question is answered before it.
  func commitCorrections() {
    guard withState({ $0.corrections.isEmpty }) == false, !isResting else { return }
    var correction = Decision(.empty)
    correction.isCorrection = true
    correction.changes = withState { $0.corrections.popAll() } ?? []
    commit(correction) { _ in }
  }

  private func commit(_ decision: Decision, _ completion: @escaping Completion) {
    pipeline.append(decision, completion)
    if case .live(let live) = phase { footprint.note(live.state.estimatedBytes) }
    let generation = generation
    services.groups.commit(
      Commit(changes: decision.changes, generation: generation) { result in
        self.executor.perform { self.executor.isolated(self) { $0.committed(result, of: generation) } }
      })
  }

  /// Commits of one generation complete in their order, so this one belongs to the first that waits.
  func committed(_ result: Result<Void, StoreError>, of generation: CommitGeneration) {
    guard generation === self.generation else { return }
    switch result {
    case .success:
      if let (decision, completion) = pipeline.popCommitted() { finishLate(decision, completion) }
      finishUnchanging()
      forgetRevoked()
    case .failure(let error):
      if let correction = pipeline.popCorrection() { goOn(without: correction, error) } else { startOver(because: error) }
    }
  }

  /// One at a time: a completion may ask again at once, and that stands behind all that was decided before.
  private func finishUnchanging() {
    while let (decision, completion) = pipeline.popUnchanging() { finishLate(decision, completion) }
  }

  /// The store has refused corrected ends. They are right in memory, and the next decision tries again; questions that waited are answered.
  /// Changes that were decided behind the correction have failed with it.
  private func goOn(without correction: Decision, _ error: StoreError) {
    guard pipeline.changesNothing else {
      finishUnchanging()
      return startOver(because: error)
    }
    services.observer.storeFailed(error, group: id)
    generation = CommitGeneration()
    beginRest()
    withState { $0.corrections.restore(correction.changes) }
    finishUnchanging()
    forgetRevoked()
  }

  private func beginRest() {
    let now = services.clock.now()
    rest = now..<now + Group.restAfterFailure
  }

  /// Memory has run ahead of the disk: nothing decided since counts.
  func startOver(because error: StoreError) {
    services.observer.storeFailed(error, group: id)
    generation = CommitGeneration()
    alarm = nil
    attributesUntold = attributesUntold || withState { $0.attributes.eventDue != nil } == true
    beginRest()
    dropWaiting()
    topic?.close()
    topic = nil
    // First, because a completion may ask again at once, and that waits for the loading.
    load()
    for (_, completion) in pipeline.popAll() { completion(.error(.temporary)) }
  }

  /// "Nothing vanishes silently" (Protocol.md, "Waiting messages"): messages that were answered go with the state, those that wait and
  /// those that were about to leave. What is answered 10002 now was never accepted.
  private func dropWaiting() {
    let undone = pipeline.decisions
    let refused = Set(undone.compactMap(\.offeredMessageID))
    let dropped = undone.flatMap(\.released) + (withState { $0.removeWaiting() } ?? [])
    let now = services.clock.now()
    var dropping = Decision(.empty)
    for waiting in dropped where !refused.contains(waiting.message.msgID) { waiting.drop(at: now, into: &dropping) }
    for effect in dropping.effects { perform(effect) }
    for message in dropping.counts { services.observer.didCount(message) }
  }
}

extension GroupState {
  /// `nextWake` without a copy of the state, which a getter is given of what others could change meanwhile.
  fileprivate mutating func nextWakeInPlace() -> Instant? { nextWake }
}
