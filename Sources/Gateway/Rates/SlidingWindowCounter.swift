import DequeModule
import GroupModel

/// Counts the events of a sliding window, up to a bound. It admits nothing and counts every event,
/// where `SlidingWindowLimiter` counts only what it lets pass.
struct SlidingWindowCounter: Sendable {
  private let window: Duration
  private let bound: Int
  private var instants: Deque<MonotonicInstant> = []

  /// An empty window.
  init(window: Duration, bound: Int) {
    self.window = window
    self.bound = bound
  }

  /// Counts an event.
  /// - Returns: whether the bound is reached within the window.
  mutating func note(at now: MonotonicInstant) -> Bool {
    removeExpired(at: now)
    instants.append(now)
    if instants.count > bound { instants.removeFirst() }
    return instants.count >= bound
  }

  /// Whether the bound is reached within the window, without counting an event.
  mutating func isReached(at now: MonotonicInstant) -> Bool {
    removeExpired(at: now)
    return instants.count >= bound
  }

  /// Whether the window holds no event.
  mutating func isEmpty(at now: MonotonicInstant) -> Bool {
    removeExpired(at: now)
    return instants.isEmpty
  }

  private mutating func removeExpired(at now: MonotonicInstant) {
    while let oldest = instants.first, now - oldest >= window { instants.removeFirst() }
  }
}
