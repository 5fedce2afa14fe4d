import GroupModel
import GroupRuntime
import Logging
import Synchronization
import Testing
import ThrongTestKit

@testable import Cluster

/// The engine of the lease.
@Suite struct LeaseEngineTests {
  private let clocks = ManualClocks(at: 1_000_000)
  private let database: InMemoryLeaseDatabase
  private let shard = Shard(7)!
  /// The leases that `onLease` has heard of; -1 = a request to drain.
  private let leases = Leases()

  init() {
    let clocks = clocks
    database = InMemoryLeaseDatabase { clocks.wall }
  }

  private func started(_ name: String, busVersion: Int = 1) throws -> LeaseEngine {
    let engine = LeaseEngine(
      database, leaseDuration: .seconds(600), clocks: clocks, alarms: SystemAlarms(clocks: clocks),
      logger: Logger(label: "lease") { _ in SwiftLogNoOpLogHandler() })
    let leases = leases
    engine.onLease { number in leases.withLock { $0.append(number) } }
    engine.onDrainRequest { leases.withLock { $0.append(NodeNumber(-1)) } }
    try engine.start(as: NodeDescription(name: name, address: name, release: "r", busVersion: busVersion))
    return engine
  }

  private func counts(_ engines: [LeaseEngine]) -> [Int] {
    engines.map { engine in Shard.all.count { engine.leads($0, at: clocks.monotonic) } }
  }

  @Test func theFirstNodeLeadsAllShardsAndOthersGetTheirShare() async throws {
    let first = try started("first")
    try await waitUntil("the first has all") { counts([first]) == [Shard.count] }
    let second = try started("second")
    let third = try started("third")
    try await waitUntil("each has a third") { counts([first, second, third]).sorted() == [340, 342, 342] }
    #expect(first.view.nodes.values.map(\.name).sorted() == ["first", "second", "third"])
    for shard in Shard.all { #expect([first, second, third].count { $0.leads(shard, at: clocks.monotonic) } == 1) }
  }

  @Test func theShardsOfANodeThatHasGoneAreTakenOverAtOnce() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    await second.leave()
    #expect(counts([second]) == [0])
    try await waitUntil("the first has all") { counts([first]) == [Shard.count] }
    #expect(first.view.nodes.count == 1)
  }

  @Test func aNodeThatLostItsLeaseHasNothingTellsItAndJoinsAsAnother() async throws {
    let first = try started("first")
    let observer = Observer()
    first.observe(observer)
    let old = try #require(first.node)
    try await waitUntil("it has all") { counts([first]) == [Shard.count] }
    let term = first.shards.term(of: shard)
    database.expire(old)
    try await waitUntil("it is another node with all shards") { first.node ?? old > old && counts([first]) == [Shard.count] }
    try await waitUntil("the loss is told") { observer.lost == [old] }
    #expect(first.shards.term(of: shard) > term)
    #expect(leases.withLock { $0 } == [old, nil, first.node])
  }

  @Test func aNodeLeadsShardsWhoseClaimHadNoAnswer() async throws {
    let first = try started("first")
    try await waitUntil("it has all") { counts([first]) == [Shard.count] }
    let old = try #require(first.node)
    database.loseClaimAnswers(true)
    database.expire(old)
    try await waitUntil("it is another node, and leads what it claimed") {
      first.wake()
      return first.node ?? old > old && counts([first]) == [Shard.count]
    }
  }

