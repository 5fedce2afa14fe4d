import Cluster
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WebSocketTransport
import WireProtocol

/// The ports by which a process belongs to a cluster.
public struct ClusterPorts: Sendable {
  public let bus: any Bus
  public let membership: any ClusterMembership
  public let presence: any PresenceStore
  /// Seals whatever goes over the bus.
  public let key: ClusterKey
  /// For how long a node is there without a sign of life.
  public let leaseDuration: Duration

  /// Ports with everything given.
  public init(
    bus: any Bus, membership: any ClusterMembership, presence: any PresenceStore, key: ClusterKey, leaseDuration: Duration
  ) {
    self.bus = bus
    self.membership = membership
    self.presence = presence
    self.key = key
    self.leaseDuration = leaseDuration
  }
}

/// This process as a node: it reacts to links, shards and nodes that come and go (Cluster.md). What
/// others tell and ask goes to `ClusterEntryHandler` and `RemoteRequestHandler`.
public final class ClusterNode: Sendable {
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
    /// The last owner of each shard, while nobody has released it.
    var lastOwners: [NodeNumber?] = []

    /// Takes the owners of a view.
    /// - Returns: the shards among those claimed whose last owner was lost, with that.
    mutating func noteOwners(_ view: ClusterView, claimed: [Shard]) -> [Shard: NodeNumber] {
      defer { lastOwners = view.owners.map(\.node) }
      guard !lastOwners.isEmpty else { return [:] }
      var lost: [Shard: NodeNumber] = [:]
      for shard in claimed {
        guard let last = lastOwners[shard.number], last != view.ownNode, view.nodes[last] == nil else { continue }
        lost[shard] = last
      }
      return lost
    }
  }

  /// For how long a node that begins waits for the links of all others.
  private static let linkWait = Duration.seconds(10)
  /// The most entries for which a loop is woken once: to read them takes a small part of a millisecond.
  private static let joinedEntries = 16

  let network: ClusterNetwork
  let users: ClusterUserDirectory
  let topics: FollowedTopics
  private let ownTopics: OwnTopics
  private let follows: FollowAnswerer
  private let additions: RecentAdditions
  private let directory: SessionDirectory
  private let registry: GroupRegistry
  private let observation: Observation
  private let statuses: StatusReader
  private let presence: PresenceKeeper
  private let requestHandler: RemoteRequestHandler
  private let entryHandler: ClusterEntryHandler
  private let hearing: HearingCheck
  /// Nil = webhooks are off.
  private let poster: (any WebhookPoster)?
  private let deletions: UserDeletions
  private let clocks: any Clocks
  private let logger: Logger
  private let state = Mutex(State())
  private let changes: AsyncStream<Change>.Continuation
  private let changeStream: AsyncStream<Change>
  private let ready = Mutex<[CheckedContinuation<Void, Never>]>([])

  /// A node without links; `start` begins them.
  /// - Parameter poster: nil = webhooks are off.
  package init(
    _ network: ClusterNetwork, users: ClusterUserDirectory, topics: FollowedTopics, ownTopics: OwnTopics,
    follows: FollowAnswerer, additions: RecentAdditions, directory: SessionDirectory,
    registry: GroupRegistry, observation: Observation, statuses: StatusReader, presence: PresenceKeeper,
    requestHandler: RemoteRequestHandler, entryHandler: ClusterEntryHandler, poster: (any WebhookPoster)?,
    deletions: UserDeletions, clocks: any Clocks, logger: Logger
  ) {
    self.network = network
    self.users = users
    self.topics = topics
    self.ownTopics = ownTopics
    self.follows = follows
    self.additions = additions
    self.directory = directory
    self.registry = registry
    self.observation = observation
    self.statuses = statuses
    self.presence = presence
    self.requestHandler = requestHandler
    self.entryHandler = entryHandler
    hearing = HearingCheck(network.links, network.ports.membership, logger: logger)
    self.poster = poster
    self.deletions = deletions
    self.clocks = clocks
    self.logger = logger
    (changeStream, changes) = AsyncStream.makeStream()
  }

  /// Joins the links of all nodes, and returns when this one hears them and is heard: then it may serve.
  public func start() async {
    network.links.observer = self
    network.presence.observer = presence
    topics.answers = follows
    // An answer would have to say whether the request was performed. The client connects again and looks.
    network.router.onLoss { [directory] caller in
      guard let user = caller.userID, let key = caller.session else { return }
      directory.sessions(of: user).first { $0.session.key == key }?.session.loseTouch()
    }
    let stream = changeStream
    Task { [weak self] in
      for await change in stream { await self?.handle(change) }
    }
    network.ports.membership.observe(self)
    await withCheckedContinuation { continuation in
      let isReady = ready.withLock { waiting in
        if !users.isReady { waiting.append(continuation) }
        return users.isReady
      }
      if isReady { continuation.resume() }
    }
  }

  /// Ends the links.
  public func stop() {
    changes.finish()
    network.links.stop()
  }

  // MARK: Nodes and shards

  private func handle(_ change: Change) async {
    switch change {
    case .lost(let node): lose(node)
    case .view(let view, let changes):
      if view.ownNode != state.withLock({ $0.own }) { await begin(view) }
      guard let own = state.withLock({ $0.own }) else { return }
      for node in view.nodes.keys where node != own { network.links.add(node) }
      for node in changes.gone { didGo(node) }
      if !changes.moved.isEmpty { topics.ownersChanged() }
      let now = clocks.monotonic
      // Before, no link would be missing: the node would be ready without having heard anybody.
      state.withLock { $0.startTime = $0.startTime ?? now }
      let claimed = changes.moved.filter { network.ports.membership.leads($0, at: now) }
      let lost = state.withLock { state in
        state.uncheckedShards.formUnion(claimed)
        return state.noteOwners(view, claimed: claimed)
      }
      if !lost.isEmpty { Task { [additions] in await additions.tell(of: lost) } }
      checkPresence()
      if !changes.moved.isEmpty {
        poster?.searchStore()
        deletions.wake()
      }
      network.router.retry(at: clocks.monotonic)
    }
  }

  /// Becomes the node of a view. Where the bus refuses, this is tried again when it is there.
  private func begin(_ view: ClusterView) async {
    guard let own = view.ownNode else { return }
    do throws(BusError) {
      network.presence.start(as: own)
      try await network.links.start(as: own)
      state.withLock { state in
        state.own = own
        state.mustBegin = false
        state.startTime = nil
      }
      // Sign-ins that were under way when an earlier lease was lost: this node does not know them.
      for session in directory.allSessions() { session.loseTouch() }
    } catch {
      state.withLock { $0.mustBegin = true }
      logger.error("the bus cannot be used", metadata: ["error": "\(error)"])
    }
  }

  private func didGo(_ node: NodeNumber) {
    // Before the sign-ins that wait for it are answered.
    directory.noteLoss(of: node)
    network.links.remove(node) {
      network.requests.didLose(node)
      directory.loseTouch(users.didGo(node), before: node)
      users.forgetProfiles()
      observation.didGo(node)
      topics.ownerIsGone(node)
      users.notify(network.presence.drop(node))
    }
  }

  /// The lease was lost: other nodes decide for all groups, and events of the time between are missing.
  private func lose(_ node: NodeNumber) {
    guard state.withLock({ $0.own }) == node else { return }
    state.withLock { $0 = State() }
    hearing.reset()
    users.setReady(false)
    network.links.stop {
      network.requests.tick(at: .distantFuture)
      topics.dropAll()
    }
    observation.didLoseLease()
    // First: what was on its way to the store has no answer then, because it may be durable.
    for session in directory.allSessions() { session.loseTouch() }
    registry.abandonGroups()
    poster?.searchStore()
  }

  /// The bus may be back.
  private func beginAgain() {
    let ports = network.ports
    let isDue = state.withLock { state in
      guard state.mustBegin, ports.bus.isConnected else { return false }
      state.mustBegin = false
      return true
    }
    guard isDue else { return }
    let view = ports.membership.view
    changes.yield(.view(view, view.changes(since: .empty)))
  }

  private func checkPresence() {
    guard isReady else { return }
    let shards = state.withLock { state in
      defer { state.uncheckedShards = [] }
      return state.uncheckedShards
    }
    if !shards.isEmpty { Task { await presence.correct(of: shards) } }
  }

  // MARK: Readiness

  /// Whether the node has shards' owners and links, so that it serves (`/readyz`).
  public var isReady: Bool { users.isReady }

  /// Whether the links with all other nodes are open.
  public var hearsAll: Bool { network.links.missingNodes.isEmpty }

  /// The numbers of the nodes with which a link is missing now.
  public var missingNodes: Set<Int64> { Set(network.links.missingNodes.map(\.rawValue)) }

  /// The reason why this node should get no clients: a node whose groups it cannot reach. Nil = there is
  /// none.
  public var obstacle: String? { hearing.obstacle }

  /// The links with each node, by its number.
  public var links: [(node: Int64, status: LinkStatus)] {
    network.links.statuses.sorted { $0.key < $1.key }.map { ($0.key.rawValue, $0.value) }
  }

  /// Counts of groups whose owners went, or whose links were lost.
  public var followCounters: FollowCounters {
    let (counters, unsettled) = (topics.counters, topics.unsettledCount)
    return FollowCounters(
      compared: Comparison.allCases.map { ($0.name, counters.compared[$0] ?? 0) }, replays: counters.replays,
      events: counters.events, lost: FollowLoss.allCases.map { ($0.name, counters.lost[$0] ?? 0) }, unsettled: unsettled)
  }

  /// Sends that were asked again because their owner was lost: those that were answered, and the others.
  public var repeatedRequests: (answered: Int, unknown: Int) { network.router.repeatedCounts }

  /// Faults of all links since the start.
  public var linkCounters: LinkCounters { network.links.counters }

  /// Signed-in sessions of all nodes.
  public var sessionCount: Int { network.presence.sessionCount }

  /// The nodes that this one does not hear, or whose sessions it does not know, or that do not hear it.
  private var unheardNodes: [NodeNumber] {
    let missing = Set(network.links.missingNodes)
    let view = network.ports.membership.view
    return view.nodes.keys.filter { node in
      node != view.ownNode && (missing.contains(node) || !network.presence.hasHeard(node))
    }.sorted()
  }

  // MARK: Metrics

  /// Sets what this node answers to others that ask for its metrics.
  public func onMetrics(_ body: @escaping @Sendable () async -> [UInt8]) { requestHandler.onMetrics(body) }

  /// The metrics of the other nodes that answer within 2 s, by their numbers.
  public func metricsOfOthers() async -> [(node: Int64, text: [UInt8])] {
    await users.otherNodes.ask("metrics") { _ in .metrics }.compactMap { node, reply in
      if case .reply(.success(.encoded(let text))) = reply { (node.rawValue, text) } else { nil }
    }
  }

  /// The number of this node; nil while it belongs to no cluster.
  public var number: Int64? { network.ports.membership.node?.rawValue }

  private func checkReadiness(at now: MonotonicInstant) {
    guard !users.isReady, let start = state.withLock({ $0.startTime }) else { return }
    let unheard = unheardNodes
    guard unheard.isEmpty || now > start + ClusterNode.linkWait else { return }
    let waiting = ready.withLock { waiting in
      users.setReady(true, without: unheard)
      defer { waiting = [] }
      return waiting
    }
    // The lease may have been lost meanwhile.
    if state.withLock({ $0.startTime }) == nil { users.setReady(false) }
    for continuation in waiting { continuation.resume() }
    checkPresence()
    // Shards were gained before this node served.
    deletions.wake()
  }
}

