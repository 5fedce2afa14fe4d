import Dispatch
import GroupModel
import Logging
import Synchronization

/// Keeps this process a node of the cluster: joins, renews the lease, removes nodes that have gone,
/// claims and releases shards. One thread does all of it, because the database's calls block.
public final class LeaseEngine: ClusterMembership, Sendable {
  public let shards = ShardMap()
  private let database: any LeaseDatabase
  private let leaseDuration: Duration
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let logger: Logger
  private let state: Mutex<LeaseEngineState>
  private let notices = ObserverNotices()
  private let queue = DispatchQueue(label: "throng.cluster.lease")
  private let isStepQueued = Atomic<Bool>(false)
  /// Claims of one step; each takes up to `ShardPlan.shardsPerClaim`. The next step follows at once,
  /// behind a renewal of the lease.
  private static let claimsPerStep = 8

  /// A process that is no node yet: `start` joins.
  /// - Parameter leaseDuration: the same in all nodes.
  public init(
    _ database: any LeaseDatabase, leaseDuration: Duration, clocks: any Clocks, alarms: any Alarms, logger: Logger
  ) {
    self.database = database
    self.leaseDuration = leaseDuration
    self.clocks = clocks
    self.alarms = alarms
    self.logger = logger
    state = Mutex(LeaseEngineState(duration: leaseDuration))
    database.onChange { [weak self] in self?.wake() }
  }

  /// Sets the body that hears of each lease before anything else does: the node's number before it
  /// claims shards, and nil when the lease is lost, before shards are claimed under another number.
  public func onLease(_ body: @escaping @Sendable (NodeNumber?) -> Void) { state.withLock { $0.didChangeLease = body } }

