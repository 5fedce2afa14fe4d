import DequeModule
import GroupModel
import WireProtocol

/// The join or the leave notices of a live group as one (Protocol.md, "Join and leave notices"):
/// "the first after a quiet second goes out at once, later ones wait for the second to end".
struct CoalescedNotice: Sendable {
  /// "Each notice names the 50 newest users and counts the rest in memberCount, never naming them."
  static let maxNamed = 50
  /// The least time between notices, and the longest wait of a due one.
  private static let second = Duration.seconds(1)

  private var users: Deque<MemberInfo> = []
  private var lastSent: WallInstant?
  /// The instant from which the notice may be sent; nil = there is none.
  private(set) var due: WallInstant?

  /// The last instant at which the notice may be sent.
  var expiry: WallInstant? { due.map { $0 + CoalescedNotice.second } }

  /// Adds users.
  /// - Parameter earliest: the notice must not be sent before.
  mutating func add(_ members: [MemberInfo], at now: WallInstant, notBefore earliest: WallInstant = .distantPast) {
    users.append(contentsOf: members)
    if users.count > CoalescedNotice.maxNamed { users.removeFirst(users.count - CoalescedNotice.maxNamed) }
    let next = lastSent.map { max(now, $0 + CoalescedNotice.second) } ?? now
    due = max(due ?? next, earliest)
  }

  /// Whether the notice names any of these.
  func names(anyOf members: [MemberInfo]) -> Bool {
    let named = Set(members.map(\.userID))
    return users.contains { named.contains($0.userID) }
  }

  mutating func remove(_ user: UserID) {
    users.removeAll { $0.userID == user }
    if users.isEmpty { due = nil }
  }

  mutating func removeAll() {
    users = []
    due = nil
  }

  /// Removes all users, because the notice is sent.
  mutating func takeUsers(at now: WallInstant) -> [MemberInfo] {
    defer { removeAll() }
    lastSent = now
    return Array(users)
  }

  mutating func removeExpired(at now: WallInstant) {
    if let expiry, expiry < now { removeAll() }
  }
}
