import Cluster
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WireProtocol

/// The ports by which a process belongs to a cluster.
public struct ClusterPorts: Sendable {
  public let bus: any Bus
  public let membership: any ClusterMembership
  public let presence: any PresenceStore
  /// Seals whatever goes over the bus.
  public let key: ClusterKey

  /// Ports with everything given.
  public init(bus: any Bus, membership: any ClusterMembership, presence: any PresenceStore, key: ClusterKey) {
    self.bus = bus
    self.membership = membership
    self.presence = presence
    self.key = key
  }
}

/// This process as a node: it performs what other nodes ask, and reacts to links and nodes that come and
/// go (Cluster.md).
public final class ClusterNode: Sendable {
  /// The parts of the node, made before it.
  struct Parts: Sendable {
    let links: ClusterLinkParts
    let users: ClusterUserDirectory
    let topics: RemoteTopics
    let directory: SessionDirectory
    let registry: GroupRegistry
    let absenceTimers: AbsenceTimers
    let budgets: UserBudgets
    let connectionLimiter: ConnectionLimiter
    /// `avChatRoom.offlineGrace`.
    let grace: Duration
    let userStore: any UserStore
    let presenceWebhooks: PresenceWebhooks
    /// Nil = webhooks are off.
    let poster: (any WebhookPoster)?
    let clocks: any Clocks
    let methods: MethodTable
    let observer: StoreObserver
    let logger: Logger
  }

  private enum Change: Sendable {
    case view(ClusterView, ClusterChanges)
    case lost(NodeNumber)
  }

  private struct State {
    var own: NodeNumber?
    /// The bus has refused the node of the view.
    var mustBegin = false
    /// When the node began: links to nodes that do not answer for so long are not waited for.
    var startTime: MonotonicInstant?
    /// Shards whose users the store has to be compared with, once all sessions are known.
    var uncheckedShards: Set<Shard> = []
    var unheard = UnheardNodes()
  }

  /// For how long a node that begins waits for the links of all others.
  private static let linkWait = Duration.seconds(10)

  let parts: Parts
  private let dispatcher: Dispatcher
  private let state = Mutex(State())
  private let changes: AsyncStream<Change>.Continuation
  private let changeStream: AsyncStream<Change>
  private let ready = Mutex<[CheckedContinuation<Void, Never>]>([])
  private let metrics = Mutex<@Sendable () async -> [UInt8]>({ [] })

  init(_ parts: Parts, dispatcher: Dispatcher) {
    self.parts = parts
    self.dispatcher = dispatcher
    (changeStream, changes) = AsyncStream.makeStream()
  }

  /// Joins the links of all nodes, and returns when this one hears them and is heard: then it may serve.
  public func start() async {
    parts.links.links.observer = self
    parts.links.presence.observer = self
    // An answer would have to say whether the request was performed. The client connects again and looks.
    let directory = parts.directory
    parts.links.router.onLoss { caller in
      guard let user = caller.userID, let key = caller.session else { return }
      directory.sessions(of: user).first { $0.session.key == key }?.session.loseTouch()
    }
    let stream = changeStream
    Task { [weak self] in
      for await change in stream { await self?.handle(change) }
    }
    parts.links.ports.membership.observe(self)
    await withCheckedContinuation { continuation in
      let isReady = ready.withLock { waiting in
        if !parts.users.isReady { waiting.append(continuation) }
        return parts.users.isReady
      }
      if isReady { continuation.resume() }
    }
  }

  /// Ends the links.
  public func stop() {
    changes.finish()
    parts.links.links.stop()
  }

  // MARK: Nodes and shards

  private func handle(_ change: Change) async {
    switch change {
    case .lost(let node): lose(node)
    case .view(let view, let changes):
      if view.ownNode != state.withLock({ $0.own }) { await begin(view) }
      guard let own = state.withLock({ $0.own }) else { return }
      for node in view.nodes.keys where node != own { parts.links.links.add(node) }
      for node in changes.gone { didGo(node) }
      let now = parts.clocks.monotonic
      // Before, no link would be missing: the node would be ready without having heard anybody.
      state.withLock { $0.startTime = $0.startTime ?? now }
      let claimed = changes.moved.filter { parts.links.ports.membership.leads($0, at: now) }
      state.withLock { $0.uncheckedShards.formUnion(claimed) }
      checkPresence()
      if !changes.moved.isEmpty { parts.poster?.searchStore() }
      parts.links.router.retry(at: parts.clocks.monotonic)
    }
  }

