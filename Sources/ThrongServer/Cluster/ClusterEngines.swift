import Cluster
import Foundation
import Gateway
import GroupModel
import GroupRuntime
import Logging
import NATSBus
import PostgreSQLStore
import ServerConfiguration
import Synchronization

/// The engines of a node: the lease in PostgreSQL, and the bus.
final class ClusterEngines: Sendable {
  let lease: LeaseEngine
  let bus: any Bus
  private let store: PostgreSQLStore
  private let settings: Settings
  private let clocks: any Clocks
  private let health: ShardHealth
  private let work: BackgroundWork
  private let key: ClusterKey

  /// Connects to the bus, and blocks meanwhile; nil where the server is alone.
  init?(_ settings: Settings, store: any ServerStore, clocks: any Clocks, logger: Logger) throws(StartError) {
    guard settings.cluster.isEnabled, let store = store as? PostgreSQLStore else { return nil }
    self.settings = settings
    self.store = store
    self.clocks = clocks
    key = try ClusterEngines.key(settings, store)
    bus = try ClusterEngines.makeBus(settings, store, logger)
    lease = store.makeLease()
    health = ShardHealth(clocks: clocks, patience: settings.cluster.leaseDuration)
    work = BackgroundWork(store: store)
    lease.observe(health)
    lease.observe(work)
    lease.watchBus { [bus] in bus.isConnected }
    // Operators drain a node from any other: it ends as by the signal that stops it.
    lease.onDrainRequest {
      logger.notice("this node is to drain, and to end")
      kill(getpid(), SIGTERM)
    }
  }

  private static func key(_ settings: Settings, _ store: PostgreSQLStore) throws(StartError) -> ClusterKey {
    if let secret = settings.cluster.secret { return ClusterKey(configured: secret) }
    return try StartError.translating { () throws(PostgreSQLOpenError) in try store.clusterKey() }
  }

  private static func makeBus(_ settings: Settings, _ store: PostgreSQLStore, _ logger: Logger) throws(StartError) -> any Bus {
    guard let url = settings.bus.url else {
      return try StartError.translating { () throws(PostgreSQLOpenError) in try store.makeBus() }
    }
    return try StartError.translating { () throws(NATSAddress.Fault) in
      let address = try NATSAddress(url)
      if !address.hasCredentials {
        logger.warning("bus.url has no user: whoever reaches NATS can hold up what nodes tell each other, and count it")
      }
      return try NATSBus.connect(address, cluster: settings.bus.subject, logger: logger)
    }
  }

  /// The ports for sessions and groups.
  var ports: ClusterPorts {
    ClusterPorts(
      bus: bus, membership: lease, presence: store, key: key, leaseDuration: settings.cluster.leaseDuration)
  }

  /// Becomes a node. Blocks until the first view is there.
  /// - Parameter address: of the internal listener, as it is bound.
  func join(at address: String) throws(StartError) {
    let node = NodeDescription(name: settings.nodeName, address: settings.cluster.address ?? address, release: Release.version)
    do {
      try lease.start(as: node)
    } catch {
      throw StartError("this server cannot join the cluster: \(error)")
    }
    guard lease.view.nodes.count == 1 else { return }
    // The first node: whoever was signed in before is not any more.
    try StartError.translating { () throws(PostgreSQLOpenError) in try store.endFormerSessions() }
  }

  /// The reason why the node is not ready; nil = it is.
  var obstacle: String? {
    if !bus.isConnected { return "the bus is away" }
    if lease.leaseRemaining == .zero { return "the lease of this node cannot be renewed" }
    return health.obstacle
  }

  /// Gives the shards back while sessions drain.
  func drain(within duration: Duration) async { await lease.drain(until: clocks.monotonic + duration) }

  /// Ends, behind the last commit.
  func leave() async {
    await lease.leave()
    await bus.close()
  }

  /// Nodes and shards, for `throng cluster status`.
  /// - Parameter unheard: the nodes that this one does not hear on the bus.
  func status(unheard: Set<Int64>) throws -> ClusterStatus {
    ClusterStatus(try store.clusterContents(), own: lease.node, unheard: unheard)
  }

  /// Marks a node by its name or number.
  /// - Parameter evenLast: also where no other node would serve.
  func requestDrain(of name: String, evenLast: Bool) throws -> DrainOutcome {
    try store.requestDrain(of: name, evenLast: evenLast)
  }
}

/// Lets the store look for work in shards that this node has got.
private final class BackgroundWork: ClusterObserver {
  private let store: PostgreSQLStore

  init(store: PostgreSQLStore) { self.store = store }

  func didChange(_ view: ClusterView, _ changes: ClusterChanges) {
    guard let own = view.ownNode, changes.moved.contains(where: { view.owner(of: $0) == own }) else { return }
    store.didChangeLeadership()
  }

  func didLose(_ node: NodeNumber) {}
}

/// Whether all shards have had an owner within the last lease.
private final class ShardHealth: ClusterObserver {
  private let clocks: any Clocks
  private let patience: Duration
  private let ownerlessSince = Mutex<MonotonicInstant?>(nil)

  init(clocks: any Clocks, patience: Duration) {
    self.clocks = clocks
    self.patience = patience
  }

  func didChange(_ view: ClusterView, _ changes: ClusterChanges) {
    let isWhole = Shard.all.allSatisfy { view.owner(of: $0) != nil }
    ownerlessSince.withLock { since in since = isWhole ? nil : since ?? clocks.monotonic }
  }

  func didLose(_ node: NodeNumber) {}

  var obstacle: String? {
    guard let since = ownerlessSince.withLock({ $0 }), clocks.monotonic - since > patience else { return nil }
    return "shards have no owner"
  }
}

extension Settings {
  /// The node's name for people, in logs and in `throng cluster status`.
  var nodeName: String { cluster.name ?? "\(ProcessInfo.processInfo.hostName), process \(getpid())" }
}
