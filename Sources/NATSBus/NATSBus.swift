import Cluster
import Dispatch
import Foundation
import GroupModel
import Logging
import Synchronization

/// The bus over NATS servers, by nats.c. A connection that is lost is made again; subscribers then
/// hear that messages may be missing.
public final class NATSBus: Bus, Sendable {
  private struct State {
    /// Nil while there is no connection.
    var client: NATSClient?
    var connector = Connector()
    var isClosed = false
    var counters = BusCounters()
    var subscribers: [Int: Subscriber] = [:]
    var lastID = 0
  }

  private let address: NATSAddress
  private let cluster: String
  private let logger: Logger
  private let state = Mutex(State())
  /// Timers, by the monotonic clock. Nothing blocks it.
  private let control = DispatchQueue(label: "throng.bus.nats.control")
  private let queue = SendQueue("throng.bus.nats.send")
  private let parts = Mutex(MessageParts(publisher: RandomID.with64Bits()))
  private static let pingInterval = DispatchTimeInterval.seconds(1)
  /// So many unanswered pings end a connection. They are counted, not timed: a process that stood still
  /// has sent none.
  private static let maxUnansweredPings: UInt64 = 3
  /// How long an attempt to connect may take before another one begins.
  private static let attemptTime = DispatchTimeInterval.seconds(5)

  /// Connects, and blocks meanwhile.
  /// - Parameter cluster: stands before all subjects, so that clusters may share a server: a word of
  ///   letters, digits, `-` and `_`.
  public static func connect(_ address: NATSAddress, cluster: String, logger: Logger) throws(NATSAddress.Fault) -> NATSBus {
    let bus = NATSBus(address, cluster: cluster, logger: logger)
    let number = bus.state.withLock { $0.connector.begin() }
    let client = try bus.makeClient(number)
    _ = bus.adopt(client, number)
    bus.state.withLock { $0.connector.end() }
    bus.schedulePing()
    return bus
  }

  private init(_ address: NATSAddress, cluster: String, logger: Logger) {
    self.address = address
    self.cluster = cluster
    self.logger = logger
    queue.onSend { [weak self] batch in self?.send(batch) ?? batch.count }
  }

  /// - Parameter number: of the attempt.
  private func makeClient(_ number: UInt64) throws(NATSAddress.Fault) -> NATSClient {
    try NATSClient(address, cluster: cluster) { [weak self] event in self?.noteEvent(event, of: number) }
  }

  // MARK: Bus

  public var isConnected: Bool { queue.isConnected }

  public var counters: BusCounters {
    var counters = state.withLock { $0.counters }
    queue.count(into: &counters)
    return counters
  }

  public func publish(_ message: [UInt8], to subject: BusSubject) throws(BusError) { try queue.add(message, to: subject) }

  public var sendingQueue: DispatchQueue? { queue.queue }