  /// Becomes the node of a view. Where the bus refuses, this is tried again when it is there.
  private func begin(_ view: ClusterView) async {
    guard let own = view.ownNode else { return }
    do throws(BusError) {
      parts.links.presence.start(as: own)
      try await parts.links.links.start(as: own)
      state.withLock { state in
        state.own = own
        state.mustBegin = false
        state.startTime = nil
      }
      // Sign-ins that were under way when an earlier lease was lost: this node does not know them.
      for session in parts.directory.allSessions() { session.loseTouch() }
    } catch {
      state.withLock { $0.mustBegin = true }
      parts.logger.error("the bus cannot be used", metadata: ["error": "\(error)"])
    }
  }

  private func didGo(_ node: NodeNumber) {
    parts.links.links.remove(node) {
      parts.links.requests.didLose(node)
      parts.users.didGo(node)
      parts.users.forgetProfiles()
      dispatcher.observation.didGo(node)
      loseTouch(parts.topics.drop(node))
      notify(parts.links.presence.drop(node))
    }
  }

  /// The lease was lost: other nodes decide for all groups, and events of the time between are missing.
  private func lose(_ node: NodeNumber) {
    guard state.withLock({ $0.own }) == node else { return }
    state.withLock { $0 = State() }
    parts.users.setReady(false)
    parts.links.links.stop {
      parts.links.requests.tick(at: .distantFuture)
      _ = parts.topics.dropAll()
    }
    dispatcher.observation.didLoseLease()
    parts.registry.abandonGroups()
    parts.poster?.searchStore()
    for session in parts.directory.allSessions() { session.loseTouch() }
  }

  /// The bus may be back.
  private func beginAgain() {
    let ports = parts.links.ports
    let isDue = state.withLock { state in
      guard state.mustBegin, ports.bus.isConnected else { return false }
      state.mustBegin = false
      return true
    }
    guard isDue else { return }
    let view = ports.membership.view
    changes.yield(.view(view, view.changes(since: .empty)))
  }

  private func notify(_ changes: [ClusterPresence.Change]) {
    for change in changes { parts.users.notify(change.groups, of: change.user) }
  }

  /// Closes the sessions of users who may have missed events (Protocol.md, "Close codes").
  private func loseTouch(_ users: some Collection<UserID>) {
    for user in users {
      for entry in parts.directory.sessions(of: user) { entry.session.loseTouch() }
    }
  }

  private func checkPresence() {
    guard isReady else { return }
    let shards = state.withLock { state in
      defer { state.uncheckedShards = [] }
      return state.uncheckedShards
    }
    if !shards.isEmpty { Task { await correctPresence(of: shards) } }
  }

  /// Brings the store up to date with the presence of users whose shards this node has just got: their
  /// last owner may not have noted the latest changes.
  private func correctPresence(of shards: Set<Shard>) async {
    do throws(StoreError) {
      let stored = Set(try await parts.links.ports.presence.usersOnline().filter { shards.contains(Shard(of: $0)) })
      let online = Set(parts.links.presence.onlineUsers { shards.contains(Shard(of: $0)) })
      for user in online.subtracting(stored) { presenceChanged(user, .unknown, isOnline: true) }
      for user in stored.subtracting(online) { presenceChanged(user, .unknown, isOnline: false) }
      try await startGraces(of: shards)
    } catch {
      parts.observer.storeFailed(error)
    }
  }

  /// Starts the graces of members of live rooms who are offline: their timers may have gone with the last
  /// owner.
  private func startGraces(of shards: Set<Shard>) async throws(StoreError) {
    let now = parts.clocks.wall
    let grace = parts.grace
    let offline = try await parts.links.ports.presence.roomMembersOffline(since: now - grace)
    for (user, since) in offline where shards.contains(Shard(of: user)) && !parts.users.isPresent(user) {
      parts.absenceTimers.start(for: user, since: since, at: parts.clocks.monotonic)
    }
  }

  /// Tells the other nodes of a bad token, which all nodes count.
  func reportBadToken(from address: String) { parts.links.links.sendToAll(.badToken(address: address)) }

  // MARK: Readiness

  /// Whether the node has shards' owners and links, so that it serves (`/readyz`).
  public var isReady: Bool { parts.users.isReady }

  /// Whether the links with all other nodes are open.
  public var hearsAll: Bool { parts.links.links.missingNodes.isEmpty }

  /// The numbers of the nodes with which a link is missing now.
  public var missingNodes: Set<Int64> { Set(parts.links.links.missingNodes.map(\.rawValue)) }

  /// The reason why this node should get no clients: a node whose groups it cannot reach. Nil = there is
  /// none.
  public var obstacle: String? {
    let unheard = state.withLock { $0.unheard.nodes }
    return unheard.isEmpty ? nil : "not heard on the bus: \(names(of: unheard).joined(separator: ", "))"
  }

  private func names(of nodes: [NodeNumber]) -> [String] {
    let view = parts.links.ports.membership.view
    return nodes.map { "\(view.nodes[$0]?.name ?? "a node") (\($0))" }
  }

