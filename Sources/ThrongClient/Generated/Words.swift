// swift-format-ignore-file
// Generated from the server's declarations: Scripts/generate rewrites it.

/// The type of a group. A later server may have more.
public struct GroupType: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let work = Self(rawValue: "Work")
  public static let `public` = Self(rawValue: "Public")
  public static let meeting = Self(rawValue: "Meeting")
  public static let avChatRoom = Self(rawValue: "AVChatRoom")
  public static let bChatRoom = Self(rawValue: "BChatRoom")
}

/// The effect of joinGroup. A later server may have more.
public struct JoinMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let any = Self(rawValue: "Any")
  public static let auth = Self(rawValue: "Auth")
  public static let forbid = Self(rawValue: "Forbid")
}

/// Those who may invite. A later server may have more.
public struct InviteMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let any = Self(rawValue: "Any")
  public static let admin = Self(rawValue: "Admin")
  public static let nobody = Self(rawValue: "Nobody")
}

/// Whether an invited user is asked. A later server may have more.
public struct BeInviteMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let off = Self(rawValue: "None")
  public static let auth = Self(rawValue: "Auth")
}

/// Those who may edit. A later server may have more.
public struct UpdateMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let any = Self(rawValue: "Any")
  public static let admin = Self(rawValue: "Admin")
  public static let owner = Self(rawValue: "Owner")
}

/// The fate of a group whose owner quits. A later server may have more.
public struct OwnerQuitMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let transfer = Self(rawValue: "Transfer")
  public static let forbid = Self(rawValue: "Forbid")
}

/// The members that a group's mute silences. A later server may have more.
public struct MuteMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let off = Self(rawValue: "None")
  public static let ordinary = Self(rawValue: "Ordinary")
  public static let all = Self(rawValue: "All")
  public static let custom = Self(rawValue: "Custom")
}

/// The messages of a group that a member receives. A later server may have more.
public struct ReceiveOption: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let receive = Self(rawValue: "Receive")
  public static let notReceive = Self(rawValue: "NotReceive")
  public static let receiveNotNotify = Self(rawValue: "ReceiveNotNotify")
  public static let receiveFromManagers = Self(rawValue: "ReceiveFromManagers")
  public static let notifyFromManagers = Self(rawValue: "NotifyFromManagers")
}

/// The messages that members may read. A later server may have more.
public struct HistoryVisibility: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let joined = Self(rawValue: "Joined")
  public static let all = Self(rawValue: "All")
}

/// Who may change an attribute that somebody holds. A later server may have more.
public struct AttributeMode: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let any = Self(rawValue: "Any")
  public static let holder = Self(rawValue: "Holder")
}

/// The kind of an application. A later server may have more.
public struct ApplicationKind: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let join = Self(rawValue: "Join")
  public static let invite = Self(rawValue: "Invite")
}

/// By whom an application was decided. A later server may have more.
public struct HandleStatus: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let unhandled = Self(rawValue: "Unhandled")
  public static let handledByOther = Self(rawValue: "HandledByOther")
  public static let handledBySelf = Self(rawValue: "HandledBySelf")
}

/// How an application was decided. A later server may have more.
public struct HandleResult: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let agree = Self(rawValue: "Agree")
  public static let refuse = Self(rawValue: "Refuse")
}

/// One of the two lists of applications. A later server may have more.
public struct ApplicationBox: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let received = Self(rawValue: "Received")
  public static let sent = Self(rawValue: "Sent")
}

/// The kind of a message. A later server may have more.
public struct MessageKind: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let text = Self(rawValue: "Text")
  public static let custom = Self(rawValue: "Custom")
  public static let groupTips = Self(rawValue: "GroupTips")
}

/// Which messages a busy group keeps and sends first. A later server may have more.
public struct MessagePriority: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let high = Self(rawValue: "High")
  public static let normal = Self(rawValue: "Normal")
  public static let low = Self(rawValue: "Low")
  public static let lowest = Self(rawValue: "Lowest")
}

