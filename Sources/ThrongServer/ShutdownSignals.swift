/// Decides what a signal means (contract section 10.6): "A signal within 1 s of the first is the same one; a later one ends at
/// once." A service manager and a terminal often send two for one wish.
struct ShutdownSignals {
  /// What is to be done.
  enum Action: Equatable {
    case drain
    case nothing
    case endAtOnce
  }

  private static let sameSignal = Duration.seconds(1)
  private var first: ContinuousClock.Instant?

  /// A signal has come; `now` is of a clock that nobody sets.
  mutating func receive(at now: ContinuousClock.Instant) -> Action {
    guard let first else {
      first = now
      return .drain
    }
    return now - first < ShutdownSignals.sameSignal ? .nothing : .endAtOnce
  }
}
