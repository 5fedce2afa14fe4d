import GroupModel
import Synchronization
import WebSocketTransport
import WireProtocol

/// Counts open connections, those on their way and bad tokens, per address and over all loops.
/// Addresses of IPv6 with the same leading bits are one: who has the one may use all the others.
package final class ConnectionLimiter: Sendable {
  /// So many bad tokens from one address within a window delay further answers
  /// (Protocol.md, "Ways to sign in").
  private static let badTokens = (count: 20, window: Duration.seconds(10))

  /// So many connections beyond the limit may be on their way from an address, or be told of it: they
  /// may be HTTP requests, and get an answer.
  private static let spare = 8
  /// So many may be told of the limit of all connections at a time.
  private static let spareOfAll = 256

  /// A class: changing a value where it stands in a dictionary allocates.
  private final class Address {
    /// Within the limits.
    var connections = 0
    /// No WebSocket yet.
    var arriving = 0
    /// Refused connections that are not yet gone.
    var refused = 0
    var badTokens = SlidingWindowCounter(window: ConnectionLimiter.badTokens.window, bound: ConnectionLimiter.badTokens.count)

    func isEmpty(at now: MonotonicInstant) -> Bool {
      connections <= 0 && arriving <= 0 && refused <= 0 && badTokens.isEmpty(at: now)
    }
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
  private let ipv6PrefixLength: Int

  /// Limits of 0 are none.
  package init(connections: Int, connectionsPerAddress: Int, ipv6PrefixLength: Int = 64) {
    self.connections = connections
    self.connectionsPerAddress = connectionsPerAddress
    self.ipv6PrefixLength = ipv6PrefixLength
  }

  private func source(of address: String) -> String { ClientAddress.source(of: address, prefixLength: ipv6PrefixLength) }

  // MARK: On the way

  /// A connection has been accepted, and nothing of it is known but its address. Where it is
  /// admitted, one `leave` must follow.
  func arrive(from address: String) -> Admission {
    guard connectionsPerAddress > 0 else { return .admitted }
    let source = source(of: address)
    return state.withLock { state in
      let address = ConnectionLimiter.address(source, in: &state)
      let room = max(connectionsPerAddress - address.connections, ConnectionLimiter.spare)
      guard address.arriving < room else { return .full }
      address.arriving += 1
      return .admitted
    }
  }

  /// The connection has ended, or has become a WebSocket.
  func leave(from address: String, at now: MonotonicInstant) {
    guard connectionsPerAddress > 0 else { return }
    let source = source(of: address)
    state.withLock { state in
      guard let address = state.addresses[source] else { return }
      address.arriving -= 1
      if address.isEmpty(at: now) { state.addresses[source] = nil }
    }
  }

  /// Whether a limit is reached, and so many others are just told of it that this client gets a
  /// status in place of a close code.
  func refusesUpgrade(from address: String) -> Bool {
    guard connections > 0 || connectionsPerAddress > 0 else { return false }
    let source = source(of: address)
    return state.withLock { state in
      if let known = state.addresses[source], isFull(known), known.refused >= ConnectionLimiter.spare { return true }
      return isFull(state) && state.open - state.accepted >= ConnectionLimiter.spareOfAll
    }
  }

  private func isFull(_ address: Address) -> Bool { connectionsPerAddress > 0 && address.connections >= connectionsPerAddress }
  private func isFull(_ state: State) -> Bool { connections > 0 && state.accepted >= connections }

  // MARK: Open

  /// Counts a connection; one `remove` must follow.
  /// - Returns: false where a limit is reached: the connection is refused, and does not count.
  func add(from address: String) -> Bool {
    let source = source(of: address)
    return state.withLock { state in
      state.open += 1
      let address = ConnectionLimiter.address(source, in: &state)
      guard !isFull(state), !isFull(address) else {
        address.refused += 1
        return false
      }
      state.accepted += 1
      address.connections += 1
      return true
    }
  }

  /// The connection is gone. An address is forgotten with its last connection and bad token.
  func remove(from address: String, wasAccepted: Bool, at now: MonotonicInstant) {
    let source = source(of: address)
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.open -= 1
      if wasAccepted { state.accepted -= 1 }
      if let address = state.addresses[source] {
        if wasAccepted { address.connections -= 1 } else { address.refused -= 1 }
        if address.isEmpty(at: now) { state.addresses[source] = nil }
      }
      return state.open == 0 ? ConnectionLimiter.removeWaiting(&state) : []
    }
    for continuation in waiting { continuation.resume() }
  }

  private static func address(_ source: String, in state: inout State) -> Address {
    if let known = state.addresses[source] { return known }
    let address = Address()
    state.addresses[source] = address
    return address
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
    let source = source(of: address)
    return state.withLock { state in
      let address = ConnectionLimiter.address(source, in: &state)
      let tooMany = address.badTokens.isReached(at: now)
      _ = address.badTokens.note(at: now)
      return tooMany
    }
  }

  /// Forgets addresses without connections and recent bad tokens, about once a minute.
  func sweepIfDue(at now: MonotonicInstant) {
    state.withLock { state in
      guard now >= state.nextSweep else { return }
      state.nextSweep = now + .seconds(60)
      state.addresses = state.addresses.filter { _, address in !address.isEmpty(at: now) }
    }
  }

  /// The number of addresses that are remembered.
  var addressCount: Int { state.withLock { $0.addresses.count } }
}