  /// Looks for nodes that live and are not heard. A node that has told that it cannot reach the bus is a
  /// fault of its own, and leaves.
  private func checkHearing(at now: MonotonicInstant) {
    let membership = parts.links.ports.membership
    let view = membership.view
    let missing = parts.links.links.missingNodes.filter { view.nodes[$0]?.isOnBus == true }
    let signs = Dictionary(uniqueKeysWithValues: missing.map { ($0, membership.signsOfLife(of: $0)) })
    let (isChanged, unheard) = state.withLock { ($0.unheard.note(signs, at: now), $0.unheard.nodes) }
    guard isChanged else { return }
    guard !unheard.isEmpty else { return parts.logger.notice("all nodes are heard on the bus") }
    parts.logger.error(
      "a node renews its lease, and is not heard on the bus: it has another bus.subject, bus.url or cluster.secret, or the servers of NATS do not reach each other",
      metadata: [
        "nodes": .array(names(of: unheard).map { "\($0)" }),
        "unopened": .stringConvertible(linkCounters.refused.values.reduce(0, +)),
      ])
  }

  /// The links with each node, by its number.
  public var links: [(node: Int64, status: LinkStatus)] {
    parts.links.links.statuses.sorted { $0.key < $1.key }.map { ($0.key.rawValue, $0.value) }
  }

  /// Faults of all links since the start.
  public var linkCounters: LinkCounters { parts.links.links.counters }

  /// Signed-in sessions of all nodes.
  public var sessionCount: Int { parts.links.presence.sessionCount }

  /// The nodes that this one does not hear, or whose sessions it does not know, or that do not hear it.
  private var unheardNodes: [NodeNumber] {
    let missing = Set(parts.links.links.missingNodes)
    let view = parts.links.ports.membership.view
    return view.nodes.keys.filter { node in
      node != view.ownNode && (missing.contains(node) || !parts.links.presence.hasHeard(node))
    }.sorted()
  }

  // MARK: Metrics

  /// Sets what this node answers to others that ask for its metrics.
  public func onMetrics(_ body: @escaping @Sendable () async -> [UInt8]) { metrics.withLock { $0 = body } }

  /// The metrics of the other nodes that answer within 2 s, by their numbers.
  public func metricsOfOthers() async -> [(node: Int64, text: [UInt8])] {
    await parts.users.otherNodes.ask("metrics") { _ in .metrics }.compactMap { node, reply in
      if case .reply(.success(.encoded(let text))) = reply { (node.rawValue, text) } else { nil }
    }
  }

  /// The number of this node; nil while it belongs to no cluster.
  public var number: Int64? { parts.links.ports.membership.node?.rawValue }

  private func checkReadiness(at now: MonotonicInstant) {
    guard !parts.users.isReady, let start = state.withLock({ $0.startTime }) else { return }
    let unheard = unheardNodes
    guard unheard.isEmpty || now > start + ClusterNode.linkWait else { return }
    let waiting = ready.withLock { waiting in
      parts.users.setReady(true, without: unheard)
      defer { waiting = [] }
      return waiting
    }
    // The lease may have been lost meanwhile.
    if state.withLock({ $0.startTime }) == nil { parts.users.setReady(false) }
    for continuation in waiting { continuation.resume() }
    checkPresence()
  }
}

extension ClusterNode: ClusterObserver {
  public func didChange(_ view: ClusterView, _ changes: ClusterChanges) { self.changes.yield(.view(view, changes)) }

  public func didLose(_ node: NodeNumber) { changes.yield(.lost(node)) }

  public func willRelease(_ shards: [Shard]) async {
    let released = Set(shards)
    await parts.registry.release { released.contains(Shard(of: $0)) }
    // Notes of users that this node still makes must not come behind those of the next owner.
    await parts.links.ports.presence.flushPresence()
  }
}

extension ClusterNode: PresenceObserver {
  func presenceChanged(_ user: UserID, _ platform: Platform, isOnline: Bool) {
    let now = parts.clocks.wall
    parts.userStore.notePresence(of: user, offlineSince: isOnline ? nil : now)
    parts.presenceWebhooks.note(user, on: platform, isHere: isOnline)
    // A live room that is not in memory notices nothing, wherever its owner is.
    if isOnline {
      parts.absenceTimers.cancel(for: user)
    } else {
      parts.absenceTimers.start(for: user, since: now, at: parts.clocks.monotonic)
    }
  }
}

extension ClusterNode: LinkObserver {
  func didOpenLink(to node: NodeNumber) {
    // Earlier entries may not have come.
    parts.links.requests.didLose(node)
    parts.links.presence.sendSnapshot(to: node)
    dispatcher.observation.didOpenLink(to: node)
    loseTouch(parts.users.didOpenLink(to: node))
  }

  func linkBegan(from node: NodeNumber) {
    parts.users.forgetProfiles()
    parts.links.router.retry(at: parts.clocks.monotonic)
  }

