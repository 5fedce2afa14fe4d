/// An event for one user that is kept until the user reads it (Protocol.md, "System
/// notifications").
public struct SystemNotification: Sendable, Equatable {
  /// The kinds by their wire names.
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

  /// The most that are kept for a user; the oldest are removed.
  public static let kept = 100
  /// The time that one is kept.
  public static let lifetime = Duration.seconds(7 * 86_400)

  /// The kind of event.
  public let kind: Kind
  /// The group it is about.
  public let groupID: GroupID
  /// The user who caused it: a MemberInfo, encoded. The server never reads it back.
  public let opUser: String
  /// The application it is about. A recipient has one notification of a kind for an application: a
  /// renewed application replaces it.
  public let applicationID: String?
  /// The reason that was given; nil = none.
  public let reason: String?
  /// The application's data of a custom notification.
  public let data: String?
  /// The time of the event.
  public let timestamp: WallInstant

  /// A notification with everything given.
  public init(
    kind: Kind, groupID: GroupID, opUser: String, applicationID: String? = nil, reason: String? = nil, data: String? = nil,
    timestamp: WallInstant
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
