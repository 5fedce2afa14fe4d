import DequeModule
import GroupModel
import WireProtocol

/// The join or the leave notices of a live room (Protocol.md, "Join and leave notices"): "the first after a quiet second goes out at once, later ones wait for
/// the second to end", all of them as one.
struct CoalescedNotice: Sendable {
  /// "Each notice names the 50 newest users and counts the rest in memberCount, never naming them."
  static let named = 50
  /// How far apart notices are, and how long one waits for a place in the room's window, in milliseconds.
  private static let second: Instant = 1000

  private var users: Deque<MemberInfo> = []
  private var lastLeft: Instant = .min / 2
  /// From when on the notice may leave; nil = there is none.
  private(set) var due: Instant?

  /// Until when the notice may leave; it is dropped then.
  var end: Instant? { due.map { $0 + CoalescedNotice.second } }

  /// Somebody has come, or left.
  /// - Parameter earliest: before which the notice may not leave.
  mutating func add(_ members: [MemberInfo], at now: Instant, notBefore earliest: Instant = .min) {
    users.append(contentsOf: members)
    if users.count > CoalescedNotice.named { users.removeFirst(users.count - CoalescedNotice.named) }
    due = max(due ?? max(now, lastLeft + CoalescedNotice.second), earliest)
  }

  /// Whether the notice that waits names one of these.
  func names(anyOf members: [MemberInfo]) -> Bool {
    let named = Set(members.map(\.userID))
    return users.contains { named.contains($0.userID) }
  }

  /// What the notice says of a user is not so any more.
  mutating func forget(_ user: UserID) {
    users.removeAll { $0.userID == user }
    if users.isEmpty { due = nil }
  }

  /// The notice is not wanted any more.
  mutating func giveUp() { _ = drop() }

  /// The notice leaves.
  /// - Returns: whom it names.
  mutating func take(at now: Instant) -> [MemberInfo] {
    lastLeft = now
    return drop()
  }

  /// The notice is given up where it has waited too long; nobody hears of that.
  mutating func advance(to now: Instant) {
    if let end, end < now { _ = drop() }
  }

  private mutating func drop() -> [MemberInfo] {
    due = nil
    defer { users = [] }
    return Array(users)
  }
}
