import CNATS
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
    var client: NATSClient?
    var isClosed = false
    var counters = BusCounters()
    var subscribers: [Int: Subscriber] = [:]
    var lastID = 0
  }

  private let address: NATSAddress
  private let cluster: String
  private let logger: Logger
  private let state = Mutex(State())
  private let control = DispatchQueue(label: "throng.bus.nats.control")
  private let queue = SendQueue("throng.bus.nats.send")
  private let parts = Mutex(MessageParts(publisher: RandomID.with64Bits()))

  /// Connects, and blocks meanwhile.
  /// - Parameter cluster: stands before all subjects, so that clusters may share a server: a word of
  ///   letters, digits, `-` and `_`.
  public static func connect(_ address: NATSAddress, cluster: String, logger: Logger) throws(NATSAddress.Fault) -> NATSBus {
    let bus = NATSBus(address, cluster: cluster, logger: logger)
    let client = try bus.makeClient()
    bus.state.withLock { $0.client = client }
    return bus
  }

  private init(_ address: NATSAddress, cluster: String, logger: Logger) {
    self.address = address
    self.cluster = cluster
    self.logger = logger
    queue.onSend { [weak self] batch in self?.send(batch) ?? batch.count }
  }

  private func makeClient() throws(NATSAddress.Fault) -> NATSClient {
    try NATSClient(address, name: "throng \(cluster)") { [weak self] event, text in self?.noteEvent(event, text) }
  }

  // MARK: Bus

  public var isConnected: Bool { queue.isConnected }

  public var counters: BusCounters {
    var counters = state.withLock { $0.counters }
    queue.count(into: &counters)
    return counters
  }

  public func publish(_ message: [UInt8], to subject: BusSubject) throws(BusError) { try queue.add(message, to: subject) }

  public func subscribe(
    to subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) async throws(BusError) -> any BusSubscription {
    let made = await withCheckedContinuation { continuation in
      control.async { continuation.resume(returning: self.addSubscriber(subject, receive)) }
    }
    return try made.get()
  }

  public func close() async {
    await withCheckedContinuation { continuation in
      control.async {
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
    let (client, id) = state.withLock { state in
      state.lastID += 1
      return (state.client, state.lastID)
    }
    guard let client else { return .failure(.closed) }
    let subscriber = Subscriber(name(of: subject), receive) { [weak self] delivery in
      self?.note(delivery)
    } didCancel: { [weak self] in
      self?.state.withLock { _ = $0.subscribers.removeValue(forKey: id) }
    }
    // A reconnect from here on tells it of a gap.
    state.withLock { $0.subscribers[id] = subscriber }
    guard subscriber.attach(to: client) else {
      subscriber.cancel()
      return .failure(.disconnected)
    }
    return .success(subscriber)
  }

  private func note(_ delivery: BusDelivery) {
    state.withLock { state in
      switch delivery {
      case .message(let bytes):
        state.counters.receivedMessages += 1
        state.counters.receivedBytes += bytes.count
      case .gap: state.counters.gaps += 1
      }
    }
  }

  private func tellGap() {
    for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.tellGap() }
  }

  // MARK: Events

  private func noteEvent(_ event: cn_event, _ text: String) {
    switch event {
    case CN_DISCONNECTED:
      queue.isConnected = false
      if !state.withLock({ $0.isClosed }) { logger.error("the bus is away", metadata: ["bus": "\(address.shown)"]) }
    case CN_RECONNECTED:
      queue.isConnected = true
      state.withLock { $0.counters.reconnects += 1 }
      logger.notice("the bus is back", metadata: ["bus": "\(address.shown)"])
      tellGap()
    case CN_SLOW_SUBSCRIBER:
      logger.warning("messages of the bus were dropped: a subscriber is too slow")
      tellGap()
    case CN_CLOSED:
      queue.isConnected = false
      if !state.withLock({ $0.isClosed }) { control.async { self.reopen() } }
    default: logger.warning("the bus has refused something", metadata: ["error": "\(text)"])
    }
  }

  /// nats.c gives up where the server refuses the credentials twice. An operator may mend that.
  private func reopen() {
    if state.withLock({ $0.isClosed }) { return }
    do throws(NATSAddress.Fault) {
      let client = try makeClient()
      state.withLock { $0.client = client }
      attachAll(to: client)
    } catch {
      logger.error("the bus cannot be reached", metadata: ["error": "\(error)"])
      control.asyncAfter(deadline: .now() + .seconds(1)) { self.reopen() }
    }
  }

  /// Subscribes everything again, as often as it takes: a subscriber that is left out would hear
  /// nothing for ever.
  private func attachAll(to client: NATSClient) {
    let subscribers = state.withLock { $0.client === client ? Array($0.subscribers.values) : nil }
    guard let subscribers else { return }
    if subscribers.allSatisfy({ $0.attach(to: client) }) { return noteEvent(CN_RECONNECTED, "") }
    control.asyncAfter(deadline: .now() + .seconds(1)) { self.attachAll(to: client) }
  }

  private func end() {
    let (client, subscribers) = state.withLock { state in
      state.isClosed = true
      return (state.client, Array(state.subscribers.values))
    }
    queue.close()
    client?.flush()
    for subscriber in subscribers { subscriber.cancel() }
    // The connection ends with its last user.
    state.withLock { $0.client = nil }
  }
}

/// One subscription, over all connections that the bus makes.
private final class Subscriber: BusSubscription, Sendable {
  private let subject: String
  private let receive: @Sendable (BusDelivery) -> Void
  private let note: @Sendable (BusDelivery) -> Void
  private let didCancel: @Sendable () -> Void
  /// Held during a delivery, because gaps come from another thread than messages.
  private let assembler = Mutex(MessageAssembler())
  private let native = Mutex<NATSSubscription?>(nil)
  private let isCancelled = Atomic<Bool>(false)

  init(
    _ subject: String, _ receive: @escaping @Sendable (BusDelivery) -> Void, note: @escaping @Sendable (BusDelivery) -> Void,
    didCancel: @escaping @Sendable () -> Void
  ) {
    self.subject = subject
    self.receive = receive
    self.note = note
    self.didCancel = didCancel
  }

  func attach(to client: NATSClient) -> Bool {
    let made = client.subscribe(
      to: subject, maxMessages: BusLimits.waitingMessages, maxBytes: BusLimits.waitingBytes
    ) { [weak self] name, bytes in self?.assemble(bytes, name) }
    guard let made else { return false }
    native.withLock { native in
      defer { native = made }
      return native
    }?.cancel()
    return true
  }

  private func assemble(_ bytes: UnsafeBufferPointer<UInt8>, _ name: String) {
    assembler.withLock { assembler in
      switch assembler.add(bytes, name) {
      case .whole(let message): deliver(.message(message))
      case .waits: break
      case .broken: deliver(.gap)
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
    note(delivery)
    receive(delivery)
  }

  func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    native.withLock { $0.take() }?.cancel()
    didCancel()
  }
}
