import DequeModule
import GroupModel
import HeapModule

/// Those who have left a group and of whom something is remembered: a bounded number, the latest.
struct FormerMembers: Sendable {
  /// How many a group remembers. Beyond it the one who left first is forgotten; of those with a ban or mute, who go last, the one
  /// whose ban ends first.
  static let most = 10_000

  private struct Departure: Sendable {
    let user: UserID
    let time: Instant
  }

  private struct Restriction: Comparable, Sendable {
    let departure: Departure
    let end: Instant

    static func == (a: Restriction, b: Restriction) -> Bool { a.end == b.end }
    static func < (a: Restriction, b: Restriction) -> Bool { a.end < b.end }
  }

  private(set) var byUser: [UserID: FormerMember] = [:]
  /// In the order of leaving, or of the end of a ban or mute; one counts while the member it names left then.
  private var free: Deque<Departure> = []
  /// Those with a ban or mute, so that a long one does not stand before those that have ended.
  private var restricted: Heap<Restriction> = []
  private var lastLeft = Instant.min

  /// Those that the store keeps; what ended meanwhile is left out.
  init(_ stored: [FormerMember], at now: Instant) {
    for former in stored.sorted(by: { $0.leftTime < $1.leftTime }) where former.isMemorable(at: now) { note(former, at: now) }
    while byUser.count > FormerMembers.most, let user = popOldest() { byUser[user] = nil }
  }

  /// How many are remembered.
  var count: Int { byUser.count }

  /// How many departures are kept for it, those that do not count any more included.
  var departureCount: Int { free.count + restricted.count }

  subscript(user: UserID) -> FormerMember? { byUser[user] }

  /// Somebody has left.
  /// - Returns: those who are forgotten for it.
  mutating func put(_ former: FormerMember, at now: Instant) -> [UserID] {
    // First, so that those whose ban has ended stand before whoever leaves now.
    dropEnded(at: now)
    note(former, at: now)
    var forgotten: [UserID] = []
    while byUser.count > FormerMembers.most, forgotten.count < 2, let user = popOldest() {
      byUser[user] = nil
      forgotten.append(user)
    }
    return forgotten
  }

  /// Somebody is back, or nothing is to be remembered any more.
  mutating func remove(_ user: UserID) -> FormerMember? { byUser.removeValue(forKey: user) }

  /// Whether somebody has left after an instant.
  func hasLeft(after instant: Instant) -> Bool { lastLeft > instant }

  /// Changes what is remembered of everybody.
  /// - Returns: those of whom something else is remembered now.
  mutating func correct(at now: Instant, _ change: (inout FormerMember) -> Void) -> [FormerMember] {
    var changed: [FormerMember] = []
    let all = byUser.values.map { known in
      var former = known
      change(&former)
      if former != known { changed.append(former) }
      return former
    }
    self = FormerMembers(all, at: now)
    return changed
  }

  private mutating func note(_ former: FormerMember, at now: Instant) {
    byUser[former.userID] = former
    lastLeft = max(lastLeft, former.leftTime)
    let departure = Departure(user: former.userID, time: former.leftTime)
    if former.isRestricted(at: now) {
      restricted.insert(Restriction(departure: departure, end: former.restrictedUntil))
    } else {
      free.append(departure)
    }
    // Who comes and goes leaves a departure each time.
    if departureCount > 2 * byUser.count + 64 { dropOutdated() }
  }

  private func isCurrent(_ departure: Departure) -> Bool { byUser[departure.user]?.leftTime == departure.time }

  private mutating func dropOutdated() {
    let byUser = byUser
    free.removeAll { byUser[$0.user]?.leftTime != $0.time }
    restricted = Heap(restricted.unordered.filter { byUser[$0.departure.user]?.leftTime == $0.departure.time })
  }

  private mutating func popOldest() -> UserID? {
    while let departure = free.popFirst() ?? restricted.popMin()?.departure {
      if isCurrent(departure) { return departure.user }
    }
    return nil
  }

  /// The store sweeps those by itself. A few at a time: each departure is looked at twice at most.
  private mutating func dropEnded(at now: Instant) {
    for _ in 0..<4 {
      guard let first = free.first, !isCurrent(first) || byUser[first.user]?.isMemorable(at: now) == false else { break }
      if isCurrent(first) { byUser[first.user] = nil }
      free.removeFirst()
    }
    for _ in 0..<4 {
      guard let first = restricted.min, first.end <= now || !isCurrent(first.departure) else { break }
      restricted.removeMin()
      guard isCurrent(first.departure), let former = byUser[first.departure.user] else { continue }
      if former.isMemorable(at: now) { free.append(first.departure) } else { byUser[former.userID] = nil }
    }
  }
}
