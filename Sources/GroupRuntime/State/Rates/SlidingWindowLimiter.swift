import DequeModule
import GroupModel

/// A limit of passes in any window of time. Keeps the instants of one window, which never go back.
struct SlidingWindowLimiter: Sendable {
  private let limit: Int
  private let length: Instant
  private var passes: Deque<Instant> = []

  /// - Parameter length: of the window, in milliseconds.
  init(limit: Int, length: Instant) {
    self.limit = limit
    self.length = length
  }

  /// Counts a pass, unless it would exceed the limit.
  /// - Returns: nil = passed; else the wait before the next attempt, in milliseconds.
  mutating func pass(at now: Instant) -> Instant? {
    while let oldest = passes.first, oldest + length <= now { passes.removeFirst() }
    if passes.count >= limit, let oldest = passes.first { return oldest + length - now }
    passes.append(now)
    return nil
  }

  /// The wait that `pass` would answer; nothing is counted.
  func wait(at now: Instant) -> Instant? {
    let current = passes.lazy.filter { $0 + length > now }
    guard let oldest = current.first, current.count >= limit else { return nil }
    return oldest + length - now
  }

  /// Whether the current window has no passes.
  func isEmpty(at now: Instant) -> Bool { passes.last.map { $0 + length <= now } ?? true }
}

/// A sliding window for each key with a pass in the current window. Instants never go back.
struct KeyedRateLimiter<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let length: Instant
  private var windows: [Key: SlidingWindowLimiter] = [:]
  private var passes: Deque<(key: Key, time: Instant)> = []

  /// - Parameter window: its length, in milliseconds.
  init(limit: Int, window: Instant) {
    self.limit = limit
    length = window
  }

  /// Counts a pass of the key, unless it would exceed the limit.
  /// - Returns: nil = passed; else the wait before the next attempt, in milliseconds.
  mutating func pass(_ key: Key, at now: Instant) -> Instant? {
    removeUnused(at: now)
    if let wait = windows[key, default: SlidingWindowLimiter(limit: limit, length: length)].pass(at: now) { return wait }
    passes.append((key, now))
    return nil
  }

  /// How many keys have a window.
  var count: Int { windows.count }

  private mutating func removeUnused(at now: Instant) {
    while let oldest = passes.first, oldest.time + length <= now {
      passes.removeFirst()
      if windows[oldest.key]?.isEmpty(at: now) == true { windows[oldest.key] = nil }
    }
  }
}
