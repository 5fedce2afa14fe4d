import DequeModule
import GroupModel

/// The members of a live room without a session, in the order in which they lost it: "membership
/// outlives a lost connection" by the grace (Protocol.md, "AVChatRoom").
struct AbsentMembers: Sendable {
  private struct Departure: Sendable {
    let user: UserID
    let since: MonotonicInstant
  }

  private var since: [UserID: MonotonicInstant]
  /// Holds a departure for each entry of `since`, and outdated ones. Instants ascend.
  private var byTime: Deque<Departure>

  /// The members absent when the group was loaded.
  init(since: [UserID: MonotonicInstant]) {
    self.since = since
    byTime = Deque(since.map { Departure(user: $0.key, since: $0.value) }.sorted { $0.since < $1.since })
  }

  /// How many are absent.
  var count: Int { since.count }

  /// The instant since which a member is absent; nil = not absent.
  subscript(user: UserID) -> MonotonicInstant? { since[user] }

  /// A member has lost the last session; a known absence goes on.
  /// - Parameter now: not before that of an earlier call.
  mutating func add(_ user: UserID, since now: MonotonicInstant) {
    guard since[user] == nil else { return }
    since[user] = now
    byTime.append(Departure(user: user, since: now))
  }

  /// A member is back, or no member any more.
  mutating func remove(_ user: UserID) {
    guard since.removeValue(forKey: user) != nil else { return }
    dropOutdatedFirst()
    if byTime.count > 2 * since.count + 64 { byTime.removeAll { since[$0.user] != $0.since } }
  }

  /// When the longest absence has lasted that long; nil = no member is absent.
  func firstEnd(afterMilliseconds grace: Int64) -> MonotonicInstant? {
    byTime.first?.since.advanced(byMilliseconds: grace)
  }

  /// Removes and returns those absent for that long, the longest first, at most so many.
  mutating func removeExpired(afterMilliseconds grace: Int64, at now: MonotonicInstant, atMost count: Int) -> [UserID] {
    var removed: [UserID] = []
    while removed.count < count, let first = byTime.first, first.since.advanced(byMilliseconds: grace) <= now {
      byTime.removeFirst()
      guard since[first.user] == first.since else { continue }
      since[first.user] = nil
      removed.append(first.user)
    }
    dropOutdatedFirst()
    return removed
  }

  private mutating func dropOutdatedFirst() {
    while let first = byTime.first, since[first.user] != first.since { byTime.removeFirst() }
  }
}
