import DequeModule
import GroupModel

/// The 40-messages rule as a value (Protocol.md, "Message rate of live types"): what a room hands to the fan-out in any one second, what waits for its turn, and what is
/// dropped for want of room. It knows no clock; instants come in and go up.
///
/// Every item that is offered leaves the rate limiter exactly once: handed over, or dropped.
struct PriorityRateLimiter<Item: Sendable>: Sendable {
  /// What becomes of an item that is offered.
  enum Admission: Sendable, Equatable {
    /// It is handed over now.
    case delivered
    /// It waits; it leaves by `advance`.
    case queued
    /// There is no room: everything that waits is at least as important.
    case dropped
  }

  /// Something that leaves the rate limiter.
  enum Exit: Sendable {
    case delivered(Item)
    /// Displaced by something more important, or too old.
    case dropped(Item)
  }

  private struct Waiting: Sendable {
    let item: Item
    let since: Instant
  }

  /// The length of the sliding window, and how long an item waits at most, in milliseconds.
  static var second: Instant { 1000 }
  /// How late the rate limiter may be woken and still hand over what there was a place for in time, in milliseconds.
  private static var lateness: Instant { 100 }

  private let limit: Int
  /// When the items of the last second were handed over.
  private var deliveries: Deque<Instant> = []
  /// How many of them, the newest, have a place and are still to be handed over.
  private var held = 0
  /// What waits, by priority, the oldest first.
  private var lines: [Priority: Deque<Waiting>] = [:]
  private var waitingCount = 0

  /// A rate limiter that hands over at most `limit` items in any one second, and lets as many wait.
  init(limit: Int) {
    precondition(limit > 0, "a rate limiter needs a limit")
    self.limit = limit
  }

  /// How many items wait.
  var count: Int { waitingCount }

  /// Offers an item. Call `advance` first, so that what has been waiting has left where it could.
  /// - Returns: what becomes of it, and what it has displaced: "the newest of the lowest priority first".
  mutating func offer(_ item: Item, _ priority: Priority, at now: Instant) -> (admission: Admission, displaced: Item?) {
    if waitingCount == 0, acquire(at: now) { return (.delivered, nil) }
    var displaced: Item?
    if waitingCount >= limit {
      guard let lowest = lowestWaiting, lowest < priority, let newest = lines[lowest]?.popLast() else { return (.dropped, nil) }
      displaced = newest.item
      waitingCount -= 1
    }
    lines[priority, default: []].append(Waiting(item: item, since: now))
    waitingCount += 1
    return (.queued, displaced)
  }

  /// Lets leave what may, the most important first, and what has waited too long.
  mutating func advance(to now: Instant) -> [Exit] {
    guard waitingCount > 0 else { return [] }
    var exits: [Exit] = []
    for priority in Priority.allCases.sorted(by: >) {
      while let first = lines[priority]?.first {
        if isTooOld(first, at: now) {
          exits.append(.dropped(first.item))
        } else if acquire(at: now) {
          exits.append(.delivered(first.item))
        } else {
          break
        }
        lines[priority]?.removeFirst()
        waitingCount -= 1
      }
    }
    return exits
  }

  /// Whether the item's second has ended before there was a place for it. Being woken late is not its fault, up to a point.
  private func isTooOld(_ waiting: Waiting, at now: Instant) -> Bool {
    let end = waiting.since + Self.second
    return end < now && (end < nextPlace || end + Self.lateness < now)
  }

  /// Takes a place in the window for something that is handed over now, where there is one.
  mutating func acquire(at now: Instant) -> Bool {
    // Two that are a second apart are not in one window.
    while deliveries.count > held, let first = deliveries.first, first + Self.second <= now { deliveries.removeFirst() }
    guard deliveries.count < limit else { return false }
    deliveries.append(now)
    return true
  }

  /// From when on there is a place in the window for whatever comes next.
  var nextPlace: Instant {
    guard deliveries.count >= limit else { return .min }
    // The newest of those that have to be gone from the window.
    let index = deliveries.count - limit
    return index < deliveries.count - held ? deliveries[index] + Self.second : .max
  }

  /// The last `count` items that took a place are not handed over yet: they wait for the store. They keep their places until `release`.
  mutating func hold(_ count: Int) { held += count }

  /// So many of those that were held, the oldest, are handed over now.
  mutating func release(_ count: Int, at now: Instant) {
    let first = deliveries.count - held
    for index in first..<first + min(count, held) { deliveries[index] = now }
    held -= min(count, held)
  }

  /// Everything that waits leaves without having been handed over, the most important first.
  mutating func empty() -> [Item] {
    defer {
      lines = [:]
      waitingCount = 0
    }
    return Priority.allCases.sorted(by: >).flatMap { lines[$0, default: []].map(\.item) }
  }

  /// When something that waits wants to leave; nil = nothing waits.
  var nextExit: Instant? {
    guard waitingCount > 0 else { return nil }
    let end = lines.values.compactMap { $0.first?.since }.min().map { $0 + Self.second + 1 } ?? .max
    return min(nextPlace, end)
  }

  private var lowestWaiting: Priority? { lines.filter { !$0.value.isEmpty }.keys.min() }
}