/// The outcome of a send. A later server may have more.
public struct SendStatus: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let stored = Self(rawValue: "Stored")
  public static let delivered = Self(rawValue: "Delivered")
  public static let queued = Self(rawValue: "Queued")
  public static let dropped = Self(rawValue: "Dropped")
}

/// The kind of a change in a group. A later server may have more.
public struct TipsKind: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let join = Self(rawValue: "Join")
  public static let invite = Self(rawValue: "Invite")
  public static let quit = Self(rawValue: "Quit")
  public static let kicked = Self(rawValue: "Kicked")
  public static let setAdmin = Self(rawValue: "SetAdmin")
  public static let cancelAdmin = Self(rawValue: "CancelAdmin")
  public static let groupInfoChange = Self(rawValue: "GroupInfoChange")
  public static let memberInfoChange = Self(rawValue: "MemberInfoChange")
  public static let create = Self(rawValue: "Create")
}

/// The kind of a system notification. A later server may have more.
public struct NotificationKind: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let addGroupRequest = Self(rawValue: "AddGroupRequest")
  public static let addGroupAccept = Self(rawValue: "AddGroupAccept")
  public static let addGroupRefuse = Self(rawValue: "AddGroupRefuse")
  public static let kickedOff = Self(rawValue: "KickedOff")
  public static let groupDismissed = Self(rawValue: "GroupDismissed")
  public static let groupCreated = Self(rawValue: "GroupCreated")
  public static let invitedToGroup = Self(rawValue: "InvitedToGroup")
  public static let quitGroup = Self(rawValue: "QuitGroup")
  public static let grantAdmin = Self(rawValue: "GrantAdmin")
  public static let cancelAdmin = Self(rawValue: "CancelAdmin")
  public static let groupRecycled = Self(rawValue: "GroupRecycled")
  public static let inviteRequest = Self(rawValue: "InviteRequest")
  public static let inviteAccept = Self(rawValue: "InviteAccept")
  public static let inviteRefuse = Self(rawValue: "InviteRefuse")
  public static let custom = Self(rawValue: "Custom")
}

/// The platform of a session. A later server may have more.
public struct Platform: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let iOS = Self(rawValue: "iOS")
  public static let android = Self(rawValue: "Android")
  public static let windows = Self(rawValue: "Windows")
  public static let mac = Self(rawValue: "Mac")
  public static let web = Self(rawValue: "Web")
  public static let unknown = Self(rawValue: "Unknown")
}

/// The outcome for one user of a list. A later server may have more.
public struct MemberOutcome: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let fail = Self(rawValue: "Fail")
  public static let success = Self(rawValue: "Success")
  public static let invalid = Self(rawValue: "Invalid")
  public static let pending = Self(rawValue: "Pending")
  public static let overLimit = Self(rawValue: "OverLimit")
}

/// Whether joinGroup has joined. A later server may have more.
public struct JoinStatus: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let joined = Self(rawValue: "Joined")
  public static let pending = Self(rawValue: "Pending")
}

/// The members that are listed. A later server may have more.
public struct MemberFilter: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let all = Self(rawValue: "All")
  public static let owner = Self(rawValue: "Owner")
  public static let admin = Self(rawValue: "Admin")
  public static let common = Self(rawValue: "Common")
}

/// Whether readers are listed, or the others. A later server may have more.
public struct ReadFilter: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let read = Self(rawValue: "Read")
  public static let unread = Self(rawValue: "Unread")
}

/// The direction of a page of history. A later server may have more.
public struct HistoryDirection: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let older = Self(rawValue: "Older")
  public static let newer = Self(rawValue: "Newer")
}

/// Where searchGroups looks. A later server may have more.
public struct SearchField: OpenEnumeration {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let groupID = Self(rawValue: "groupID")
  public static let groupName = Self(rawValue: "groupName")
  public static let memberUserID = Self(rawValue: "memberUserID")
  public static let memberNameCard = Self(rawValue: "memberNameCard")
  public static let memberNickName = Self(rawValue: "memberNickName")
}
