import Cluster
import GroupModel
import GroupRuntime
import Logging
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// Several nodes in one process, over one store in memory, with a network and a lease that fail on
/// demand.
struct LiveCluster {
  /// A node, with its part of the lease.
  struct Node {
    let live: LiveGateway
    let engine: LeaseEngine
    let bus: InProcessBus

    var services: ComposedServices { live.services }
    /// The node's name on the network.
    var name: String { bus.name }
    var number: NodeNumber {
      get throws {
        guard let number = engine.node else { throw Client.Failed(description: "no node of a cluster") }
        return number
      }
    }
  }

  let network = InProcessNetwork()
  let database: InMemoryLeaseDatabase
  let world: World
  private let rules: GroupRules
  private(set) var nodes: [Node] = []

  /// Runs `body` with nodes that serve and own shards, and stops them.
  /// - Parameter slowness: of the clock: leases and links have seconds, which a busy machine would take.
  static func with(
    _ count: Int = 3, loops: Int = 1, slowness: Int64 = 10, rules: GroupRules = GroupRules(),
    _ configure: (inout GatewayConfiguration) -> Void = { _ in }, _ body: (LiveCluster) async throws -> Void
  ) async throws {
    var cluster = LiveCluster(slowness: slowness, rules: rules)
    for _ in 0..<count { try await cluster.add(loops: loops, configure) }
    let result: Result<Void, any Error>
    do {
      try await cluster.settled()
      try await cluster.forgetGains()
      result = .success(try await body(cluster))
    } catch {
      result = .failure(error)
    }
    for node in cluster.nodes { await node.stop() }
    try result.get()
  }

  private init(slowness: Int64, rules: GroupRules) {
    world = World(slowness: slowness)
    self.rules = rules
    let clocks = world.clocks
    // By the running clock: the wall clock of tests stands still.
    database = InMemoryLeaseDatabase {
      WallInstant(milliseconds: clocks.monotonic.nanoseconds / 1_000_000)
    }
  }

  /// Starts one more node; returns when it serves.
  mutating func add(loops: Int = 1, _ configure: (inout GatewayConfiguration) -> Void = { _ in }) async throws {
    let name = "node\(nodes.count)"
    let clocks = world.clocks
    let bus = network.bus(name)
    let logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
    let engine = LeaseEngine(
      database, leaseDuration: .seconds(3), clocks: clocks, alarms: SystemAlarms(clocks: clocks), logger: logger)
    try engine.start(as: NodeDescription(name: name, address: name, release: "0"))
    let ports = ClusterPorts(
      bus: bus, membership: engine, presence: world.store.inner, key: .ofTests, leaseDuration: .seconds(3))
    let live = try LiveGateway(world, loops: loops, rules: rules, cluster: ports, configure)
    await live.start()
    nodes.append(Node(live: live, engine: engine, bus: bus))
    await live.services.cluster?.start()
  }

  subscript(index: Int) -> Node { nodes[index] }

  /// Returns when every shard has an owner that all nodes know, each has its share, and all links are open.
  func settled() async throws {
    let engines = nodes.map(\.engine)
    let nodes = nodes
    try await waitUntil("the shards are shared") {
      let views = engines.map(\.view)
      let share = (Shard.count + engines.count - 1) / engines.count
      // Behind this no shard moves: a request to one that does may be answered 10002.
      let counts = Dictionary(grouping: views[0].owners.compactMap(\.node), by: { $0 }).mapValues(\.count)
      let isShared = counts.values.reduce(0, +) == Shard.count && counts.values.allSatisfy { $0 <= share }
      return isShared && views.allSatisfy { $0.owners == views[0].owners && $0.nodes.count == engines.count }
        && nodes.allSatisfy { $0.services.cluster?.hearsAll == true }
    }
  }

  /// The next message of a node to another is lost for good: nothing is kept to go on with.
  func lose(from sender: Int, to receiver: Int) throws {
    guard let node = nodes[sender].services.cluster else { throw Client.Failed(description: "no node of a cluster") }
    node.network.links.keepNothing()
    network.drop(next: 1, .init(from: nodes[sender].name, to: nodes[receiver].name))
  }

