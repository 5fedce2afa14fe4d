/// The record that a group keeps of a user who has left it (Protocol.md, "Departed members").
public struct FormerMember: Sendable, Equatable {
  /// The user who has left.
  public let userID: UserID
  /// The messages of past memberships, as ranges of `seq`, ascending. A user who comes back sees
  /// them again, and none of the time between (Protocol.md, "History").
  public var visibleRanges: [ClosedRange<Int64>]
  /// The end of a mute, which outlasts leaving and joining again; unset or past = none.
  public var muteUntil: WallInstant
  /// The time at which `muteUntil` was set, by the clock of that time; unset =
  /// long ago.
  public var mutedAt = WallInstant.unset
  /// The end of a ban, during which the user can neither join nor be invited; unset or
  /// past = none.
  public var bannedUntil: WallInstant
  /// The end of the last membership.
  public var leftTime: WallInstant

  /// The time that visible ranges are kept, from leaving.
  public static let lifetime = Duration.seconds(30 * 86_400)
  /// The most visible ranges that are kept; the oldest are forgotten.
  public static let maxVisibleRanges = 20

  /// A former member with the newest of the ranges.
  public init(
    userID: UserID, visibleRanges: [ClosedRange<Int64>] = [], muteUntil: WallInstant = .unset,
    bannedUntil: WallInstant = .unset,
    leftTime: WallInstant = .unset
  ) {
    self.userID = userID
    self.leftTime = leftTime
    self.visibleRanges = visibleRanges.suffix(FormerMember.maxVisibleRanges)
    self.muteUntil = muteUntil
    self.bannedUntil = bannedUntil
  }

  /// The instant from which on the record can be forgotten.
  public var memorableUntil: WallInstant {
    max(muteUntil, bannedUntil, visibleRanges.isEmpty ? .unset : leftTime + FormerMember.lifetime)
  }

  /// Whether the record is still of use at an instant.
  public func isMemorable(at now: WallInstant) -> Bool { memorableUntil > now }

  /// The end of the later of ban and mute; unset or past = none is in force.
  public var restrictedUntil: WallInstant { max(muteUntil, bannedUntil) }

  /// Whether a ban or a mute is in force at an instant.
  public func isRestricted(at now: WallInstant) -> Bool { restrictedUntil > now }
}