/// Counts of groups whose owners went, or whose links were lost, since the start.
public struct FollowCounters: Sendable {
  /// Groups of which an owner has said whether something is missing, by its answer.
  public let compared: [(result: String, count: Int)]
  /// How often an owner was asked to tell again what was missing.
  public let replays: Int
  /// The events that were told again.
  public let events: Int
  /// Groups of which events were missing for good, so that sessions were closed, by reason.
  public let lost: [(reason: String, count: Int)]
  /// Groups of which it is not known now whether something is missing.
  public let unsettled: Int
}

extension ClusterNode: ClusterObserver {
  public func didChange(_ view: ClusterView, _ changes: ClusterChanges) { self.changes.yield(.view(view, changes)) }

  public func didLose(_ node: NodeNumber) { changes.yield(.lost(node)) }

  public func willRelease(_ shards: [Shard]) async {
    let released = Set(shards)
    await registry.release { released.contains(Shard(of: $0)) }
    // Notes of users that this node still makes must not come behind those of the next owner.
    await network.ports.presence.flushPresence()
  }
}

extension ClusterNode: LinkObserver {
  func didOpenLink(to node: NodeNumber) {
    // Earlier entries may not have come. What was told is told first, before a group stores more.
    ownTopics.didOpenLink(to: node)
    network.requests.didLose(node)
    network.presence.sendSnapshot(to: node)
    observation.didOpenLink(to: node)
    directory.loseTouch(users.didOpenLink(to: node))
  }

