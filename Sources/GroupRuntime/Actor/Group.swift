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
    case presence(Presence, @Sendable () -> Void)
  }

  /// The sessions of a user have come or gone.
  public struct Presence: Sendable {
    public let user: UserID
    /// Since when the user had been away who comes back with this; nil = was not away, or has gone.
    public let awaySince: Instant?

    /// What has happened to a user.
    public init(of user: UserID, awaySince: Instant? = nil) {
      self.user = user
      self.awaySince = awaySince
    }
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
  /// When the group has asked to be woken; nil = it has not.
  private var alarm: Instant?
  /// How many requests wait for a message to be read.
  private var lookUps = 0

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

  /// Tells the group that sessions of a user came or went. A group that is not loaded looks for itself when it is; it is loaded for a user
  /// who had been away.
  public nonisolated func presenceChanged(_ presence: Presence, _ completion: @escaping @Sendable () -> Void = {}) {
    executor.perform { self.assumeIsolated { $0.take(.presence(presence, completion)) } }
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
      if case .presence(let presence, let completion) = work, presence.awaySince == nil { return completion() }
      load(for: [work])
    case .retired: forward(work)
    }
  }

  private func act(on work: Work) {
    switch work {
    case .request(let request, let caller, let completion): decide(request, by: caller, completion)
    case .presence(let presence, let completion):
      if let since = presence.awaySince { endGrace(of: presence.user, awaySince: since) }
      refreshPresence(of: presence.user)
      completion()
    }
  }

  private func forward(_ work: Work) {
    let successor = registry.group(id)
    switch work {
    case .request(let request, let caller, let completion): successor.ask(request, by: caller, completion)
    case .presence(let presence, let completion): successor.presenceChanged(presence, completion)
    }
  }

  // MARK: Deciding

  private func decide(_ request: GroupRequest, by caller: Caller, _ completion: @escaping Completion) {
    lastUse = services.clock.now()
    let decision = change { state, now, users in
      state.decide(request, by: caller, at: now, usersSignedIn: users)
    }
    guard let decision else { return }
    if case .lookUp(let seq) = decision.answer { return lookUp(seq, by: caller, completion) }
    carryOut(decision, completion)
  }

  /// Lets the state of a live group decide something.
  private func change(_ body: (inout GroupState, Instant, _ usersSignedIn: Int) -> Decision) -> Decision? {
    guard case .live(var state) = phase else { return nil }
    // The state has one owner at a time, or each change of it would copy its members.
    phase = .unloaded
    let usersSignedIn = state.record.type.everyoneIsMember ? services.broker.usersSignedIn : 0
    let decision = body(&state, services.clock.now(), usersSignedIn)
    phase = decision.disbands ? .absent : .live(state)
    setAlarm()
    return decision
  }

  /// Some requests are decided over a stored message. Whatever happens while it is read is looked at again then.
  private func lookUp(_ seq: Int64, by caller: Caller, _ completion: @escaping Completion) {
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
  private func forgetRevoked() {
    guard lookUps == 0, pipeline.isEmpty, case .live(var state) = phase else { return }
    phase = .unloaded
    state.forgetRevoked()
    phase = .live(state)
  }

  // MARK: Being woken

  private func setAlarm() {
    guard case .live(let state) = phase, let instant = state.nextWake, instant < alarm ?? .max else { return }
    alarm = instant
    services.alarms.ring(at: instant, on: executor) { [weak self] in
      self?.assumeIsolated { $0.wake(instant) }
    }
  }

  /// - Parameter instant: the alarm that rings; an earlier one has been set since where it is not the one waited for.
  private func wake(_ instant: Instant) {
    guard instant == alarm else { return }
    alarm = nil
    wakeState()
  }

  private func wakeState() {
    let decision = change { state, now, users in state.wake(at: now, usersSignedIn: users) }
    if let decision, !(decision.changes.isEmpty && decision.effects.isEmpty) { carryOut(decision) { _ in } }
  }

  /// A user who signs in after having been away too long has left the room meanwhile, though nobody has noticed.
  private func endGrace(of user: UserID, awaySince: Instant) {
    guard services.clock.now() - awaySince > services.rules.limits.offlineGrace else { return }
    let decision = change { state, now, _ in state.endGrace(of: user, at: now) }
    if let decision, !decision.changes.isEmpty { carryOut(decision) { _ in } }
  }

  private func actWhileAbsent(on work: Work) {
    switch work {
    case .presence(_, let completion): completion()
    case .request(.create(let request, let owner, let facts), let caller, let completion):
      let isOfEveryone = request.groupType.everyoneIsMember
      begin(isOfEveryone: isOfEveryone, completion) { () throws(WireError) in
        try GroupState.create(
          request, id: id, owner: owner, facts, by: caller, at: services.clock.now(), rules: services.rules)
      }
    case .request(.importGroup(let request, let owner, let facts), _, let completion):
      begin(isOfEveryone: false, completion) { () throws(WireError) in
        try GroupState.imported(request, id: id, owner: owner, facts, at: services.clock.now(), rules: services.rules)
      }
    case .request(_, _, let completion): carryOut(Decision(answer: .reply(.error(.noSuchGroup))), completion)
    }
  }

  /// The group comes to be.
  private func begin(
    isOfEveryone: Bool, _ completion: @escaping Completion, _ make: () throws(WireError) -> (GroupState, Decision)
  ) {
    do throws(WireError) {
      let (state, decision) = try make()
      phase = .live(state)
      carryOut(decision, completion)
      if isOfEveryone { welcomeEveryone() }
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
    alarm = nil
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
    case .history, .sync, .info, .unread, .lookUp: read(decision.answer, completion)
    }
    if case .absent = phase, pipeline.isEmpty { retire() }
  }

  private func perform(_ effect: Effect) {
    let topic = openTopic()
    switch effect {
    case .admit(let user, let option), .receive(let user, let option): setOnline(user, topic.attach(user, receiving: option))
    case .admitEverybody: for user in services.broker.signedInUsers() { attach(user, to: topic) }
    case .expel(let user): topic.detach(user)
    case .publish(let frame, let kind, let session): topic.publish(frame, kind, except: session)
    case .send(let frame, let users, let session): topic.send(frame, to: users, except: session)
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
    attach(user, to: openTopic())
  }

  private func attach(_ user: UserID, to topic: any GroupTopic) {
    guard case .live(let state) = phase else { return }
    setOnline(user, topic.attach(user, receiving: state.receiveOption(of: user)))
  }

  private func setOnline(_ user: UserID, _ isOnline: Bool) {
    guard case .live(var state) = phase, state.members[user] != nil else { return }
    phase = .unloaded
    state.setOnline(user, isOnline, since: services.clock.now())
    phase = .live(state)
    setAlarm()
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
    // Whose grace ended while the group was not in memory has left before anything else happens.
    wakeState()
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
    guard lastUse < limit, pipeline.isEmpty, lookUps == 0 else { return }
    switch phase {
    case .live(let state) where state.nextWake != nil: return
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
