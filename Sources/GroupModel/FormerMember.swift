/// The record that a group keeps of a user who has left it (Protocol.md, "Departed members").
public struct FormerMember: Sendable, Equatable {
  /// The user who has left.
  public let userID: UserID
  /// The messages of past memberships, as ranges of `seq`, ascending. A user who comes back within
  /// `lifetime` sees them again, and none of the time between (Protocol.md, "History").
  public var visibleRanges: [ClosedRange<Int64>]
  /// The end of a mute, which outlasts leaving and joining again; unset or past = none.
  public var muteUntil: WallInstant
  /// The time at which `muteUntil` was set, by the clock of that time; unset = long ago.
  public var mutedAt = WallInstant.unset
  /// The end of a ban, during which the user can neither join nor be invited; unset or past = none.
  public var bannedUntil: WallInstant
  /// The reason of the removal that began the ban, up to 512 characters; empty = none.
  public var banReason = ""
  /// The end of the last membership.
  public var leftTime: WallInstant
  /// When the user has ended the last membership of their own accord; unset = somebody else has.
  public var quitTime = WallInstant.unset
  /// Whether lists of members name the departure for `lifetime`: in types that store messages.
  public var isListed = false
  /// The role that the user has again after joining a live room; nil = none but Member.
  public var role: Role?
  /// The newest message when the user last cleared the history: see `Member.clearedSeq`.
  public var clearedSeq: Int64 = 0

  /// The time that visible ranges are kept, and a departure is listed, from leaving.
  public static let lifetime = Duration.seconds(30 * 86_400)
  /// How long nobody is made a member again without consent after quitting.
  public static let quitLifetime = Duration.seconds(86_400)
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
    if role != nil || clearedSeq > 0 { return .distantFuture }
    return max(
      muteUntil, bannedUntil, visibleRanges.isEmpty && !isListed ? .unset : leftTime + FormerMember.lifetime,
      quitTime.isSet ? quitTime + FormerMember.quitLifetime : .unset)
  }

  /// What a user who comes back sees again. A ban, a role or a cleared history keeps the record longer
  /// than its ranges last.
  public func visibleRanges(at now: WallInstant) -> [ClosedRange<Int64>] {
    leftTime + FormerMember.lifetime > now ? visibleRanges : []
  }

  /// Whether the user has quit so recently that only consent brings them back.
  public func hasQuit(at now: WallInstant) -> Bool { quitTime.isSet && quitTime + FormerMember.quitLifetime > now }

  /// Whether the record is still of use at an instant.
  public func isMemorable(at now: WallInstant) -> Bool { memorableUntil > now }

  /// The end of the later of ban and mute; unset or past = none is in force.
  public var restrictedUntil: WallInstant { max(muteUntil, bannedUntil) }

  /// Until when the record is kept rather than those of earlier departures: a ban, a mute, or for ever
  /// a role.
  public var keptUntil: WallInstant { role == nil ? restrictedUntil : .distantFuture }

  /// Whether a ban or a mute is in force at an instant.
  public func isRestricted(at now: WallInstant) -> Bool { restrictedUntil > now }
}
