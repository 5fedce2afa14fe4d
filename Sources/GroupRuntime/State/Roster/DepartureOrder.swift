import GroupModel

/// The departures of a group in the order of time, kept up to date so that a list of the latest never looks
/// at all records. Users who are back, or have left again since, keep their places for a while.
struct DepartureOrder: Sendable {
  private struct Place: Sendable, Comparable {
    let time: WallInstant
    let userID: UserID

    /// Users who have left at one instant stand in descending order, because lists go backwards.
    static func < (a: Place, b: Place) -> Bool { (a.time, b.userID) < (b.time, a.userID) }

    /// Whether the user has left then, and is no member since.
    func isCurrent(among members: [UserID: FormerMember]) -> Bool { members[userID]?.leftTime == time }
  }

  /// Sorted.
  private var places: [Place]

  /// The departures of some former members.
  init(_ members: some Collection<FormerMember>) {
    places = members.filter { $0.leftTime.isSet }.map { Place(time: $0.leftTime, userID: $0.userID) }.sorted()
  }

  /// How many departures are kept, outdated ones included.
  var count: Int { places.count }

  /// Adds the departure of a former member.
  /// - Parameter members: all former members, this one included.
  mutating func insert(_ former: FormerMember, among members: [UserID: FormerMember]) {
    guard former.leftTime.isSet else { return }
    let place = Place(time: former.leftTime, userID: former.userID)
    let index = places.firstIndexInOrder { $0 >= place }
    if index < places.endIndex, places[index] == place { return }
    places.insert(place, at: index)
    if places.count > 2 * members.count + 64 { places.removeAll { !$0.isCurrent(among: members) } }
  }

  /// The users who have left at or after an instant and are no members, the latest first.
  func latest(_ count: Int, since: WallInstant, among members: [UserID: FormerMember]) -> [UserID] {
    var users: [UserID] = []
    for place in places.reversed() {
      guard place.time >= since, users.count < count else { break }
      if place.isCurrent(among: members) { users.append(place.userID) }
    }
    return users
  }
}