  // MARK: Time

  /// Half a second passes, which all leases and links outlast, however busy the machine is.
  /// - Parameters:
  ///   - unheard: a node whose links may be lost by that.
  ///   - killed: a node whose lease has ended.
  func pass(unheard: Int? = nil, killed: Int? = nil) async throws {
    world.clocks.advance(by: 500)
    let leased = nodes.indices.filter { $0 != killed }.map { nodes[$0] }
    let linked = nodes.indices.filter { $0 != unheard }.map { nodes[$0] }
    let numbers = try linked.map { try $0.number }
    for node in leased { node.engine.wake() }
    try await waitUntil("leases are renewed, and links are heard of") {
      let areRenewed = leased.allSatisfy { $0.engine.leaseRemaining > .seconds(2) }
      return areRenewed
        && linked.allSatisfy { node in
          let statuses = node.services.cluster?.network.links.statuses ?? [:]
          return numbers.allSatisfy { number in
            let silence = statuses[number].map(\.silence) ?? .seconds(60)
            return number == node.engine.node || silence < .milliseconds(250)
          }
        }
    }
  }

  /// The answer of a call, while time passes.
  /// - Parameter unheard: a node whose links may be lost by that.
  func answer<Value: Sendable>(
    unheard: Int? = nil, of call: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let isAnswered = Flag()
    let task = Task {
      defer { isAnswered.set() }
      return try await call()
    }
    while !isAnswered.isSet { try await pass(unheard: unheard) }
    return try await task.value
  }

  // MARK: Shards

  /// A name of a group whose owner is a node.
  func groupID(on index: Int, _ prefix: String = "g") -> String {
    for number in 0..<10_000 {
      guard let id = GroupID("\(prefix)\(number)") else { continue }
      if owns(Shard(of: id), index) { return id.rawValue }
    }
    return "none"
  }

  /// A name of a user whose shard is a node's.
  func userID(on index: Int, _ prefix: String = "u") -> UserID {
    (0..<10_000).lazy.compactMap { UserID("\(prefix)\($0)") }.first { owns(Shard(of: $0), index) } ?? "none"
  }

  /// As if each node had had its shards for long. With shards that it has just got, it asks for all groups of
  /// each user who signs in elsewhere.
  func forgetGains() async throws {
    let (members, clocks) = (nodes, world.clocks)
    try await waitUntil("each node leads its shards") {
      members.allSatisfy { node in
        guard let own = node.engine.node else { return false }
        return node.engine.view.shards(of: own).allSatisfy { node.engine.shards.term(of: $0, at: clocks.monotonic) != nil }
      }
    }
    for node in members { node.services.cluster?.network.presence.forgetGains() }
  }

  /// Ends a node as by a crash: the others take over its shards at once.
  /// - Parameter dead: nodes that were ended before.
  /// - Returns: when they have them.
  func kill(_ index: Int, besides dead: Set<Int> = []) async throws {
    let number = try nodes[index].number
    network.cut(nodes[index].name)
    database.cut(number)
    database.expire(number)
    let others = nodes.indices.filter { $0 != index && !dead.contains($0) }
    try await waitUntil("others have its shards") {
      others.allSatisfy { nodes[$0].engine.view.owners.allSatisfy { $0.node != nil && $0.node != number } }
    }
  }

  private func owns(_ shard: Shard, _ index: Int) -> Bool {
    nodes[index].engine.shards.term(of: shard, at: world.clocks.monotonic) != nil
  }
}

extension LiveCluster.Node {
  func signIn(_ user: String, _ query: String = "") async throws -> Client { try await live.signIn(user, query) }

  var backend: Backend { live.backend }

  /// Ends the node in order.
  func stop() async {
    live.store.release()
    await live.stop()
    services.cluster?.stop()
    await engine.leave()
    await bus.close()
  }
}
