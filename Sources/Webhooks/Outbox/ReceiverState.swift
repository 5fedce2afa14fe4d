import GroupModel

/// Whether requests get answers of any kind, and when a receiver that gives none is tried again.
struct ReceiverState {
  private enum State {
    /// - Parameter silences: requests without an answer since the last one.
    case up(silences: Int)
    /// One request at a time tries it, at increasing intervals.
    case down(probes: Int, next: MonotonicInstant, isProbing: Bool)
  }

  /// So many requests without an answer, and the receiver counts as down.
  static let silencesUntilDown = 3
  /// In milliseconds.
  static let longestProbeInterval: Int64 = 30_000

  private var state = State.up(silences: 0)

  var isDown: Bool { if case .down = state { true } else { false } }

  /// When it may be tried; nil = at any time.
  var nextProbe: MonotonicInstant? { if case .down(_, let next, _) = state { next } else { nil } }

  /// Whether a request may be posted beside those in flight.
  func allowsAttempt(beside inFlight: Int, at now: MonotonicInstant) -> Bool {
    nextProbe.map { inFlight == 0 && $0 <= now } ?? true
  }

  mutating func attemptBegins() {
    if case .down(let probes, let next, _) = state { state = .down(probes: probes, next: next, isProbing: true) }
  }

  /// A request has not left, or nobody has seen how it ended, which says nothing of the receiver.
  mutating func attemptWasNotSent(at now: MonotonicInstant) {
    guard case .down(let probes, let next, isProbing: true) = state else { return }
    state = .down(probes: probes, next: max(next, now.advanced(byMilliseconds: 1000)), isProbing: false)
  }

  mutating func attemptEnded(isAnswered: Bool, at now: MonotonicInstant) {
    if isAnswered {
      state = .up(silences: 0)
      return
    }
    switch state {
    case .up(let silences) where silences + 1 < ReceiverState.silencesUntilDown: state = .up(silences: silences + 1)
    case .up: state = .down(probes: 0, next: now.advanced(byMilliseconds: 1000), isProbing: false)
    case .down(let probes, let next, let isProbing):
      // Requests from before may still end.
      guard isProbing else { return }
      let interval = min(2000 << Int64(min(probes, 10)), ReceiverState.longestProbeInterval)
      state = .down(
        probes: probes + 1, next: max(next, now.advanced(byMilliseconds: interval)), isProbing: false)
    }
  }
}
