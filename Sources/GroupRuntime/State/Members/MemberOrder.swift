import GroupModel
import WireProtocol

/// The order in which members are listed, and the place where a page goes on: "owner, admins, others, each by joinTime then userID;
/// nobody twice while others join" (contract section 4). Live rooms list the owner and then the newest, newest first.
struct MemberOrder: Sendable {
  /// A page of a list.
  struct Page {
    let members: [Member]
    /// Where the next page begins; 0 = this was the last.
    let nextSeq: Int64
  }

  /// How many members besides the owner a live room lists.
  static let newestListed = 300
  /// How many departed members a list can still go on behind.
  private static let departuresKept = 1000

  private struct Place: Sendable, Comparable {
    /// The higher the role, the smaller.
    var rank: Int
    let joinTime: Instant
    let userID: UserID
    let ordinal: Int64

    init(_ member: Member) {
      rank = -member.role.rank
      joinTime = member.joinTime
      userID = member.userID
      ordinal = member.ordinal
    }

    func with(rank: Int) -> Place {
      var place = self
      place.rank = rank
      return place
    }

    static func < (a: Place, b: Place) -> Bool { (a.rank, a.joinTime, a.userID) < (b.rank, b.joinTime, b.userID) }
  }

  /// What a `nextSeq` holds: the member at which the list stopped, and the role it was listed under.
  private struct Cursor {
    let rank: Int
    let ordinal: Int64

    init(_ place: Place) { (rank, ordinal) = (place.rank, place.ordinal) }

    init(_ nextSeq: Int64) { (rank, ordinal) = (-Int(nextSeq % 4), nextSeq / 4) }

    /// Never 0, because no role ranks 0.
    var nextSeq: Int64 { ordinal * 4 - Int64(rank) }
  }

  private var sorted: [Place]?
  /// Who came when, the newest last, once a list of the newest was wanted; those who have left stay in it for a while.
  private var arrivals: [Arrival]?
  /// Who was the owner when a list of the newest was wanted last.
  private var owner: UserID?

  private struct Arrival: Sendable {
    let userID: UserID
    let ordinal: Int64
  }

  /// Where members stood who are gone, so that a list that stopped at one of them goes on in the right place.
  private var departed: [Int64: Place] = [:]
  private var departures: [Int64] = []

  /// Roles or members changed in a way that nothing else tells.
  mutating func invalidate() {
    sorted = nil
    arrivals = nil
  }

  /// Somebody came. Others who are not among the members any more are forgotten now and then.
  mutating func noteArrival(of member: Member, to members: [UserID: Member]) {
    sorted = nil
    arrivals?.append(Arrival(userID: member.userID, ordinal: member.ordinal))
    if let count = arrivals?.count, count > 2 * members.count + MemberOrder.newestListed {
      arrivals?.removeAll { members[$0.userID]?.ordinal != $0.ordinal && $0.ordinal != member.ordinal }
    }
  }

  /// Somebody left.
  mutating func noteDeparture(of member: Member) {
    sorted = nil
    departed[member.ordinal] = Place(member)
    departures.append(member.ordinal)
    if departures.count >= 2 * MemberOrder.departuresKept {
      for ordinal in departures.prefix(MemberOrder.departuresKept) { departed[ordinal] = nil }
      departures.removeFirst(MemberOrder.departuresKept)
    }
  }

  /// A page of the members that are taken.
  /// - Parameter takes: is asked for each member, by userID and the rank of the role.
  mutating func page(
    of members: [UserID: Member], after nextSeq: Int64, count: Int, newestFirst: Bool, where takes: (UserID, Int) -> Bool
  ) -> Page {
    let places = (newestFirst ? newest(of: members) : inOrder(members)).filter { takes($0.userID, -$0.rank) }
    let start = nextSeq == 0 ? 0 : index(behind: Cursor(nextSeq), in: places, newestFirst: newestFirst)
    let page = places[start...].prefix(count)
    let isLast = page.endIndex == places.endIndex
    return Page(members: page.compactMap { members[$0.userID] }, nextSeq: isLast ? 0 : page.last.map { Cursor($0).nextSeq } ?? 0)
  }

  /// The owner, then the newest of the others.
  private mutating func newest(of members: [UserID: Member]) -> [Place] {
    let arrivals =
      arrivals
      ?? members.values.map { Arrival(userID: $0.userID, ordinal: $0.ordinal) }.sorted { $0.ordinal < $1.ordinal }
    self.arrivals = arrivals
    if owner.flatMap({ members[$0]?.role }) != .owner { owner = members.values.first { $0.role == .owner }?.userID }
    let others = arrivals.reversed().lazy.compactMap { arrival -> Member? in
      guard let member = members[arrival.userID], member.ordinal == arrival.ordinal, member.role != .owner else { return nil }
      return member
    }
    return ([owner.flatMap { members[$0] }].compactMap { $0 } + others.prefix(MemberOrder.newestListed)).map { Place($0) }
  }

  private mutating func inOrder(_ members: [UserID: Member]) -> [Place] {
    let places = sorted ?? members.values.map { Place($0) }.sorted()
    sorted = places
    return places
  }

  /// Where the list goes on behind the member at which it stopped, who may have left or got another role since.
  private func index(behind cursor: Cursor, in places: [Place], newestFirst: Bool) -> Int {
    let isBehind: (Place) -> Bool
    if newestFirst {
      if let index = places.firstIndex(where: { $0.ordinal == cursor.ordinal }) { return index + 1 }
      isBehind = { $0.rank != -Role.owner.rank && $0.ordinal < cursor.ordinal }
    } else if let place = sorted?.first(where: { $0.ordinal == cursor.ordinal }) ?? departed[cursor.ordinal] {
      let stopped = place.with(rank: cursor.rank)
      isBehind = { stopped < $0 }
    } else {
      isBehind = { ($0.rank, $0.ordinal) > (cursor.rank, cursor.ordinal) }
    }
    return places.firstIndex(where: isBehind) ?? places.endIndex
  }
}
