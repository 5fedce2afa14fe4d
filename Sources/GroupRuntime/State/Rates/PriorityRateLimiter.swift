import DequeModule
import GroupModel

/// The 40-messages rule as a value (Protocol.md, "Message rate of live types"): a sliding window of
/// deliveries, and a queue by priority in front of it. It has no clock; instants never go back.
/// Every item that is offered is delivered or dropped exactly once.
struct PriorityRateLimiter<Item: Sendable>: Sendable {
  /// The outcome for an item that is offered.
  enum Outcome: Sendable, Equatable {
    case delivered
    /// It waits until `advance` returns it.
    case queued
    /// The queue is full of items at least as important.
    case dropped
  }

  /// An item that leaves the queue.
  enum Dequeued: Sendable {
    case delivered(Item)
    /// It has waited too long.
    case dropped(Item)
  }

  private struct Queued: Sendable {
    let item: Item
    let since: MonotonicInstant
  }

  /// The length of the window, and the longest wait of an item, in milliseconds.
  private static var second: Int64 { 1000 }
  /// How late a call of `advance` may be and still deliver an item that had a slot in time,
  /// in milliseconds.
  private static var lateness: Int64 { 100 }

  private let limit: Int
  /// The instants of the deliveries in the window: its occupied slots.
  private var deliveries: Deque<MonotonicInstant> = []
  /// How many of them, the newest, are still to take place.
  private var postponed = 0
  /// The queued items by priority, the oldest first.
  private var queues: [Priority: Deque<Queued>] = [:]
  /// How many items are queued.
  private(set) var count = 0

  /// - Parameter limit: of deliveries in any one second, and of queued items.
  init(limit: Int) {
    precondition(limit > 0, "a rate limiter needs a limit")
    self.limit = limit
  }

  /// Whether a new item is delivered at once: nothing waits, and it has occupied a slot. Else it is to be
  /// offered. Call `advance` first, so that older items precede it.
  mutating func passes(at now: MonotonicInstant) -> Bool { count == 0 && acquire(at: now) }

  /// Offers an item. Call `advance` first, so that older items precede it.
  /// - Returns: its outcome, and the item that it has displaced: "the newest of the lowest priority
  ///   first".
  mutating func offer(_ item: Item, _ priority: Priority, at now: MonotonicInstant) -> (outcome: Outcome, displaced: Item?) {
    if passes(at: now) { return (.delivered, nil) }
    var displaced: Item?
    if count >= limit {
      guard let lowest = lowestQueued, lowest < priority, let newest = queues[lowest]?.popLast() else { return (.dropped, nil) }
      displaced = newest.item
      count -= 1
    }
    queues[priority, default: []].append(Queued(item: item, since: now))
    count += 1
    return (.queued, displaced)
  }

  /// Removes the queued items that have a slot now, the most important first, and those too old.
  mutating func advance(to now: MonotonicInstant) -> [Dequeued] {
    guard count > 0 else { return [] }
    var dequeued: [Dequeued] = []
    for priority in Priority.allCases.sorted(by: >) {
      while let first = queues[priority]?.first {
        if isTooOld(first, at: now) {
          dequeued.append(.dropped(first.item))
        } else if acquire(at: now) {
          dequeued.append(.delivered(first.item))
        } else {
          break
        }
        queues[priority]?.removeFirst()
        count -= 1
      }
    }
    return dequeued
  }

  /// Whether the item's second has ended before it had a slot. A late call costs it nothing, within
  /// limits.
  private func isTooOld(_ queued: Queued, at now: MonotonicInstant) -> Bool {
    let end = queued.since.advanced(byMilliseconds: Self.second)
    return end < now && (end < nextSlot || end.advanced(byMilliseconds: Self.lateness) < now)
  }

  /// Occupies a slot of the window for a delivery now, if there is one.
  mutating func acquire(at now: MonotonicInstant) -> Bool {
    // Two deliveries that are a second apart are not in one window.
    while deliveries.count > postponed, let first = deliveries.first, first.advanced(byMilliseconds: Self.second) <= now {
      deliveries.removeFirst()
    }
    guard deliveries.count < limit else { return false }
    deliveries.append(now)
    return true
  }

  /// The instant from which a slot is free.
  var nextSlot: MonotonicInstant {
    guard deliveries.count >= limit else { return .distantPast }
    // The newest delivery that must have left the window.
    let index = deliveries.count - limit
    return index < deliveries.count - postponed ? deliveries[index].advanced(byMilliseconds: Self.second) : .distantFuture
  }

  /// The last deliveries wait for the store: they occupy their slots until `deliverPostponed`.
  mutating func postponeDeliveries(_ count: Int) { postponed += count }

  /// The oldest postponed deliveries take place now.
  mutating func deliverPostponed(_ count: Int, at now: MonotonicInstant) {
    let first = deliveries.count - postponed
    for index in first..<first + min(count, postponed) { deliveries[index] = now }
    postponed -= min(count, postponed)
  }

  /// The first queued item that meets a condition, the most important first.
  func first(where isWanted: (Item) -> Bool) -> Item? {
    for priority in Priority.allCases.sorted(by: >) {
      if let found = queues[priority]?.first(where: { isWanted($0.item) }) { return found.item }
    }
    return nil
  }

  /// Removes the first queued item that meets a condition, the most important first.
  /// - Returns: the item; nil = there is none.
  mutating func remove(where isWanted: (Item) -> Bool) -> Item? {
    for priority in Priority.allCases.sorted(by: >) {
      guard let index = queues[priority]?.firstIndex(where: { isWanted($0.item) }) else { continue }
      count -= 1
      return queues[priority]?.remove(at: index).item
    }
    return nil
  }

  /// Empties the queue.
  /// - Returns: its items, the most important first.
  mutating func removeAll() -> [Item] {
    defer {
      queues = [:]
      count = 0
    }
    return Priority.allCases.sorted(by: >).flatMap { queues[$0, default: []].map(\.item) }
  }

  /// The instant at which `advance` has an item to remove; nil = the queue is empty.
  var nextChange: MonotonicInstant? {
    guard count > 0 else { return nil }
    let oldest = queues.values.compactMap { $0.first?.since }.min()
    return min(nextSlot, oldest?.advanced(byMilliseconds: Self.second + 1) ?? .distantFuture)
  }

  private var lowestQueued: Priority? { queues.filter { !$0.value.isEmpty }.keys.min() }
}
