import GroupModel
import WireProtocol

/// The deadlines of a connection, each at most once.
struct Deadlines {
  /// In the order of handling at one instant: the warning of an expired token precedes the close.
  enum Deadline: Int, CaseIterable {
    /// Not signed in within 10 s (4007).
    case signIn
    /// The delayed answer to a bad token is due.
    case failureAnswer
    /// The deferred write may begin.
    case writing
    /// onUserSigExpired.
    case expiryWarning
    /// The token has expired (4006).
    case expiry
    /// The session closes, because the server drains (4001).
    case drain
  }

  private var instants: [Deadline: MonotonicInstant] = [:]

  subscript(deadline: Deadline) -> MonotonicInstant? {
    get { instants[deadline] }
    set { instants[deadline] = newValue }
  }

  /// The earliest.
  var next: MonotonicInstant? { instants.values.min() }

  /// Removes and returns the due deadlines, earliest first.
  mutating func popDue(at now: MonotonicInstant) -> [Deadline] {
    let due = instants.filter { $0.value <= now }.sorted { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }.map(\.key)
    for deadline in due { instants[deadline] = nil }
    return due
  }
}
