import DequeModule
import GroupModel

/// The members of a live room who have no session, in the order in which they lost it: "membership outlives a lost connection" by the grace
/// (Protocol.md, "AVChatRoom").
struct AbsentMembers: Sendable {
  private struct Departure: Sendable {
    let user: UserID
    let since: Instant
  }

  private var since: [UserID: Instant]
  /// Holds a departure for each entry of `since`, and such as do not count any more.
  private var byTime: Deque<Departure>

  /// Those who were gone when the group was loaded.
  init(since: [UserID: Instant]) {
    self.since = since
    byTime = Deque(since.map { Departure(user: $0.key, since: $0.value) }.sorted { $0.since < $1.since })
  }

  /// How many are absent.
  var count: Int { since.count }

  /// Since when a member is absent; nil = is not.
  subscript(user: UserID) -> Instant? { since[user] }

  /// A member has lost the last session; known absences go on. Instants go up.
  mutating func note(_ user: UserID, since now: Instant) {
    guard since[user] == nil else { return }
    since[user] = now
    byTime.append(Departure(user: user, since: now))
  }

  /// A member is back, or is no member any more.
  mutating func forget(_ user: UserID) {
    guard since.removeValue(forKey: user) != nil else { return }
    while let first = byTime.first, since[first.user] != first.since { byTime.removeFirst() }
    if byTime.count > 2 * since.count + 64 { byTime.removeAll { since[$0.user] != $0.since } }
  }

  /// When the first absence has lasted that long; nil = nobody is absent.
  func firstEnd(after grace: Instant) -> Instant? { byTime.first.map { $0.since + grace } }

  /// Those absent since an instant or longer, the longest first, at most so many; they are forgotten here.
  mutating func take(absentSince limit: Instant, atMost count: Int) -> [UserID] {
    var taken: [UserID] = []
    while taken.count < count, let first = byTime.first, first.since <= limit {
      byTime.removeFirst()
      guard since[first.user] == first.since else { continue }
      since[first.user] = nil
      taken.append(first.user)
    }
    while let first = byTime.first, since[first.user] != first.since { byTime.removeFirst() }
    return taken
  }
}
