/// What a group remembers of somebody who has left it.
public struct FormerMember: Sendable, Equatable {
  /// Who has left.
  public let userID: UserID
  /// The messages seen during the memberships, as ranges of `seq`, ascending: they are visible again when the user comes back, and those of the
  /// time between stay invisible (contract section 4, getGroupHistoryMessageList).
  public var stays: [ClosedRange<Int64>]
  /// Until when the user may not speak after coming back: "a mute survives leaving and joining again"; 0 or past = free.
  public var muteUntil: Instant
  /// When that was decided, as the clock showed then; 0 = long ago.
  public var mutedAt: Instant = 0
  /// Until when the user may neither join nor be invited (kickGroupMember, `banTime`); 0 or past = free.
  public var bannedUntil: Instant
  /// When the last membership ended.
  public var leftTime: Instant

  /// How long stays are remembered, in milliseconds: 30 days from leaving.
  public static let lifetime: Instant = 30 * 86_400_000
  /// How many stays are remembered; of somebody who comes and goes more often the oldest are forgotten.
  public static let maxStays = 20

  /// A former member with the newest of the stays.
  public init(
    userID: UserID, stays: [ClosedRange<Int64>] = [], muteUntil: Instant = 0, bannedUntil: Instant = 0, leftTime: Instant = 0
  ) {
    self.userID = userID
    self.leftTime = leftTime
    self.stays = stays.suffix(FormerMember.maxStays)
    self.muteUntil = muteUntil
    self.bannedUntil = bannedUntil
  }

  /// When there is nothing left to remember.
  public var memorableUntil: Instant {
    max(muteUntil, bannedUntil, stays.isEmpty ? 0 : leftTime + FormerMember.lifetime)
  }

  /// Whether there is anything to remember at an instant.
  public func isMemorable(at now: Instant) -> Bool { memorableUntil > now }

  /// Until when a ban or a mute goes on; 0 or past = neither does.
  public var restrictedUntil: Instant { max(muteUntil, bannedUntil) }

  /// Whether a ban or a mute goes on at an instant.
  public func isRestricted(at now: Instant) -> Bool { restrictedUntil > now }
}
