import GroupModel

/// So many requests a second, with bursts. A pure value over an injected clock.
struct TokenBucket: Sendable {
  /// In whole numbers, so that nothing is rounded: a request is a thousand drops, and a drop for each request a second falls in a
  /// millisecond.
  private static let request: Int64 = 1000

  private let dropsPerMillisecond: Int64
  private let capacity: Int64
  private var level: Int64
  private var updated: Instant

  /// A full bucket. `perSecond` and `burst` are at least 1.
  init(perSecond: Int, burst: Int, now: Instant) {
    dropsPerMillisecond = Int64(perSecond)
    capacity = Int64(burst) * TokenBucket.request
    level = capacity
    updated = now
  }

  /// Takes one request; nil, or in how many milliseconds there will be room for it.
  mutating func take(at now: Instant) -> Instant? {
    level = min(capacity, level + max(0, now - updated) * dropsPerMillisecond)
    updated = now
    guard level < TokenBucket.request else {
      level -= TokenBucket.request
      return nil
    }
    return (TokenBucket.request - level + dropsPerMillisecond - 1) / dropsPerMillisecond
  }
}
