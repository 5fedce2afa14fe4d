import DequeModule
import GroupModel

/// Lets each key pass so often in any window of so many milliseconds. Holds what passed within the last window, no more.
struct SlidingCounts<Key: Hashable & Sendable>: Sendable {
  private struct Pass: Sendable {
    let key: Key
    let time: Instant
  }

  private let limit: Int
  private let window: Instant
  private var passes: Deque<Pass> = []
  private var counts: [Key: Int] = [:]

  init(limit: Int, window: Instant) {
    self.limit = limit
    self.window = window
  }

  /// Counts a pass, unless it would be one too many.
  /// - Returns: nil = passed; else after how many milliseconds to try again.
  mutating func pass(_ key: Key, at now: Instant) -> Instant? {
    // A clock that was set back would keep everybody waiting until it has caught up.
    if let last = passes.last, last.time > now { passes = Deque(passes.map { Pass(key: $0.key, time: min($0.time, now)) }) }
    forget(before: now - window)
    guard counts[key, default: 0] < limit else {
      let oldest = passes.first { $0.key == key }
      return max(1, (oldest?.time ?? now) + window - now)
    }
    counts[key, default: 0] += 1
    passes.append(Pass(key: key, time: now))
    return nil
  }

  private mutating func forget(before limit: Instant) {
    while let first = passes.first, first.time <= limit {
      passes.removeFirst()
      if counts[first.key] == 1 { counts[first.key] = nil } else { counts[first.key, default: 1] -= 1 }
    }
  }
}
