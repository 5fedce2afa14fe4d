/// Something that happened to one user, kept for when that user looks (contract section 5: the last 100, for 7 days).
public struct SystemNotification: Sendable, Equatable {
  /// What happened.
  public enum Kind: String, CaseIterable, Sendable {
    case addGroupRequest = "AddGroupRequest"
    case addGroupAccept = "AddGroupAccept"
    case addGroupRefuse = "AddGroupRefuse"
    case kickedOff = "KickedOff"
    case groupDismissed = "GroupDismissed"
    case groupCreated = "GroupCreated"
    case invitedToGroup = "InvitedToGroup"
    case quitGroup = "QuitGroup"
    case grantAdmin = "GrantAdmin"
    case cancelAdmin = "CancelAdmin"
    case groupRecycled = "GroupRecycled"
    case inviteRequest = "InviteRequest"
    case inviteAccept = "InviteAccept"
    case inviteRefuse = "InviteRefuse"
    case custom = "Custom"
  }

  /// How many a user has at most; older ones go.
  public static let kept = 100
  /// How long one is kept, in milliseconds.
  public static let lifetime: Instant = 7 * 86_400_000

  public let kind: Kind
  public let groupID: GroupID
  /// Who did it: a MemberInfo, encoded. The server never reads it back.
  public let opUser: String
  /// The application it tells of. A recipient has one notification of a kind for an application: a renewed application renews it.
  public let applicationID: String?
  public let reason: String?
  public let data: String?
  public let timestamp: Instant

  /// A notification with everything given.
  public init(
    kind: Kind, groupID: GroupID, opUser: String, applicationID: String? = nil, reason: String? = nil, data: String? = nil,
    timestamp: Instant
  ) {
    self.kind = kind
    self.applicationID = applicationID
    self.groupID = groupID
    self.opUser = opUser
    self.reason = reason
    self.data = data
    self.timestamp = timestamp
  }
}
