import DequeModule
import GroupModel
import HeapModule
import WireProtocol

/// The records of former members, a bounded number of the latest.
struct FormerMembers: Sendable {
  /// How many records a group keeps. Beyond it the record of the earliest departure is deleted;
  /// those with a ban or mute come last, in the order of their ends, and behind them those with a role.
  static let maxCount = 10_000

  private struct Departure: Sendable {
    let user: UserID
    let time: WallInstant
  }

  private struct Restriction: Comparable, Sendable {
    let departure: Departure
    let end: WallInstant

    static func == (a: Restriction, b: Restriction) -> Bool { (a.end, a.departure.time) == (b.end, b.departure.time) }
    static func < (a: Restriction, b: Restriction) -> Bool { (a.end, a.departure.time) < (b.end, b.departure.time) }
  }

  private(set) var byUser: [UserID: FormerMember] = [:]
  /// Departures in order, or by the end of a ban or mute. A departure is current while the record
  /// of its user has the same `leftTime`, and no role; outdated ones stay for a while.
  private var free: Deque<Departure> = []
  /// Departures in order of those whose record has no end, because they have cleared the history: the
  /// first of them would hold up those in `free` that have ended.
  private var lasting: Deque<Departure> = []
  /// Departures with a ban, mute or role, so that a long one does not hold up those that have ended.
  /// One is current while the record of its user has the same `leftTime` and end.
  private var restricted: Heap<Restriction> = []
  private var lastDeparture = WallInstant.distantPast
  /// Every departure since then has a record, or one that has ended.
  private(set) var recordedSince: WallInstant
  /// The bans in the order of their ends; nil until the first list.
  private var bans: BanOrder?
  /// All departures in the order of time; nil until the first list.
  private var order: DepartureOrder?

  /// The stored records, except those that are of no use any more.
  /// - Parameter recordedSince: since when every departure has a record; nil = since now.
  init(_ stored: [FormerMember], at now: WallInstant, recordedSince: WallInstant? = nil) {
    self.recordedSince = recordedSince ?? now
    for former in stored.sorted(by: { $0.leftTime < $1.leftTime }) where former.isMemorable(at: now) { insert(former, at: now) }
    while byUser.count > FormerMembers.maxCount, let user = popOldest() { evict(user) }
  }

  /// Since when every departure is among the records of a store; nil = since now.
  /// - Parameters:
  ///   - departuresSince: as the group keeps it.
  ///   - stored: the records, of which a store gives `maxCount` at most.
  static func recordedSince(
    _ departuresSince: WallInstant?, _ stored: [FormerMember], at now: WallInstant
  ) -> WallInstant? {
    guard stored.count >= maxCount, let departuresSince else { return departuresSince }
    // Those without a ban or mute come behind, the latest first; one that is kept without end tells
    // nothing.
    let ends = stored.lazy.filter { !$0.isRestricted(at: now) && $0.memorableUntil < .distantFuture }.map(\.memorableUntil)
    guard let last = ends.min() else { return nil }
    return max(departuresSince, (last - FormerMember.lifetime).advanced(byMilliseconds: 1))
  }

  /// How many records are kept.
  var count: Int { byUser.count }

  /// How many departures are kept, outdated ones included.
  var departureCount: Int { free.count + lasting.count + restricted.count }

  subscript(user: UserID) -> FormerMember? { byUser[user] }

  /// Adds the record of a user who leaves now, or whose role as no member has changed.
  /// - Returns: the users whose records are deleted to make room.
  mutating func add(_ former: FormerMember, at now: WallInstant) -> [UserID] {
    // First, so that a record whose ban has ended counts as an earlier departure than this one.
    dropEnded(at: now)
    insert(former, at: now)
    var forgotten: [UserID] = []
    while byUser.count > FormerMembers.maxCount, forgotten.count < 2, let user = popOldest() {
      evict(user)
      forgotten.append(user)
    }
    return forgotten
  }

  private mutating func evict(_ user: UserID) {
    guard let former = byUser.removeValue(forKey: user) else { return }
    recordedSince = max(recordedSince, former.leftTime.advanced(byMilliseconds: 1))
  }

  // MARK: Departures

