import DequeModule
import GroupModel
import WireProtocol

/// One group at work. It asks `GroupState` what to do, makes that durable, and then does it: nothing is answered, and nobody hears of anything,
/// before it is in the store, and everything leaves in the order in which it was decided.
///
/// The next request is decided while earlier ones are still on their way to the disk, so that many share a transaction. When a commit fails,
/// all that was decided since is answered 10002, the state is thrown away, and the group loads itself again.
public actor Group {
  /// Gets the answer, once, on the group's executor.
  public typealias Completion = @Sendable (Reply) -> Void

  /// What the group is, and what may follow.
  private enum Phase {
    /// Nothing is known yet. → loading
    case unloaded
    /// The store is being asked; requests wait. → live, absent, unloaded (when the store fails)
    case loading(Deque<Work>)
    /// There is such a group. → absent (disbanded), loading (a commit failed), retired
    case live(GroupState)
    /// The store knows no such group. → live (created), retired
    case absent
    /// The registry has forgotten this actor; whoever still holds it is sent to its successor.
    case retired
  }

  /// Something that waits for the group to be loaded.
  private enum Work {
    case request(GroupRequest, Caller, Completion)
    case presence(UserID, @Sendable () -> Void)
  }

  public nonisolated let id: GroupID
  public nonisolated let executor: any GroupExecutor
  private let services: GroupServices
  /// The registry made this actor and lives as long as the process's groups do.
  private unowned let registry: GroupRegistry
  private var phase = Phase.unloaded
  private var pipeline = Pipeline()
  private var lineage = Lineage()
  private var topic: (any GroupTopic)?
  private var lastUse: Instant

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ id: GroupID, executor: any GroupExecutor, services: GroupServices, registry: GroupRegistry) {
    self.id = id
    self.executor = executor
    self.services = services
    self.registry = registry
    lastUse = services.clock.now()
  }

  // MARK: Being asked

  /// Asks the group, from any thread. Requests of one thread are taken in the order of the calls.
  public nonisolated func ask(_ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    executor.perform { self.assumeIsolated { $0.take(.request(request, caller, completion)) } }
  }

  /// Asks the group and waits for the answer.
  public nonisolated func ask(_ request: GroupRequest, by caller: Caller) async -> Reply {
    await withCheckedContinuation { continuation in
      ask(request, by: caller) { continuation.resume(returning: $0) }
    }
  }

  /// Tells the group that sessions of a user came or went. A group that is not loaded looks for itself when it is.
  public nonisolated func presenceChanged(of user: UserID, _ completion: @escaping @Sendable () -> Void = {}) {
    executor.perform { self.assumeIsolated { $0.take(.presence(user, completion)) } }
  }

  private func take(_ work: Work) {
    switch phase {
    case .live: act(on: work)
    case .absent: actWhileAbsent(on: work)
    case .loading(var waiting):
      phase = .unloaded
      waiting.append(work)
      phase = .loading(waiting)
    case .unloaded:
      if case .presence(_, let completion) = work { return completion() }
      load(for: [work])
    case .retired: forward(work)
    }
  }

  private func act(on work: Work) {
    switch work {
    case .request(let request, let caller, let completion): decide(request, by: caller, completion)
    case .presence(let user, let completion):
      refreshPresence(of: user)
      completion()
    }
  }

  private func forward(_ work: Work) {
    let successor = registry.group(id)
    switch work {
    case .request(let request, let caller, let completion): successor.ask(request, by: caller, completion)
    case .presence(let user, let completion): successor.presenceChanged(of: user, completion)
    }
  }

  // MARK: Deciding

  private func decide(_ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    lastUse = services.clock.now()
    guard case .live(var state) = phase else { return }
    // The state has one owner at a time, or each change of it would copy its members.
    phase = .unloaded
    let usersSignedIn = state.record.type.everyoneIsMember ? services.broker.usersSignedIn : 0
    let decision = state.decide(request, by: caller, at: lastUse, usersSignedIn: usersSignedIn)
    phase = decision.disbands ? .absent : .live(state)
    carryOut(decision, completion)
  }

  private func actWhileAbsent(on work: Work) {
    switch work {
    case .presence(_, let completion): completion()
    case .request(.create(let request, let owner, let unknown), let caller, let completion):
      create(request, owner: owner, unknown: unknown, by: caller, completion)
    case .request(_, _, let completion): carryOut(Decision(answer: .reply(.error(.noSuchGroup))), completion)
    }
  }

  private func create(
    _ request: CreateGroup, owner: UserID, unknown: Set<UserID>, by caller: Caller, _ completion: @escaping Completion
  ) {
    do throws(WireError) {
      let (state, decision) = try GroupState.create(
        request, id: id, owner: owner, unknown: unknown, by: caller, at: services.clock.now(), rules: services.rules)
      phase = .live(state)
      carryOut(decision, completion)
      if request.groupType.everyoneIsMember { welcomeEveryone() }
    } catch {
      carryOut(Decision(answer: .reply(.failure(error))), completion)
    }
  }

  /// Makes durable first, acts then; what changes nothing waits for what was decided before it.
  private func carryOut(_ decision: Decision, _ completion: @escaping Completion) {
    guard !decision.changes.isEmpty else {
      if pipeline.isEmpty { finish(decision, completion) } else { pipeline.append(decision, completion) }
      return
    }
    pipeline.append(decision, completion)
    let lineage = lineage
    services.groups.commit(
      Commit(changes: decision.changes, lineage: lineage) { result in
        self.executor.perform { self.assumeIsolated { $0.committed(result, of: lineage) } }
      })
  }

  /// Commits of one lineage complete in their order, so this one belongs to the first that waits.
  private func committed(_ result: Result<Void, StoreError>, of lineage: Lineage) {
    guard lineage === self.lineage else { return }
    switch result {
    case .success:
      if let (decision, completion) = pipeline.popCommitted() { finish(decision, completion) }
      // One at a time: a completion may ask again at once, and that stands behind all that was decided before.
      while let (decision, completion) = pipeline.popUnchanging() { finish(decision, completion) }
    case .failure(let error): startOver(because: error)
    }
  }

  /// Memory has run ahead of the disk: nothing decided since counts.
  private func startOver(because error: StoreError) {
    services.observer.storeFailed(error, group: id)
    lineage = Lineage()
    topic?.close()
    topic = nil
    // First, because a completion may ask again at once, and that waits for the loading.
    load(for: [])
    for (_, completion) in pipeline.popAll() { completion(.error(.temporary)) }
  }

  // MARK: Acting

  private func finish(_ decision: Decision, _ completion: @escaping Completion) {
    for effect in decision.effects { perform(effect) }
    if let message = decision.delivered { services.observer.didDeliver(message) }
    switch decision.answer {
    case .reply(let reply): completion(reply)
    case .history, .sync, .info: read(decision.answer, completion)
    }
    if case .absent = phase, pipeline.isEmpty { retire() }
  }

  private func perform(_ effect: Effect) {
    let topic = openTopic()
    switch effect {
    case .admit(let user): setOnline(user, topic.attach(user))
    case .admitEverybody: for user in services.broker.signedInUsers() { setOnline(user, topic.attach(user)) }
    case .expel(let user): topic.detach(user)
    case .publish(let frame, let kind, let session): topic.publish(frame, kind, except: session)
    case .send(let frame, let users): topic.send(frame, to: users)
    case .disband:
      topic.close()
      self.topic = nil
    }
  }

  private func openTopic() -> any GroupTopic {
    if let topic { return topic }
    let topic = services.broker.openTopic(of: id)
    self.topic = topic
    return topic
  }

  /// Reads what the answer needs; the store is asked outside the order of decisions, which the answer does not touch.
  private func read(_ answer: Answer, _ completion: @escaping Completion) {
    let reader = AnswerReader(
      group: id, messages: services.messages, observer: services.observer, pageBytes: services.rules.limits.pageBytes)
    Task { completion(await reader.reply(to: answer)) }
  }

  // MARK: Presence

  private func refreshPresence(of user: UserID) {
    guard case .live(let state) = phase, state.isMember(user) else { return }
    // Somebody whose joining is not durable yet hears nothing before it; the sessions are looked up then.
    guard !pipeline.willAdmit(user) else { return }
    setOnline(user, openTopic().attach(user))
  }

  private func setOnline(_ user: UserID, _ isOnline: Bool) {
    guard case .live(var state) = phase, state.members[user] != nil else { return }
    phase = .unloaded
    state.setOnline(user, isOnline)
    phase = .live(state)
  }

  // MARK: Coming and going

  private func load(for work: [Work]) {
    phase = .loading(Deque(work))
    Task {
      do throws(StoreError) {
        let since = services.clock.now() - RecentlySent.memory
        loaded(try await services.groups.group(id, sentSince: since))
      } catch {
        loadFailed(error)
      }
    }
  }

  private func loaded(_ stored: StoredGroup?) {
    guard case .loading(let waiting) = phase else { return }
    if let stored {
      phase = .live(GroupState(stored, rules: services.rules))
      attachEverybody(of: stored)
    } else {
      phase = .absent
    }
    for work in waiting { take(work) }
    if case .absent = phase, pipeline.isEmpty { retire() }
  }

  /// A new group that everyone is a member of: those who are signed in already get its events.
  private func welcomeEveryone() {
    registry.noteEveryoneIsMember(of: self)
    for user in services.broker.signedInUsers() { refreshPresence(of: user) }
  }

  private func attachEverybody(of stored: StoredGroup) {
    guard !stored.record.type.everyoneIsMember else { return welcomeEveryone() }
    for member in stored.members { refreshPresence(of: member.userID) }
  }

  private func loadFailed(_ error: StoreError) {
    guard case .loading(let waiting) = phase else { return }
    services.observer.storeFailed(error, group: id)
    phase = .unloaded
    for work in waiting {
      switch work {
      case .request(_, _, let completion): completion(.error(.temporary))
      case .presence(_, let completion): completion()
      }
    }
  }

  /// Gives up the memory of a group that nobody used since an instant. Members who are signed in are attached again when it is loaded.
  func retire(unusedSince limit: Instant) {
    guard lastUse < limit, pipeline.isEmpty else { return }
    switch phase {
    case .live, .absent, .unloaded: retire()
    case .loading, .retired: return
    }
  }

  private func retire() {
    phase = .retired
    registry.forget(self)
    topic?.close()
    topic = nil
  }
}
