import DequeModule
import GroupModel

/// A request and the one who waits for its result.
struct PendingTransfer: Sendable {
  let id: UInt64
  /// Takes turns with other users; nil = the server itself.
  let user: UserID?
  let url: String
  /// The lines of the head, without their ends.
  let headers: [String]
  /// What is posted; nil = a GET.
  let body: [UInt8]?
  /// When its wait for a connection ends.
  let deadline: ContinuousClock.Instant
  let completion: @Sendable (Result<HTTPResponse, HTTPError>) -> Void
}

/// The requests that wait, users in turns, and those that run, each in a slot.
///
/// Nobody keeps others waiting: a user has one turn before everybody else's next, half of the slots,
/// and a bounded part of the queue; where the queue is full, the longest line gives a place up.
struct TransferQueue {
  /// The bounds of a queue.
  struct Bounds {
    /// How many requests run at once.
    var slots: Int
    /// How many may wait beside them.
    var waiting: Int
    /// How many of one user may wait.
    var waitingOfUser: Int

    /// How many of one user run at once.
    fileprivate var slotsOfUser: Int { (slots + 1) / 2 }
  }

  /// The result of adding a request.
  enum Admission {
    case queued
    /// - Parameter displaced: the newest of the longest line, which has lost its place.
    case queuedInPlace(displaced: PendingTransfer)
    case full
    case userFull
  }

  /// Where a request stood when it was removed.
  enum Removal {
    case waiting(PendingTransfer)
    case running(PendingTransfer, slot: Int)
  }

  private struct Place {
    let number: UInt64
    let request: PendingTransfer
  }

  private struct Arrival {
    let number: UInt64
    let user: UserID?
    let deadline: ContinuousClock.Instant
  }

  private let bounds: Bounds
  /// The waiting requests of each user, in their order; none is empty.
  private var lines: [UserID?: Deque<Place>] = [:]
  /// The users of `lines`, in turns.
  private var turns: Deque<UserID?> = []
  /// All that wait in the order of their coming, among others that wait no more.
  private var arrivals: Deque<Arrival> = []
  private var lastNumber: UInt64 = 0
  private(set) var waitingCount = 0
  private var running: [PendingTransfer?]
  private var freeSlots: [Int]
  private var runningOfUser: [UserID: Int] = [:]

  init(_ bounds: Bounds) {
    self.bounds = bounds
    running = Array(repeating: nil, count: bounds.slots)
    freeSlots = Array((0..<bounds.slots).reversed())
  }

  // MARK: Adding

  /// Adds a request behind those of its user.
  mutating func enqueue(_ request: PendingTransfer) -> Admission {
    let own = lines[request.user]?.count ?? 0
    if request.user != nil, own >= bounds.waitingOfUser { return .userFull }
    guard waitingCount + bounds.slots - freeSlots.count >= bounds.waiting + bounds.slots else {
      add(request)
      return .queued
    }
    guard let longest = lines.max(by: { $0.value.count < $1.value.count }), longest.value.count > own + 1,
      let displaced = removeLast(of: longest.key)
    else { return .full }
    add(request)
    return .queuedInPlace(displaced: displaced)
  }

  private mutating func add(_ request: PendingTransfer) {
    lastNumber += 1
    waitingCount += 1
    if lines[request.user] == nil { turns.append(request.user) }
    lines[request.user, default: []].append(Place(number: lastNumber, request: request))
    if arrivals.count > 2 * waitingCount + 64 { dropStaleArrivals() }
    arrivals.append(Arrival(number: lastNumber, user: request.user, deadline: request.deadline))
  }

  private mutating func dropStaleArrivals() {
    let waiting = Set(lines.values.joined().map(\.number))
    arrivals.removeAll { !waiting.contains($0.number) }
  }

  // MARK: Removing

  private mutating func removeFirst(of user: UserID?) -> PendingTransfer? { remove(at: 0, of: user) }

  private mutating func removeLast(of user: UserID?) -> PendingTransfer? {
    lines[user].flatMap { remove(at: $0.count - 1, of: user) }
  }

  private mutating func remove(at index: Int, of user: UserID?) -> PendingTransfer? {
    guard let place = lines[user]?.remove(at: index) else { return nil }
    waitingCount -= 1
    if lines[user]?.isEmpty == true {
      lines[user] = nil
      turns.removeAll { $0 == user }
    }
    return place.request
  }

  /// The oldest that waits; it is the first of its line.
  private mutating func oldestArrival() -> Arrival? {
    while let first = arrivals.first {
      if lines[first.user]?.first?.number == first.number { return first }
      arrivals.removeFirst()
    }
    return nil
  }

  /// When the wait of a request ends next.
  mutating func nextDeadline() -> ContinuousClock.Instant? { oldestArrival()?.deadline }

  /// Removes a request that has waited too long.
  mutating func removeExpired(at now: ContinuousClock.Instant) -> PendingTransfer? {
    guard let oldest = oldestArrival(), oldest.deadline <= now else { return nil }
    return removeFirst(of: oldest.user)
  }

  /// Removes a request; nil where it has ended already.
  mutating func remove(id: UInt64) -> Removal? {
    if let slot = running.firstIndex(where: { $0?.id == id }) { return finish(slot: slot).map { .running($0, slot: slot) } }
    for (user, line) in lines {
      guard let index = line.firstIndex(where: { $0.request.id == id }) else { continue }
      return remove(at: index, of: user).map { .waiting($0) }
    }
    return nil
  }

  /// Removes all requests, those that run first.
  mutating func removeAll() -> [Removal] {
    let ran: [Removal] = running.indices.compactMap { slot in finish(slot: slot).map { .running($0, slot: slot) } }
    var removed = ran
    while let oldest = oldestArrival(), let request = removeFirst(of: oldest.user) { removed.append(.waiting(request)) }
    return removed
  }

  // MARK: Running

  /// Gives the next request a free slot; nil where none may run, or no slot is free.
  mutating func startNext() -> (request: PendingTransfer, slot: Int)? {
    guard let slot = freeSlots.last else { return nil }
    for _ in turns.indices {
      guard let user = turns.popFirst() else { return nil }
      turns.append(user)
      if let user, runningOfUser[user, default: 0] >= bounds.slotsOfUser { continue }
      guard let request = removeFirst(of: user) else { continue }
      if let user { runningOfUser[user, default: 0] += 1 }
      freeSlots.removeLast()
      running[slot] = request
      return (request, slot)
    }
    return nil
  }

  /// Frees a slot; nil where it was free.
  mutating func finish(slot: Int) -> PendingTransfer? {
    guard let request = running[slot] else { return nil }
    running[slot] = nil
    freeSlots.append(slot)
    if let user = request.user, let count = runningOfUser[user] { runningOfUser[user] = count > 1 ? count - 1 : nil }
    return request
  }
}
