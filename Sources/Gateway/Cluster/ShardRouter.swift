import Cluster
import DequeModule
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Brings each request to the owner of its shard: to this node, to another one, or, while nobody has
/// the shard, into a queue for at most a second (Cluster.md, "The path of a request").
package final class ShardRouter: GroupLeadership, Sendable {
  /// Where a shard's requests go now.
  enum Route: Sendable, Equatable {
    case here
    case node(NodeNumber)
    case nobody
  }

  private struct State {
    /// By the number of the shard: each request changes one twice, where it stands.
    private var queues = [CallQueue](repeating: CallQueue(), count: Shard.count)
    var waitingCount = 0
    var lastNumber: UInt64 = 0
    var sends = AwaitedSends()

    mutating func withQueue<Result>(of shard: Shard, _ body: (inout CallQueue) -> Result) -> Result {
      waitingCount -= queues[shard.number].waitingCount
      defer { waitingCount += queues[shard.number].waitingCount }
      return body(&queues[shard.number])
    }

    /// The shards with calls that wait.
    var waitingShards: [Shard] {
      if waitingCount == 0 { return [] }
      return Shard.all.filter { queues[$0.number].hasWaiting }
    }
  }

  /// How long a request waits for an owner.
  static let routeWait = Duration.seconds(1)
  /// How long a request that may have been performed waits for the next owner: longer than a lease, and the
  /// claim behind it.
  static let repeatWait = Duration.seconds(10)
  /// How long a request waits for the owner's reply; a link that is lost ends the wait before.
  static let replyWait = Duration.seconds(20)
  /// The most requests that wait for owners.
  static let maxWaiting = 50_000

  private let shards: ShardMap
  private let links: ClusterLinks
  private let requests: RemoteRequests
  private let clocks: any Clocks
  private let state = Mutex(State())
  /// The calls of each shard that are not done, but for those that a node performs and will not send back.
  private let inFlight = ShardCounts()
  private let isServing = Atomic(false)
  private let didLose = Mutex<@Sendable (Caller) -> Void>({ _ in })
  private let repeatedAnswers = Atomic(0)
  private let repeatedLosses = Atomic(0)

  init(shards: ShardMap, links: ClusterLinks, requests: RemoteRequests, clocks: any Clocks) {
    self.shards = shards
    self.links = links
    self.requests = requests
    self.clocks = clocks
  }

  /// How many requests wait for an owner, or for the shard's others.
  var waitingCount: Int { state.withLock { $0.waitingCount } }

  // MARK: Ownership

  /// This node; nil while it belongs to no cluster.
  var ownNode: NodeNumber? { shards.ownNode }

  package func leads(_ group: GroupID) -> Bool { leads(Shard(of: group)) }

  /// Whether this node may decide for a shard now, and groups under it would find all sessions.
  func leads(_ shard: Shard) -> Bool {
    isServing.load(ordering: .acquiring) && shards.term(of: shard, at: clocks.monotonic) != nil
  }

  /// Whether this node hears all others.
  func setServing(_ isServing: Bool) { self.isServing.store(isServing, ordering: .releasing) }

  /// Whether a node decides for the group, and this one reaches it.
  func isReachable(_ group: GroupID) -> Bool {
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
      if leads(id) { return id }
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
  /// - Parameters:
  ///   - mayWait: for up to 20 ms, so that it shares a frame with others.
  ///   - repetition: nil = it must not be performed twice.
  func perform(
    _ request: RemoteRequest, at shard: Shard, mayWait: Bool = false, repetition: CallRepetition? = nil,
    here: @escaping @Sendable () -> Void,
    _ completion: @escaping @Sendable (Reply) -> Void
  ) {
    let route = route(to: shard)
    if route == .here, inFlight.isZero(shard) { return here() }
    inFlight.add(1, to: shard)
    let deadline = clocks.monotonic + ShardRouter.routeWait
    let (call, step) = state.withLock { state -> (RoutedCall, Step) in
      state.lastNumber += 1
      let call = RoutedCall(
        number: state.lastNumber, deadline: deadline, request: request, mayWait: mayWait, here: here, repetition: repetition,
        completion: completion)
      if let send = call.awaitedSend { state.sends.begin(send) }
      let isFull = state.waitingCount >= ShardRouter.maxWaiting
      let step = state.withQueue(of: shard) { queue -> Step in
        if let flight = queue.leave(call.number, by: route) { return .leave(flight) }
        if isFull { return .refuse }
        queue.wait(call)
        return .wait
      }
      return (call, step)
    }
    switch step {
    case .leave(let flight): attempt(call, at: shard, by: route, flight)
    case .refuse: finish(call, of: shard, .error(.temporary))
    case .wait: askForAnswers(of: shard, by: route)
    }
  }

  private enum Step {
    case leave(UInt64)
    case wait
    case refuse
  }

  private func finish(_ call: RoutedCall, of shard: Shard, _ reply: Reply) {
    inFlight.add(-1, to: shard)
    endWait(for: call)
    call.completion(reply)
  }

  private func endWait(for call: RoutedCall) {
    if let send = call.awaitedSend { state.withLock { $0.sends.end(send) } }
  }

  /// Performs a call that may leave.
  private func attempt(_ call: RoutedCall, at shard: Shard, by route: Route, _ flight: UInt64) {
    switch route {
    case .here:
      endWait(for: call)
      call.here()
      inFlight.add(-1, to: shard)
    // `CallQueue.mayLeave` lets none leave by this route.
    case .nobody: preconditionFailure("a call leaves for somebody")
    case .node(let node):
      requests.send(call.request, to: node, mayWait: call.mayWait, timeout: ShardRouter.replyWait) { [self] outcome in
        switch outcome {
        case .reply(.reply(let reply)):
          if call.wasLost, case .call(_, let caller, _) = call.request { noteRepeated(reply, by: caller) }
          didAnswer(call, of: shard, flight, reply)
        case .reply(.rows(let rows)):
          if case .reply(let reply)? = rows.first {
            didAnswer(call, of: shard, flight, reply)
          } else {
            didSendBack(call, of: shard, node, flight)
          }
        // Nothing was done: the request may look for the owner again.
        case .reply(.moved), .notSent: didSendBack(call, of: shard, node, flight)
        case .lost, .reply:
          guard case .call(_, let caller, _) = call.request else {
            return didAnswer(call, of: shard, flight, call.request.writes ? .failure(.outcomeUnknown) : .error(.temporary))
          }
          if let again = call.repeated(at: clocks.monotonic) {
            noteLost(again)
            return didSendBack(again, of: shard, node, flight)
          }
          if call.wasLost { noteRepeated(.failure(.outcomeUnknown), by: caller) } else { didLose.withLock { $0 }(caller) }
          didAnswer(call, of: shard, flight, .failure(.outcomeUnknown))
        }
      }
    }
  }

  // MARK: Calls that are asked again

  /// The answer to a request that an earlier owner may have performed. One that cannot be told ends the
  /// session, as the loss itself would have.
  func noteRepeated(_ reply: Reply, by caller: Caller) {
    if case .failure(.outcomeUnknown) = reply {
      repeatedLosses.wrappingAdd(1, ordering: .relaxed)
      didLose.withLock { $0 }(caller)
    } else {
      repeatedAnswers.wrappingAdd(1, ordering: .relaxed)
    }
  }

  private func noteLost(_ call: RoutedCall) {
    guard let send = call.awaitedSend else { return }
    let now = clocks.monotonic
    state.withLock { $0.sends.lose(send, at: now) }
  }

  /// How many requests were asked again, and answered, or not.
  var repeatedCounts: (answered: Int, unknown: Int) {
    (repeatedAnswers.load(ordering: .relaxed), repeatedLosses.load(ordering: .relaxed))
  }

  private func refuse(_ call: RoutedCall, of shard: Shard) {
    guard call.wasLost, case .call(_, let caller, _) = call.request else { return finish(call, of: shard, .error(.temporary)) }
    let reply = Reply.failure(.outcomeUnknown)
    noteRepeated(reply, by: caller)
    finish(call, of: shard, reply)
  }

  private func didAnswer(_ call: RoutedCall, of shard: Shard, _ flight: UInt64, _ reply: Reply) {
    let (counts, mustRetry) = state.withLock { state -> (Bool, Bool) in
      if let send = call.awaitedSend { state.sends.end(send) }
      return state.withQueue(of: shard) { queue in
        let (counts, isLast) = queue.didAnswer(flight)
        return (counts, isLast && queue.hasWaiting)
      }
    }
    if counts { inFlight.add(-1, to: shard) }
    call.completion(reply)
    if mustRetry { retry(shard, at: clocks.monotonic) }
  }

  private func didSendBack(_ call: RoutedCall, of shard: Shard, _ node: NodeNumber, _ flight: UInt64) {
    let isLate = clocks.monotonic >= call.deadline
    let (counts, isLast, isRefused) = state.withLock { state in
      let isRefused = isLate || state.waitingCount >= ShardRouter.maxWaiting
      return state.withQueue(of: shard) { queue in
        // It waits before the later ones are let go.
        if !isRefused { queue.wait(call) }
        let (counts, isLast) = queue.didAnswer(flight)
        return (counts, isLast, isRefused)
      }
    }
    if !counts { inFlight.add(1, to: shard) }
    if isRefused { refuse(call, of: shard) }
    // Another owner may be known already. The same node would send them back until its news has come.
    if isLast, route(to: shard) != .node(node) { retry(shard, at: clocks.monotonic) }
  }

  /// Calls wait for those that a node may yet send back: it says in the order of its link that it has
  /// sent back all. What it has begun to perform is not waited for.
  private func askForAnswers(of shard: Shard, by route: Route) {
    guard let (node, flight) = state.withLock({ $0.withQueue(of: shard) { $0.nodeToAsk(by: route) } }) else { return }
    requests.send(.uptime, to: node, timeout: ShardRouter.routeWait) { [self] _ in
      let count = state.withLock { $0.withQueue(of: shard) { $0.didHear(flight) } }
      // Otherwise it has answered all of them, and what follows was decided then.
      guard count > 0 else { return }
      inFlight.add(-count, to: shard)
      retry(shard, at: clocks.monotonic)
    }
  }

  /// Asks a node for rows of its groups.
  /// - Returns: the answers to the first rows. All have moved where the node does not hear this one.
  func rows(_ rows: [RowRequest], of node: NodeNumber, by caller: Caller) async -> [RowReply] {
    switch await requests.outcome(of: .rows(rows, by: caller), to: node, timeout: ShardRouter.replyWait) {
    case .reply(.rows(let replies)): replies
    case .notSent: []
    case .reply, .lost: rows.map { _ in .reply(.error(.temporary)) }
    }
  }

  /// Sends what waits and has an owner now, and refuses what has waited for too long. Called after each
  /// change of owners or links, and with each tick.
  func retry(at now: MonotonicInstant) {
    for shard in state.withLock({ $0.waitingShards }) { retry(shard, at: now) }
  }

  private func retry(_ shard: Shard, at now: MonotonicInstant) {
    let route = route(to: shard)
    // Calls that come while a batch leaves must not overtake it.
    while let batch = beginBatch(of: shard, by: route) {
      send(batch, of: shard, by: route)
      guard state.withLock({ $0.withQueue(of: shard) { $0.endBatch() } }) else { break }
    }
    for call in state.withLock({ $0.withQueue(of: shard) { $0.removeLate(at: now) } }) { refuse(call, of: shard) }
    askForAnswers(of: shard, by: route)
  }

  private func beginBatch(of shard: Shard, by route: Route) -> CallQueue.Batch? {
    state.withLock { state in
      // No call has this number.
      state.lastNumber += 1
      let flight = state.lastNumber
      return state.withQueue(of: shard) { $0.beginBatch(by: route, flight) }
    }
  }

  private func send(_ batch: CallQueue.Batch, of shard: Shard, by route: Route) {
    for call in batch.calls {
      // Where one before it has come back at once, the rest follows.
      let (mayGoOn, counts) = state.withLock { state in
        state.withQueue(of: shard) { queue -> (Bool, Bool) in
          if queue.mayGoOn(call) { return (true, true) }
          queue.wait(call)
          return (false, batch.flight == 0 || queue.didAnswer(batch.flight).counts)
        }
      }
      if mayGoOn { attempt(call, at: shard, by: route, batch.flight) }
      if !counts { inFlight.add(1, to: shard) }
    }
  }
}

extension ShardRouter: AwaitedSenders {
  func awaitedSend(_ sender: UserID, _ clientMsgID: String, in group: GroupID) -> SessionKey? {
    let send = NamedSend(sender: sender, clientMsgID: clientMsgID, group: group)
    return state.withLock { $0.sends.session(of: send) }
  }
}

/// The sessions that wait for the replies to their sends. An event that is told again may tell of such a send,
/// before its owner is known to be lost, or behind the reply of the next: each gets the reply alone.
private struct AwaitedSends {
  /// Longer than a call that is asked again waits, and a group for what it missed.
  private static let lifetime = Duration.seconds(30)
  /// Beyond, a sender gets its own event, too.
  private static let maxLost = 50_000

  /// Those that were not lost; as many as calls are under way.
  private var waiting: [NamedSend: SessionKey] = [:]
  private var lost: [NamedSend: SessionKey] = [:]
  private var order: Deque<(send: NamedSend, end: MonotonicInstant)> = []

  mutating func begin(_ send: AwaitedSend) { waiting[send.send] = send.session }

  mutating func end(_ send: AwaitedSend) {
    // Another session may repeat it.
    if waiting[send.send] == send.session { waiting[send.send] = nil }
  }

  mutating func lose(_ send: AwaitedSend, at now: MonotonicInstant) {
    end(send)
    while let first = order.first, first.end <= now {
      order.removeFirst()
      lost[first.send] = nil
    }
    guard order.count < AwaitedSends.maxLost, lost.updateValue(send.session, forKey: send.send) == nil else { return }
    order.append((send.send, now + AwaitedSends.lifetime))
  }

  func session(of send: NamedSend) -> SessionKey? { waiting[send] ?? lost[send] }
}

/// A number for each shard, without a lock.
private final class ShardCounts: Sendable {
  /// nonisolated(unsafe): allocated and freed with this object, and the entries are atomics.
  private nonisolated(unsafe) let counts: UnsafeMutablePointer<Atomic<Int>>

  /// All 0.
  init() {
    counts = .allocate(capacity: Shard.count)
    for number in 0..<Shard.count { (counts + number).initialize(to: Atomic(0)) }
  }

  deinit {
    counts.deinitialize(count: Shard.count)
    counts.deallocate()
  }

  func isZero(_ shard: Shard) -> Bool { counts[shard.number].load(ordering: .acquiring) == 0 }

  func add(_ number: Int, to shard: Shard) { counts[shard.number].wrappingAdd(number, ordering: .acquiringAndReleasing) }
}
