import GroupModel

/// The place of this process in the cluster: which node it is, who owns which shard, and what this
/// node may decide now (Cluster.md, "The lease").
public protocol ClusterMembership: Sendable {
  /// Look-ups for the way of a request: no lock, no waiting.
  var shards: ShardMap { get }

  /// The newest view.
  var view: ClusterView { get }

  /// How often another node has been seen to renew its lease: whether it lives, whoever hears it.
  func signsOfLife(of node: NodeNumber) -> Int

  /// Adds an observer, which gets the present view first.
  func observe(_ observer: any ClusterObserver)

  /// Gives all shards back and takes no more: each when the observers have let it go and its last
  /// commit is durable. Returns when the node has none, at the deadline, or with `endDrain`. Shards
  /// stay with the node while no other node can take them.
  func drain(until deadline: MonotonicInstant) async

  /// Lets `drain` return with the shards that are left, because nobody needs them any more.
  func endDrain()

  /// Ends the membership: what the node still owns may be claimed at once.
  func leave() async
}

extension ClusterMembership {
  /// The own node; nil while this process belongs to no cluster. A process whose lease was lost joins
  /// again under another number.
  public var node: NodeNumber? { shards.ownNode }

  /// Whether a shard is the own node's, also while the lease is not renewed.
  public func owns(_ shard: Shard) -> Bool { node.map { shards.owner(of: shard) == $0 } ?? false }

  /// Whether this node may decide for a shard now: for work that only its owner does.
  public func leads(_ shard: Shard, at now: MonotonicInstant) -> Bool { shards.term(of: shard, at: now) != nil }
}

/// Hears of changes in the cluster. Calls come one at a time from a thread of the membership, in
/// order; none may block.
public protocol ClusterObserver: AnyObject, Sendable {
  /// Another view. Shards of which this node has become the owner are in it; `ShardMap` knows them
  /// already.
  func didChange(_ view: ClusterView, _ changes: ClusterChanges)

  /// The node is about to give shards back. `ShardMap` does not lead them any more, so nothing new
  /// is decided. Return when every decision under them has reached the store, and their groups have
  /// left memory.
  func willRelease(_ shards: [Shard]) async

  /// The lease was lost: this process is no longer a node. All of its shards have gone at once, and
  /// its commits fail. It joins again as another node, which a later view tells.
  func didLose(_ node: NodeNumber)
}

extension ClusterObserver {
  /// Nothing is kept under a shard.
  public func willRelease(_ shards: [Shard]) async {}
}
