import DequeModule
import GroupModel

/// The members of a live room without a session, in the order in which they lost it: "membership
/// outlives a lost connection" by the grace (Protocol.md, "AVChatRoom").
struct AbsentMembers: Sendable {
  private struct Departure: Sendable {
    let user: UserID
    let since: WallInstant
  }

  private var since: [UserID: WallInstant]
  /// Holds a departure for each entry of `since`, and outdated ones. Instants ascend.
  private var byTime: Deque<Departure>

  /// The members absent when the group was loaded.
  init(since: [UserID: WallInstant]) {
    self.since = since
    byTime = Deque(since.map { Departure(user: $0.key, since: $0.value) }.sorted { $0.since < $1.since })
  }

  /// How many are absent.
  var count: Int { since.count }

  /// The instant since which a member is absent; nil = not absent.
  subscript(user: UserID) -> WallInstant? { since[user] }

  /// A member has lost the last session; a known absence goes on.
  /// - Parameter now: not before that of an earlier call.
  mutating func add(_ user: UserID, since now: WallInstant) {
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
  func firstEnd(after grace: Duration) -> WallInstant? { byTime.first.map { $0.since + grace } }

  /// Removes and returns those absent since an instant or longer, the longest first, at most so
  /// many.
  mutating func removeExpired(absentSince limit: WallInstant, atMost count: Int) -> [UserID] {
    var removed: [UserID] = []
    while removed.count < count, let first = byTime.first, first.since <= limit {
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
