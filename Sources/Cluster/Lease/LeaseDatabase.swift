import GroupModel

/// The tables of nodes and shards, shared by all nodes; `LeaseTable` has the rules. Calls block, and
/// come from one thread of each node.
public protocol LeaseDatabase: AnyObject, Sendable {
  /// Adds this process as a new node.
  /// - Throws: `LeaseRefusal` where it may not join; any other error is temporary.
  func join(_ description: NodeDescription) throws -> NodeNumber

  /// Notes a heartbeat.
  /// - Returns: nil where the node has gone.
  func renew(_ node: NodeNumber) throws -> Renewal?

  /// Removes nodes, if each has given no other sign of life since.
  /// - Returns: those that have gone; another node may have removed them.
  func remove(_ silent: [NodeNumber: LifeSign]) throws -> [NodeNumber]

  /// Nodes and owners, read together.
  func read() throws -> LeaseContents

  /// Makes a node the owner of those of the shards that have none, or one that has gone.
  /// - Returns: their terms.
  func claim(_ shards: [Shard], by node: NodeNumber) throws -> [Shard: Int64]

  /// Gives shards back, behind the last commit under them.
  func release(_ shards: [Shard], by node: NodeNumber) throws

  /// Marks a node: it is to give its shards back, and to end. All nodes see it.
  /// - Returns: false where there is no such node.
  func markDraining(_ node: NodeNumber) throws -> Bool

  /// Marks a node likewise, if nothing has changed since the tables had this version.
  /// - Returns: false where something has.
  func markDraining(_ node: NodeNumber, ifStill version: Int64) throws -> Bool

  /// Notes whether a node can reach the bus. All nodes see it.
  func noteBus(of node: NodeNumber, isConnected: Bool) throws

  /// The node ends by itself.
  func leave(_ node: NodeNumber) throws

  /// Calls a body whenever another node has changed the tables, on any thread. A missed call costs
  /// the time to the next renewal.
  func onChange(_ body: @escaping @Sendable () -> Void)

  /// Frees connections. A later call makes new ones.
  func disconnect()
}

/// The outcome of a request to drain a node.
public enum DrainOutcome: Sendable, Equatable {
  /// The node is marked; it hears it with its next sign of life.
  case requested(NodeInfo)
  /// There is none, or several have the name.
  case unknownNode
  /// No other node would serve, and nothing was changed.
  case lastNode

  /// The node that drains; nil where the request was refused.
  public var node: NodeInfo? { if case .requested(let node) = self { node } else { nil } }
}

extension LeaseDatabase {
  /// Marks a node as draining for an operator. Of two requests at the same instant the later one sees
  /// what the first has done.
  /// - Parameters:
  ///   - name: the node's, or its number (`ClusterView.node(called:)`).
  ///   - evenLast: also where no other node would serve.
  public func requestDrain(of name: String, evenLast: Bool) throws -> DrainOutcome {
    // Each further round follows a change of somebody else.
    while true {
      let contents = try read()
      let view = contents.view(of: nil)
      guard let node = view.node(called: name) else { return .unknownNode }
      if node.isDraining { return .requested(node) }
      if !evenLast, view.isLastToServe(node.number) { return .lastNode }
      if try markDraining(node.number, ifStill: contents.version) { return .requested(node) }
    }
  }
}

/// A node's description of itself when it joins.
public struct NodeDescription: Sendable, Hashable {
  public let name: String
  public let address: String
  public let release: String
  public let busVersion: Int

  /// A description with everything given.
  public init(name: String, address: String, release: String, busVersion: Int = BusVersion.current) {
    self.name = name
    self.address = address
    self.release = release
    self.busVersion = busVersion
  }
}

/// The version of what nodes send to each other.
public enum BusVersion {
  /// Version 1 was not sealed, and 2 has never been: so no node of this release shares a cluster with
  /// one that believes any message.
  public static let current = 3

  /// Whether nodes of two versions may be in one cluster: those of neighbouring versions may, and
  /// the newer one writes the older form.
  public static func areCompatible(_ one: Int, _ other: Int) -> Bool { abs(one - other) <= 1 }
}

/// The answer to a heartbeat.
public struct Renewal: Sendable, Equatable {
  /// The version of the tables: another one means that they must be read.
  public let version: Int64
  /// The signs of life of all other nodes.
  public let signs: [NodeNumber: LifeSign]

  /// An answer with everything given.
  public init(version: Int64, signs: [NodeNumber: LifeSign]) {
    self.version = version
    self.signs = signs
  }
}

/// The tables of nodes and shards at one moment.
public struct LeaseContents: Sendable, Equatable {
  public let version: Int64
  public let nodes: [NodeInfo]
  /// How old each node's heartbeat is by the database's clock, to be shown: nothing is decided by it.
  public let heartbeatAges: [NodeNumber: Duration]
  /// By the shard's number.
  public let owners: [ShardOwner]

  /// Contents with everything given.
  public init(version: Int64, nodes: [NodeInfo], heartbeatAges: [NodeNumber: Duration], owners: [ShardOwner]) {
    self.version = version
    self.nodes = nodes
    self.heartbeatAges = heartbeatAges
    self.owners = owners
  }

  /// The view of a node.
  public func view(of node: NodeNumber?) -> ClusterView {
    ClusterView(
      version: version, ownNode: node, nodes: Dictionary(uniqueKeysWithValues: nodes.map { ($0.number, $0) }), owners: owners)
  }
}

/// The reason why a process may not join a cluster, in a sentence for the operator.
public struct LeaseRefusal: Error, Sendable, CustomStringConvertible {
  public let description: String

  /// A reason.
  public init(_ description: String) { self.description = description }

  /// The reason why a node may not join these; nil = it may.
  public init?(_ joining: NodeDescription, among nodes: [NodeInfo]) {
    guard let other = nodes.first(where: { !BusVersion.areCompatible($0.busVersion, joining.busVersion) }) else { return nil }
    description =
      "Throng \(joining.release) cannot join a cluster with a node of Throng \(other.release) (\(other.name)): "
      + "their versions of the bus are \(joining.busVersion) and \(other.busVersion), and may differ by one"
  }
}
