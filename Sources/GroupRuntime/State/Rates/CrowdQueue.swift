import DequeModule
import GroupModel

/// The changes that members of a large group make of themselves beyond 20 a second: they wait for a
/// moment and are decided together (Protocol.md, "Crowds"). So a group has at most 20 such events a
/// second, and 20 more of each kind that name up to 100 users, however many act.
struct CrowdQueue {
  /// In smaller groups every change stands alone: its event costs little.
  static let leastMembers = 100
  /// How many changes in any second stand alone.
  static let singlesPerSecond = 20
  /// The most changes that are decided together.
  static let maxTogether = 100
  /// The least time between two decisions over several.
  static let interval = Duration.milliseconds(50)

  private var singles = SlidingWindowLimiter(limit: CrowdQueue.singlesPerSecond, windowMilliseconds: 1000)
  private var changes: Deque<GroupInput> = []
  /// The sessions with a waiting change, and what they have sent behind it.
  private var sessions: [SessionKey: [GroupInput]] = [:]
  private var lastDecision: MonotonicInstant?

  /// Whether nothing waits.
  var isEmpty: Bool { changes.isEmpty && sessions.isEmpty }

  /// When changes are to be decided; nil = none waits.
  var due: MonotonicInstant? {
    changes.isEmpty ? nil : lastDecision.map { $0 + CrowdQueue.interval } ?? .distantPast
  }

  /// Counts a change.
  /// - Returns: whether it stands alone; else `append` follows.
  mutating func passes(at now: MonotonicInstant) -> Bool { changes.isEmpty && singles.acquire(at: now) == nil }

  mutating func append(_ change: GroupInput, of session: SessionKey?) {
    changes.append(change)
    if let session { sessions[session] = sessions[session] ?? [] }
  }

  /// Keeps an input behind the waiting change of its session.
  /// - Returns: false where none waits.
  mutating func hold(_ input: GroupInput, of session: SessionKey?) -> Bool {
    guard let session, sessions[session] != nil else { return false }
    sessions[session]?.append(input)
    return true
  }

  /// Removes the oldest changes, if they are due.
  mutating func popDue(at now: MonotonicInstant) -> [GroupInput] {
    guard let due, due <= now else { return [] }
    lastDecision = now
    let count = min(changes.count, CrowdQueue.maxTogether)
    defer { changes.removeFirst(count) }
    return Array(changes.prefix(count))
  }

  /// Removes the oldest changes, because the group is not in memory any more.
  mutating func popAll() -> [GroupInput] {
    defer { changes = [] }
    return Array(changes)
  }

  /// The change of a session was decided.
  /// - Returns: what the session has sent behind it.
  mutating func release(_ session: SessionKey?) -> [GroupInput] { session.flatMap { sessions.removeValue(forKey: $0) } ?? [] }
}
