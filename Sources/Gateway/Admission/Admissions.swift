import GroupModel
import Synchronization
import WireProtocol

/// What is counted per address and over all loops: open connections and bad tokens.
final class Admissions: Sendable {
  /// How many bad tokens from one address, in how many milliseconds, make further answers wait (contract section 2).
  private static let failures = (count: 20, window: Instant(10_000))

  private struct Address {
    var connections = 0
    var failures = WindowCounter(window: Admissions.failures.window, bound: Admissions.failures.count)
  }

  private struct State {
    /// Those refused and not yet gone included.
    var open = 0
    var admitted = 0
    var addresses: [String: Address] = [:]
    var nextSweep: Instant = 0
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

  /// Admits a connection; false when there are as many as there may be, and then it does not count. Every call is answered by one
  /// `leave`.
  func enter(_ address: String) -> Bool {
    state.withLock { state in
      state.open += 1
      let ofAddress = state.addresses[address]?.connections ?? 0
      guard connections == 0 || state.admitted < connections, connectionsPerAddress == 0 || ofAddress < connectionsPerAddress
      else {
        return false
      }
      state.admitted += 1
      state.addresses[address, default: Address()].connections += 1
      return true
    }
  }

  /// The connection is gone. An address is forgotten with its last connection and failure.
  func leave(_ address: String, wasAdmitted: Bool, at now: Instant) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.open -= 1
      if wasAdmitted {
        state.admitted -= 1
        state.addresses[address]?.connections -= 1
      }
      if var entry = state.addresses[address], entry.connections <= 0, entry.failures.isEmpty(at: now) {
        state.addresses[address] = nil
      }
      return state.open == 0 ? Admissions.takeWaiting(&state) : []
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
      for continuation in state.withLock({ Admissions.takeWaiting(&$0) }) { continuation.resume() }
    }
  }

  private static func takeWaiting(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
    defer { state.waiting = [] }
    return state.waiting
  }

  /// Notes a bad token; true when the answer should wait.
  func noteFailure(from address: String, at now: Instant) -> Bool {
    state.withLock { state in
      let tooMany = state.addresses[address, default: Address()].failures.isReached(at: now)
      _ = state.addresses[address, default: Address()].failures.note(at: now)
      return tooMany
    }
  }

  /// Forgets addresses without connections whose failures are past; looks about once a minute.
  func sweepIfDue(at now: Instant) {
    state.withLock { state in
      guard now >= state.nextSweep else { return }
      state.nextSweep = now + 60_000
      state.addresses = state.addresses.filter { _, entry in
        var entry = entry
        return entry.connections > 0 || !entry.failures.isEmpty(at: now)
      }
    }
  }

  /// How many addresses are remembered.
  var addressCount: Int { state.withLock { $0.addresses.count } }
}
