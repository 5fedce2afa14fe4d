import GroupModel
import WireProtocol

/// What a connection waits for, each at most once, on the monotonic clock.
struct Deadlines {
  /// What happens when the time has come. Of two at one instant, the upper one is first: a token that has expired is told of
  /// before it closes.
  enum Deadline: Int, CaseIterable {
    /// Not signed in within 10 s (4007).
    case signIn
    /// The answer to a bad token may leave.
    case failureAnswer
    /// The write that waits may begin.
    case writing
    /// onUserSigExpired.
    case expiryWarning
    /// The token has expired (4006).
    case expiry
    /// The server drains (4001).
    case drain
  }

  private var instants: [Deadline: Instant] = [:]

  subscript(deadline: Deadline) -> Instant? {
    get { instants[deadline] }
    set { instants[deadline] = newValue }
  }

  /// The first.
  var next: Instant? { instants.values.min() }

  /// Those whose time has come, in the order of time; they are gone from here.
  mutating func takeDue(at now: Instant) -> [Deadline] {
    let due = instants.filter { $0.value <= now }.sorted { ($0.value, $0.key.rawValue) < ($1.value, $1.key.rawValue) }.map(\.key)
    for deadline in due { instants[deadline] = nil }
    return due
  }
}
