import Dispatch
import Synchronization

/// The deliveries that wait for one subscriber, on a thread of its own. Adapters add to it from any
/// thread and never wait.
package final class SubscriberQueue: BusSubscription, Sendable {
  fileprivate struct State {
    var waiting: [BusDelivery] = []
    /// Those that were not delivered yet, a batch that is being delivered included.
    var count = 0
    var bytes = 0
    var isDelivering = false
    var isCancelled = false
  }

  private let state = Mutex(State())
  private let queue: DispatchQueue
  private let receive: @Sendable (BusDelivery) -> Void
  private let didCancel: @Sendable () -> Void
  private let maxMessages: Int
  private let maxBytes: Int

  /// - Parameter didCancel: called by `cancel()`, for the adapter.
  package init(
    _ subject: BusSubject, maxMessages: Int = BusLimits.waitingMessages, maxBytes: Int = BusLimits.waitingBytes,
    receive: @escaping @Sendable (BusDelivery) -> Void, didCancel: @escaping @Sendable () -> Void
  ) {
    queue = DispatchQueue(label: "throng.bus.\(subject)")
    (self.maxMessages, self.maxBytes) = (maxMessages, maxBytes)
    self.receive = receive
    self.didCancel = didCancel
  }

  /// Adds a message, or a gap where the subscriber is too slow.
  /// - Returns: false where the message was dropped.
  package func add(_ message: [UInt8]) -> Bool {
    add { state in
      guard state.count < maxMessages, state.bytes + message.count <= maxBytes else {
        if state.waiting.last != .gap { state.append(.gap) }
        return false
      }
      state.append(.message(message))
      return true
    }
  }

  /// Tells the subscriber that messages may be missing, behind those that wait.
  package func addGap() {
    _ = add { state in
      if state.waiting.last != .gap { state.append(.gap) }
      return true
    }
  }

  private func add(_ body: (inout State) -> Bool) -> Bool {
    let (isAdded, mustDeliver) = state.withLock { state in
      if state.isCancelled { return (true, false) }
      let isAdded = body(&state)
      defer { state.isDelivering = true }
      return (isAdded, !state.isDelivering)
    }
    if mustDeliver { queue.async { self.deliver() } }
    return isAdded
  }

  private func deliver() {
    while let batch = nextBatch() {
      for delivery in batch {
        if state.withLock({ $0.isCancelled }) { return }
        receive(delivery)
        state.withLock { $0.didDeliver(delivery) }
      }
    }
  }

  private func nextBatch() -> [BusDelivery]? {
    state.withLock { state in
      guard !state.waiting.isEmpty, !state.isCancelled else {
        state.isDelivering = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  package func cancel() {
    let isFirst = state.withLock { state in
      defer { (state.isCancelled, state.waiting) = (true, []) }
      return !state.isCancelled
    }
    if isFirst { didCancel() }
  }
}

extension SubscriberQueue.State {
  fileprivate mutating func append(_ delivery: BusDelivery) {
    waiting.append(delivery)
    count += 1
    if case .message(let bytes) = delivery { self.bytes += bytes.count }
  }

  fileprivate mutating func didDeliver(_ delivery: BusDelivery) {
    count -= 1
    if case .message(let bytes) = delivery { self.bytes -= bytes.count }
  }
}
