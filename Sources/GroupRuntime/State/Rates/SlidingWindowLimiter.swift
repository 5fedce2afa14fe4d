import DequeModule
import GroupModel

/// A limit of passes in any window of time. Keeps the instants of one window, which never go back.
struct SlidingWindowLimiter: Sendable {
  private let limit: Int
  private let windowMilliseconds: Int64
  private var passes: Deque<MonotonicInstant> = []

  init(limit: Int, windowMilliseconds: Int64) {
    self.limit = limit
    self.windowMilliseconds = windowMilliseconds
  }

  /// Counts a pass, unless it would exceed the limit.
  /// - Returns: nil = passed; else the wait before the next attempt, in milliseconds.
  mutating func acquire(at now: MonotonicInstant) -> Int64? {
    while let oldest = passes.first, now.milliseconds(since: oldest) >= windowMilliseconds { passes.removeFirst() }
    if passes.count >= limit, let oldest = passes.first { return windowMilliseconds - now.milliseconds(since: oldest) }
    passes.append(now)
    return nil
  }

  /// The wait that `acquire` would answer; nothing is counted.
  func wait(at now: MonotonicInstant) -> Int64? {
    guard limit > 0, passes.count >= limit else { return nil }
    // The newest pass that must have left the window.
    let wait = windowMilliseconds - now.milliseconds(since: passes[passes.count - limit])
    return wait > 0 ? wait : nil
  }

  /// Whether the current window has no passes.
  func isEmpty(at now: MonotonicInstant) -> Bool { passes.last.map { now.milliseconds(since: $0) >= windowMilliseconds } ?? true }
}

/// A sliding window for each key with a pass in the current window. Instants never go back.
package struct KeyedRateLimiter<Key: Hashable & Sendable>: Sendable {
  private let limit: Int
  private let windowMilliseconds: Int64
  private var windows: [Key: SlidingWindowLimiter] = [:]
  private var passes: Deque<(key: Key, time: MonotonicInstant)> = []

  /// No key has passed yet.
  package init(limit: Int, windowMilliseconds: Int64) {
    self.limit = limit
    self.windowMilliseconds = windowMilliseconds
  }

  /// Counts a pass of the key, unless it would exceed the limit.
  /// - Returns: nil = passed; else the wait before the next attempt, in milliseconds.
  package mutating func acquire(_ key: Key, at now: MonotonicInstant) -> Int64? {
    removeUnused(at: now)
    if let wait = windows[key, default: SlidingWindowLimiter(limit: limit, windowMilliseconds: windowMilliseconds)].acquire(
      at: now)
    {
      return wait
    }
    passes.append((key, now))
    return nil
  }

  /// The wait that `acquire` would answer; nothing is counted.
  package func wait(_ key: Key, at now: MonotonicInstant) -> Int64? { windows[key]?.wait(at: now) }

  /// How many keys have a window.
  package var count: Int { windows.count }

  private mutating func removeUnused(at now: MonotonicInstant) {
    while let oldest = passes.first, now.milliseconds(since: oldest.time) >= windowMilliseconds {
      passes.removeFirst()
      if windows[oldest.key]?.isEmpty(at: now) == true { windows[oldest.key] = nil }
    }
  }
}
