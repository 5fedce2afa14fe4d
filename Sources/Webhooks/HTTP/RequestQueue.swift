import DequeModule

/// A request and the one who waits for its result.
struct PendingRequest: Sendable {
  let id: UInt64
  let url: String
  /// The lines of the head, without their ends.
  let headers: [String]
  let body: [UInt8]
  let deadline: ContinuousClock.Instant
  let completion: @Sendable (Result<HTTPResponse, HTTPError>) -> Void
}

/// The requests that wait, first come first served, and those that run, each in a slot.
///
/// All requests of a client have the same timeout, so the first that waits is the first to expire.
struct RequestQueue {
  /// Where a request stood when it was removed.
  enum Removal {
    case waiting(PendingRequest)
    case running(PendingRequest, slot: Int)
  }

  private var waiting: Deque<PendingRequest> = []
  private var running: [PendingRequest?]
  private var freeSlots: [Int]

  /// - Parameter slots: how many requests run at once.
  init(slots: Int) {
    running = Array(repeating: nil, count: slots)
    freeSlots = Array((0..<slots).reversed())
  }

  /// When the first waiting request expires.
  var nextDeadline: ContinuousClock.Instant? { waiting.first?.deadline }

  /// Adds a request behind those that wait.
  mutating func enqueue(_ request: PendingRequest) { waiting.append(request) }

  /// Removes a waiting request whose time is up.
  mutating func removeExpired(at now: ContinuousClock.Instant) -> PendingRequest? {
    guard let first = waiting.first, first.deadline <= now else { return nil }
    return waiting.popFirst()
  }

  /// Gives the first waiting request a free slot; nil where none waits or none is free.
  mutating func startNext() -> (request: PendingRequest, slot: Int)? {
    guard let slot = freeSlots.last, let request = waiting.popFirst() else { return nil }
    freeSlots.removeLast()
    running[slot] = request
    return (request, slot)
  }

  /// Frees a slot; nil where it was free.
  mutating func finish(slot: Int) -> PendingRequest? {
    guard let request = running[slot] else { return nil }
    running[slot] = nil
    freeSlots.append(slot)
    return request
  }

  /// Removes a request; nil where it has ended already.
  mutating func remove(id: UInt64) -> Removal? {
    if let slot = running.firstIndex(where: { $0?.id == id }) { return finish(slot: slot).map { .running($0, slot: slot) } }
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return nil }
    return .waiting(waiting.remove(at: index))
  }

  /// Removes all requests, those that run first.
  mutating func removeAll() -> [Removal] {
    let removed: [Removal] =
      running.indices.compactMap { slot in finish(slot: slot).map { .running($0, slot: slot) } } + waiting.map { .waiting($0) }
    waiting.removeAll()
    return removed
  }
}