  public func subscribe(
    to subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) async throws(BusError) -> any BusSubscription {
    let made = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: self.addSubscriber(subject, receive)) }
    }
    return try made.get()
  }

  public func close() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.end()
        continuation.resume()
      }
    }
  }

  private func name(of subject: BusSubject) -> String { "\(cluster).\(subject)" }

  // MARK: Sending

  /// - Returns: how many messages were not written.
  private func send(_ batch: [SendQueue.Outgoing]) -> Int {
    guard let client = state.withLock({ $0.client }) else { return batch.count }
    return batch.count { !send($0, client) }
  }

  /// A message that is not written is lost, like one that the server loses: receivers count.
  private func send(_ outgoing: SendQueue.Outgoing, _ client: NATSClient) -> Bool {
    let subject = name(of: outgoing.subject)
    return parts.withLock { $0.divide(outgoing.message, limit: client.maxPayload) }.allSatisfy {
      client.publish($0.bytes, to: subject, reply: $0.name) == nil
    }
  }

  // MARK: Subscribers

  private func addSubscriber(
    _ subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) -> Result<any BusSubscription, BusError> {
    // A connection that is made from here on tells it of a gap.
    let (client, subscriber, number) = state.withLock { state -> (NATSClient?, Subscriber?, UInt64) in
      guard let client = state.client else { return (nil, nil, 0) }
      state.lastID += 1
      let id = state.lastID
      let subscriber = Subscriber(name(of: subject), receive) { [weak self] delivery in
        self?.note(delivery)
      } didCancel: { [weak self] in
        self?.state.withLock { _ = $0.subscribers.removeValue(forKey: id) }
      }
      state.subscribers[id] = subscriber
      return (client, subscriber, state.connector.number)
    }
    guard let client, let subscriber else { return .failure(state.withLock { $0.isClosed } ? .closed : .disconnected) }
    guard subscriber.attach(to: client, number), client.confirm() else {
      subscriber.cancel()
      return .failure(.disconnected)
    }
    return .success(subscriber)
  }

  private func note(_ delivery: Subscriber.Delivery) {
    state.withLock { state in
      switch delivery {
      case .message(let bytes):
        state.counters.receivedMessages += 1
        state.counters.receivedBytes += bytes.count
      case .gap: state.counters.gaps += 1
      case .strange: state.counters.strangeMessages += 1
      }
    }
  }

  private func tellGap() {
    for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.tellGap() }
  }

  // MARK: The connection

  private func noteEvent(_ event: NATSClient.Event, of number: UInt64) {
    guard state.withLock({ $0.connector.isCurrent(number) && !$0.isClosed }) else { return }
    switch event {
    case .slowSubscriber:
      logger.warning("messages of the bus were dropped: a subscriber is too slow")
      tellGap()
    case .refused(let text): logger.warning("the bus has refused something", metadata: ["error": "\(text)"])
    case .closed: lose(number)
    }
  }

  /// The connection has ended, or does not answer: another one is made.
  private func lose(_ number: UInt64) {
    let lost = state.withLock { state -> NATSClient? in
      guard state.connector.isCurrent(number), !state.isClosed else { return nil }
      return state.client.take()
    }
    guard let lost else { return }
    queue.isConnected = false
    logger.error("the bus is away", metadata: ["bus": "\(address.shown)"])
    discard(lost)
    control.async { self.reconnect() }
  }

  /// The end of a connection may block.
  private func discard(_ client: NATSClient) {
    DispatchQueue.global().async { withExtendedLifetime(client) {} }
  }

  /// Begins an attempt on a thread of its own: nats.c's time limits are those of the wall clock. One that
  /// takes too long is left to itself.
  private func reconnect() {
    let (isNeeded, number) = state.withLock { state -> (Bool, UInt64?) in
      if state.isClosed || state.client != nil { return (false, nil) }
      return (true, state.connector.mayBegin ? state.connector.begin() : nil)
    }
    guard isNeeded else { return }
    if let number { Thread.detachNewThread { self.attempt(number) } }
    control.asyncAfter(deadline: .now() + NATSBus.attemptTime) { [weak self] in
      guard let self, self.state.withLock({ $0.connector.isCurrent(number ?? $0.connector.number) }) else { return }
      self.reconnect()
    }
  }

  private func attempt(_ number: UInt64) {
    let fault: String
    do throws(NATSAddress.Fault) {
      let client = try makeClient(number)
      let subscribers = state.withLock { Array($0.subscribers.values) }
      if subscribers.allSatisfy({ $0.attach(to: client, number) }), client.confirm(), adopt(client, number) {
        state.withLock { $0.connector.end() }
        return
      }
      fault = "the connection was lost again"
    } catch {
      fault = error.description
    }
    let (isCurrent, isFirst) = state.withLock { state in
      state.connector.end()
      return (state.connector.isCurrent(number), state.connector.noteFault(of: number))
    }
    guard isCurrent else { return }
    if isFirst { logger.error("the bus cannot be reached", metadata: ["error": "\(fault)"]) }
    control.asyncAfter(deadline: .now() + .milliseconds(.random(in: 100...200))) { [weak self] in self?.reconnect() }
  }

  /// - Returns: false where the client is of no use.
  private func adopt(_ client: NATSClient, _ number: UInt64) -> Bool {
    let isFirst = state.withLock { state -> Bool? in
      guard state.connector.isCurrent(number), !state.isClosed, state.client == nil else { return nil }
      state.client = client
      defer { state.connector.noteSuccess() }
      if !state.connector.hasConnected { return true }
      state.counters.reconnects += 1
      return false
    }
    guard let isFirst else { return false }
    queue.isConnected = true
    if !isFirst {
      logger.notice("the bus is back", metadata: ["bus": "\(address.shown)"])
      tellGap()
    }
    // It may have ended before anybody could take note.
    if client.isClosed { lose(number) }
    return true
  }

  private func schedulePing() {
    control.asyncAfter(deadline: .now() + NATSBus.pingInterval) { [weak self] in
      guard let self, !self.state.withLock({ $0.isClosed }) else { return }
      self.checkLife()
      self.schedulePing()
    }
  }

  private func checkLife() {
    let (client, number) = state.withLock { ($0.client, $0.connector.number) }
    guard let client else { return }
    if client.unansweredPings >= NATSBus.maxUnansweredPings { return lose(number) }
    // One that blocks counts as unanswered.
    DispatchQueue.global().async { client.ping() }
  }

  private func end() {
    let (client, subscribers) = state.withLock { state in
      state.isClosed = true
      return (state.client, Array(state.subscribers.values))
    }
    queue.close()
    _ = client?.confirm()
    for subscriber in subscribers { subscriber.cancel() }
    // The connection ends with its last user.
    state.withLock { $0.client = nil }
  }
}

