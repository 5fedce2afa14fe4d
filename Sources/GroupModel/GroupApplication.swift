/// A membership that waits for a decision: a user asks to join, or a member invites a user who is
/// asked first (Protocol.md, "Applications").
public struct GroupApplication: Sendable, Equatable {
  /// The kinds differ in who decides.
  public enum Kind: String, CaseIterable, Sendable {
    /// The managers decide whether a user may join.
    case join = "Join"
    /// The invited user decides whether to join.
    case invite = "Invite"
  }

  /// The decision.
  public struct Handling: Sendable, Equatable {
    /// Whether the candidate becomes a member.
    public let isAgreed: Bool
    /// The decider; `.administrator` for the application.
    public let by: UserID
    /// The time of the decision.
    public let time: WallInstant
    /// The decider's words; empty = none.
    public let message: String

    /// A decision.
    public init(isAgreed: Bool, by: UserID, time: WallInstant, message: String) {
      self.isAgreed = isAgreed
      self.by = by
      self.time = time
      self.message = message
    }
  }

  /// Unique among all applications of the server.
  public let id: String
  /// The group that the candidate would join.
  public let groupID: GroupID
  /// The group's epoch: the application does not concern a later group with the same groupID.
  public let epoch: String
  /// A request to join or an invitation.
  public let kind: Kind
  /// The user who asks to join, or the inviter; `.administrator` for the application.
  public var fromUser: UserID
  /// The invited user; nil for a request to join.
  public let toUser: UserID?
  /// The time at which it was made, or made again.
  public var addTime: WallInstant
  /// The words of `fromUser`, up to 512 characters.
  public var requestMsg: String
  /// The inviter's own data, up to 512 characters; nil = none.
  public var attach: String?
  /// Nil = undecided.
  public var handling: Handling?

  /// An undecided application.
  public init(
    id: String, groupID: GroupID, epoch: String, kind: Kind, fromUser: UserID, toUser: UserID?, addTime: WallInstant,
    requestMsg: String, attach: String? = nil
  ) {
    self.id = id
    self.groupID = groupID
    self.epoch = epoch
    self.kind = kind
    self.fromUser = fromUser
    self.toUser = toUser
    self.addTime = addTime
    self.requestMsg = requestMsg
    self.attach = attach
  }

  /// The user who would become a member.
  public var candidate: UserID { toUser ?? fromUser }
}