  /// The instant since which every departure is known. A record may be gone when it has its lifetime
  /// behind it.
  func completeSince(at now: WallInstant) -> WallInstant {
    max(recordedSince, (now - FormerMember.lifetime).advanced(byMilliseconds: 1))
  }

  /// The users who have left at or after an instant and are no members, as lists of members tell them. An
  /// instant to come is one that a clock showed before it was set back.
  mutating func departures(since: WallInstant, at now: WallInstant) -> GetGroupMemberList.Departures {
    let most = GetGroupMemberList.Departures.maxCount
    let order = order ?? DepartureOrder(byUser.values)
    self.order = order
    let users = order.latest(most + 1, since: since, among: byUser)
    let isKnown = since >= completeSince(at: now) && since <= now
    return GetGroupMemberList.Departures(users: Array(users.prefix(most)), isComplete: isKnown && users.count <= most)
  }

  /// Removes the record of a user who is deleted: who asks who has left since before is told that not all
  /// is known.
  mutating func erase(_ user: UserID) -> FormerMember? {
    guard let former = byUser[user] else { return nil }
    evict(user)
    return former
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
    // What was changed may lie before instants that clients have noted.
    self = FormerMembers(all, at: now, recordedSince: max(recordedSince, lastDeparture.advanced(byMilliseconds: 1)))
    return changed
  }

  private mutating func insert(_ former: FormerMember, at now: WallInstant) {
    let previous = byUser.updateValue(former, forKey: former.userID)
    bans?.insert(former, among: byUser)
    order?.insert(former, among: byUser)
    // One role after another has the same departure, without end.
    if let previous, previous.role != nil, former.role != nil, previous.leftTime == former.leftTime { return }
    lastDeparture = max(lastDeparture, former.leftTime)
    let departure = Departure(user: former.userID, time: former.leftTime)
    if former.keptUntil > now {
      restricted.insert(Restriction(departure: departure, end: former.keptUntil))
    } else {
      append(departure, of: former)
    }
    // A user who joins and leaves again and again adds a departure each time.
    if departureCount > 2 * byUser.count + 64 { dropOutdated() }
  }

  /// Adds a departure without a ban, a mute or a role.
  private mutating func append(_ departure: Departure, of former: FormerMember) {
    if former.memorableUntil == .distantFuture { lasting.append(departure) } else { free.append(departure) }
  }

  private func isCurrent(_ departure: Departure) -> Bool {
    guard let former = byUser[departure.user] else { return false }
    return former.leftTime == departure.time && former.role == nil
  }

  private func isCurrent(_ restriction: Restriction) -> Bool {
    guard let former = byUser[restriction.departure.user] else { return false }
    return former.leftTime == restriction.departure.time && former.keptUntil == restriction.end
  }

  private mutating func dropOutdated() {
    let before = self
    free.removeAll { !before.isCurrent($0) }
    lasting.removeAll { !before.isCurrent($0) }
    restricted = Heap(restricted.unordered.filter { before.isCurrent($0) })
  }

  private mutating func popOldest() -> UserID? {
    while let departure = popFirst() {
      if isCurrent(departure) { return departure.user }
    }
    while let restriction = restricted.popMin() {
      if isCurrent(restriction) { return restriction.departure.user }
    }
    return nil
  }

  /// The earlier departure of those without a ban, a mute or a role.
  private mutating func popFirst() -> Departure? {
    guard let kept = lasting.first else { return free.popFirst() }
    guard let first = free.first, first.time <= kept.time else { return lasting.popFirst() }
    return free.popFirst()
  }

  /// Deletes a few ended records, as the store does by itself. Visits each departure twice at most.
  private mutating func dropEnded(at now: WallInstant) {
    for _ in 0..<4 {
      guard let first = free.first, !isCurrent(first) || byUser[first.user]?.isMemorable(at: now) == false else { break }
      if isCurrent(first) { byUser[first.user] = nil }
      free.removeFirst()
    }
    for _ in 0..<4 {
      guard let first = restricted.min, first.end <= now || !isCurrent(first) else { break }
      restricted.removeMin()
      guard isCurrent(first), let former = byUser[first.departure.user] else { continue }
      if former.isMemorable(at: now) { append(first.departure, of: former) } else { byUser[former.userID] = nil }
    }
  }
}
