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
    var connections = 0
    var addresses: [String: Address] = [:]
    var nextSweep: Instant = 0
  }

  private let state = Mutex(State())
  private let connections: Int
  private let connectionsPerAddress: Int

  /// Limits of 0 are none.
  init(connections: Int, connectionsPerAddress: Int) {
    self.connections = connections
    self.connectionsPerAddress = connectionsPerAddress
  }

  /// Counts a connection; false when there are too many now. Every call is answered by one `leave`.
  func enter(_ address: String) -> Bool {
    state.withLock { state in
      state.connections += 1
      state.addresses[address, default: Address()].connections += 1
      let isWithin = connections == 0 || state.connections <= connections
      let isWithinAddress = connectionsPerAddress == 0 || state.addresses[address]?.connections ?? 0 <= connectionsPerAddress
      return isWithin && isWithinAddress
    }
  }

  /// The connection is gone. An address is forgotten with its last connection and failure.
  func leave(_ address: String, at now: Instant) {
    state.withLock { state in
      state.connections -= 1
      state.addresses[address]?.connections -= 1
      if var entry = state.addresses[address], entry.connections <= 0, entry.failures.isEmpty(at: now) {
        state.addresses[address] = nil
      }
    }
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
}
