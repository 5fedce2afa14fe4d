import GroupModel

/// A member's place in a list: owner, admins, others, each by joinTime, then userID
/// (Protocol.md, "Member lists").
struct MemberPlace: Sendable, Comparable {
  /// The higher the role, the smaller.
  private(set) var rank: Int
  let joinTime: Instant
  let userID: UserID
  let ordinal: Int64

  init(_ member: Member) {
    rank = MemberPlace.rank(of: member.role)
    joinTime = member.joinTime
    userID = member.userID
    ordinal = member.ordinal
  }

  /// How roles are ordered in a list.
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
  /// Of places in their order, takes one out and puts another one in.
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
  /// The first index from which on it is so, where it is so for all that follow one for which it is; looks at few of them.
  func firstIndexInOrder(where isSo: (Element) -> Bool) -> Index {
    var (start, length) = (startIndex, count)
    while length > 0 {
      let half = length / 2
      let middle = index(start, offsetBy: half)
      if isSo(self[middle]) {
        length = half
      } else {
        start = index(after: middle)
        length -= half + 1
      }
    }
    return start
  }
}
