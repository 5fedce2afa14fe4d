import DequeModule
import GroupModel
import WireProtocol

/// The join or the leave notices of a live group as one (Protocol.md, "Join and leave notices"):
/// "the first after a quiet second goes out at once, later ones wait for the second to end".
struct CoalescedNotice: Sendable {
  /// "Each notice names the 50 newest users and counts the rest in memberCount, never naming them."
  static let maxNamed = 50
  /// The least time between notices, and the longest wait of a due one, in milliseconds.
  private static var second: Int64 { 1000 }

  private struct Entry {
    let user: MemberInfo
    /// Nil = the user has not done it.
    let platform: Platform?
  }

  private var users: Deque<Entry> = []
  private var lastSent: MonotonicInstant?
  /// The instant from which the notice may be sent; nil = there is none.
  private(set) var due: MonotonicInstant?

  /// The last instant at which the notice may be sent.
  var expiry: MonotonicInstant? { due.map { $0.advanced(byMilliseconds: CoalescedNotice.second) } }

  /// Adds users.
  /// - Parameters:
  ///   - platform: of the user who has done it; nil = none has.
  ///   - earliest: the notice must not be sent before.
  mutating func add(
    _ members: [MemberInfo], on platform: Platform?, at now: MonotonicInstant,
    notBefore earliest: MonotonicInstant = .distantPast
  ) {
    users.append(contentsOf: members.map { Entry(user: $0, platform: platform) })
    if users.count > CoalescedNotice.maxNamed { users.removeFirst(users.count - CoalescedNotice.maxNamed) }
    let next = lastSent.map { max(now, $0.advanced(byMilliseconds: CoalescedNotice.second)) } ?? now
    due = max(due ?? next, earliest)
  }

  /// Whether the notice names any of these.
  func names(anyOf members: [MemberInfo]) -> Bool {
    let named = Set(members.map(\.userID))
    return users.contains { named.contains($0.user.userID) }
  }

  mutating func remove(_ user: UserID) {
    users.removeAll { $0.user.userID == user }
    if users.isEmpty { due = nil }
  }

  mutating func removeAll() {
    users = []
    due = nil
  }

  /// Removes all users, because the notice is sent.
  /// - Returns: the platform where all users are on the same one.
  mutating func popUsers(at now: MonotonicInstant) -> ([MemberInfo], Platform?) {
    defer { removeAll() }
    lastSent = now
    let platform = users.first?.platform
    return (users.map(\.user), users.allSatisfy { $0.platform == platform } ? platform : nil)
  }

  mutating func removeExpired(at now: MonotonicInstant) {
    if let expiry, expiry < now { removeAll() }
  }
}
