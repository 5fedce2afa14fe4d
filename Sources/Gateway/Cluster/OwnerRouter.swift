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
    /// The node that has calls of a shard, and how many it has not answered.
    var sent: [Shard: (node: NodeNumber, count: Int)] = [:]
    var lastNumber: UInt64 = 0

    /// Whether a call would come behind those before it: a former owner may yet send some of them back.
    func mayLeave(by route: Route, of shard: Shard) -> Bool {
      guard let sent = sent[shard] else { return true }
      return route == .node(sent.node)
    }

    mutating func send(_ count: Int, of shard: Shard, by route: Route) {
      guard case .node(let node) = route, count > 0 else { return }
      sent[shard] = (node, count + (sent[shard]?.count ?? 0))
    }

    /// - Returns: whether the node has answered all calls of the shard.
    mutating func didAnswer(of shard: Shard) -> Bool {
      guard let (node, count) = sent[shard] else { return true }
      sent[shard] = count > 1 ? (node, count - 1) : nil
      return count <= 1
    }
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
  /// The calls that wait, and those of which other nodes have not answered.
  private let waitingCount = Atomic(0)
  private let sentCount = Atomic(0)
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
    let route = route(to: shard)
    if route == .here, waitingCount.load(ordering: .acquiring) == 0, sentCount.load(ordering: .acquiring) == 0 { return here() }
    let deadline = clocks.monotonic + OwnerRouter.ownerWait
    let (call, leaves) = state.withLock { state in
      state.lastNumber += 1
      let call = Call(
        number: state.lastNumber, deadline: deadline, request: request, mayWait: mayWait, here: here, completion: completion)
      let leaves = route != .nobody && state.waiting[shard] == nil && state.mayLeave(by: route, of: shard)
      if leaves { note(1, of: shard, by: route, in: &state) }
      return (call, leaves)
    }
    if leaves { attempt(call, at: shard, by: route) } else { wait(call, for: shard) }
  }

  private func note(_ count: Int, of shard: Shard, by route: Route, in state: inout State) {
    guard case .node = route else { return }
    state.send(count, of: shard, by: route)
    sentCount.wrappingAdd(count, ordering: .releasing)
  }

  /// Performs a call that counts as sent already, where it goes to another node.
  private func attempt(_ call: Call, at shard: Shard, by route: Route) {
    switch route {
    case .here: call.here()
    case .nobody: wait(call, for: shard)
    case .node(let node):
      requests.send(call.request, to: node, mayWait: call.mayWait, timeout: OwnerRouter.replyWait) { [self] outcome in
        switch outcome {
        case .reply(.reply(let reply)): didAnswer(call, of: shard, node, reply)
        case .reply(.rows(let rows)):
          if case .reply(let reply)? = rows.first {
            didAnswer(call, of: shard, node, reply)
          } else {
            didAnswer(call, of: shard, node, nil)
          }
        // Nothing was done: the request may look for the owner again.
        case .reply(.moved), .notSent: didAnswer(call, of: shard, node, nil)
        case .lost, .reply:
          // Rows are only read.
          guard case .call(_, let caller, _) = call.request else {
            return didAnswer(call, of: shard, node, .error(.temporary))
          }
          didLose.withLock { $0 }(caller)
          didAnswer(call, of: shard, node, .failure(.outcomeUnknown))
        }
      }
    }
  }

  /// - Parameter reply: nil = the call looks for the owner again.
  private func didAnswer(_ call: Call, of shard: Shard, _ node: NodeNumber, _ reply: Reply?) {
    // It waits before the later ones are let go.
    if reply == nil { wait(call, for: shard) }
    let isLast = state.withLock { $0.didAnswer(of: shard) }
    sentCount.wrappingSubtract(1, ordering: .releasing)
    if let reply { call.completion(reply) }
    // Another owner may be known already. The same node would send them back until its news has come.
    if isLast, waitingCount.load(ordering: .acquiring) > 0, route(to: shard) != .node(node) {
      retry(shard, at: clocks.monotonic)
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

  /// In the order of the calls' numbers: one that was refused elsewhere comes back before later ones.
  private func wait(_ call: Call, for shard: Shard) {
    guard clocks.monotonic < call.deadline, waitingCount.load(ordering: .relaxed) < OwnerRouter.maxWaiting else {
      return call.completion(.error(.temporary))
    }
    state.withLock { state in
      let index = state.waiting[shard]?.firstIndex { $0.number > call.number }
      if let index { state.waiting[shard]?.insert(call, at: index) } else { state.waiting[shard, default: []].append(call) }
      waitingCount.wrappingAdd(1, ordering: .releasing)
    }
  }

  /// Sends what waits and has an owner now, and refuses what has waited for too long. Called after each
  /// change of owners or links, and with each tick.
  func retry(at now: MonotonicInstant) {
    guard waitingCount.load(ordering: .acquiring) > 0 else { return }
    for shard in state.withLock({ Array($0.waiting.keys) }) { retry(shard, at: now) }
  }

  private func retry(_ shard: Shard, at now: MonotonicInstant) {
    let route = route(to: shard)
    // A call that comes while these are attempted must not overtake them.
    guard let (calls, late) = beginRetry(of: shard, at: now, by: route) else { return }
    for call in late { call.completion(.error(.temporary)) }
    for call in calls { attempt(call, at: shard, by: route) }
    endRetry(of: shard, calls.count + late.count)
  }

  /// - Returns: the calls to attempt, and those that have waited for too long, which still count; nil where
  ///   another thread has them.
  private func beginRetry(
    of shard: Shard, at now: MonotonicInstant, by route: Route
  ) -> (calls: Deque<Call>, late: Deque<Call>)? {
    state.withLock { state in
      guard let calls = state.waiting[shard], state.retrying.insert(shard).inserted else { return nil }
      guard route != .nobody, state.mayLeave(by: route, of: shard) else {
        state.waiting[shard] = calls.filter { $0.deadline > now }
        return ([], calls.filter { $0.deadline <= now })
      }
      state.waiting[shard] = []
      note(calls.count, of: shard, by: route, in: &state)
      return (calls, [])
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