  func didLoseLink(from node: NodeNumber) {
    parts.links.requests.didLose(node)
    loseTouch(parts.topics.drop(node))
  }

  func tick(at now: MonotonicInstant) {
    parts.links.requests.tick(at: now)
    parts.links.router.retry(at: now)
    beginAgain()
    checkReadiness(at: now)
    checkHearing(at: now)
    checkDrain()
  }

  /// Where all nodes drain, each keeps its shards until the last session of all nodes has ended.
  private func checkDrain() {
    let membership = parts.links.ports.membership
    guard sessionCount == 0, membership.view.nodes.values.allSatisfy(\.isDraining) else { return }
    membership.endDrain()
  }

  func didReceive(_ entries: [ClusterEntry], from node: NodeNumber) {
    for entry in entries {
      switch entry {
      case .snapshotBegan, .sessionBegan, .sessionCompleted, .sessionEnded:
        notify(parts.links.presence.didReceive(entry, from: node))
      case .snapshotEnded:
        notify(parts.links.presence.didReceive(entry, from: node))
        parts.users.tellLate(node)
      case .replace(let user, let key):
        parts.directory.sessions(of: user).first { $0.session.key == key }?.session.replace()
      case .attach, .detach, .beginEpoch, .publish, .send, .sendToSession, .close: parts.topics.didReceive(entry, from: node)
      case .missed(let users): loseTouch(users)
      case .webhooksWait: parts.poster?.searchStore()
      case .charged(let user, let requests): parts.budgets.charge(requests, of: user, at: parts.clocks.monotonic)
      case .badToken(let address): _ = parts.connectionLimiter.noteBadToken(from: address, at: parts.clocks.monotonic)
      case .request(let number, let request):
        perform(request) { [links = parts.links.links] reply, mayWait in
          links.send(.reply(number: number, reply), to: node, mayWait: mayWait)
        }
      case .reply(let number, let reply): parts.links.requests.didReceive(reply, to: number, from: node)
      }
    }
  }

  // MARK: Requests of other nodes

  /// A caller whose session is on another node, with this node's budget: the owner of a group decides.
  private func charged(_ caller: Caller) -> Caller {
    guard caller.session != nil, let user = caller.userID else { return caller }
    let budget = parts.budgets.budget(of: user, at: parts.clocks.monotonic)
    return caller.with(fanOut: budget.fanOut, strangers: budget.strangers)
  }

  /// - Parameter reply: is told the reply, and whether it may wait for a frame of many.
  private func perform(_ request: RemoteRequest, _ reply: @escaping @Sendable (RemoteReply, _ mayWait: Bool) -> Void) {
    let answer: @Sendable (RemoteReply) -> Void = { reply($0, false) }
    switch request {
    case .call(let text, let caller, let shard):
      // Before it hears all nodes, a group would not find all sessions of its members.
      guard parts.links.router.leads(shard) else { return answer(.moved) }
      switch text.request(parts.methods) {
      case .success(let request):
        let mayWait = request.mayWait
        dispatcher.dispatchHere(request, by: charged(caller)) { reply(.reply($0), mayWait) }
      case .failure(let error): answer(.reply(.failure(error)))
      }
    case .rows(let rows, let caller):
      Task { answer(.rows(await parts.registry.rows(rows, by: caller, parts.links.router, parts.clocks))) }
    case .presence(let change, let memberships):
      Task {
        await parts.users.attachOwnGroups(change, in: memberships)
        answer(.reply(.empty))
      }
    case .userInfo(let user, let profile, let frame, let except):
      Task {
        await parts.users.showHere(profile, of: user, frame, except: except)
        answer(.reply(.empty))
      }
    case .kick(let user, let message):
      Task { answer(.count(Int64(await parts.directory.kick(user, message: message)))) }
    case .sessions(let user): answer(.sessions(parts.directory.infos(of: user)))
    case .beginTrace(let id, let subject, let duration):
      _ = dispatcher.observation.tracer.begin(subject, id: id, for: duration)
      answer(.reply(.empty))
    case .traceEntries(let id, let position): answer(.traceEntries(dispatcher.observation.tracer.batch(of: id, from: position)))
    case .readTrace(let id, let position, let count):
      Task { answer(.reply(await dispatcher.observation.readHere(id, from: position, count: count))) }
    case .endTrace(let id): answer(.count(dispatcher.observation.endHere(id) ? 1 : 0))
    case .activeGroups: Task { answer(.activeGroups(await dispatcher.observation.busiestHere())) }
    case .administratorActions(let count, let instant):
      answer(.administratorActions(dispatcher.observation.actionsHere(count, through: instant)))
    case .uptime: answer(.count(dispatcher.observation.uptimeHere))
    case .metrics: Task { answer(.reply(.success(.encoded(await metrics.withLock { $0 }())))) }
    }
  }
}
