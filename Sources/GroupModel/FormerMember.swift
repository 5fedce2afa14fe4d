/// The record that a group keeps of a user who has left it (Protocol.md, "Departed members").
public struct FormerMember: Sendable, Equatable {
  /// The user who has left.
  public let userID: UserID
  /// The messages of past memberships, as ranges of `seq`, ascending. A user who comes back sees
  /// them again, and none of the time between (Protocol.md, "History").
  public var visibleRanges: [ClosedRange<Int64>]
  /// The end of a mute, which outlasts leaving and joining again; 0 or past = none.
  public var muteUntil: Instant
  /// The time at which `muteUntil` was set, by the clock of that time; 0 = long ago.
  public var mutedAt: Instant = 0
  /// The end of a ban, during which the user can neither join nor be invited; 0 or past = none.
  public var bannedUntil: Instant
  /// The reason of the removal that began the ban, up to 512 bytes; empty = none.
  public var banReason = ""
  /// The end of the last membership.
  public var leftTime: Instant

  /// The time that visible ranges are kept, in milliseconds: 30 days from leaving.
  public static let lifetime: Instant = 30 * 86_400_000
  /// The most visible ranges that are kept; the oldest are forgotten.
  public static let maxVisibleRanges = 20

  /// A former member with the newest of the ranges.
  public init(
    userID: UserID, visibleRanges: [ClosedRange<Int64>] = [], muteUntil: Instant = 0, bannedUntil: Instant = 0,
    leftTime: Instant = 0
  ) {
    self.userID = userID
    self.leftTime = leftTime
    self.visibleRanges = visibleRanges.suffix(FormerMember.maxVisibleRanges)
    self.muteUntil = muteUntil
    self.bannedUntil = bannedUntil
  }

  /// The instant from which on the record can be forgotten.
  public var memorableUntil: Instant {
    max(muteUntil, bannedUntil, visibleRanges.isEmpty ? 0 : leftTime + FormerMember.lifetime)
  }

  /// Whether the record is still of use at an instant.
  public func isMemorable(at now: Instant) -> Bool { memorableUntil > now }

  /// The end of the later of ban and mute; 0 or past = none is in force.
  public var restrictedUntil: Instant { max(muteUntil, bannedUntil) }

  /// Whether a ban or a mute is in force at an instant.
  public func isRestricted(at now: Instant) -> Bool { restrictedUntil > now }
}
