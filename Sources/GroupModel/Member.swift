/// One user's membership of one group.
public struct Member: Sendable, Equatable {
  /// The user.
  public let userID: UserID
  /// The member's rights.
  public var role: Role
  /// The start of the membership.
  public var joinTime: WallInstant
  /// Counts the joins of the group, to order members with the same `joinTime`. Unique among
  /// members; a former member's may be used again after a restart.
  public var ordinal: Int64
  /// The name in this group, bounded by `limits.text`; empty = none.
  public var nameCard: String
  /// The application's own fields of this membership: at most 5.
  public var customInfo: [String: String]
  /// The end of a mute; unset or past = none.
  public var muteUntil: WallInstant
  /// The time at which `muteUntil` was set, by the clock of that time; unset =
  /// long ago.
  public var mutedAt = WallInstant.unset
  /// The choice of messages that the member receives.
  public var receiveOption: ReceiveOption
  /// The newest message the member has read.
  public var readSeq: Int64
  /// Unread messages besides the counted ones, as the application has set them (setUnreadCount,
  /// importGroupMembers).
  public var unreadBase: Int = 0
  /// Messages that came while the member received none, as ranges of `seq`, ascending; they do not
  /// count as unread. The last one ends with `noEnd` while that lasts.
  public private(set) var unheardRanges: [ClosedRange<Int64>] = []
  /// Messages up to this one, and imported ones, do not count as unread: they are in `unreadBase`.
  /// Nil once a read mark has ended such a number: every message after `readSeq` counts.
  public var unreadSinceSeq: Int64? = 0
  /// The oldest message the member may see, where the type hides messages from before joining.
  public var firstVisibleSeq: Int64
  /// The messages of past memberships, as ranges of `seq`, ascending; all below `firstVisibleSeq`.
  public var earlierVisibleRanges: [ClosedRange<Int64>] = []
  /// The inviter, if there was one.
  public var inviter: UserID?
  /// The last change of the member's own view of the group; `updatedSince` compares it.
  public var changeTime: WallInstant
  /// When the member joined, or role, name card, customInfo or mute last changed.
  public var infoTime: WallInstant
  /// The newest message when the member last cleared the history: it and older ones are invisible to
  /// the user for good. 0 = never.
  public var clearedSeq: Int64 = 0
  /// What the member keeps about the group in the own list of conversations.
  public var conversation = ConversationSettings()

  /// A new member.
  public init(
    userID: UserID, role: Role, joinTime: WallInstant, ordinal: Int64, receiveOption: ReceiveOption, readSeq: Int64 = 0,
    firstVisibleSeq: Int64 = 1, inviter: UserID? = nil, nameCard: String = "", customInfo: [String: String] = [:],
    muteUntil: WallInstant = .unset, changeTime: WallInstant? = nil
  ) {
    self.userID = userID
    self.role = role
    self.joinTime = joinTime
    self.ordinal = ordinal
    self.nameCard = nameCard
    self.customInfo = customInfo
    self.muteUntil = muteUntil
    self.receiveOption = receiveOption
    self.readSeq = readSeq
    self.firstVisibleSeq = firstVisibleSeq
    self.inviter = inviter
    self.changeTime = changeTime ?? joinTime
    infoTime = self.changeTime
  }

  /// Whether other members see the same of the member: role, name card, customInfo and mute.
  public func hasSameInfo(as other: Member) -> Bool {
    role == other.role && muteUntil == other.muteUntil && nameCard.isSame(as: other.nameCard)
      && customInfo.count == other.customInfo.count
      && customInfo.allSatisfy { key, value in other.customInfo[key].map { $0.isSame(as: value) } ?? false }
  }

  /// The member at an instant: without a mute that has ended.
  public func current(at now: WallInstant) -> Member {
    guard muteUntil.isSet, muteUntil <= now else { return self }
    var member = self
    member.muteUntil = .unset
    return member
  }
}

extension Member {
  /// The end of a range of messages that still come.
  public static let noEnd: Int64 = 1 << 53
  /// More ranges are merged: what lies between the oldest counts as read.
  private static let mostUnheardRanges = 16

  /// A member with the stored ranges.
  public mutating func setUnheardRanges(_ ranges: [ClosedRange<Int64>]) { unheardRanges = ranges }

  /// Messages behind this one are not heard.
  public mutating func beginUnheard(after newest: Int64) { unheardRanges.append(newest + 1...Self.noEnd) }

  /// Messages behind this one are heard again.
  /// - Returns: false where nothing tells since when none was.
  public mutating func endUnheard(at newest: Int64) -> Bool {
    guard let last = unheardRanges.last, last.upperBound == Self.noEnd else { return false }
    unheardRanges.removeLast()
    if newest >= last.lowerBound { unheardRanges.append(last.lowerBound...newest) }
    if unheardRanges.count > Self.mostUnheardRanges {
      unheardRanges.replaceSubrange(0...1, with: [unheardRanges[0].lowerBound...unheardRanges[1].upperBound])
    }
    return true
  }

  /// Forgets ranges up to a message that is read.
  public mutating func forgetUnheard(through seq: Int64) { unheardRanges.removeAll { $0.upperBound <= seq } }
}
