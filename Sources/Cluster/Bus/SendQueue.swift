import Dispatch
import Synchronization

/// The messages that wait to leave this process. Publishers never wait; one thread sends what has
/// come together.
package final class SendQueue: Sendable {
  /// A message on its way.
  package struct Outgoing: Sendable {
    package let message: [UInt8]
    package let subject: BusSubject
  }

  fileprivate struct State {
    var waiting: [Outgoing] = []
    /// Those that are being sent included.
    var bytes = 0
    var isSending = false
    var isConnected = true
    var isClosed = false
    var published = 0
    var publishedBytes = 0
    var refused = 0
  }

  private let state = Mutex(State())
  /// The messages leave on it.
  package let queue: DispatchQueue
  private let write = Mutex<(@Sendable ([Outgoing]) -> Int)?>(nil)

  /// - Parameter label: the thread's name.
  package init(_ label: String) { queue = DispatchQueue(label: label) }

  /// Sets the body that writes messages, before the first one.
  /// - Parameter write: may block. Returns how many were not written.
  package func onSend(_ write: @escaping @Sendable ([Outgoing]) -> Int) { self.write.withLock { $0 = write } }

  /// Whether messages are taken.
  package var isConnected: Bool {
    get { state.withLock { $0.isConnected && !$0.isClosed } }
    set { state.withLock { $0.isConnected = newValue } }
  }

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Adds a message.
  package func add(_ message: [UInt8], to subject: BusSubject) throws(BusError) {
    let (error, mustSend) = state.withLock { state -> (BusError?, Bool) in
      if let error = state.obstacle(to: message) {
        state.refused += 1
        return (error, false)
      }
      state.waiting.append(Outgoing(message: message, subject: subject))
      state.bytes += message.count
      state.published += 1
      state.publishedBytes += message.count
      defer { state.isSending = true }
      return (nil, !state.isSending)
    }
    if let error { throw error }
    if mustSend { queue.async { self.sendAll() } }
  }

  private func sendAll() {
    let write = write.withLock { $0 }
    while let batch = nextBatch() {
      let failed = write?(batch) ?? batch.count
      state.withLock { state in
        state.bytes -= batch.reduce(0) { $0 + $1.message.count }
        state.refused += failed
      }
    }
  }

  private func nextBatch() -> [Outgoing]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isSending = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Runs a body on the thread that sends, behind what waits now.
  package func perform(after delay: DispatchTimeInterval = .nanoseconds(0), _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + delay, execute: body)
  }

  /// Takes nothing more, and returns when all that waits was sent. Blocks.
  package func close() {
    state.withLock { $0.isClosed = true }
    queue.sync { sendAll() }
  }

  /// Adds the counts of what was published.
  package func count(into counters: inout BusCounters) {
    state.withLock { state in
      counters.publishedMessages = state.published
      counters.publishedBytes = state.publishedBytes
      counters.refusedMessages = state.refused
    }
  }
}

extension SendQueue.State {
  fileprivate func obstacle(to message: [UInt8]) -> BusError? {
    if message.count > BusLimits.messageBytes { return .tooLong }
    if isClosed { return .closed }
    if !isConnected { return .disconnected }
    return bytes + message.count > BusLimits.unsentBytes ? .overloaded : nil
  }
}
