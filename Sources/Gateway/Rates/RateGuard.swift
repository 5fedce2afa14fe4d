import GroupModel
import WireProtocol

/// What becomes of a session's requests (contract section 6): those beyond the user's rate are refused, and a session with very many
/// refusals is closed.
struct RateGuard: Sendable {
  /// How many refusals, in how many milliseconds, are a flood.
  private static let flood = (count: 1000, window: Instant(10_000))

  private var refusals = WindowCounter(window: RateGuard.flood.window, bound: RateGuard.flood.count)

  /// What a request may do.
  enum Verdict: Equatable {
    case pass
    /// 7008 with this many milliseconds to wait.
    case refuse(retryAfterMs: Instant)
    /// 7008, and then close with 4004.
    case flood(retryAfterMs: Instant)
  }

  /// Counts a request of a user.
  mutating func judge(_ budget: UserBudget, at now: Instant) -> Verdict {
    guard let wait = budget.takeRequest(at: now) else { return .pass }
    return refusals.note(at: now) ? .flood(retryAfterMs: wait) : .refuse(retryAfterMs: wait)
  }
}
