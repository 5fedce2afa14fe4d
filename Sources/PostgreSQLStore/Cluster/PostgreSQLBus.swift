import Cluster
import Dispatch
import GroupModel
import Logging
import Synchronization

/// The bus over PostgreSQL alone, for small clusters: batches of messages are rows, which only the
/// server's role reads and writes, and a notification names a row. NOTIFY keeps the order of commits;
/// one connection publishes.
public final class PostgreSQLBus: Bus, Sendable {
  private struct State {
    var subscribers: [String: [Int: SubscriberQueue]] = [:]
    var lastID = 0
    var counters = BusCounters()
    /// Whether each of the two connections is up: a message needs both.
    var isListening = false
    var canPublish = true
  }

  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let scope: String
  private let logger: Logger
  private let state = Mutex(State())
  private let queue = SendQueue("throng.bus.postgresql.send")
  private let publisher: BusPublisher
  private let listener: PostgreSQLListener
  private let reader: BusRowReader
  /// Between two attempts to connect.
  private static let pause = DispatchTimeInterval.milliseconds(200)

  /// Connects, and blocks meanwhile.
  /// - Parameters:
  ///   - scope: clusters in one database have different ones.
  init(
    scope: String, logger: Logger, connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  ) throws {
    self.scope = scope
    self.logger = logger
    self.connect = connect
    publisher = BusPublisher(connect)
    reader = BusRowReader(connect)
    listener = PostgreSQLListener("bus", connect: connect, logger: logger)
    try publisher.begin()
    queue.onSend { [weak self] batch in self?.send(batch) ?? batch.count }
    listener.onNotifications { [weak self] in self?.receive($0) }
    listener.onLoss { [weak self] in self?.note(isListening: false) }
    listener.onReconnect { [weak self] in self?.didReconnect() }
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
    if queue.isClosed { throw .closed }
    let channel = channel(of: subject)
    let subscriber = add(channel, subject, receive)
    let isHeard = await withCheckedContinuation { continuation in
      listener.listen(to: channel) { continuation.resume(returning: $0) }
    }
    guard isHeard else {
      subscriber.cancel()
      throw .disconnected
    }
    note(isListening: true)
    return subscriber
  }

  private func add(
    _ channel: String, _ subject: BusSubject, _ receive: @escaping @Sendable (BusDelivery) -> Void
  ) -> SubscriberQueue {
    state.withLock { state in
      state.lastID += 1
      let id = state.lastID
      let subscriber = SubscriberQueue(subject, receive: receive) { [weak self] in self?.remove(id, from: channel) }
      state.subscribers[channel, default: [:]][id] = subscriber
      return subscriber
    }
  }

  private func remove(_ id: Int, from channel: String) {
    let isLast = state.withLock { state in
      state.subscribers[channel]?[id] = nil
      guard state.subscribers[channel]?.isEmpty == true else { return false }
      state.subscribers[channel] = nil
      return true
    }
    if isLast { listener.unlisten(channel) }
  }

  public func close() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.queue.close()
        self.listener.close()
        for subscriber in self.state.withLock({ $0.subscribers.values.flatMap(\.values) }) { subscriber.cancel() }
        continuation.resume()
      }
    }
  }

  /// A channel's name has at most 63 bytes, so it is a hash of the subject.
  private func channel(of subject: BusSubject) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(scope).\(subject)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "throng_" + String(hash, radix: 16)
  }

  // MARK: Publishing

  /// - Returns: how many messages were not written. Those of a lost connection may have been: they
  ///   are not sent twice.
  private func send(_ messages: [SendQueue.Outgoing]) -> Int {
    do {
      try publisher.send(BusBatch.group(messages).map { (channel(of: $0.subject), $0) })
      return 0
    } catch {
      logger.error("the bus is away", metadata: ["error": "\(error)"])
      note(canPublish: false)
      queue.perform(after: Self.pause) { [weak self] in self?.reconnect() }
      return messages.count
    }
  }

  private func reconnect() {
    if queue.isClosed { return }
    do {
      try publisher.begin()
      note(canPublish: true)
      logger.notice("the bus is back")
    } catch {
      queue.perform(after: Self.pause) { [weak self] in self?.reconnect() }
    }
  }

  private func note(isListening: Bool? = nil, canPublish: Bool? = nil) {
    queue.isConnected = state.withLock { state in
      state.isListening = isListening ?? state.isListening
      state.canPublish = canPublish ?? state.canPublish
      return (state.isListening || state.subscribers.isEmpty) && state.canPublish
    }
  }

  // MARK: Receiving, on the listener's thread

  private func receive(_ notifications: [PostgreSQLListener.Notification]) {
    var rest = notifications[...]
    while !rest.isEmpty {
      receivePart(rest.prefix(BusRowReader.maxRows))
      rest = rest.dropFirst(BusRowReader.maxRows)
    }
  }

  /// A notification that names no row may be anybody's: it is counted, and does nothing. Where a row
  /// has gone, those who wait for it find that by the numbers of its messages.
  private func receivePart(_ notifications: ArraySlice<PostgreSQLListener.Notification>) {
    let found = notifications.map { (channel: $0.channel, key: BusNotification($0.payload)) }
    let keys = Set(found.compactMap(\.key))
    let rows = keys.isEmpty ? [:] : reader.rows(Array(keys), logger)
    // One that comes twice is a stranger's copy.
    var delivered: Set<BusNotification> = []
    for (channel, key) in found {
      guard let rows else {
        tellGap(subscribers(of: channel))
        continue
      }
      if let key, delivered.insert(key).inserted, let bytes = rows[key], let messages = BusBatch.messages(in: bytes) {
        deliver(messages, on: channel)
      } else {
        state.withLock { $0.counters.strangeMessages += 1 }
      }
    }
  }

  private func subscribers(of channel: String) -> [SubscriberQueue] {
    state.withLock { Array(($0.subscribers[channel] ?? [:]).values) }
  }

  private func deliver(_ messages: [[UInt8]], on channel: String) {
    let subscribers = subscribers(of: channel)
    if subscribers.isEmpty { return }
    state.withLock { state in
      for message in messages {
        state.counters.receivedMessages += 1
        state.counters.receivedBytes += message.count
      }
    }
    for subscriber in subscribers {
      for message in messages where !subscriber.add(message) { state.withLock { $0.counters.gaps += 1 } }
    }
  }

  private func tellGap(_ subscribers: [SubscriberQueue]) {
    state.withLock { $0.counters.gaps += subscribers.count }
    for subscriber in subscribers { subscriber.addGap() }
  }

  private func didReconnect() {
    let subscribers = state.withLock { state in
      state.counters.reconnects += 1
      return state.subscribers.values.flatMap(\.values)
    }
    tellGap(subscribers)
    note(isListening: true)
  }
}
