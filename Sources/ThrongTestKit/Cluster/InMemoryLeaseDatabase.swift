import Cluster
import GroupModel
import Synchronization

/// The tables of nodes and shards in memory, for several nodes in one process: tests, and the
/// measurement of all else. A node can be cut off, and expired at once.
public final class InMemoryLeaseDatabase: LeaseDatabase, Sendable {
  /// A node has no connection, because `cut` took it.
  public struct Unreachable: Error, Sendable {
    /// The error.
    public init() {}
  }

  private struct State {
    var table = LeaseTable()
    var nodes: [NodeNumber: NodeInfo] = [:]
    var heartbeats: [NodeNumber: WallInstant] = [:]
    var version: Int64 = 1
    var cut: Set<NodeNumber> = []
    var losesClaimAnswers = false
    var interposed: (@Sendable () throws -> Void)?
    var observers: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> WallInstant

  /// Tables without nodes.
  /// - Parameter now: the clock of the database.
  public init(now: @escaping @Sendable () -> WallInstant) { self.now = now }

  // MARK: LeaseDatabase

  public func join(_ description: NodeDescription) throws -> NodeNumber {
    try change { state in
      if let refusal = LeaseRefusal(description, among: Array(state.nodes.values)) { throw refusal }
      let number = state.table.join()
      state.heartbeats[number] = now()
      state.nodes[number] = NodeInfo(
        number: number, name: description.name, address: description.address, busVersion: description.busVersion,
        release: description.release)
      return number
    }
  }

  public func renew(_ node: NodeNumber) throws -> Renewal? {
    try state.withLock { state in
      if state.cut.contains(node) { throw Unreachable() }
      guard state.table.renew(node) else { return nil }
      state.heartbeats[node] = now()
      var signs: [NodeNumber: LifeSign] = [:]
      for other in state.table.nodeNumbers where other != node { signs[other] = state.table.sign(of: other) }
      return Renewal(version: state.version, signs: signs)
    }
  }

  public func remove(_ silent: [NodeNumber: LifeSign]) throws -> [NodeNumber] {
    change { state in
      let gone = silent.filter { state.table.expire($0.key, after: $0.value) == .gone }.keys.sorted()
      forget(gone, in: &state)
      return gone
    }
  }

  public func read() throws -> LeaseContents {
    state.withLock { state in
      LeaseContents(
        version: state.version, nodes: state.nodes.values.sorted { $0.number < $1.number },
        heartbeatAges: state.heartbeats.mapValues { now() - $0 },
        owners: Shard.all.map { ShardOwner(node: state.table[$0].owner, term: state.table[$0].term) })
    }
  }

  public func claim(_ shards: [Shard], by node: NodeNumber) throws -> [Shard: Int64] {
    let (terms, isLost) = try change { state in
      if state.cut.contains(node) { throw Unreachable() }
      return (state.table.claim(shards, by: node), state.losesClaimAnswers)
    }
    if isLost { throw Unreachable() }
    return terms
  }

  public func release(_ shards: [Shard], by node: NodeNumber) throws {
    try change { state in
      if state.cut.contains(node) { throw Unreachable() }
      for shard in shards { _ = state.table.release(shard, by: node) }
    }
  }

  public func markDraining(_ node: NodeNumber) throws -> Bool {
    change { state in
      guard let found = state.nodes[node] else { return false }
      state.nodes[node] = found.with(isDraining: true, isOnBus: found.isOnBus)
      return true
    }
  }

  public func markDraining(_ node: NodeNumber, ifStill version: Int64) throws -> Bool {
    let interposed = state.withLock { state in
      defer { state.interposed = nil }
      return state.interposed
    }
    try interposed?()
    let observers = state.withLock { state -> [@Sendable () -> Void]? in
      guard state.version == version, let found = state.nodes[node] else { return nil }
      state.nodes[node] = found.with(isDraining: true, isOnBus: found.isOnBus)
      state.version += 1
      return state.observers
    }
    for observer in observers ?? [] { observer() }
    return observers != nil
  }

  public func noteBus(of node: NodeNumber, isConnected: Bool) throws {
    try change { state in
      if state.cut.contains(node) { throw Unreachable() }
      guard let found = state.nodes[node] else { return }
      state.nodes[node] = found.with(isDraining: found.isDraining, isOnBus: isConnected)
    }
  }

  public func leave(_ node: NodeNumber) throws {
    try change { state in
      if state.cut.contains(node) { throw Unreachable() }
      _ = state.table.leave(node)
      forget([node], in: &state)
    }
  }

  public func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.observers.append(body) } }

  public func disconnect() {}

  // MARK: Faults

  /// Cuts a node off: its calls fail. Its lease ends by time.
  public func cut(_ node: NodeNumber) { state.withLock { _ = $0.cut.insert(node) } }

  /// Lets a node's calls through again.
  public func mend(_ node: NodeNumber) { state.withLock { _ = $0.cut.remove(node) } }

  /// Claims are performed, and their answers lost, until this is called with false.
  public func loseClaimAnswers(_ isLosing: Bool) { state.withLock { $0.losesClaimAnswers = isLosing } }

  /// Performs a body once, between what the next request to drain has read and its change.
  public func interpose(_ body: @escaping @Sendable () throws -> Void) { state.withLock { $0.interposed = body } }

  /// Removes a node at once, as if its lease had ended.
  public func expire(_ node: NodeNumber) {
    change { state in
      _ = state.table.leave(node)
      forget([node], in: &state)
    }
  }

  // MARK: Helpers

  private func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
    let (value, observers) = try state.withLock { state in
      let value = try body(&state)
      state.version += 1
      return (value, state.observers)
    }
    for observer in observers { observer() }
    return value
  }

  private func forget(_ nodes: [NodeNumber], in state: inout State) {
    for node in nodes { (state.nodes[node], state.heartbeats[node]) = (nil, nil) }
  }
}

extension NodeInfo {
  fileprivate func with(isDraining: Bool, isOnBus: Bool) -> NodeInfo {
    NodeInfo(
      number: number, name: name, address: address, busVersion: busVersion, release: release, isDraining: isDraining,
      isOnBus: isOnBus)
  }
}
