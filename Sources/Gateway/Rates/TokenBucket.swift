import GroupModel

/// So many requests a second, with bursts. A pure value over an injected clock.
struct TokenBucket: Sendable {
  /// In whole numbers, so that nothing is rounded: a request is a thousand drops, and a drop for each request a second falls in a
  /// millisecond.
  private static let request: Int64 = 1000
  /// How long one waits, in milliseconds, for a bucket that is never filled again.
  private static let never = Instant(Int32.max)

  private let dropsPerMillisecond: Int64
  private let capacity: Int64
  private var level: Int64
  private var updated: Instant

  /// A full bucket. `burst` is at least 1; with 0 a second, what is taken never comes back.
  init(perSecond: Int, burst: Int, now: Instant) {
    dropsPerMillisecond = Int64(perSecond)
    capacity = Int64(burst) * TokenBucket.request
    level = capacity
    updated = now
  }

  /// Takes one request; nil, or in how many milliseconds there will be room for it.
  mutating func take(at now: Instant) -> Instant? {
    fill(to: now)
    guard level < TokenBucket.request else {
      level -= TokenBucket.request
      return nil
    }
    return wait
  }

  /// What `take` would answer, without taking anything.
  mutating func peek(at now: Instant) -> Instant? {
    fill(to: now)
    return level < TokenBucket.request ? wait : nil
  }

  /// Whether nothing of it is missing.
  mutating func isFull(at now: Instant) -> Bool {
    fill(to: now)
    return level == capacity
  }

  /// Threads that share a bucket read the clock before it is their turn: an earlier instant must not be filled for twice.
  private mutating func fill(to now: Instant) {
    guard now > updated else { return }
    level = min(capacity, level + (now - updated) * dropsPerMillisecond)
    updated = now
  }

  private var wait: Instant {
    guard dropsPerMillisecond > 0 else { return TokenBucket.never }
    return (TokenBucket.request - level + dropsPerMillisecond - 1) / dropsPerMillisecond
  }
}
