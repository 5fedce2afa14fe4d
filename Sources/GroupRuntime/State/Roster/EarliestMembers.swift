import GroupModel

/// The members who have joined first, some of them: the successor of an owner who quits is among these, and
/// nobody looks for one among all members (Protocol.md, "Quitting a group").
struct EarliestMembers: Sendable {
  /// The most members that are kept when all are looked at. Up to twice as many may be there.
  static let keptCount = 64

  private struct Place: Sendable, Comparable {
    let joinTime: WallInstant
    let ordinal: Int64
    let userID: UserID

    init(_ member: Member) { (joinTime, ordinal, userID) = (member.joinTime, member.ordinal, member.userID) }

    static func < (a: Place, b: Place) -> Bool { (a.joinTime, a.ordinal) < (b.joinTime, b.ordinal) }
  }

  /// Sorted. Members who are not among them come behind the last of them.
  private var places: [Place] = []
  /// Whether all members are among them.
  private var isComplete = true

  /// The earliest of some members.
  init(_ members: some Collection<Member>) {
    for member in members { insert(Place(member)) }
  }

  /// How many members are kept.
  var count: Int { places.count }

  /// A member was added (no previous one), removed (none now) or changed.
  mutating func update(_ member: Member?, was previous: Member?) {
    // Most changes are of something else.
    if let member, let previous, member.joinTime == previous.joinTime, member.ordinal == previous.ordinal { return }
    if let previous { remove(Place(previous)) }
    if let member { insert(Place(member)) }
  }

  /// The earliest member besides the owner; nil where none is kept, and all members have to be looked at
  /// unless these are all.
  func first(among members: [UserID: Member]) -> Member? {
    places.lazy.compactMap { members[$0.userID] }.first { $0.role != .owner }
  }

  private mutating func remove(_ place: Place) {
    let index = places.firstIndexInOrder { $0 >= place }
    if index < places.endIndex, places[index] == place { places.remove(at: index) }
  }

  private mutating func insert(_ place: Place) {
    guard isComplete || places.last.map({ place < $0 }) ?? false else { return }
    places.insert(place, at: places.firstIndexInOrder { $0 > place })
    guard places.count > 2 * EarliestMembers.keptCount else { return }
    places.removeLast(places.count - EarliestMembers.keptCount)
    isComplete = false
  }
}
