/// An action on a group that needs a right: a row of the rights table (Permissions.md, "Tables").
public enum GroupAction: String, CaseIterable, Sendable {
  case create, join, invite, send
  case editInfo, editCustomInfo, editServerCustomInfo, editPolicy
  case decideApplications, remove, muteMember, muteGroup, editMember
  case changeRole, transfer, quitAsOwner, disband
  case useAttributes, recallOthers, pinMessage, setCounters

  /// The action as the page names it, in Markdown.
  public var title: String {
    switch self {
    case .create: "create"
    case .join: "join by application"
    case .invite: "invite others"
    case .send: "send a message"
    case .editInfo: "edit name, introduction, notification, faceURL"
    case .editCustomInfo: "edit customInfo"
    case .editServerCustomInfo: "edit serverCustomInfo"
    case .editPolicy: "edit policy fields, maxMemberNum, isSearchable, isMemberVisible"
    case .decideApplications: "decide applications to join"
    case .remove: "remove members"
    case .muteMember: "mute a member"
    case .muteGroup: "mute the group"
    case .editMember: "edit another member's nameCard and customInfo"
    case .changeRole: "change a role"
    case .transfer: "transfer ownership"
    case .quitAsOwner: "quit as owner"
    case .disband: "disband"
    case .useAttributes:
      "read and write attributes (× becomes Member where `attributes.groupTypes` names the type; default AVChatRoom alone)"
    case .recallOthers: "recall somebody else's message"
    case .pinMessage: "pin a message"
    case .setCounters: "set counters"
    }
  }

  /// Whether the action has one member as its target, so that members can be their own target.
  public var actsOnMember: Bool {
    switch self {
    case .remove, .muteMember, .editMember, .changeRole, .transfer, .recallOthers: true
    case .create, .join, .invite, .send, .editInfo, .editCustomInfo, .editServerCustomInfo, .editPolicy, .decideApplications,
      .muteGroup, .quitAsOwner, .disband, .useAttributes, .pinMessage, .setCounters:
      false
    }
  }

  /// Whether getServerInfo tells the right. Clients of v1 know the others only.
  var isInServerInfo: Bool { self != .editMember && self != .editServerCustomInfo }

  /// Whether the action makes sense for a user who is not a member.
  var isOpenToOutsiders: Bool { self == .create || self == .join }

  /// Whether the action, aimed at the owner, would leave the group without one.
  var removesOwner: Bool { self == .remove || self == .changeRole }
}
