import GroupModel

/// The nodes and the owners of shards as the database keeps them (Cluster.md, "The lease"). A store
/// follows these rules in transactions. It has no clock: heartbeats are counted, and nodes judge by
/// their own clocks (`LeaseWatch`).
///
/// A commit is open from its check until its transaction has ended, and holds a lock on the row of
/// its node. So a node that has gone commits nothing, and its successor reads whatever it has written.
public struct LeaseTable: Hashable, Sendable {
  /// The owner of a shard, and how often it had a new one.
  public struct Ownership: Hashable, Sendable {
    public internal(set) var owner: NodeNumber?
    public internal(set) var term: Int64
  }

  /// The outcome of an attempt to remove a node.
  public enum Expiry: Hashable, Sendable {
    case gone
    /// It has given another sign of life.
    case isAlive
    /// A commit of it is open: the attempt waits for its end.
    case waits
  }

  private struct Node: Hashable, Sendable {
    var heartbeats = 0
    var hasOpenCommit = false
  }

  private var nodes: [NodeNumber: Node] = [:]
  private var shards: [Ownership]
  private var lastNode: Int64 = 0

  /// A table without nodes.
  public init(shardCount: Int = Shard.count) {
    shards = Array(repeating: Ownership(owner: nil, term: 0), count: shardCount)
  }

  /// The nodes that are there, ascending.
  public var nodeNumbers: [NodeNumber] { nodes.keys.sorted() }

  public subscript(_ shard: Shard) -> Ownership { shards[shard.number] }

  // MARK: Nodes

  /// Adds a node with a new number.
  public mutating func join() -> NodeNumber {
    lastNode += 1
    nodes[NodeNumber(lastNode)] = Node()
    return NodeNumber(lastNode)
  }

  /// Notes a heartbeat. One that comes late counts, if the node is still there.
  /// - Returns: false where the node has gone, for good.
  public mutating func renew(_ node: NodeNumber) -> Bool {
    guard let found = nodes[node] else { return false }
    nodes[node]?.heartbeats = found.heartbeats + 1
    return true
  }

  /// The last sign of life of a node; nil = it has gone.
  public func sign(of node: NodeNumber) -> LifeSign? { nodes[node].map { LifeSign("\($0.heartbeats)") } }

  /// Removes a node that has given no other sign of life. Its shards keep their terms, and may be
  /// claimed.
  public mutating func expire(_ node: NodeNumber, after last: LifeSign) -> Expiry {
    guard let sign = sign(of: node) else { return .gone }
    guard sign == last else { return .isAlive }
    return remove(node)
  }

  /// The node ends by itself.
  public mutating func leave(_ node: NodeNumber) -> Expiry { remove(node) }

  private mutating func remove(_ node: NodeNumber) -> Expiry {
    guard nodes[node]?.hasOpenCommit != true else { return .waits }
    nodes[node] = nil
    return .gone
  }

  // MARK: Shards

  /// Makes a node the owner of those of the shards that have none, or one that has gone.
  /// - Returns: their terms; empty where the node itself has gone.
  public mutating func claim(_ wanted: [Shard], by node: NodeNumber) -> [Shard: Int64] {
    guard nodes[node] != nil else { return [:] }
    var claimed: [Shard: Int64] = [:]
    for shard in wanted where shards[shard.number].owner.map({ nodes[$0] == nil }) ?? true {
      shards[shard.number].owner = node
      shards[shard.number].term += 1
      claimed[shard] = shards[shard.number].term
    }
    return claimed
  }

  /// A node gives a shard back, behind its last commit under it.
  /// - Returns: false where it is not the owner.
  public mutating func release(_ shard: Shard, by node: NodeNumber) -> Bool {
    guard shards[shard.number].owner == node else { return false }
    shards[shard.number].owner = nil
    return true
  }

  // MARK: The fence

  /// Begins a commit of a node: the check, and the lock that lasts until `endCommit`. A node has one
  /// at a time.
  /// - Returns: false where the node has gone: the commit fails.
  public mutating func beginCommit(of node: NodeNumber) -> Bool {
    guard nodes[node] != nil else { return false }
    nodes[node]?.hasOpenCommit = true
    return true
  }

  /// The transaction has ended.
  public mutating func endCommit(of node: NodeNumber) { nodes[node]?.hasOpenCommit = false }
}
