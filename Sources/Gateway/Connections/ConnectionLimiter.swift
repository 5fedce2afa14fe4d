import GroupModel
import Synchronization
import WireProtocol

/// Counts open connections and bad tokens, per address and over all loops.
final class ConnectionLimiter: Sendable {
  /// So many bad tokens from one address within a window delay further answers
  /// (Protocol.md, "Ways to sign in").
  private static let badTokens = (count: 20, window: Duration.seconds(10))

  private struct Address {
    var connections = 0
    var badTokens = SlidingWindowCounter(window: ConnectionLimiter.badTokens.window, bound: ConnectionLimiter.badTokens.count)
  }

  private struct State {
    /// Includes refused connections that are not yet gone.
    var open = 0
    var accepted = 0
    var addresses: [String: Address] = [:]
    var nextSweep = MonotonicInstant(nanoseconds: 0)
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let connections: Int
  private let connectionsPerAddress: Int

  /// Limits of 0 are none.
  init(connections: Int, connectionsPerAddress: Int) {
    self.connections = connections
    self.connectionsPerAddress = connectionsPerAddress
  }

  /// Counts a connection; one `remove` must follow.
  /// - Returns: false where a limit is reached: the connection is refused, and does not count.
  func add(from address: String) -> Bool {
    state.withLock { state in
      state.open += 1
      let ofAddress = state.addresses[address]?.connections ?? 0
      guard connections == 0 || state.accepted < connections, connectionsPerAddress == 0 || ofAddress < connectionsPerAddress
      else {
        return false
      }
      state.accepted += 1
      state.addresses[address, default: Address()].connections += 1
      return true
    }
  }

  /// The connection is gone. An address is forgotten with its last connection and bad token.
  func remove(from address: String, wasAccepted: Bool, at now: MonotonicInstant) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.open -= 1
      if wasAccepted {
        state.accepted -= 1
        state.addresses[address]?.connections -= 1
      }
      if var entry = state.addresses[address], entry.connections <= 0, entry.badTokens.isEmpty(at: now) {
        state.addresses[address] = nil
      }
      return state.open == 0 ? ConnectionLimiter.removeWaiting(&state) : []
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when no connection is open, or when the task is cancelled.
  func waitUntilEmpty() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // A cancellation from here on finds the continuation, because it waits for the lock.
          let isOver = state.open == 0 || Task.isCancelled
          if !isOver { state.waiting.append(continuation) }
          return isOver
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      for continuation in state.withLock({ ConnectionLimiter.removeWaiting(&$0) }) { continuation.resume() }
    }
  }

  private static func removeWaiting(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.waiting = [] }
    return state.waiting
  }

  /// Notes a bad token.
  /// - Returns: true where the answer has to wait.
  func noteBadToken(from address: String, at now: MonotonicInstant) -> Bool {
    state.withLock { state in
      let tooMany = state.addresses[address, default: Address()].badTokens.isReached(at: now)
      _ = state.addresses[address, default: Address()].badTokens.note(at: now)
      return tooMany
    }
  }

  /// Forgets addresses without connections and recent bad tokens, about once a minute.
  func sweepIfDue(at now: MonotonicInstant) {
    state.withLock { state in
      guard now >= state.nextSweep else { return }
      state.nextSweep = now + .seconds(60)
      state.addresses = state.addresses.filter { _, entry in
        var entry = entry
        return entry.connections > 0 || !entry.badTokens.isEmpty(at: now)
      }
    }
  }

  /// The number of addresses that are remembered.
  var addressCount: Int { state.withLock { $0.addresses.count } }
}
