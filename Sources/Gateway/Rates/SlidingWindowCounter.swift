import DequeModule
import GroupModel

/// Counts the events of a sliding window of milliseconds, up to a bound. It admits nothing and
/// counts every event, where `SlidingWindowLimiter` counts only what it lets pass.
struct SlidingWindowCounter: Sendable {
  private let window: Instant
  private let bound: Int
  private var instants: Deque<Instant> = []

  /// An empty window.
  init(window: Instant, bound: Int) {
    self.window = window
    self.bound = bound
  }

  /// Counts an event.
  /// - Returns: whether the bound is reached within the window.
  mutating func note(at now: Instant) -> Bool {
    forget(before: now - window)
    instants.append(now)
    if instants.count > bound { instants.removeFirst() }
    return instants.count >= bound
  }

  /// Whether the bound is reached within the window, without counting an event.
  mutating func isReached(at now: Instant) -> Bool {
    forget(before: now - window)
    return instants.count >= bound
  }

  /// Whether the window holds no event.
  mutating func isEmpty(at now: Instant) -> Bool {
    forget(before: now - window)
    return instants.isEmpty
  }

  private mutating func forget(before limit: Instant) {
    while let oldest = instants.first, oldest <= limit { instants.removeFirst() }
  }
}
