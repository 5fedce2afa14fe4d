import GroupModel

/// A rate of requests with bursts. A pure value over an injected clock.
struct TokenBucket: Sendable {
  /// The tokens of one request. A rate of one request a second adds one token a millisecond, so
  /// that nothing is rounded.
  private static let request: Int64 = 1000
  /// The wait, in milliseconds, for a bucket that is never filled again.
  private static let never = Int64(Int32.max)

  private let tokensPerMillisecond: Int64
  private let capacity: Int64
  private var level: Int64
  private var updated: MonotonicInstant

  /// A full bucket. `burst` is at least 1; with 0 a second it is never filled again.
  init(perSecond: Int, burst: Int, now: MonotonicInstant) {
    tokensPerMillisecond = Int64(perSecond)
    capacity = Int64(burst) * TokenBucket.request
    level = capacity
    updated = now
  }

  /// Takes the tokens of one request.
  /// - Returns: nil = taken; else after how many milliseconds there are enough.
  mutating func acquire(at now: MonotonicInstant) -> Int64? {
    fill(to: now)
    guard level < TokenBucket.request else {
      level -= TokenBucket.request
      return nil
    }
    return missingTime
  }

  /// Takes the tokens of requests that another node has let pass, down to one burst below zero.
  mutating func take(_ requests: Int, at now: MonotonicInstant) {
    fill(to: now)
    // More than two bursts make no difference, and might be too many for the type.
    let tokens = Int64(min(max(requests, 0), Int(2 * capacity / TokenBucket.request))) * TokenBucket.request
    level = max(-capacity, level - tokens)
  }

  /// The result of `acquire`, without taking anything.
  mutating func wait(at now: MonotonicInstant) -> Int64? {
    fill(to: now)
    return level < TokenBucket.request ? missingTime : nil
  }

  /// Whether the bucket is full.
  mutating func isFull(at now: MonotonicInstant) -> Bool {
    fill(to: now)
    return level == capacity
  }

  /// Threads that share a bucket read the clock before they have the lock: time must not count
  /// twice. The part of a millisecond that has begun counts with the next filling.
  private mutating func fill(to now: MonotonicInstant) {
    let passed = now.milliseconds(since: updated)
    guard passed > 0 else { return }
    level = min(capacity, level + passed * tokensPerMillisecond)
    updated = updated.advanced(byMilliseconds: passed)
  }

  private var missingTime: Int64 {
    guard tokensPerMillisecond > 0 else { return TokenBucket.never }
    return (TokenBucket.request - level + tokensPerMillisecond - 1) / tokensPerMillisecond
  }
}
