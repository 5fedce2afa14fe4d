import DequeModule
import GroupModel
import HeapModule

/// The records of former members, a bounded number of the latest.
struct FormerMembers: Sendable {
  /// How many records a group keeps. Beyond it the record of the earliest departure is deleted;
  /// those with a ban or mute come last, in the order of their ends.
  static let maxCount = 10_000

  private struct Departure: Sendable {
    let user: UserID
    let time: WallInstant
  }

  private struct Restriction: Comparable, Sendable {
    let departure: Departure
    let end: WallInstant

    static func == (a: Restriction, b: Restriction) -> Bool { a.end == b.end }
    static func < (a: Restriction, b: Restriction) -> Bool { a.end < b.end }
  }

  private(set) var byUser: [UserID: FormerMember] = [:]
  /// Departures in order, or by the end of a ban or mute. A departure is current while the record
  /// of its user has the same `leftTime`; outdated ones stay for a while.
  private var free: Deque<Departure> = []
  /// Departures with a ban or mute, so that a long one does not hold up those that have ended.
  private var restricted: Heap<Restriction> = []
  private var lastDeparture = WallInstant.distantPast
  /// The bans in the order of their ends; nil until the first list.
  private var bans: BanOrder?

  /// The stored records, except those that are of no use any more.
  init(_ stored: [FormerMember], at now: WallInstant) {
    for former in stored.sorted(by: { $0.leftTime < $1.leftTime }) where former.isMemorable(at: now) { insert(former, at: now) }
    while byUser.count > FormerMembers.maxCount, let user = popOldest() { byUser[user] = nil }
  }

  /// How many records are kept.
  var count: Int { byUser.count }

  /// How many departures are kept, outdated ones included.
  var departureCount: Int { free.count + restricted.count }

  subscript(user: UserID) -> FormerMember? { byUser[user] }

  /// Adds the record of a user who leaves now.
  /// - Returns: the users whose records are deleted to make room.
  mutating func add(_ former: FormerMember, at now: WallInstant) -> [UserID] {
    // First, so that a record whose ban has ended counts as an earlier departure than this one.
    dropEnded(at: now)
    insert(former, at: now)
    var forgotten: [UserID] = []
    while byUser.count > FormerMembers.maxCount, forgotten.count < 2, let user = popOldest() {
      byUser[user] = nil
      forgotten.append(user)
    }
    return forgotten
  }

  /// Removes the record of a user who is back.
  mutating func remove(_ user: UserID) -> FormerMember? { byUser.removeValue(forKey: user) }

  // MARK: Bans

  /// A page of the users under a ban, the soonest end first.
  mutating func bannedPage(at now: WallInstant, after nextSeq: Int64, count: Int) -> BanOrder.Page {
    let bans = bans ?? BanOrder(byUser.values)
    self.bans = bans
    return bans.page(of: byUser, at: now, after: nextSeq, count: count)
  }

  /// Ends a user's ban.
  /// - Returns: the record without the ban; nil = the user is under none.
  mutating func liftBan(of user: UserID, at now: WallInstant) -> FormerMember? {
    guard var former = byUser[user], former.bannedUntil > now else { return nil }
    former.bannedUntil = .unset
    former.banReason = ""
    // The departure stays among those with a ban until that end. A later one of the user counts
    // instead.
    if former.isMemorable(at: now) { insert(former, at: now) } else { byUser[user] = nil }
    return former
  }

  // MARK: All records

  /// Whether a record has a departure after an instant.
  func hasDeparture(after instant: WallInstant) -> Bool { lastDeparture > instant }

  /// Changes all records.
  /// - Returns: those that are different now.
  mutating func updateAll(at now: WallInstant, _ change: (inout FormerMember) -> Void) -> [FormerMember] {
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

  private mutating func insert(_ former: FormerMember, at now: WallInstant) {
    byUser[former.userID] = former
    bans?.insert(former, among: byUser)
    lastDeparture = max(lastDeparture, former.leftTime)
    let departure = Departure(user: former.userID, time: former.leftTime)
    if former.isRestricted(at: now) {
      restricted.insert(Restriction(departure: departure, end: former.restrictedUntil))
    } else {
      free.append(departure)
    }
    // A user who joins and leaves again and again adds a departure each time.
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

  /// Deletes a few ended records, as the store does by itself. Visits each departure twice at most.
  private mutating func dropEnded(at now: WallInstant) {
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
