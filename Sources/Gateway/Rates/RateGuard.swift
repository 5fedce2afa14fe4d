import GroupModel
import WireProtocol

/// The request rate of a session (contract section 6): a steady rate with bursts, 7008 beyond it, and 4004 for a flood.
struct RateGuard: Sendable {
  /// How many refusals, in how many milliseconds, are a flood.
  private static let flood = (count: 1000, window: Instant(10_000))

  private var bucket: TokenBucket
  private var refusals = WindowCounter(window: RateGuard.flood.window, bound: RateGuard.flood.count)

  /// What a request may do.
  enum Verdict: Equatable {
    case pass
    /// 7008 with this many milliseconds to wait.
    case refuse(retryAfterMs: Instant)
    /// 7008, and then close with 4004.
    case flood(retryAfterMs: Instant)
  }

  init(_ configuration: GatewayConfiguration, now: Instant) {
    bucket = TokenBucket(perSecond: configuration.requestsPerSecond, burst: configuration.requestBurst, now: now)
  }

  /// Counts a request.
  mutating func judge(at now: Instant) -> Verdict {
    guard let wait = bucket.take(at: now) else { return .pass }
    return refusals.note(at: now) ? .flood(retryAfterMs: wait) : .refuse(retryAfterMs: wait)
  }
}
