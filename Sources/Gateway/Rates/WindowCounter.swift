import DequeModule
import GroupModel

/// Counts what happened in the last so many milliseconds, up to a bound beyond which it does not matter how much more.
struct WindowCounter: Sendable {
  private let window: Instant
  private let bound: Int
  private var instants: Deque<Instant> = []

  /// Nothing has happened yet.
  init(window: Instant, bound: Int) {
    self.window = window
    self.bound = bound
  }

  /// Notes one more; true when the bound is reached within the window.
  mutating func note(at now: Instant) -> Bool {
    forget(before: now - window)
    instants.append(now)
    if instants.count > bound { instants.removeFirst() }
    return instants.count >= bound
  }

  /// Whether the bound is reached within the window, without noting anything.
  mutating func isReached(at now: Instant) -> Bool {
    forget(before: now - window)
    return instants.count >= bound
  }

  /// Nothing is left to remember.
  mutating func isEmpty(at now: Instant) -> Bool {
    forget(before: now - window)
    return instants.isEmpty
  }

  private mutating func forget(before limit: Instant) {
    while let oldest = instants.first, oldest <= limit { instants.removeFirst() }
  }
}
