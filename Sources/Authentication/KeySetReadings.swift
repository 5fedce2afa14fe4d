import GroupModel

/// When the key set of `auth.jwksURL` is read, as a value (Protocol.md, "Keys at a URL"). It is told what
/// happens, and says what follows.
public struct KeySetReadings: Sendable {
  /// Why it is read.
  public enum Cause: String, Sendable, CaseIterable {
    /// At the start, and every `auth.jwksRefresh`, or sooner behind a failure.
    case time
    /// A token names a key that is not in it.
    case unknownKey
    /// SIGHUP.
    case `operator`
  }

  /// What follows for a token that names an unknown key.
  public enum Verdict: Sendable, Equatable {
    /// A reading begins now, and the token waits for it.
    case begin
    /// A reading is under way, and the token waits for it.
    case join
    /// None is due for a token: it is refused.
    case refuse
  }

  /// Tokens cause a reading so seldom, whoever makes them.
  static let tokenInterval = Duration.seconds(10)
  /// Behind a failure the next reading comes so soon, and each further one in twice the time.
  static let firstRetry = Duration.seconds(1)
  static let longestRetry = Duration.seconds(60)

  private let refresh: Duration
  private var current: Cause?
  /// Another reading is wanted behind the one under way, which may have begun too early.
  private var isWantedAgain = false
  private var lastForToken: MonotonicInstant?
  /// Failures since the last good reading.
  public private(set) var failures = 0
  /// When the last good reading ended; nil = there was none.
  public private(set) var lastSuccess: MonotonicInstant?
  /// When the next reading is due by itself; nil = when the one under way has ended.
  public private(set) var due: MonotonicInstant?

  /// - Parameter refresh: how often it is read.
  public init(refresh: Duration) { self.refresh = refresh }

  /// Whether a reading is under way.
  public var isReading: Bool { current != nil }

  /// The start, or a timer.
  /// - Returns: whether a reading begins.
  public mutating func timeHasCome(at now: MonotonicInstant) -> Bool {
    guard current == nil, due.map({ $0 <= now }) ?? true else { return false }
    begin(.time)
    return true
  }

  /// A token names an unknown key.
  public mutating func sawUnknownKey(at now: MonotonicInstant) -> Verdict {
    // One that a token has not caused may have begun before the key was there: its end is waited for, and
    // then the token is looked at again.
    if current != nil { return .join }
    if let last = lastForToken, now - last < KeySetReadings.tokenInterval { return .refuse }
    lastForToken = now
    begin(.unknownKey)
    return .begin
  }

  /// The operator wants it read.
  /// - Returns: whether a reading begins now; else one follows the present one.
  public mutating func isWanted() -> Bool {
    guard current == nil else {
      isWantedAgain = true
      return false
    }
    begin(.operator)
    return true
  }

  private mutating func begin(_ cause: Cause) {
    current = cause
    due = nil
  }

  /// The reading under way has ended.
  /// - Returns: whether another one begins at once.
  public mutating func didEnd(isGood: Bool, at now: MonotonicInstant) -> Bool {
    if isGood {
      lastSuccess = now
      failures = 0
      due = now + refresh
    } else {
      failures += 1
      let doublings = min(failures - 1, 10)
      due = now + min(KeySetReadings.firstRetry * (1 << doublings), KeySetReadings.longestRetry, refresh)
    }
    current = nil
    guard isWantedAgain else { return false }
    isWantedAgain = false
    begin(.operator)
    return true
  }
}
