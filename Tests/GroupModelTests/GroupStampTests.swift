import GroupModel
import Testing

/// The order of stamps, by all small ones and a plain second statement of the rule.
@Suite struct GroupStampTests {
  private static let small: [GroupStamp] = (0..<16).map { (bits: Int64) -> GroupStamp in
    let (seq, changeSeq, revision) = (bits & 1, (bits >> 1) & 1, (bits >> 2) & 1)
    return GroupStamp(epoch: "e", seq: seq, changeSeq: changeSeq, revision: revision, board: bits >> 3)
  }

  private func components(_ stamp: GroupStamp) -> [Int64] { [stamp.seq, stamp.changeSeq, stamp.revision, stamp.board] }

  @Test func aStampIsBehindWhereNoComponentIsAheadAndOneIsBehind() {
    for one in Self.small {
      for other in Self.small {
        let pairs = Array(zip(components(one), components(other)))
        let expected: GroupStamp.Order =
          if one == other {
            .same
          } else if pairs.allSatisfy({ $0 <= $1 }) {
            .behind
          } else if pairs.allSatisfy({ $0 >= $1 }) {
            .ahead
          } else {
            .apart
          }
        #expect(one.order(to: other) == expected, "\(one) to \(other)")
      }
    }
  }

  @Test func stampsOfTwoEpochsAreApart() {
    for one in Self.small {
      var other = one
      other.epoch = "f"
      #expect(one.order(to: other) == .apart)
      other.seq += 1
      #expect(one.order(to: other) == .apart && other.order(to: one) == .apart)
    }
  }

  @Test func onlyTypesThatStoreMessagesAreStamped() {
    for type in GroupType.allCases { #expect(type.isStamped == type.storesMessages) }
  }
}
