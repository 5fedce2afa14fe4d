import GroupModel
import WireProtocol

/// The orders of member lists, kept up to date so that a page never sorts all members again. A list
/// names "nobody twice while others join"; live rooms list the owner, the admins, and the newest of the
/// others, newest first (Protocol.md, "Member lists").
struct MemberOrder: Sendable {
  /// A page of a list.
  struct Page {
    let members: [Member]
    /// The position of the next page; 0 = this was the last.
    let nextSeq: Int64
  }

  /// The lists that a large group has before the first is asked for.
  enum KeptLists: Sendable {
    case none
    /// That of the joins, which the newest members are taken from.
    case arrivals
    case all
  }

  /// How many members besides the owner and the admins a live room lists.
  static let newestListed = 300
  /// How many members a page looks at, whether it lists them or not: a loop must not look at a whole large
  /// group. Such a page is short, and still has a `nextSeq`.
  static let maxScanned = 10_000
  /// The lists of a group of so many members are made when it is loaded, or has grown so far: later, to
  /// sort all of them would keep a loop for too long.
  static let keptFrom = 1000
  /// How many departed members a list can still continue after.
  private static let departuresKept = 1000

  /// The content of a `nextSeq`: the last member of the page, and the rank it was listed under.
  private struct Cursor {
    let rank: Int
    let ordinal: Int64

    init(_ member: Member) { (rank, ordinal) = (MemberPlace.rank(of: member.role), member.ordinal) }

    init(_ place: MemberPlace) { (rank, ordinal) = (place.rank, place.ordinal) }

    init?(_ nextSeq: Int64) {
      guard nextSeq != 0 else { return nil }
      (rank, ordinal) = (-Int(nextSeq % 4), nextSeq / 4)
    }

    /// Never 0, because no role ranks 0.
    var nextSeq: Int64 { ordinal * 4 - Int64(rank) }
  }

  private struct Arrival: Sendable {
    let userID: UserID
    let ordinal: Int64
  }

  /// The owner and the admins, sorted.
  private(set) var managers: [MemberPlace]
  private let kept: KeptLists
  /// All members, sorted; nil until the first list.
  private var places: [MemberPlace]?
  /// The members with a mute of their own, ended ones included.
  private var muted: [MemberPlace]
  /// The joins by ordinal, the newest last; nil until the first search. Departed members stay for a
  /// while.
  private var arrivals: [Arrival]?
  /// The places of departed members, so that a list that stopped at one of them continues
  /// correctly.
  private var departed: [Int64: MemberPlace] = [:]
  private var departures: [Int64] = []

  /// The orders of a group that is being loaded.
  init(_ members: some Collection<Member>, keeping kept: KeptLists = .none) {
    self.kept = kept
    managers = members.compactMap { MemberOrder.placeOfManager($0) }.sorted()
    muted = members.compactMap { MemberOrder.placeOfMuted($0) }.sorted()
    if members.count >= MemberOrder.keptFrom { makeKeptLists(of: members) }
  }

  /// Whether the list of all members is made.
  var hasPlaces: Bool { places != nil }

  /// Whether the list of the joins is made.
  var hasArrivals: Bool { arrivals != nil }

  private mutating func makeKeptLists(of members: some Collection<Member>) {
    if kept == .none { return }
    if arrivals == nil { arrivals = MemberOrder.arrivals(of: members) }
    if kept == .all, places == nil { places = members.map { MemberPlace($0) }.sorted() }
  }

  private static func arrivals(of members: some Collection<Member>) -> [Arrival] {
    members.map { Arrival(userID: $0.userID, ordinal: $0.ordinal) }.sorted { $0.ordinal < $1.ordinal }
  }

  private static func placeOfManager(_ member: Member) -> MemberPlace? { member.role.isManager ? MemberPlace(member) : nil }

  private static func placeOfMuted(_ member: Member) -> MemberPlace? { member.muteUntil.isSet ? MemberPlace(member) : nil }

  // MARK: Updating

  /// A member was added (no previous one), removed (none now) or changed.
  /// - Parameter members: all members after the change.
  mutating func update(_ member: Member?, was previous: Member?, among members: [UserID: Member]) {
    managers.replace(
      previous.flatMap { MemberOrder.placeOfManager($0) }, with: member.flatMap { MemberOrder.placeOfManager($0) })
    places?.replace(previous.map { MemberPlace($0) }, with: member.map { MemberPlace($0) })
    muted.replace(previous.flatMap { MemberOrder.placeOfMuted($0) }, with: member.flatMap { MemberOrder.placeOfMuted($0) })
    if let member, previous == nil { addArrival(of: member, among: members) }
    if let previous, member == nil {
      addDeparture(of: previous)
      if kept != .none { removeArrival(of: previous) }
    }
    if members.count >= MemberOrder.keptFrom { makeKeptLists(of: members.values) }
  }

  private mutating func addArrival(of member: Member, among members: [UserID: Member]) {
    arrivals?.append(Arrival(userID: member.userID, ordinal: member.ordinal))
    if let count = arrivals?.count, count > 2 * members.count + MemberOrder.newestListed { forgetArrivals(except: members) }
  }

  /// Many departed members of a large group would have to be forgotten at once otherwise.
  private mutating func removeArrival(of member: Member) {
    guard let index = arrivals?.firstIndexInOrder(where: { $0.ordinal >= member.ordinal }) else { return }
    let isFound = arrivals.map { index < $0.endIndex && $0[index].ordinal == member.ordinal } ?? false
    if isFound { arrivals?.remove(at: index) }
  }

