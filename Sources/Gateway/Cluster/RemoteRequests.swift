import Cluster
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The requests of this node to others that wait for their replies. They travel by the links, so those
/// to one node arrive in their order.
package final class RemoteRequests: Sendable {
  /// The outcome of a request.
  enum Outcome: Sendable {
    case reply(RemoteReply)
    /// It, or its reply, may be lost: it may have been performed.
    case lost
    /// The node does not hear this one: nothing was sent.
    case notSent
  }

  typealias Completion = @Sendable (Outcome) -> Void

  private struct Pending {
    let node: NodeNumber
    let deadline: MonotonicInstant
    let completion: Completion
  }

  private struct State {
    var pending: [UInt64: Pending] = [:]
    var lastNumber: UInt64 = 0
  }

  /// The most requests that may wait.
  static let limit = 200_000

  private let links: ClusterLinks
  private let clocks: any Clocks
  private let state = Mutex(State())

  init(links: ClusterLinks, clocks: any Clocks) {
    self.links = links
    self.clocks = clocks
  }

  /// How many requests were sent.
  var sentCount: Int { state.withLock { Int($0.lastNumber) } }

  /// How many requests wait.
  var count: Int { state.withLock { $0.pending.count } }

  /// Sends a request.
  /// - Parameters:
  ///   - mayWait: for up to 20 ms, so that it shares a frame with others.
  ///   - completion: called once, on any thread; it must not block.
  func send(
    _ request: RemoteRequest, to node: NodeNumber, mayWait: Bool = false, timeout: Duration,
    _ completion: @escaping Completion
  ) {
    let deadline = clocks.monotonic + timeout
    // Within the lock: requests keep their order, and a link that is lost meanwhile finds this one.
    let isSent = state.withLock { state in
      guard state.pending.count < RemoteRequests.limit else { return false }
      let number = state.lastNumber + 1
      guard links.send(.request(number: number, request), to: node, mayWait: mayWait) else { return false }
      state.lastNumber = number
      state.pending[number] = Pending(node: node, deadline: deadline, completion: completion)
      return true
    }
    if !isSent { completion(.notSent) }
  }

  /// Sends a request, and waits for what becomes of it.
  func outcome(of request: RemoteRequest, to node: NodeNumber, timeout: Duration) async -> Outcome {
    await withCheckedContinuation { continuation in
      send(request, to: node, timeout: timeout) { continuation.resume(returning: $0) }
    }
  }

  func didReceive(_ reply: RemoteReply, to number: UInt64, from node: NodeNumber) {
    let pending = state.withLock { state -> Pending? in
      guard state.pending[number]?.node == node else { return nil }
      return state.pending.removeValue(forKey: number)
    }
    pending?.completion(.reply(reply))
  }

  /// A link with a node has begun again, in either direction, or the node has gone.
  func didLose(_ node: NodeNumber) { lose { $0.node == node } }

  /// Ends requests whose deadline has passed.
  func tick(at now: MonotonicInstant) { lose { $0.deadline <= now } }

  private func lose(_ isLost: (Pending) -> Bool) {
    let lost = state.withLock { state in
      let lost = state.pending.filter { isLost($0.value) }
      for number in lost.keys { state.pending[number] = nil }
      return lost
    }
    for (_, pending) in lost.sorted(by: { $0.key < $1.key }) { pending.completion(.lost) }
  }
}
