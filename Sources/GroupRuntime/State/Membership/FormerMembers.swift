import DequeModule
import GroupModel

/// Those who have left a group and of whom something is remembered: a bounded number, the latest.
struct FormerMembers: Sendable {
  /// How many a group remembers. Beyond it the one who left first is forgotten, those without a ban or mute before the others.
  static let most = 10_000

  private struct Departure: Sendable {
    let user: UserID
    let time: Instant
  }

  private(set) var byUser: [UserID: FormerMember] = [:]
  /// In the order of leaving; one counts while the member it names left then.
  private var free: Deque<Departure> = []
  private var restricted: Deque<Departure> = []

  /// Those that the store keeps; what ended meanwhile is left out.
  init(_ stored: [FormerMember], at now: Instant) {
    for former in stored.sorted(by: { $0.leftTime < $1.leftTime }) where former.isMemorable(at: now) { note(former, at: now) }
    while byUser.count > FormerMembers.most, let user = popOldest() { byUser[user] = nil }
  }

  /// How many are remembered.
  var count: Int { byUser.count }

  subscript(user: UserID) -> FormerMember? { byUser[user] }

  /// Somebody has left.
  /// - Returns: those who are forgotten for it.
  mutating func put(_ former: FormerMember, at now: Instant) -> [UserID] {
    note(former, at: now)
    var forgotten: [UserID] = []
    while byUser.count > FormerMembers.most, forgotten.count < 2, let user = popOldest() {
      byUser[user] = nil
      forgotten.append(user)
    }
    dropEnded(at: now)
    return forgotten
  }

  /// Somebody is back, or nothing is to be remembered any more.
  mutating func remove(_ user: UserID) -> FormerMember? { byUser.removeValue(forKey: user) }

  /// Whether somebody has left after an instant.
  func hasLeft(after instant: Instant) -> Bool {
    [free.last, restricted.last].contains { $0.map { $0.time > instant } ?? false }
  }

  /// Changes what is remembered of everybody.
  mutating func correct(_ change: (inout FormerMember) -> Void) {
    let all = byUser.values.map { former in
      var former = former
      change(&former)
      return former
    }
    self = FormerMembers(all, at: .min)
  }

  private mutating func note(_ former: FormerMember, at now: Instant) {
    byUser[former.userID] = former
    let departure = Departure(user: former.userID, time: former.leftTime)
    if former.isRestricted(at: now) { restricted.append(departure) } else { free.append(departure) }
  }

  private func isCurrent(_ departure: Departure) -> Bool { byUser[departure.user]?.leftTime == departure.time }

  private mutating func popOldest() -> UserID? {
    while let departure = free.popFirst() ?? restricted.popFirst() {
      if isCurrent(departure) { return departure.user }
    }
    return nil
  }

  /// The store sweeps those by itself. A few at a time: each departure is looked at once.
  private mutating func dropEnded(at now: Instant) {
    for _ in 0..<4 {
      guard let first = free.first, !isCurrent(first) || byUser[first.user]?.isMemorable(at: now) == false else { break }
      if isCurrent(first) { byUser[first.user] = nil }
      free.removeFirst()
    }
    for _ in 0..<4 {
      guard let first = restricted.first, byUser[first.user]?.isRestricted(at: now) != true || !isCurrent(first) else { break }
      restricted.removeFirst()
      if isCurrent(first) { free.append(first) }
    }
  }
}
