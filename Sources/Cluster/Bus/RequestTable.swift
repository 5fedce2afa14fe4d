import GroupModel

/// The requests that wait for their replies. A value; `BusRequests` acts.
struct RequestTable<Completion> {
  private struct Pending {
    let completion: Completion
    let deadline: MonotonicInstant
  }

  private let limit: Int
  private var pending: [UInt64: Pending] = [:]
  private var lastNumber: UInt64 = 0
  private(set) var isClosed = false

  init(limit: Int = BusLimits.pendingRequests) { self.limit = limit }

  var count: Int { pending.count }

  /// Adds a request.
  /// - Returns: its number, which its reply names.
  mutating func add(_ completion: Completion, until deadline: MonotonicInstant) throws(BusError) -> UInt64 {
    if isClosed { throw .closed }
    guard pending.count < limit else { throw .overloaded }
    lastNumber += 1
    pending[lastNumber] = Pending(completion: completion, deadline: deadline)
    return lastNumber
  }

  /// Removes a request that is answered or could not be sent.
  /// - Returns: nil where its deadline has passed before.
  mutating func remove(_ number: UInt64) -> Completion? { pending.removeValue(forKey: number)?.completion }

  /// Removes the requests whose deadline has passed.
  mutating func removeExpired(at now: MonotonicInstant) -> [Completion] {
    let expired = pending.filter { $0.value.deadline <= now }
    for number in expired.keys { pending[number] = nil }
    return expired.sorted { $0.key < $1.key }.map(\.value.completion)
  }

  /// Removes all requests.
  /// - Parameter isClosing: later ones are refused.
  mutating func removeAll(isClosing: Bool = false) -> [Completion] {
    defer { pending = [:] }
    if isClosing { isClosed = true }
    return pending.sorted { $0.key < $1.key }.map(\.value.completion)
  }
}
