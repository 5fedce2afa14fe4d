import DequeModule
import GroupModel

/// When members have written last, in a group with slow mode (Protocol.md, "Slow mode"). A pure value
/// over an injected clock; instants never go back.
struct SlowMode: Sendable {
  /// The most users. Beyond them those who wrote first may write again.
  static let maxUsers = 100_000

  private var last: [UserID: MonotonicInstant] = [:]
  /// The messages by their instants. A user may stand there twice, because the group's choice was longer
  /// or shorter before.
  private var order: Deque<(user: UserID, time: MonotonicInstant)> = []

  /// Nobody has written yet.
  init() {}

  /// How many users are remembered.
  var count: Int { last.count }

  /// After how many milliseconds the user may write; nil = now. Nothing is counted.
  /// - Parameter seconds: the least time between two messages of a user.
  func wait(_ user: UserID, seconds: Int64, at now: MonotonicInstant) -> Int64? {
    guard let time = last[user] else { return nil }
    let rest = seconds * 1000 - now.milliseconds(since: time)
    return rest > 0 ? rest : nil
  }

  /// The user has written.
  mutating func note(_ user: UserID, seconds: Int64, at now: MonotonicInstant) {
    removeExpired(seconds: seconds, at: now)
    while order.count >= SlowMode.maxUsers { removeFirst() }
    last[user] = now
    order.append((user, now))
  }

  /// Forgets who may write again.
  /// - Returns: the instant from which nobody waits any more; nil = nobody waits.
  @discardableResult
  mutating func removeExpired(seconds: Int64, at now: MonotonicInstant) -> MonotonicInstant? {
    while let first = order.first, now.milliseconds(since: first.time) >= seconds * 1000 { removeFirst() }
    return order.last?.time.advanced(byMilliseconds: seconds * 1000)
  }

  /// Forgets users whose last message was never sent.
  mutating func remove(_ users: Set<UserID>) {
    guard !users.isEmpty else { return }
    for user in users { last[user] = nil }
    order.removeAll { users.contains($0.user) }
  }

  private mutating func removeFirst() {
    guard let first = order.popFirst(), last[first.user] == first.time else { return }
    last[first.user] = nil
  }
}
