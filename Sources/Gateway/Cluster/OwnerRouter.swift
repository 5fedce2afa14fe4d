import Cluster
import DequeModule
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Brings each request to the owner of its shard: to this node, to another one, or, while nobody has
/// the shard, into a queue for at most a second (Cluster.md, "The path of a request").
final class OwnerRouter: GroupOwnership, Sendable {
  /// A request on its way. Calls of one shard keep their order.
  private struct Call: Sendable {
    let number: UInt64
    let deadline: MonotonicInstant
    let request: RemoteRequest
    let mayWait: Bool
    /// Performs it on this node.
    let here: @Sendable () -> Void
    let completion: @Sendable (Reply) -> Void
  }

  /// Where a shard's requests go now.
  enum Route: Sendable, Equatable {
    case here
    case node(NodeNumber)
    case nobody
  }

  private struct State {
    var waiting: [Shard: Deque<Call>] = [:]
    /// Shards whose calls are being attempted again: they stay in `waiting`, so that later ones queue.
    var retrying: Set<Shard> = []
    var lastNumber: UInt64 = 0
  }

  /// How long a request waits for an owner.
  static let ownerWait = Duration.seconds(1)
  /// How long a request waits for the owner's reply; a link that is lost ends the wait before.
  static let replyWait = Duration.seconds(20)
  /// The most requests that wait for owners.
  static let maxWaiting = 50_000

  private let shards: ShardMap
  private let links: ClusterLinks
  private let requests: RemoteRequests
  private let clocks: any Clocks
  private let state = Mutex(State())
  private let waitingCount = Atomic(0)
  private let isServing = Atomic(false)
  private let didLose = Mutex<@Sendable (Caller) -> Void>({ _ in })

  init(shards: ShardMap, links: ClusterLinks, requests: RemoteRequests, clocks: any Clocks) {
    self.shards = shards
    self.links = links
    self.requests = requests
    self.clocks = clocks
  }

  // MARK: Ownership

  func owns(_ group: GroupID) -> Bool { leads(Shard(of: group)) }

  /// Whether this node may decide for a shard now, and groups under it would find all sessions.
  func leads(_ shard: Shard) -> Bool {
    isServing.load(ordering: .acquiring) && shards.epoch(of: shard, at: clocks.monotonic) != nil
  }

  /// Whether this node hears all others.
  func setServing(_ isServing: Bool) { self.isServing.store(isServing, ordering: .releasing) }

  /// Whether a node decides for the group, and this one reaches it.
  func hasOwner(_ group: GroupID) -> Bool {
    switch route(to: Shard(of: group)) {
    case .here, .node: true
    case .nobody: false
    }
  }

  /// A name whose shard is this node's, so that most new groups begin without a hop.
  func makeGroupID() -> GroupID {
    // Without a shard of its own, the node refuses whatever the name is.
    for _ in 0..<(16 * Shard.count) {
      let id = GroupID.generate()
      if owns(id) { return id }
    }
    return GroupID.generate()
  }

  /// A shard of this node, or else of any.
  func anyShard() -> Shard {
    let start = Int.random(in: 0..<Shard.count)
    let all = Shard.all
    let order = all[start...] + all[..<start]
    return order.first(where: leads) ?? order.first { shards.owner(of: $0) != nil } ?? all[start]
  }

  func route(to shard: Shard) -> Route {
    if leads(shard) { return .here }
    guard let owner = shards.owner(of: shard), owner != shards.ownNode, links.isUp(with: owner) else { return .nobody }
    return .node(owner)
  }

  // MARK: Webhooks

  /// Tells all nodes that after-events may wait in the store.
  func announceWebhooks() { links.sendToAll(.webhooksWait) }

  // MARK: Calls

  /// Sets the body that is told the caller of each request whose owner may or may not have performed it,
  /// before the request ends.
  func onLoss(_ body: @escaping @Sendable (Caller) -> Void) { didLose.withLock { $0 = body } }

