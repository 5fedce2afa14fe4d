import DequeModule
import GroupModel

/// Lets so many pass in any window of so many milliseconds. Holds what passed within the last window, no more. Instants go up.
struct SlidingWindowLimiter: Sendable {
  private let limit: Int
  private let length: Instant
  private var passes: Deque<Instant> = []

  init(limit: Int, length: Instant) {
    self.limit = limit
    self.length = length
  }

  /// Counts a pass, unless it would be one too many.
  /// - Returns: nil = passed; else after how many milliseconds to try again.
  mutating func pass(at now: Instant) -> Instant? {
    while let oldest = passes.first, oldest + length <= now { passes.removeFirst() }
    if passes.count >= limit, let oldest = passes.first { return oldest + length - now }
    passes.append(now)
    return nil
  }

  /// Whether nothing passed within the last window.
  func isEmpty(at now: Instant) -> Bool { passes.last.map { $0 + length <= now } ?? true }
}