  /// Sets the body that is called once where operators drain this node (`throng cluster drain`).
  public func onDrainRequest(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.didRequestDrain = body } }

  /// Sets the body that tells whether the bus can be reached. A node that alone cannot leaves the
  /// cluster after the time of a lease, so that others take over, and joins again when it can.
  public func watchBus(_ body: @escaping @Sendable () -> Bool) { state.withLock { $0.isBusConnected = body } }

  /// Joins, and goes on until `leave`. Blocks until the first view is there.
  /// - Throws: `LeaseRefusal`, or an error of the database.
  public func start(as node: NodeDescription) throws {
    state.withLock { $0.description = node }
    try queue.sync { try step() }
    scheduleRenewal()
  }

  // MARK: Membership

  public var view: ClusterView { state.withLock { $0.view } }

  public func observe(_ observer: any ClusterObserver) { notices.add(observer) }

  public func signsOfLife(of node: NodeNumber) -> Int { state.withLock { $0.watch.changes(of: node) } }

  /// How long the node may still decide, unless its lease is renewed before.
  public var leaseRemaining: Duration {
    let (time, end) = (clocks.monotonic, shards.pauseInstant)
    return time < end ? end - time : .zero
  }

  public func drain(until deadline: MonotonicInstant) async {
    state.withLock { $0.beginDraining() }
    wake()
    await withTaskGroup { group in
      group.addTask { await self.waitUntilEmpty() }
      group.addTask { await self.alarms.sleep(until: deadline) }
      await group.next()
      group.cancelAll()
      self.resumeWaiters()
    }
  }

  private func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let mustWait = state.withLock { $0.addWaiter(continuation) }
      // The deadline may have come before: nobody would resume it.
      if !mustWait { continuation.resume() } else if Task.isCancelled { resumeWaiters() }
    }
  }

  public func endDrain() { resumeWaiters() }

  private func resumeWaiters() {
    for waiter in state.withLock({ $0.removeWaiters() }) { waiter.resume() }
  }

  public func leave() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.end()
        continuation.resume()
      }
    }
  }

  private func end() {
    let node = state.withLock { $0.end() }
    shards.extendLease(to: .distantPast)
    do {
      if let node { try database.leave(node) }
    } catch {
      logger.warning("the cluster was not left cleanly", metadata: ["error": "\(error)"])
    }
    database.disconnect()
    resumeWaiters()
  }

  // MARK: Commits

  /// Counts a commit under a shard, so that the shard is not given back before its answer.
  /// - Returns: the term for `endCommit`; nil where this node does not own the shard.
  public func beginCommit(under shard: Shard) -> Int64? { state.withLock { $0.beginCommit(under: shard) } }

  /// A commit has its answer.
  public func endCommit(under shard: Shard, term: Int64) {
    if state.withLock({ $0.endCommit(under: shard, term: term) }) { wake() }
  }

  // MARK: Steps

  /// Lets the next step come now, for example because the fence has refused a commit. Calls before it
  /// begins are one.
  public func wake() {
    guard !isStepQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [weak self] in
      guard let self else { return }
      self.isStepQueued.store(false, ordering: .releasing)
      self.attemptStep()
    }
  }

  private func scheduleRenewal() {
    alarms.schedule(at: clocks.monotonic + leaseDuration / 6, on: queue) { [weak self] in
      guard let self, !self.state.withLock({ $0.isEnding }) else { return }
      self.attemptStep()
      self.scheduleRenewal()
    }
  }

  private func attemptStep() {
    do {
      try step()
      if state.withLock({ $0.noteSuccess() }) { logger.notice("the cluster's tables can be reached again") }
    } catch {
      database.disconnect()
      if state.withLock({ $0.noteFailure() }) {
        logger.error("the lease cannot be renewed", metadata: ["error": "\(error)"])
      }
    }
  }

  private func step() throws {
    guard let node = try joined() else { return }
    let sent = clocks.monotonic
    guard let renewal = try database.renew(node) else { return lose(node) }
    shards.extendLease(to: state.withLock { $0.didRenew(sentAt: sent) })
    let received = clocks.monotonic
    let silent = state.withLock { $0.silentNodes(among: renewal.signs, receivedAt: received) }
    if !silent.isEmpty {
      let gone = try database.remove(silent)
      if !gone.isEmpty {
        logger.notice("nodes have gone", metadata: ["nodes": .array(gone.map { .stringConvertible($0.rawValue) })])
      }
    }
    if !silent.isEmpty || renewal.version != view.version { try readView(of: node) }
    if try isCutOff(node) {
      logger.error(
        "this node alone cannot reach the bus, and leaves the cluster", metadata: ["node": .stringConvertible(node.rawValue)])
      try database.leave(node)
      return lose(node)
    }
    try giveBack(by: node)
    try balance(node)
  }

  /// Tells the other nodes whether this one reaches the bus.
  /// - Returns: whether it has been the only one that does not, for the time of a lease.
  private func isCutOff(_ node: NodeNumber) throws -> Bool {
    let isConnected = state.withLock { $0.isBusConnected }()
    // Before others are told: what they do then is later.
    let noticed = clocks.monotonic
    if view.nodes[node]?.isOnBus != isConnected {
      try database.noteBus(of: node, isConnected: isConnected)
      try readView(of: node)
    }
    return state.withLock { $0.noteBus(isConnected: isConnected, at: noticed) }
  }

  /// - Returns: the own node, which joins where there is none; nil where it is to end.
  private func joined() throws -> NodeNumber? {
    let (node, joining) = state.withLock { ($0.node, $0.joining) }
    guard node == nil, let joining else { return node }
    let sent = clocks.monotonic
    let joined = try database.join(joining)
    state.withLock { $0.didChangeLease }?(joined)
    state.withLock { $0.didJoin(joined, sentAt: sent) }
    logger.notice("joined the cluster", metadata: ["node": .stringConvertible(joined.rawValue)])
    try readView(of: joined)
    return joined
  }

  private func lose(_ node: NodeNumber) {
    let view = state.withLock { $0.didLose() }
    shards.extendLease(to: .distantPast)
    shards.replace(by: view, leading: [:])
    state.withLock { $0.didChangeLease }?(nil)
    logger.error(
      "the lease was lost: other nodes have taken over the shards", metadata: ["node": .stringConvertible(node.rawValue)])
    notices.post(lost: node)
    notices.post(view)
    resumeWaiters()
    wake()
  }

  private func readView(of node: NodeNumber) throws {
    let view = try database.read().view(of: node)
    let leading = state.withLock { $0.didRead(view) }
    shards.replace(by: view, leading: leading)
    notices.post(view)
    if view.nodes[node]?.isDraining == true { state.withLock { $0.beginRequestedDrain() }?() }
  }

  /// Claims shards that have no owner, all at once, or begins to release those beyond the own share.
  private func balance(_ node: NodeNumber) throws {
    for _ in 0..<LeaseEngine.claimsPerStep {
      let plan = state.withLock { $0.plan(for: node) }
      if plan.claims.isEmpty {
        if !plan.releases.isEmpty { beginRelease(of: plan.releases, by: node) }
        return
      }
      let claimed = try database.claim(plan.claims, by: node)
      state.withLock { $0.didClaim(claimed) }
      try readView(of: node)
    }
    wake()
  }

  private func beginRelease(of leaving: [Shard], by node: NodeNumber) {
    state.withLock { $0.willRelease(leaving) }
    shards.stopLeading(leaving)
    Task {
      await notices.willRelease(leaving)
      state.withLock { $0.beginRelease(of: leaving, by: node) }
      wake()
    }
  }

  /// Marks a node as draining where it is asked to, and gives back the shards that nothing holds.
  private func giveBack(by node: NodeNumber) throws {
    if state.withLock({ $0.mustTellDraining }) {
      _ = try database.markDraining(node)
      try readView(of: node)
    }
    let free = state.withLock { $0.releasable }
    if free.isEmpty { return }
    try database.release(free, by: node)
    let isEmpty = state.withLock { $0.didRelease(free) }
    try readView(of: node)
    if isEmpty { resumeWaiters() }
  }
}
