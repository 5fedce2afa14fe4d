import GroupModel

/// The bans of a group in the order of their ends, kept up to date so that a page never sorts all of
/// them again. Bans that have ended or were lifted keep their places for a while: a list that stopped
/// at one of them continues correctly.
struct BanOrder: Sendable {
  /// A page of the list.
  struct Page {
    let members: [FormerMember]
    /// The position of the next page; 0 = this was the last.
    let nextSeq: Int64
  }

  private struct Place: Sendable, Comparable {
    let until: WallInstant
    let userID: UserID

    static func < (a: Place, b: Place) -> Bool { (a.until, a.userID) < (b.until, b.userID) }

    /// Whether the user is still under this ban.
    func isCurrent(among members: [UserID: FormerMember]) -> Bool { members[userID]?.bannedUntil == until }
  }

  /// The content of a `nextSeq`: the end of the last ban of the page, and how many of the same end
  /// were passed.
  private struct Cursor {
    /// Ends are below 2^43 until the year 2248, and a `nextSeq` below 2^53.
    private static let mostTies: Int64 = 1 << 10

    let until: WallInstant
    let ties: Int

    init(until: WallInstant, ties: Int) {
      self.until = until
      self.ties = min(ties, Int(Cursor.mostTies) - 1)
    }

    init?(_ nextSeq: Int64) {
      guard nextSeq > 0 else { return nil }
      until = WallInstant(milliseconds: nextSeq / Cursor.mostTies)
      ties = Int(nextSeq % Cursor.mostTies)
    }

    /// Never 0, because no ban ends at the instant that is unset.
    var nextSeq: Int64 { until.milliseconds * Cursor.mostTies + Int64(ties) }
  }

  /// Sorted.
  private var places: [Place]

  /// The bans of some former members.
  init(_ members: some Collection<FormerMember>) {
    places = members.filter { $0.bannedUntil.isSet }.map { Place(until: $0.bannedUntil, userID: $0.userID) }.sorted()
  }

  /// Adds a former member who is under a ban.
  /// - Parameter members: all former members, this one included.
  mutating func insert(_ former: FormerMember, among members: [UserID: FormerMember]) {
    guard former.bannedUntil.isSet else { return }
    let place = Place(until: former.bannedUntil, userID: former.userID)
    let index = places.firstIndexInOrder { $0 >= place }
    if index < places.endIndex, places[index] == place { return }
    places.insert(place, at: index)
    if places.count > 2 * members.count + 64 { places.removeAll { !$0.isCurrent(among: members) } }
  }

  /// A page of the bans that have not ended.
  func page(of members: [UserID: FormerMember], at now: WallInstant, after nextSeq: Int64, count: Int) -> Page {
    var listed: [FormerMember] = []
    var last = places.startIndex
    for index in start(at: now, after: nextSeq)..<places.endIndex {
      guard places[index].isCurrent(among: members), let member = members[places[index].userID] else { continue }
      if listed.count == count { return Page(members: listed, nextSeq: cursor(behind: last).nextSeq) }
      listed.append(member)
      last = index
    }
    return Page(members: listed, nextSeq: 0)
  }

  private func start(at now: WallInstant, after nextSeq: Int64) -> Int {
    let first = places.firstIndexInOrder { $0.until > now }
    guard let cursor = Cursor(nextSeq) else { return first }
    let tied = places.firstIndexInOrder { $0.until >= cursor.until }
    let behind = places.firstIndexInOrder { $0.until > cursor.until }
    return max(first, min(tied + cursor.ties, behind))
  }

  private func cursor(behind index: Int) -> Cursor {
    let until = places[index].until
    let tied = places.firstIndexInOrder { $0.until >= until }
    return Cursor(until: until, ties: index + 1 - tied)
  }
}
