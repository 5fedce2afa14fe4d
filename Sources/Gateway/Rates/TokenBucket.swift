import GroupModel

/// So many requests a second, with bursts. A pure value over an injected clock.
struct TokenBucket: Sendable {
  private let perSecond: Double
  private let capacity: Double
  private var level: Double
  private var updated: Instant

  /// A full bucket.
  init(perSecond: Int, burst: Int, now: Instant) {
    self.perSecond = Double(perSecond)
    capacity = Double(burst)
    level = Double(burst)
    updated = now
  }

  /// Takes one request; nil, or in how many milliseconds there will be room for it.
  mutating func take(at now: Instant) -> Instant? {
    level = min(capacity, level + Double(max(0, now - updated)) / 1000 * perSecond)
    updated = now
    guard level < 1 else {
      level -= 1
      return nil
    }
    return Instant(((1 - level) / perSecond * 1000).rounded(.up))
  }
}
