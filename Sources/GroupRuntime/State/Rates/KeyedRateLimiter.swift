import DequeModule
import GroupModel

/// A sliding window for each key that something passed for within the last one. Instants go up.
struct KeyedRateLimiter<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let length: Instant
  private var windows: [Key: SlidingWindowLimiter] = [:]
  private var passes: Deque<(key: Key, time: Instant)> = []

  /// - Parameter window: how long it is, in milliseconds.
  init(limit: Int, window: Instant) {
    self.limit = limit
    length = window
  }

  /// Counts a pass of the key, unless it would be one too many.
  /// - Returns: nil = passed; else after how many milliseconds to try again.
  mutating func pass(_ key: Key, at now: Instant) -> Instant? {
    forgetUnused(at: now)
    if let wait = windows[key, default: SlidingWindowLimiter(limit: limit, length: length)].pass(at: now) { return wait }
    passes.append((key, now))
    return nil
  }

  /// How many keys have a window.
  var count: Int { windows.count }

  private mutating func forgetUnused(at now: Instant) {
    while let oldest = passes.first, oldest.time + length <= now {
      passes.removeFirst()
      if windows[oldest.key]?.isEmpty(at: now) == true { windows[oldest.key] = nil }
    }
  }
}
