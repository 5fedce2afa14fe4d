import GroupModel

/// A node as the others see it.
public struct NodeInfo: Sendable, Hashable {
  public let number: NodeNumber
  /// For people: by default the host's name and the process.
  public let name: String
  /// Where its internal listener is: HOST:PORT or unix:PATH.
  public let address: String
  /// The version of the envelopes that it reads and writes.
  public let busVersion: Int
  /// The release of Throng, for people.
  public let release: String
  /// It gives its shards back, and takes no more.
  public let isDraining: Bool
  /// Its connection to the bus is open.
  public let isOnBus: Bool

  /// A node with everything given.
  public init(
    number: NodeNumber, name: String, address: String, busVersion: Int, release: String, isDraining: Bool = false,
    isOnBus: Bool = true
  ) {
    self.number = number
    self.name = name
    self.address = address
    self.busVersion = busVersion
    self.release = release
    self.isDraining = isDraining
    self.isOnBus = isOnBus
  }
}

/// The owner of a shard, and how often it had a new one.
public struct ShardOwner: Sendable, Hashable {
  /// Nil where nobody has it now.
  public let node: NodeNumber?
  public let term: Int64

  /// An owner in a term.
  public init(node: NodeNumber?, term: Int64) {
    self.node = node
    self.term = term
  }
}

/// The nodes and the owners of all shards at one moment.
public struct ClusterView: Sendable, Equatable {
  /// Grows with each change.
  public let version: Int64
  /// The own node; nil while this process belongs to no cluster.
  public let ownNode: NodeNumber?
  /// All nodes that are there, by number.
  public let nodes: [NodeNumber: NodeInfo]
  /// By the shard's number. An owner that is not among `nodes` has gone.
  public let owners: [ShardOwner]

  /// A view with everything given.
  public init(version: Int64, ownNode: NodeNumber?, nodes: [NodeNumber: NodeInfo], owners: [ShardOwner]) {
    self.version = version
    self.ownNode = ownNode
    self.nodes = nodes
    self.owners = owners
  }

  /// Before the first look.
  public static let empty = ClusterView(
    version: 0, ownNode: nil, nodes: [:], owners: Array(repeating: ShardOwner(node: nil, term: 0), count: Shard.count))

  /// The owner that is there; nil where there is none.
  public func owner(of shard: Shard) -> NodeNumber? {
    owners[shard.number].node.flatMap { nodes[$0] == nil ? nil : $0 }
  }

  /// The term of a shard.
  public func term(of shard: Shard) -> Int64 { owners[shard.number].term }

  /// The node that an operator means: the one of that name, or else the one of that number; nil where
  /// there is none, or several have the name.
  public func node(called name: String) -> NodeInfo? {
    let named = nodes.values.filter { $0.name == name }
    guard named.isEmpty else { return named.count == 1 ? named[0] : nil }
    return nodes.values.first { "\($0.number)" == name }
  }

  /// The shards of a node, ascending.
  public func shards(of node: NodeNumber) -> [Shard] { Shard.all.filter { owners[$0.number].node == node } }

  /// Whether no other node would serve where this one drains: the others drain, are cut off from the
  /// bus, or are not there.
  public func isLastToServe(_ node: NodeNumber) -> Bool {
    nodes.values.allSatisfy { $0.number == node || $0.isDraining || !$0.isOnBus }
  }

  /// The difference to an earlier view.
  public func changes(since earlier: ClusterView) -> ClusterChanges {
    ClusterChanges(
      joined: nodes.keys.filter { earlier.nodes[$0] == nil }.sorted(),
      gone: earlier.nodes.keys.filter { nodes[$0] == nil }.sorted(),
      // A shard whose owner has gone has no owner: that is a change, too.
      moved: Shard.all.filter { owner(of: $0) != earlier.owner(of: $0) || term(of: $0) != earlier.term(of: $0) })
  }
}

/// The difference between two views.
public struct ClusterChanges: Sendable, Equatable {
  public let joined: [NodeNumber]
  public let gone: [NodeNumber]
  /// Shards with another owner, another term, or no owner any more.
  public let moved: [Shard]

  /// A difference with everything given.
  public init(joined: [NodeNumber], gone: [NodeNumber], moved: [Shard]) {
    self.joined = joined
    self.gone = gone
    self.moved = moved
  }
}
