/// A request to become a member that somebody else decides: a user asks to join, or a member invites somebody who is asked first
/// (contract section 4, Applications and invitations).
public struct GroupApplication: Sendable, Equatable {
  /// Who is asked.
  public enum Kind: String, CaseIterable, Sendable {
    /// The managers, whether a user may come in.
    case join = "Join"
    /// A user, whether to come in.
    case invite = "Invite"
  }

  /// What became of it.
  public struct Handling: Sendable, Equatable {
    public let isAgreed: Bool
    /// Who decided; `.administrator` for the application.
    public let by: UserID
    public let time: Instant
    /// What the decider said; empty = nothing.
    public let message: String

    /// A decision.
    public init(isAgreed: Bool, by: UserID, time: Instant, message: String) {
      self.isAgreed = isAgreed
      self.by = by
      self.time = time
      self.message = message
    }
  }

  /// Names it among all applications of the server.
  public let id: String
  public let groupID: GroupID
  /// The group's epoch: a group that uses the groupID again has nothing to do with it.
  public let epoch: String
  public let kind: Kind
  /// Who asks to join, or who invites; `.administrator` for the application.
  public var fromUser: UserID
  /// Who is invited; nil for a request to join.
  public let toUser: UserID?
  /// When it was made, or made again.
  public var addTime: Instant
  /// What the asker said, up to 512 bytes.
  public var requestMsg: String
  /// The inviter's own data, up to 512 bytes; nil = none.
  public var attach: String?
  /// Nil = nobody has decided yet.
  public var handling: Handling?

  /// An application that nobody has decided yet.
  public init(
    id: String, groupID: GroupID, epoch: String, kind: Kind, fromUser: UserID, toUser: UserID?, addTime: Instant,
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

  /// Who would become a member.
  public var candidate: UserID { toUser ?? fromUser }
}