  @Test func aNodeThatIsCutOffStopsByItsClockAndOthersTakeOverWhenTheLeaseHasEnded() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    let cut = try #require(second.node)
    database.cut(cut)
    clocks.advance(for: .seconds(501))
    #expect(counts([second]) == [0])
    // The first may have to see the last heartbeat of the second before it can count.
    try await waitUntil("the first has all") {
      clocks.advance(for: .seconds(100))
      first.wake()
      return counts([first]) == [Shard.count]
    }
    #expect(first.view.nodes[cut] == nil)
  }

  @Test func aShardIsReleasedWhenTheObserversLetItGoBehindItsLastCommit() async throws {
    let first = try started("first")
    try await waitUntil("it has all") { counts([first]) == [Shard.count] }
    let commits = Shard.all.map { ($0, first.beginCommit(under: $0)) }
    #expect(commits.allSatisfy { $0.1 != nil })
    let observer = Observer(holds: true)
    first.observe(observer)
    let second = try started("second")
    try await waitUntil("the observer is asked") { !observer.releasing.isEmpty }
    let leaving = observer.releasing
    // Nothing new is decided, but what was decided may still be committed.
    for shard in leaving {
      #expect(!first.leads(shard, at: clocks.monotonic) && first.view.owner(of: shard) == first.node)
      let term = try #require(first.beginCommit(under: shard))
      first.endCommit(under: shard, term: term)
    }
    observer.letGo()
    try await waitUntil("no commit begins any more") {
      let begun = leaving.map { ($0, first.beginCommit(under: $0)) }
      for case (let shard, let term?) in begun { first.endCommit(under: shard, term: term) }
      return begun.allSatisfy { $0.1 == nil }
    }
    #expect(leaving.allSatisfy { first.view.owner(of: $0) == first.node })
    for (shard, term) in commits { first.endCommit(under: shard, term: try #require(term)) }
    try await waitUntil("the second has them") { leaving.allSatisfy { second.leads($0, at: clocks.monotonic) } }
  }

  @Test func aDrainingNodeGivesEverythingBackAndKeepsItWhereNobodyCanTakeIt() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    await second.drain(until: .distantFuture)
    try await waitUntil("the first has all") { counts([first]) == [Shard.count] }
    #expect(second.view.shards(of: try #require(second.node)).isEmpty)
    // The last one keeps its shards until the deadline.
    await first.drain(until: clocks.monotonic)
    #expect(counts([first]) == [Shard.count])
    // Or until nobody needs them.
    let hasEnded = Mutex(false)
    async let drained: Void = {
      await first.drain(until: .distantFuture)
      hasEnded.withLock { $0 = true }
    }()
    try await waitUntil("the drain ends") {
      first.endDrain()
      return hasEnded.withLock { $0 }
    }
    await drained
    await first.leave()
    #expect(counts([first]) == [0])
  }

  @Test func aNodeThatAloneCannotReachTheBusLeavesAfterTheTimeOfALeaseAndComesBackWithTheBus()
    async throws
  {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    let isOnBus = Mutex(false)
    second.watchBus { isOnBus.withLock { $0 } }
    let cut = try #require(second.node)
    second.wake()
    try await waitUntil("the first knows") { first.view.nodes[cut]?.isOnBus == false }
    #expect(counts([first, second]) == [512, 512])
    // The lease itself goes on.
    for _ in 0..<2 {
      clocks.advance(for: .seconds(301))
      for engine in [first, second] { engine.wake() }
      try await waitUntil("both have renewed") {
        [first, second].allSatisfy { $0.leaseRemaining > .seconds(490) } || second.node == nil
      }
    }
    try await waitUntil("the first has all") { counts([first, second]) == [Shard.count, 0] }
    second.wake()
    #expect(second.node == nil && first.view.nodes.count == 1)
    isOnBus.withLock { $0 = true }
    second.wake()
    try await waitUntil("each has half again") { counts([first, second]) == [512, 512] }
    #expect(second.node ?? cut > cut)
  }

  @Test func nodesStayWhereNoNodeCanReachTheBus() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    for engine in [first, second] {
      engine.watchBus { false }
      engine.wake()
    }
    try await waitUntil("both know") {
      first.view.nodes.values.allSatisfy { !$0.isOnBus } && second.view.nodes == first.view.nodes
    }
    for _ in 0..<3 {
      clocks.advance(for: .seconds(300))
      for engine in [first, second] { engine.wake() }
      try await waitUntil("both have renewed") { [first, second].allSatisfy { $0.leaseRemaining > .seconds(490) } }
    }
    #expect(counts([first, second]) == [512, 512])
  }

  @Test(arguments: [(1, 3), (3, 1)])
  func aNodeOfAVersionTooFarAwayIsRefusedAndANeighbourIsNot(_ there: Int, _ joining: Int) throws {
    let first = try started("first", busVersion: there)
    let refusal = #expect(throws: LeaseRefusal.self) { _ = try started("other", busVersion: joining) }
    #expect(refusal?.description.contains("versions of the bus are \(joining) and \(there)") == true)
    #expect(try database.read().nodes.map(\.number) == [try #require(first.node)])
    let neighbour = try started("neighbour", busVersion: 2)
    #expect(try database.read().nodes.map(\.number) == [try #require(first.node), try #require(neighbour.node)])
  }

  @Test func nodesThatAllDrainTakeWhatTheOthersHaveGivenBack() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    async let one: Void = first.drain(until: .distantFuture)
    async let two: Void = second.drain(until: .distantFuture)
    // Nothing stays without an owner, whichever was faster.
    try await waitUntil("all drain, and lead everything") {
      first.view.nodes.values.allSatisfy(\.isDraining) && counts([first, second]).reduce(0, +) == Shard.count
    }
    await first.leave()
    try await waitUntil("the second has all") { counts([second]) == [Shard.count] }
    await second.leave()
    _ = await (one, two)
  }

  @Test func aNodeIsMarkedAsDrainingFromOutside() async throws {
    let (first, second) = (try started("first"), try started("second"))
    try await waitUntil("each has half") { counts([first, second]) == [512, 512] }
    #expect(try database.markDraining(try #require(second.node)))
    try await waitUntil("the first has all") { counts([first]) == [Shard.count] }
    #expect(try !database.markDraining(NodeNumber(99)))
    // The node is told once, and drains its sessions.
    #expect(leases.withLock { $0.count { $0 == NodeNumber(-1) } } == 1)
  }
}

private final class Leases: Sendable {
  private let kept = Mutex<[NodeNumber?]>([])
  func withLock<Value>(_ body: (inout [NodeNumber?]) -> Value) -> Value { kept.withLock { body(&$0) } }
}

/// Records what it is told, and keeps shards until it is told to let them go.
private final class Observer: ClusterObserver {
  private struct State {
    var lost: [NodeNumber] = []
    var releasing: [Shard] = []
    var waiting: [CheckedContinuation<Void, Never>] = []
    var holds: Bool
  }

  private let state: Mutex<State>

  init(holds: Bool = false) { state = Mutex(State(holds: holds)) }

  var lost: [NodeNumber] { state.withLock { $0.lost } }
  var releasing: [Shard] { state.withLock { $0.releasing } }

  func didChange(_ view: ClusterView, _ changes: ClusterChanges) {}

  func didLose(_ node: NodeNumber) { state.withLock { $0.lost.append(node) } }

  func willRelease(_ shards: [Shard]) async {
    await withCheckedContinuation { continuation in
      let holds = state.withLock { state in
        state.releasing += shards
        if state.holds { state.waiting.append(continuation) }
        return state.holds
      }
      if !holds { continuation.resume() }
    }
  }

  func letGo() {
    let waiting = state.withLock { state in
      defer { (state.holds, state.waiting) = (false, []) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