  /// Performs a request at the owner of a shard.
  /// - Parameter mayWait: for up to 20 ms, so that it shares a frame with others.
  func perform(
    _ request: RemoteRequest, at shard: Shard, mayWait: Bool = false, here: @escaping @Sendable () -> Void,
    _ completion: @escaping @Sendable (Reply) -> Void
  ) {
    if waitingCount.load(ordering: .acquiring) == 0, leads(shard) { return here() }
    let call = state.withLock { state -> Call? in
      state.lastNumber += 1
      let call = Call(
        number: state.lastNumber, deadline: clocks.monotonic + OwnerRouter.ownerWait, request: request, mayWait: mayWait,
        here: here, completion: completion)
      guard state.waiting[shard] == nil else {
        guard waitingCount.load(ordering: .relaxed) < OwnerRouter.maxWaiting else { return call }
        enqueue(call, of: shard, in: &state)
        return nil
      }
      return call
    }
    if let call { attempt(call, at: shard) }
  }

  private func attempt(_ call: Call, at shard: Shard) {
    switch route(to: shard) {
    case .here: call.here()
    case .nobody: wait(call, for: shard)
    case .node(let node):
      requests.send(call.request, to: node, mayWait: call.mayWait, timeout: OwnerRouter.replyWait) { [self] outcome in
        switch outcome {
        case .reply(.reply(let reply)): call.completion(reply)
        case .reply(.rows(let rows)):
          if case .reply(let reply)? = rows.first { call.completion(reply) } else { wait(call, for: shard) }
        // Nothing was done: the request may look for the owner again.
        case .reply(.moved), .notSent: wait(call, for: shard)
        case .lost, .reply:
          // Rows are only read.
          guard case .call(_, let caller, _) = call.request else { return call.completion(.error(.temporary)) }
          didLose.withLock { $0 }(caller)
          call.completion(.failure(.outcomeUnknown))
        }
      }
    }
  }

  /// Asks a node for rows of its groups.
  /// - Returns: the answers to the first rows. All have moved where the node does not hear this one.
  func rows(_ rows: [RowRequest], of node: NodeNumber, by caller: Caller) async -> [RowReply] {
    switch await requests.outcome(of: .rows(rows, by: caller), to: node, timeout: OwnerRouter.replyWait) {
    case .reply(.rows(let replies)): replies
    case .notSent: []
    case .reply, .lost: rows.map { _ in .reply(.error(.temporary)) }
    }
  }

  private func wait(_ call: Call, for shard: Shard) {
    guard clocks.monotonic < call.deadline, waitingCount.load(ordering: .relaxed) < OwnerRouter.maxWaiting else {
      return call.completion(.error(.temporary))
    }
    state.withLock { enqueue(call, of: shard, in: &$0) }
  }

  /// In the order of their numbers: one that was refused elsewhere comes back before later ones.
  private func enqueue(_ call: Call, of shard: Shard, in state: inout State) {
    let index = state.waiting[shard]?.firstIndex { $0.number > call.number }
    if let index { state.waiting[shard]?.insert(call, at: index) } else { state.waiting[shard, default: []].append(call) }
    waitingCount.wrappingAdd(1, ordering: .releasing)
  }

  /// Sends what waits and has an owner now, and refuses what has waited for too long. Called after each
  /// change of owners or links, and with each tick.
  func retry(at now: MonotonicInstant) {
    guard waitingCount.load(ordering: .acquiring) > 0 else { return }
    for shard in state.withLock({ Array($0.waiting.keys) }) {
      // A call that comes while these are attempted must not overtake them.
      guard let calls = beginRetry(of: shard, at: now, hasOwner: route(to: shard) != .nobody) else { continue }
      for call in calls { attempt(call, at: shard) }
      endRetry(of: shard, calls.count)
    }
  }

  /// - Returns: the calls to attempt, which still count; nil where another thread has them.
  private func beginRetry(of shard: Shard, at now: MonotonicInstant, hasOwner: Bool) -> Deque<Call>? {
    state.withLock { state in
      guard let calls = state.waiting[shard], state.retrying.insert(shard).inserted else { return nil }
      let due = hasOwner ? calls : calls.filter { $0.deadline <= now }
      state.waiting[shard] = hasOwner ? [] : calls.filter { $0.deadline > now }
      return due
    }
  }

  private func endRetry(of shard: Shard, _ count: Int) {
    state.withLock { state in
      state.retrying.remove(shard)
      if state.waiting[shard]?.isEmpty == true { state.waiting[shard] = nil }
      waitingCount.wrappingSubtract(count, ordering: .releasing)
    }
  }
}
