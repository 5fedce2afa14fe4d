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

/// The rights table, row by row as the page prints it (Permissions.md, "Tables").
enum RightsTable {
  // The columns are aligned by hand.
  // swift-format-ignore
  static func requirements(for action: GroupAction) -> TypeRow<Requirement> {
    switch action {
    //                                Work               Public             Meeting            AVChatRoom         BChatRoom
    case .create:             TypeRow(.anyone,           .anyone,           .anyone,           .anyone,           .administrator)
    case .join:               TypeRow(.joinMode,         .joinMode,         .joinMode,         .joinMode,         .nobody)
    case .invite:             TypeRow(.inviteMode,       .inviteMode,       .inviteMode,       .nobody,           .nobody)
    case .send:               TypeRow(.member,           .member,           .member,           .member,           .admin)
    case .editInfo:           TypeRow(.updateInfoMode,   .updateInfoMode,   .updateInfoMode,   .updateInfoMode,   .admin)
    case .editCustomInfo:     TypeRow(.updateCustomMode, .updateCustomMode, .updateCustomMode, .updateCustomMode, .admin)
    case .editServerCustomInfo:
                              TypeRow(.administrator,    .administrator,    .administrator,    .administrator,    .administrator)
    case .editPolicy:         TypeRow(.owner,            .admin,            .admin,            .owner,            .owner)
    case .decideApplications: TypeRow(.nobody,           .admin,            .admin,            .owner,            .nobody)
    case .remove:             TypeRow(.owner,            .admin,            .admin,            .nobody,           .nobody)
    case .muteMember:         TypeRow(.administrator,    .admin,            .admin,            .owner,            .nobody)
    case .muteGroup:          TypeRow(.owner,            .admin,            .admin,            .owner,            .nobody)
    case .editMember:         TypeRow(.owner,            .admin,            .admin,            .admin,            .admin)
    case .changeRole:         TypeRow(.nobody,           .owner,            .owner,            .nobody,           .owner)
    case .transfer:           TypeRow(.owner,            .owner,            .owner,            .nobody,           .nobody)
    case .quitAsOwner:        TypeRow(.ownerQuitMode,    .ownerQuitMode,    .ownerQuitMode,    .nobody,           .nobody)
    case .disband:            TypeRow(.administrator,    .owner,            .owner,            .owner,            .owner)
    // The configuration decides this row: × becomes Member in the types it names.
    case .useAttributes:      TypeRow(.nobody,           .nobody,           .nobody,           .nobody,           .nobody)
    case .recallOthers:       TypeRow(.owner,            .admin,            .admin,            .nobody,           .nobody)
    case .pinMessage:         TypeRow(.owner,            .admin,            .admin,            .nobody,           .nobody)
    case .setCounters:        TypeRow(.owner,            .admin,            .admin,            .owner,            .admin)
    }
  }

  // swift-format-ignore
  /// The denials of principals below the requirement: 10007 except in these rows (Protocol.md,
  /// "Rights", rule 2). A BChatRoom has no membership that its owner could give up.
  static func denials(of action: GroupAction) -> TypeRow<Denial> {
    switch action {
    //                        Work              Public            Meeting           AVChatRoom           BChatRoom
    case .join:         TypeRow(.workNotJoinable, .noRight,         .noRight,         .noRight,            .noRight)
    case .quitAsOwner:  TypeRow(.ownerMayNotQuit, .ownerMayNotQuit, .ownerMayNotQuit, .ownerMayNotQuit,    .noRight)
    case .recallOthers: TypeRow(.recallNotYours,  .recallNotYours,  .recallNotYours,  .recallUnsupported,  .recallUnsupported)
    case .pinMessage:   TypeRow(.noRight,         .noRight,         .noRight,         .recallUnsupported,  .recallUnsupported)
    case .create, .invite, .send, .editInfo, .editCustomInfo, .editServerCustomInfo, .editPolicy, .decideApplications, .remove,
      .muteMember, .muteGroup, .editMember, .changeRole, .transfer, .disband, .useAttributes,
      .setCounters:
                        TypeRow(.noRight,         .noRight,         .noRight,         .noRight,            .noRight)
    }
  }
}
