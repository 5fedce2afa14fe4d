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

  // Few at once: a look at each costs less than a hash.
  private var instants: [(deadline: Deadline, instant: MonotonicInstant)] = []

  subscript(deadline: Deadline) -> MonotonicInstant? {
    get { instants.first { $0.deadline == deadline }?.instant }
    set {
      switch (instants.firstIndex { $0.deadline == deadline }, newValue) {
      case (let index?, let instant?): instants[index].instant = instant
      case (let index?, nil): instants.remove(at: index)
      case (nil, let instant?): instants.append((deadline: deadline, instant: instant))
      case (nil, nil): break
      }
    }
  }

  /// The earliest.
  var next: MonotonicInstant? { instants.min { $0.instant < $1.instant }?.instant }

  /// Removes and returns the due deadlines, earliest first.
  mutating func popDue(at now: MonotonicInstant) -> [Deadline] {
    let due = instants.filter { $0.instant <= now }
    if due.isEmpty { return [] }
    instants.removeAll { $0.instant <= now }
    return due.sorted { ($0.instant, $0.deadline.rawValue) < ($1.instant, $1.deadline.rawValue) }.map { $0.deadline }
  }
}
