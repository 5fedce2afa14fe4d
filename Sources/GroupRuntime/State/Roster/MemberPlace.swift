import GroupModel

/// The sort key of a member in a list: owner, admins, others, each by joinTime, then userID
/// (Protocol.md, "Member lists").
struct MemberPlace: Sendable, Comparable {
  /// A higher role has a smaller rank.
  private(set) var rank: Int
  let joinTime: WallInstant
  let userID: UserID
  let ordinal: Int64

  init(_ member: Member) {
    rank = MemberPlace.rank(of: member.role)
    joinTime = member.joinTime
    userID = member.userID
    ordinal = member.ordinal
  }

  /// The rank that lists sort by.
  static func rank(of role: Role) -> Int { -role.rank }

  func with(rank: Int) -> MemberPlace {
    var place = self
    place.rank = rank
    return place
  }

  static func < (a: MemberPlace, b: MemberPlace) -> Bool {
    (a.rank, a.joinTime, a.userID) < (b.rank, b.joinTime, b.userID)
  }
}

extension [MemberPlace] {
  /// Replaces one of the sorted places, or only removes or inserts one.
  mutating func replace(_ old: MemberPlace?, with new: MemberPlace?) {
    guard old != new else { return }
    if let old {
      let index = firstIndexInOrder { $0 >= old }
      if index < endIndex, self[index] == old { remove(at: index) }
    }
    if let new { insert(new, at: firstIndexInOrder { $0 > new }) }
  }
}

extension RandomAccessCollection {
  /// Binary search: the first index whose element satisfies the predicate, where all behind it do
  /// too.
  func firstIndexInOrder(where predicate: (Element) -> Bool) -> Index {
    var (start, length) = (startIndex, count)
    while length > 0 {
      let half = length / 2
      let middle = index(start, offsetBy: half)
      if predicate(self[middle]) {
        length = half
      } else {
        start = index(after: middle)
        length -= half + 1
      }
    }
    return start
  }
}
