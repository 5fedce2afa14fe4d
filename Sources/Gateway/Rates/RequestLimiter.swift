import GroupModel
import WireProtocol

/// Refuses a session's requests beyond its user's rate, and closes a session with very many
/// refusals (Protocol.md, "Request rate").
struct RequestLimiter: Sendable {
  /// So many refusals within a window are a flood.
  private static let flood = (count: 1000, window: Duration.seconds(10))

  private var refusals = SlidingWindowCounter(window: RequestLimiter.flood.window, bound: RequestLimiter.flood.count)

  /// The answer to a request.
  enum Verdict: Equatable {
    case pass
    /// 7008 with this many milliseconds to wait.
    case refuse(retryAfterMs: Int64)
    /// 7008, and then close with 4004.
    case flood(retryAfterMs: Int64)
  }

  /// Counts a request.
  mutating func check(_ budget: UserBudget, at now: MonotonicInstant) -> Verdict {
    guard let wait = budget.acquireRequest(at: now) else { return .pass }
    return refusals.note(at: now) ? .flood(retryAfterMs: wait) : .refuse(retryAfterMs: wait)
  }
}
