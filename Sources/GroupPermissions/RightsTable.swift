import GroupModel

/// The rights table of contract section 3, row by row as printed there.
enum RightsTable {
  // The columns are kept by hand: they are the page.
  // swift-format-ignore
  static func row(for action: GroupAction) -> TypeRow<Cell> {
    switch action {
    //                                Work               Public             Meeting            AVChatRoom         BChatRoom
    case .create:             TypeRow(.anyone,           .anyone,           .anyone,           .anyone,           .administrator)
    case .join:               TypeRow(.joinMode,         .joinMode,         .joinMode,         .joinMode,         .nobody)
    case .invite:             TypeRow(.inviteMode,       .inviteMode,       .inviteMode,       .nobody,           .nobody)
    case .send:               TypeRow(.member,           .member,           .member,           .member,           .admin)
    case .editInfo:           TypeRow(.updateInfoMode,   .updateInfoMode,   .updateInfoMode,   .updateInfoMode,   .admin)
    case .editCustomInfo:     TypeRow(.updateCustomMode, .updateCustomMode, .updateCustomMode, .updateCustomMode, .admin)
    case .editPolicy:         TypeRow(.owner,            .admin,            .admin,            .owner,            .owner)
    case .decideApplications: TypeRow(.nobody,           .admin,            .admin,            .owner,            .nobody)
    case .remove:             TypeRow(.owner,            .admin,            .admin,            .nobody,           .nobody)
    case .muteMember:         TypeRow(.administrator,    .admin,            .admin,            .owner,            .nobody)
    case .muteGroup:          TypeRow(.owner,            .admin,            .admin,            .owner,            .nobody)
    case .changeRole:         TypeRow(.nobody,           .owner,            .owner,            .nobody,           .owner)
    case .transfer:           TypeRow(.owner,            .owner,            .owner,            .nobody,           .nobody)
    case .quitAsOwner:        TypeRow(.ownerQuitMode,    .ownerQuitMode,    .ownerQuitMode,    .nobody,           .nobody)
    case .disband:            TypeRow(.administrator,    .owner,            .owner,            .owner,            .owner)
    // The one row that a server's configuration decides: × becomes Member in the types it names (`GroupPermissions.cell`).
    case .useAttributes:      TypeRow(.nobody,           .nobody,           .nobody,           .nobody,           .nobody)
    case .recallOthers:       TypeRow(.owner,            .admin,            .admin,            .nobody,           .nobody)
    }
  }
}