  private mutating func forgetArrivals(except members: [UserID: Member]) {
    arrivals?.removeAll { members[$0.userID]?.ordinal != $0.ordinal }
  }

  private mutating func addDeparture(of member: Member) {
    departed[member.ordinal] = MemberPlace(member)
    departures.append(member.ordinal)
    if departures.count >= 2 * MemberOrder.departuresKept {
      for ordinal in departures.prefix(MemberOrder.departuresKept) { departed[ordinal] = nil }
      departures.removeFirst(MemberOrder.departuresKept)
    }
  }

  // MARK: Pages

  /// The position of a page behind a listed member.
  static func nextSeq(after member: Member) -> Int64 { Cursor(member).nextSeq }

  /// A page of all members, or of those with a role of that rank, or of those whose info has changed
  /// at or after an instant.
  mutating func page(
    of members: [UserID: Member], rank: Int?, changedSince since: WallInstant? = nil, after nextSeq: Int64, count: Int
  ) -> Page {
    let places = self.places ?? members.values.map { MemberPlace($0) }.sorted()
    self.places = places
    var listed = places[...]
    if let rank {
      listed = listed[listed.firstIndexInOrder { $0.rank >= -rank }...]
      listed = listed[..<listed.firstIndexInOrder { $0.rank > -rank }]
    }
    let remaining = remainder(of: listed, after: nextSeq, among: members)
    return page(of: members, in: remaining, count) { member in since.map { member.infoTime >= $0 } ?? true }
  }

  /// A page of the members with a mute of their own.
  mutating func mutedPage(of members: [UserID: Member], at now: WallInstant, after nextSeq: Int64, count: Int) -> Page {
    page(of: members, in: remainder(of: muted[...], after: nextSeq, among: members), count) { $0.muteUntil > now }
  }

  /// A page of the owner, the admins and the newest of the others, or of those of them with a role of
  /// that rank.
  mutating func newestPage(of members: [UserID: Member], rank: Int?, after nextSeq: Int64, count: Int) -> Page {
    let memberRank = Role.member.rank
    let managers = managers.filter { place in rank.map { place.rank == -$0 } ?? true }
    let newest = rank ?? memberRank == memberRank ? newest(of: members) : []
    guard let cursor = Cursor(nextSeq) else { return page(of: members, in: (managers + newest)[...], count) }
    // The others are in the order of their joins, the newest first.
    let others = cursor.rank < -memberRank ? newest : newest.filter { $0.ordinal < cursor.ordinal }
    let first = cursor.rank < -memberRank ? remainder(of: managers[...], after: nextSeq, among: members) : []
    return page(of: members, in: (first + others)[...], count)
  }

  private func page(
    of members: [UserID: Member], in places: ArraySlice<MemberPlace>, _ count: Int,
    where isListed: (Member) -> Bool = { _ in true }
  ) -> Page {
    var listed: [Member] = []
    let scanned = places.prefix(MemberOrder.maxScanned)
    for place in scanned {
      guard let member = members[place.userID], isListed(member) else { continue }
      if listed.count == count { return Page(members: listed, nextSeq: listed.last.map { Cursor($0).nextSeq } ?? 0) }
      listed.append(member)
    }
    let last = scanned.count < places.count ? scanned.last : nil
    return Page(members: listed, nextSeq: last.map { Cursor($0).nextSeq } ?? 0)
  }

  /// The places after the last member of the previous page, who may have left or changed role
  /// since.
  private mutating func remainder(
    of places: ArraySlice<MemberPlace>, after nextSeq: Int64, among members: [UserID: Member]
  ) -> ArraySlice<MemberPlace> {
    guard let cursor = Cursor(nextSeq) else { return places }
    if let place = place(ofOrdinal: cursor.ordinal, among: members) ?? departed[cursor.ordinal] {
      let stopped = place.with(rank: cursor.rank)
      return places[places.firstIndexInOrder { stopped < $0 }...]
    }
    return places.drop { ($0.rank, $0.ordinal) <= (cursor.rank, cursor.ordinal) }
  }

  private mutating func place(ofOrdinal ordinal: Int64, among members: [UserID: Member]) -> MemberPlace? {
    let arrivals = inOrderOfArrival(members)
    let index = arrivals.firstIndexInOrder { $0.ordinal >= ordinal }
    guard index < arrivals.endIndex, let member = members[arrivals[index].userID], member.ordinal == ordinal else { return nil }
    return MemberPlace(member)
  }

  private mutating func inOrderOfArrival(_ members: [UserID: Member]) -> [Arrival] {
    let arrivals = arrivals ?? MemberOrder.arrivals(of: members.values)
    self.arrivals = arrivals
    return arrivals
  }

  /// The newest of those who are neither owner nor admins, newest first.
  private mutating func newest(of members: [UserID: Member]) -> [MemberPlace] {
    let arrivals = inOrderOfArrival(members)
    var newest: [MemberPlace] = []
    var departedCount = 0
    for arrival in arrivals.reversed() {
      guard let member = members[arrival.userID], member.ordinal == arrival.ordinal else {
        departedCount += 1
        continue
      }
      if member.role.isManager { continue }
      newest.append(MemberPlace(member))
      if newest.count == MemberOrder.newestListed { break }
    }
    // Otherwise each list would skip the same departed members again.
    if departedCount > MemberOrder.newestListed { forgetArrivals(except: members) }
    return newest
  }
}
