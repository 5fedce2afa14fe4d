import Cluster
import DequeModule
import GroupModel
import GroupRuntime
import WireProtocol

/// A request on its way to the owner of its shard.
struct RoutedCall: Sendable {
  /// Calls of one shard are performed in the order of their numbers.
  let number: UInt64
  /// Until when it waits for an owner.
  var deadline: MonotonicInstant
  var request: RemoteRequest
  let mayWait: Bool
  /// Performs it on this node.
  var here: @Sendable () -> Void
  /// Nil = it must not be performed twice.
  let repetition: CallRepetition?
  let completion: @Sendable (Reply) -> Void
  /// An owner may have performed it, and is gone, or its answer is.
  var wasLost = false

  /// Nil where no session waits for the reply to a send that can be asked for again.
  var awaitedSend: AwaitedSend? {
    guard let repetition, case .call(_, let caller, _) = request, let session = caller.session else { return nil }
    return AwaitedSend(send: repetition.send, session: session)
  }

  /// The call as it is asked once more.
  /// - Returns: nil where it must not be, or has been waiting for too long.
  func repeated(at now: MonotonicInstant) -> RoutedCall? {
    guard let repetition, case .call(let text, let caller, let shard) = request else { return nil }
    if wasLost { return now < deadline ? self : nil }
    var call = self
    call.wasLost = true
    call.deadline = now + ShardRouter.repeatWait
    call.request = .call(text, by: caller.repeating(), shard: shard)
    call.here = repetition.here
    return call
  }
}

/// How a call is performed a second time, where an owner may have performed it: a group knows a stored send
/// again by its `clientMsgID`.
struct CallRepetition: Sendable {
  let send: NamedSend
  /// Performs it on this node.
  let here: @Sendable () -> Void
}

/// A send, and the session that waits for its reply.
struct AwaitedSend: Sendable {
  let send: NamedSend
  let session: SessionKey
}

/// A send that its sender has named.
struct NamedSend: Sendable, Hashable {
  let sender: UserID
  let clientMsgID: String
  let group: GroupID
}

/// The calls of one shard that wait for an owner, and those that a node has and may yet send back. A
/// value: `ShardRouter` acts.
struct CallQueue: Sendable {
  /// Calls that a node has. It answers in the order of its link which of them it does not take.
  private struct Flight: Sendable {
    let node: NodeNumber
    /// Answers to calls of an earlier flight are not counted.
    let number: UInt64
    /// The number of the newest.
    var last: UInt64
    var count = 0
    /// The node was asked for an answer behind those of all of them.
    var isAsked = false
  }

  /// The calls that leave together.
  struct Batch: Sendable {
    var calls: Deque<RoutedCall> = []
    /// For `didAnswer`.
    var flight: UInt64 = 0
  }

  /// Ascending by number.
  private var waiting: Deque<RoutedCall> = []
  private var sent: Flight?
  /// A batch is leaving: later calls queue.
  private var isLeaving = false
  /// A call of the batch has come back meanwhile.
  private var hasReturned = false

  /// Nothing.
  init() {}

  var waitingCount: Int { waiting.count }
  var hasWaiting: Bool { !waiting.isEmpty }

  /// Whether a call of that number would come behind those before it.
  private func mayLeave(_ number: UInt64, by route: ShardRouter.Route) -> Bool {
    guard route != .nobody else { return false }
    guard let sent else { return true }
    // The answer that was asked for says nothing of calls that come behind.
    guard !sent.isAsked else { return false }
    // Another owner might perform it before one that this node sends back; so might the node itself, which
    // has refused one of before.
    return route == .node(sent.node) && number > sent.last
  }

  // MARK: Calls that leave

  /// Lets a new call leave, unless it has to wait.
  /// - Returns: the number of its flight.
  mutating func leave(_ number: UInt64, by route: ShardRouter.Route) -> UInt64? {
    guard waiting.isEmpty, !isLeaving, mayLeave(number, by: route) else { return nil }
    return note(1, through: number, by: route, number)
  }

  /// - Returns: the number of the flight; 0 for calls that no other node gets.
  private mutating func note(
    _ count: Int, through last: UInt64, by route: ShardRouter.Route, _ flight: UInt64
  ) -> UInt64 {
    guard case .node(let node) = route else { return 0 }
    var sent = sent ?? Flight(node: node, number: flight, last: last)
    sent.last = last
    sent.count += count
    self.sent = sent
    return sent.number
  }

  /// Takes all calls that wait, if they may leave: `endBatch` follows.
  /// - Parameter flight: a number that was never used.
  mutating func beginBatch(by route: ShardRouter.Route, _ flight: UInt64) -> Batch? {
    guard !isLeaving, let first = waiting.first, let last = waiting.last, mayLeave(first.number, by: route) else { return nil }
    isLeaving = true
    hasReturned = false
    let calls = waiting
    waiting = []
    return Batch(calls: calls, flight: note(calls.count, through: last.number, by: route, flight))
  }

  /// Whether the next call of the batch may leave: none before it has come back.
  func mayGoOn(_ call: RoutedCall) -> Bool { waiting.first.map { $0.number > call.number } ?? true }

  /// - Returns: whether calls wait that came while the batch left, and none has come back.
  mutating func endBatch() -> Bool {
    isLeaving = false
    return !waiting.isEmpty && !hasReturned
  }

  // MARK: Calls that wait

  mutating func wait(_ call: RoutedCall) {
    if isLeaving, let sent, call.number <= sent.last { hasReturned = true }
    // One that was refused elsewhere comes back before later ones.
    let index = waiting.lastIndex { $0.number < call.number }.map { $0 + 1 } ?? 0
    waiting.insert(call, at: index)
  }

  /// Removes the calls that have waited for too long.
  mutating func removeLate(at now: MonotonicInstant) -> Deque<RoutedCall> {
    guard waiting.contains(where: { $0.deadline <= now }) else { return [] }
    let late = waiting.filter { $0.deadline <= now }
    waiting.removeAll { $0.deadline <= now }
    return late
  }

  // MARK: Answers

  /// A node has answered a call, or sent it back.
  /// - Returns: whether the call counted, and was the last that the node had.
  mutating func didAnswer(_ flight: UInt64) -> (counts: Bool, isLast: Bool) {
    guard sent?.number == flight else { return (false, false) }
    sent?.count -= 1
    guard sent?.count == 0 else { return (true, false) }
    sent = nil
    return (true, true)
  }

  /// The node to ask for an answer behind those of all calls that it has, where calls wait for them.
  mutating func nodeToAsk(by route: ShardRouter.Route) -> (node: NodeNumber, flight: UInt64)? {
    guard !waiting.isEmpty, !isLeaving, route != .nobody, let sent, !sent.isAsked else { return nil }
    self.sent?.isAsked = true
    return (sent.node, sent.number)
  }

  /// The node will send no more calls back.
  /// - Returns: how many it is still performing.
  mutating func didHear(_ flight: UInt64) -> Int {
    guard let sent, sent.number == flight else { return 0 }
    self.sent = nil
    return sent.count
  }
}