  func didResumeLink(to node: NodeNumber) {
    directory.loseTouch(users.didResumeLink(to: node))
    topics.wake()
  }

  func linkBegan(from node: NodeNumber) {
    users.forgetProfiles()
    statuses.readAgain()
    network.router.retry(at: clocks.monotonic)
    topics.wake()
  }

  func didLoseLink(from node: NodeNumber) {
    network.requests.didLose(node)
    topics.didLoseLink(from: node)
  }

  func tick(at now: MonotonicInstant) {
    network.requests.tick(at: now)
    network.router.retry(at: now)
    topics.wake()
    beginAgain()
    checkReadiness(at: now)
    hearing.check(at: now)
    statuses.tick(at: now)
    checkDrain()
  }

  /// Where all nodes drain, each keeps its shards until the last session of all nodes has ended.
  private func checkDrain() {
    let membership = network.ports.membership
    guard sessionCount == 0, membership.view.nodes.values.allSatisfy(\.isDraining) else { return }
    membership.endDrain()
  }

  func didReceive(_ entries: [ClusterEntry], from node: NodeNumber) {
    // Requests that come together are decided in one turn: they share a transaction, and their answers a frame.
    for start in stride(from: 0, to: entries.count, by: ClusterNode.joinedEntries) {
      LoopExecutor.joiningWakes {
        for entry in entries[start..<min(start + ClusterNode.joinedEntries, entries.count)] {
          entryHandler.didReceive(entry, from: node)
        }
      }
    }
  }
}
