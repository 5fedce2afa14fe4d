/// What a group remembers of somebody who has left it.
public struct FormerMember: Sendable, Equatable {
  /// Who has left.
  public let userID: UserID
  /// The messages seen during the memberships, as ranges of `seq`, ascending: they are visible again when the user comes back, and those of the
  /// time between stay invisible (contract section 4, getGroupHistoryMessageList).
  public var stays: [ClosedRange<Int64>]

  /// How many stays are remembered; of somebody who comes and goes more often the oldest are forgotten.
  public static let maxStays = 20

  /// A former member with the newest of the stays.
  public init(userID: UserID, stays: [ClosedRange<Int64>]) {
    self.userID = userID
    self.stays = stays.suffix(FormerMember.maxStays)
  }
}
