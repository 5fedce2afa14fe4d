import Cluster
import Synchronization

/// The buses of several nodes in one process, and the faults of a network on demand.
public final class InProcessNetwork: Sendable {
  /// Chooses messages; nil = any.
  public struct Match: Sendable {
    let from: String?
    let to: String?
    let subject: String?

    /// - Parameters:
    ///   - from: the publisher's name.
    ///   - to: the subscriber's name.
    ///   - subject: a part of the subject.
    public init(from: String? = nil, to: String? = nil, subject: String? = nil) {
      (self.from, self.to, self.subject) = (from, to, subject)
    }

    fileprivate func includes(from: String, to: String, _ subject: BusSubject) -> Bool {
      (self.from ?? from) == from && (self.to ?? to) == to && (self.subject.map { subject.rawValue.contains($0) } ?? true)
    }
  }

  fileprivate struct Subscriber {
    let id: Int
    let node: String
    let queue: SubscriberQueue
  }

  fileprivate struct Held {
    let match: Match
    var messages: [(subscriber: Subscriber, bytes: [UInt8])] = []
  }

  fileprivate struct State {
    var subscribers: [BusSubject: [Subscriber]] = [:]
    var lastID = 0
    var cut: Set<String> = []
    var drops: [(match: Match, count: Int)] = []
    var held: Held?
    var counters: [String: BusCounters] = [:]
  }

  private let state = Mutex(State())

  /// A network without faults.
  public init() {}

  /// The bus of a node.
  public func bus(_ node: String) -> InProcessBus { InProcessBus(self, node) }

  // MARK: Faults

  /// Drops the next messages that match.
  public func drop(next count: Int, _ match: Match) { state.withLock { $0.drops.append((match, count)) } }

  /// Keeps the messages that match, until `release`.
  public func hold(_ match: Match) { state.withLock { $0.held = Held(match: match) } }

  /// How many messages are kept.
  public var heldCount: Int { state.withLock { $0.held?.messages.count ?? 0 } }

  /// Delivers the kept messages, in their order.
  public func release() {
    state.withLock { state in
      for (subscriber, bytes) in state.held?.messages ?? [] { state.deliver(bytes, to: subscriber) }
      state.held = nil
    }
  }

  /// Cuts a node off: it can publish nothing, and what is sent to it is lost.
  public func cut(_ node: String) { state.withLock { _ = $0.cut.insert(node) } }

  /// Connects a node again: its subscribers hear that messages may be missing.
  public func mend(_ node: String) {
    state.withLock { state in
      guard state.cut.remove(node) != nil else { return }
      state.counters[node, default: BusCounters()].reconnects += 1
      for subscriber in state.subscribers.values.joined() where subscriber.node == node {
        state.counters[node]?.gaps += 1
        subscriber.queue.addGap()
      }
    }
  }

  // MARK: The buses' calls

  func isConnected(_ node: String) -> Bool { state.withLock { !$0.cut.contains(node) } }

  func counters(of node: String) -> BusCounters { state.withLock { $0.counters[node] ?? BusCounters() } }

  func publish(_ message: [UInt8], to subject: BusSubject, from node: String) throws(BusError) {
    guard message.count <= BusLimits.messageBytes else { throw .tooLong }
    let isSent = state.withLock { state in
      if state.cut.contains(node) {
        state.counters[node, default: BusCounters()].refusedMessages += 1
        return false
      }
      state.counters[node, default: BusCounters()].publishedMessages += 1
      state.counters[node]?.publishedBytes += message.count
      for subscriber in state.subscribers[subject] ?? [] where !state.drops(message, subject, from: node, to: subscriber.node) {
        if state.held?.match.includes(from: node, to: subscriber.node, subject) == true {
          state.held?.messages.append((subscriber, message))
        } else {
          state.deliver(message, to: subscriber)
        }
      }
      return true
    }
    if !isSent { throw .disconnected }
  }

  func subscribe(
    _ node: String, to subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) -> SubscriberQueue {
    state.withLock { state in
      state.lastID += 1
      let id = state.lastID
      let queue = SubscriberQueue(subject, receive: receive) { [weak self] in
        self?.state.withLock { state in state.subscribers[subject]?.removeAll { $0.id == id } }
      }
      state.subscribers[subject, default: []].append(Subscriber(id: id, node: node, queue: queue))
      return queue
    }
  }

  func unsubscribe(_ node: String) {
    for queue in state.withLock({ state in state.subscribers.values.joined().filter { $0.node == node }.map(\.queue) }) {
      queue.cancel()
    }
  }
}

extension InProcessNetwork.State {
  fileprivate mutating func drops(_ message: [UInt8], _ subject: BusSubject, from: String, to: String) -> Bool {
    if from != to, cut.contains(to) { return true }
    guard let index = drops.firstIndex(where: { $0.match.includes(from: from, to: to, subject) }) else { return false }
    drops[index].count -= 1
    if drops[index].count == 0 { drops.remove(at: index) }
    return true
  }

  fileprivate mutating func deliver(_ message: [UInt8], to subscriber: InProcessNetwork.Subscriber) {
    counters[subscriber.node, default: BusCounters()].receivedMessages += 1
    counters[subscriber.node]?.receivedBytes += message.count
    if !subscriber.queue.add(message) { counters[subscriber.node]?.gaps += 1 }
  }
}

extension ClusterKey {
  /// The key of all nodes in tests.
  public static let ofTests = ClusterKey(number: 1, secret: Array(0..<32))
}

/// The bus of one node of an `InProcessNetwork`.
public final class InProcessBus: Bus, Sendable {
  private let network: InProcessNetwork
  /// The node's name, which faults choose by.
  public let name: String
  private let isClosed = Atomic<Bool>(false)

  init(_ network: InProcessNetwork, _ name: String) {
    self.network = network
    self.name = name
  }

  public var isConnected: Bool { network.isConnected(name) && !isClosed.load(ordering: .acquiring) }

  public var counters: BusCounters { network.counters(of: name) }

  public func publish(_ message: [UInt8], to subject: BusSubject) throws(BusError) {
    if isClosed.load(ordering: .acquiring) { throw .closed }
    try network.publish(message, to: subject, from: name)
  }

  public func subscribe(
    to subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) async throws(BusError) -> any BusSubscription {
    if isClosed.load(ordering: .acquiring) { throw .closed }
    guard network.isConnected(name) else { throw .disconnected }
    return network.subscribe(name, to: subject, receive)
  }

  public func close() async {
    isClosed.store(true, ordering: .releasing)
    network.unsubscribe(name)
  }
}