/// Counts the attempts to connect: only the newest one counts.
private struct Connector {
  /// More would wait for a wall clock that has stepped back.
  private static let maxAttempts = 4

  /// Of the newest attempt, or the connection that it has made.
  private(set) var number: UInt64 = 0
  private(set) var hasConnected = false
  /// Attempts whose threads have not ended.
  private var inFlight = 0
  private var hasTold = false

  var mayBegin: Bool { inFlight < Connector.maxAttempts }

  func isCurrent(_ number: UInt64) -> Bool { number == self.number }

  mutating func begin() -> UInt64 {
    inFlight += 1
    number += 1
    return number
  }

  mutating func end() { inFlight -= 1 }

  mutating func noteSuccess() { (hasConnected, hasTold) = (true, false) }

  /// - Returns: whether it is the first one of an absence.
  mutating func noteFault(of number: UInt64) -> Bool {
    guard isCurrent(number), !hasTold else { return false }
    hasTold = true
    return true
  }
}

/// One subscription, over all connections that the bus makes.
private final class Subscriber: BusSubscription, Sendable {
  enum Delivery: Sendable {
    case message([UInt8])
    case gap
    /// A part that fits nothing: anybody may have sent it. Whoever waits for the rest counts.
    case strange
  }

  private let subject: String
  private let receive: @Sendable (BusDelivery) -> Void
  private let note: @Sendable (Delivery) -> Void
  private let didCancel: @Sendable () -> Void
  /// Held during a delivery, because gaps come from another thread than messages.
  private let assembler = Mutex(MessageAssembler())
  private let native = Mutex<(connection: UInt64, subscription: NATSSubscription?)>((0, nil))
  private let isCancelled = Atomic<Bool>(false)

  init(
    _ subject: String, _ receive: @escaping @Sendable (BusDelivery) -> Void, note: @escaping @Sendable (Delivery) -> Void,
    didCancel: @escaping @Sendable () -> Void
  ) {
    self.subject = subject
    self.receive = receive
    self.note = note
    self.didCancel = didCancel
  }

  /// - Parameter connection: its number; an older one than the present takes nothing away.
  /// - Returns: false where it cannot hear.
  func attach(to client: NATSClient, _ connection: UInt64) -> Bool {
    let made = client.subscribe(
      to: subject, maxMessages: BusLimits.waitingMessages, maxBytes: BusLimits.waitingBytes
    ) { [weak self] name, bytes in self?.assemble(bytes, name) }
    guard let made else { return false }
    let (isNewest, former) = native.withLock { native -> (Bool, NATSSubscription?) in
      guard connection >= native.connection else { return (false, made) }
      defer { native = (connection, made) }
      return (true, native.subscription)
    }
    former?.cancel()
    // A cancellation meanwhile has found the former one.
    if isCancelled.load(ordering: .acquiring) { native.withLock { $0.subscription.take() }?.cancel() }
    return isNewest
  }

  private func assemble(_ bytes: UnsafeBufferPointer<UInt8>, _ name: String) {
    assembler.withLock { assembler in
      switch assembler.add(bytes, name) {
      case .whole(let message): deliver(.message(message))
      case .waits: break
      case .broken: note(.strange)
      }
    }
  }

  func tellGap() {
    assembler.withLock { assembler in
      assembler.reset()
      deliver(.gap)
    }
  }

  private func deliver(_ delivery: BusDelivery) {
    if isCancelled.load(ordering: .acquiring) { return }
    switch delivery {
    case .message(let bytes): note(.message(bytes))
    case .gap: note(.gap)
    }
    receive(delivery)
  }

  func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    native.withLock { $0.subscription.take() }?.cancel()
    didCancel()
  }
}
