/// One user's membership of one group.
public struct Member: Sendable, Equatable {
  /// Who it is.
  public let userID: UserID
  /// The member's rights.
  public var role: Role
  /// When the membership began.
  public var joinTime: Instant
  /// Counts the joins of the group; tells who came first among members with one `joinTime`. Unique among members; that of somebody who
  /// has left may be given again after a restart.
  public var ordinal: Int64
  /// The name in this group, up to 50 bytes; empty = none.
  public var nameCard: String
  /// The application's own fields of this membership: at most 5.
  public var customInfo: [String: String]
  /// Until when the member may not speak; 0 or past = free.
  public var muteUntil: Instant
  /// When that was decided, as the clock showed then; 0 = long ago.
  public var mutedAt: Instant = 0
  /// Which chat the member wants.
  public var receiveOption: ReceiveOption
  /// The newest message the member has read.
  public var readSeq: Int64
  /// Unread messages besides those that are counted: what the application has set (setUnreadCount, importGroupMembers).
  public var unreadBase: Int = 0
  /// Messages up to this one, and imported ones, do not count as unread: they are in `unreadBase`, or came while the member received none.
  /// Nil once a mark has ended such a number: what comes after `readSeq` counts, whatever it is.
  public var unreadSinceSeq: Int64? = 0
  /// The oldest message the member may see, where the type hides what was before joining.
  public var firstVisibleSeq: Int64
  /// What was visible in former memberships, as ranges of `seq`, ascending; all below `firstVisibleSeq`.
  public var earlierStays: [ClosedRange<Int64>] = []
  /// Who brought the member in, if somebody did.
  public var inviter: UserID?
  /// When something of the member's own view of the group last changed; for `updatedSince`.
  public var changeTime: Instant

  /// A member who has just come.
  public init(
    userID: UserID, role: Role, joinTime: Instant, ordinal: Int64, receiveOption: ReceiveOption, readSeq: Int64 = 0,
    firstVisibleSeq: Int64 = 1, inviter: UserID? = nil, nameCard: String = "", customInfo: [String: String] = [:],
    muteUntil: Instant = 0, changeTime: Instant? = nil
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
  }

  /// The member as it stands at an instant: a mute is none after its end.
  public func current(at now: Instant) -> Member {
    guard muteUntil != 0, muteUntil <= now else { return self }
    var member = self
    member.muteUntil = 0
    return member
  }
}
