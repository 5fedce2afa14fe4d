import Synchronization

/// How many lines a second are written of what others can make the server complain of.
public final class LineLimit: Sendable {
  private static let perSecond = 5

  private struct Second {
    var begun: ContinuousClock.Instant
    var written = 0
    var dropped = 0
  }

  private let second = Mutex(Second(begun: .now))

  /// Nothing was written yet.
  public init() {}

  /// Nil where the line is one too many, else how many lines were dropped before it.
  public func admit(at now: ContinuousClock.Instant) -> Int? {
    second.withLock { second in
      if now - second.begun >= .seconds(1) {
        second = Second(begun: now, written: 0, dropped: second.dropped)
      }
      guard second.written < LineLimit.perSecond else {
        second.dropped += 1
        return nil
      }
      second.written += 1
      defer { second.dropped = 0 }
      return second.dropped
    }
  }
}
