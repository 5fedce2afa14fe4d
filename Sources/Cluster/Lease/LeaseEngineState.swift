import GroupModel

/// The state of `LeaseEngine` between two of its steps.
struct LeaseEngineState {
  private let duration: Duration
  /// The own node, when it joins.
  var description: NodeDescription?
  var didChangeLease: (@Sendable (NodeNumber?) -> Void)?
  var didRequestDrain: (@Sendable () -> Void)?
  var isBusConnected: @Sendable () -> Bool = { true }
  /// Since when this node alone cannot reach the bus.
  private var cutTime: MonotonicInstant?
  /// The cluster was left for the bus's sake.
  private var waitsForBus = false
  /// Nil while this process is no node.
  private var lease: NodeLease?
  /// Of the other nodes.
  private(set) var watch: LeaseWatch
  private(set) var view = ClusterView.empty
  private(set) var isEnding = false
  private var isDraining = false
  /// Shards that the observers are letting go, or whose commits are awaited.
  private var leaving: Set<Shard> = []
  /// Those of them that nothing holds any more.
  private(set) var releasable: [Shard] = []
  private var isAway = false
  private var waiters: [CheckedContinuation<Void, Never>] = []

  init(duration: Duration) {
    self.duration = duration
    watch = LeaseWatch(duration: duration)
  }

  var node: NodeNumber? { lease?.node }

  /// The node to join as; nil where the process is to end.
  var joining: NodeDescription? {
    isEnding || isDraining || (waitsForBus && !isBusConnected()) ? nil : description
  }

  // MARK: The lease

  mutating func didJoin(_ node: NodeNumber, sentAt sent: MonotonicInstant) {
    lease = NodeLease(node, joinSentAt: sent, duration: duration)
    (cutTime, waitsForBus) = (nil, false)
  }

  /// - Returns: whether the node has to leave, because others can do what it cannot.
  mutating func noteBus(isConnected: Bool, at now: MonotonicInstant) -> Bool {
    let own = node
    let others = view.nodes.values.filter { $0.number != own && $0.isOnBus && !$0.isDraining }
    guard !isConnected, !others.isEmpty else {
      cutTime = nil
      return false
    }
    let start = cutTime ?? now
    cutTime = start
    waitsForBus = now - start > duration
    return waitsForBus
  }

  /// - Returns: the instant from which on the node decides nothing.
  mutating func didRenew(sentAt sent: MonotonicInstant) -> MonotonicInstant {
    lease?.didRenew(sentAt: sent)
    return lease?.pauseInstant ?? .distantPast
  }

  /// - Returns: the nodes that have gone, each with its last sign of life.
  mutating func silentNodes(
    among signs: [NodeNumber: LifeSign], receivedAt now: MonotonicInstant
  ) -> [NodeNumber: LifeSign] {
    watch.note(signs, receivedAt: now)
    return watch.silentNodes(at: now)
  }

  /// - Returns: the view without the own node.
  mutating func didLose() -> ClusterView {
    if let node { view = view.without(node) }
    (lease, leaving, releasable) = (nil, [], [])
    return view
  }

  /// - Returns: the node that leaves.
  mutating func end() -> NodeNumber? {
    defer { lease = nil }
    isEnding = true
    return node
  }

  /// - Returns: whether the last step had failed.
  mutating func noteSuccess() -> Bool {
    defer { isAway = false }
    return isAway
  }

  /// - Returns: whether it is the first failure.
  mutating func noteFailure() -> Bool {
    defer { isAway = true }
    return !isAway
  }

  // MARK: Shards

  /// - Returns: the shards that the node may decide for.
  mutating func didRead(_ view: ClusterView) -> [Shard: Int64] {
    self.view = view
    // The answer to a claim may have been lost: the database says whose the shards are.
    if let lease {
      let known = Set(lease.ownShards)
      let unknown = view.shards(of: lease.node).filter { !known.contains($0) }
      if !unknown.isEmpty { didClaim(unknown.reduce(into: [:]) { $0[$1] = view.term(of: $1) }) }
    }
    return leading
  }

  private var leading: [Shard: Int64] { (lease?.heldTerms ?? [:]).filter { !leaving.contains($0.key) } }

  mutating func didClaim(_ terms: [Shard: Int64]) { lease?.didClaim(terms) }

  /// The next claims, or the next shards to give back. Where all nodes drain, each keeps what it has, and
  /// they take what nobody has.
  func plan(for node: NodeNumber) -> ShardPlan {
    let taking = view.nodes.values.filter { !$0.isDraining }.map(\.number)
    let owners = Shard.all.map(view.owner(of:))
    return taking.isEmpty
      ? ShardPlan(for: node, owners: owners, nodes: Array(view.nodes.keys)).keeping { _ in false }
      : ShardPlan(for: node, owners: owners, nodes: taking).keeping { !leaving.contains($0) }
  }

  mutating func willRelease(_ shards: [Shard]) { leaving.formUnion(shards) }

  /// The observers have let shards go: their commits are still to be answered.
  mutating func beginRelease(of shards: [Shard], by node: NodeNumber) {
    // The lease may be another one by now.
    guard self.node == node else { return }
    for shard in shards where lease?.beginRelease(of: shard) == true { releasable.append(shard) }
  }

  /// - Returns: whether the node has no shard any more.
  mutating func didRelease(_ shards: [Shard]) -> Bool {
    for shard in shards { lease?.didRelease(shard) }
    leaving.subtract(shards)
    releasable.removeAll { shards.contains($0) }
    return lease?.ownShards.isEmpty ?? true
  }

  // MARK: Commits

  mutating func beginCommit(under shard: Shard) -> Int64? {
    guard let term = lease?.heldTerms[shard], lease?.beginCommit(under: shard, term: term) == true else { return nil }
    return term
  }

  /// - Returns: whether the shard can be given back now.
  mutating func endCommit(under shard: Shard, term: Int64) -> Bool {
    guard let free = lease?.endCommit(under: shard, term: term) else { return false }
    releasable.append(free)
    return true
  }

  // MARK: Draining

  mutating func beginDraining() { isDraining = true }

  /// Others have marked this node.
  /// - Returns: the body to tell, the first time; nil where this process drains by itself.
  mutating func beginRequestedDrain() -> (@Sendable () -> Void)? {
    if isDraining { return nil }
    isDraining = true
    return didRequestDrain
  }

  /// Whether the other nodes do not know yet that this one drains.
  var mustTellDraining: Bool { isDraining && node.map { view.nodes[$0]?.isDraining == false } ?? false }

  /// - Returns: whether there are shards to wait for.
  mutating func addWaiter(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
    if lease?.ownShards.isEmpty ?? true { return false }
    waiters.append(waiter)
    return true
  }

  mutating func removeWaiters() -> [CheckedContinuation<Void, Never>] {
    defer { waiters = [] }
    return waiters
  }
}

extension ClusterView {
  /// The view of a process that is no node any more.
  fileprivate func without(_ node: NodeNumber) -> ClusterView {
    ClusterView(version: version, ownNode: nil, nodes: nodes.filter { $0.key != node }, owners: owners)
  }
}
