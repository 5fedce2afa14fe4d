import GroupModel

/// When what waits in the store is counted again, where several processes share it: others may have
/// left entries of which nobody has told.
enum StoreReview {
  /// - Parameter last: when it was counted last.
  /// Next: due.
  case idle(last: MonotonicInstant?)
  /// Next: counting.
  case due(MonotonicInstant, last: MonotonicInstant?)
  /// - Parameter next: when it is to be counted once more.
  /// Next: idle, due.
  case counting(since: MonotonicInstant, next: MonotonicInstant?)

  private static let delay = Duration.seconds(1)
  /// How often a process with nothing to do counts.
  private static let interval = Duration.seconds(60)

  /// When a count may begin; nil = none is planned, or one is under way.
  var due: MonotonicInstant? { if case .due(let due, _) = self { due } else { nil } }

  /// Plans a count.
  mutating func plan(at due: MonotonicInstant) {
    switch self {
    case .idle(let last), .due(_, let last): self = .due(due, last: last)
    case .counting(let since, _): self = .counting(since: since, next: due)
    }
  }

  /// Nothing is left to do for what is known: plans a count, unless one is planned.
  /// - Parameter isExpected: the last count says that there is more.
  mutating func planWhenIdle(isExpected: Bool, at now: MonotonicInstant) {
    let last: MonotonicInstant
    switch self {
    case .idle(let counted): last = counted ?? now
    case .counting(let since, next: nil): last = since
    case .due, .counting: return
    }
    plan(at: isExpected ? now + StoreReview.delay : max(now, last + StoreReview.interval))
  }

  mutating func begin(at now: MonotonicInstant) { self = .counting(since: now, next: nil) }

  mutating func end() {
    guard case .counting(let since, let next) = self else { return }
    self = next.map { .due($0, last: since) } ?? .idle(last: since)
  }
}
