import Cluster
import DequeModule
import GroupModel
import Synchronization

/// Calls that wait until a node has dealt with what was sent to it.
struct LinkWaits: Sendable {
  /// - Parameter isHeard: false = it is not certain.
  typealias Completion = @Sendable (_ isHeard: Bool) -> Void

  private struct Wait: Sendable {
    let place: LinkPosition
    let deadline: MonotonicInstant
    let completion: Completion
  }

  /// The most calls that wait for one node.
  static let maxCount = 100_000

  /// Ascending by place, within the link that goes on.
  private var waits: Deque<Wait> = []

  /// None.
  init() {}

  var count: Int { waits.count }

  /// - Returns: false where too many wait.
  mutating func add(_ completion: @escaping Completion, until place: LinkPosition, or deadline: MonotonicInstant) -> Bool {
    guard waits.count < LinkWaits.maxCount else { return false }
    waits.append(Wait(place: place, deadline: deadline, completion: completion))
    return true
  }

  /// The calls whose places were acknowledged.
  mutating func popHeard(by link: OutgoingLink) -> [Completion] {
    var heard: [Completion] = []
    while let first = waits.first, link.hasAcknowledged(first.place) {
      waits.removeFirst()
      heard.append(first.completion)
    }
    return heard
  }

  /// The calls that wait in vain: the link has begun again or is closed, or their time is over.
  mutating func popVoid(of link: OutgoingLink, at now: MonotonicInstant) -> [Completion] {
    guard !waits.isEmpty else { return [] }
    let isVoid: (Wait) -> Bool = { $0.deadline <= now || !link.mayAcknowledge($0.place) }
    defer { waits.removeAll(where: isVoid) }
    return waits.filter(isVoid).map(\.completion)
  }

  /// All calls.
  mutating func popAll() -> [Completion] {
    defer { waits = [] }
    return waits.map(\.completion)
  }
}

/// Collects the answers of nodes, each of which has one.
final class HeardNodes: Sendable {
  private struct State: Sendable {
    var missing: Int
    var heard: Set<NodeNumber> = []
  }

  private let state: Mutex<State>
  private let completion: @Sendable (Set<NodeNumber>) -> Void

  /// - Parameters:
  ///   - count: of the answers, 1 at least.
  ///   - completion: called with the last.
  init(count: Int, _ completion: @escaping @Sendable (Set<NodeNumber>) -> Void) {
    state = Mutex(State(missing: count))
    self.completion = completion
  }

  func note(_ node: NodeNumber, isHeard: Bool) {
    let heard = state.withLock { state -> Set<NodeNumber>? in
      state.missing -= 1
      if isHeard { state.heard.insert(node) }
      return state.missing == 0 ? state.heard : nil
    }
    if let heard { completion(heard) }
  }
}
