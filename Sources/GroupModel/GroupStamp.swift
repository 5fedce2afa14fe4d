/// How far a group is with what its members see: each visible decision raises a component, in the
/// transaction that stores it (Cluster.md, "Stamps"). A node that has been told up to a group's stamp
/// has missed nothing.
public struct GroupStamp: Sendable, Hashable {
  /// The history's; components of another epoch say nothing.
  public var epoch: String
  /// The newest stored message; 0 = there was none.
  public var seq: Int64
  /// The number of the last change of a message; 0 = there was none.
  public var changeSeq: Int64
  /// Counts the other decisions that members see: of members, roles, options, info and policy.
  public var revision: Int64
  /// Counts changes of what is told by its last state: attributes, counters and read receipts. A change
  /// that the last state does not tell adds `removalStep`.
  public var board: Int64

  /// What a counter that is removed adds to `board`: stamps with different multiples of it are apart by
  /// something that nobody can tell again.
  public static let removalStep: Int64 = 1 << 20

  /// A stamp with everything given.
  public init(epoch: String, seq: Int64, changeSeq: Int64, revision: Int64, board: Int64) {
    self.epoch = epoch
    self.seq = seq
    self.changeSeq = changeSeq
    self.revision = revision
    self.board = board
  }

  /// How a stamp lies to another of the same group.
  public enum Order: Sendable, Hashable {
    /// Nothing is between them.
    case same
    /// The other has everything of this one, and more.
    case behind
    /// This one has everything of the other, and more.
    case ahead
    /// Of different epochs, or each has what the other has not.
    case apart
  }

  /// How this stamp lies to another.
  public func order(to other: GroupStamp) -> Order {
    guard epoch == other.epoch else { return .apart }
    let isBehind =
      seq < other.seq || changeSeq < other.changeSeq || revision < other.revision || board < other.board
    let isAhead =
      seq > other.seq || changeSeq > other.changeSeq || revision > other.revision || board > other.board
    return switch (isBehind, isAhead) {
    case (false, false): .same
    case (true, false): .behind
    case (false, true): .ahead
    case (true, true): .apart
    }
  }
}
