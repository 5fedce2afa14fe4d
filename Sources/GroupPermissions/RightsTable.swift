import GroupModel

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

/// One row of a table that has a column per group type. A new type stops the build at every row
/// that lacks its cell.
struct TypeRow<Value: Sendable>: Sendable {
  private let work, `public`, meeting, avChatRoom, bChatRoom: Value

  init(_ work: Value, _ public: Value, _ meeting: Value, _ avChatRoom: Value, _ bChatRoom: Value) {
    self.work = work
    self.public = `public`
    self.meeting = meeting
    self.avChatRoom = avChatRoom
    self.bChatRoom = bChatRoom
  }

  subscript(type: GroupType) -> Value {
    switch type {
    case .work: work
    case .public: `public`
    case .meeting: meeting
    case .avChatRoom: avChatRoom
    case .bChatRoom: bChatRoom
    }
  }
}
