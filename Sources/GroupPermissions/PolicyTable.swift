import GroupModel

extension GroupPolicy {
  // swift-format-ignore
  /// The policy of a new group (Permissions.md, "Tables"). A BChatRoom has none: this value denies
  /// every right, hides nothing, silences no notification, and is never shown.
  public static func defaults(for type: GroupType) -> GroupPolicy {
    switch type {
    //                            joinMode invite   beInvite updateInfo updateCustom ownerQuit notify searchable visible history
    case .work:       GroupPolicy(.forbid, .any,    .none,   .any,      .any,        .transfer, true,  false,    true,   type)
    case .public:     GroupPolicy(.auth,   .nobody, .none,   .admin,    .admin,      .forbid,   true,  true,     true,   type)
    case .meeting:    GroupPolicy(.any,    .nobody, .none,   .admin,    .admin,      .forbid,   false, true,     true,   type)
    case .avChatRoom: GroupPolicy(.any,    .nobody, .none,   .owner,    .owner,      .forbid,   true,  false,    true,   type)
    case .bChatRoom:  GroupPolicy(.forbid, .nobody, .none,   .owner,    .owner,      .forbid,   true,  false,    true,   type)
    }
  }

  /// A row of the table above, where labels would hide the columns. The visibility of history is the
  /// model's, because a store needs it: `GroupType.defaultHistoryVisibility`.
  private init(
    _ joinMode: JoinMode, _ inviteMode: InviteMode, _ beInviteMode: BeInviteMode, _ updateInfoMode: EditMode,
    _ updateCustomMode: EditMode, _ ownerQuitMode: OwnerQuitMode, _ memberChangeNotification: Bool, _ isSearchable: Bool,
    _ isMemberVisible: Bool, _ type: GroupType
  ) {
    self.init(
      joinMode: joinMode, inviteMode: inviteMode, beInviteMode: beInviteMode, updateInfoMode: updateInfoMode,
      updateCustomMode: updateCustomMode, ownerQuitMode: ownerQuitMode, memberChangeNotification: memberChangeNotification,
      isSearchable: isSearchable, isMemberVisible: isMemberVisible,
      historyVisibility: type.defaultHistoryVisibility)
  }
}

/// The policy fields of each type of group, and which of them can be changed: the second table and
/// its (s) marks (Permissions.md, "Tables").
public enum PolicyTable {
  /// The fields of a type in the page's order; none in a BChatRoom.
  public static func fields(of type: GroupType) -> [PolicyField] {
    switch type {
    case .work, .public, .meeting, .avChatRoom: PolicyField.allCases
    case .bChatRoom: []
    }
  }

  // swift-format-ignore
  /// Whether the right to edit the policy includes the field; false where the type lacks it.
  public static func isSettable(_ field: PolicyField, in type: GroupType) -> Bool {
    let settable = switch field {
    //                                      Work   Public Meeting AVChatRoom BChatRoom
    case .joinMode:                 TypeRow(false, true,  true,   true,      false)
    case .inviteMode:               TypeRow(true,  true,  true,   false,     false)
    case .beInviteMode:             TypeRow(true,  true,  true,   false,     false)
    case .updateInfoMode:           TypeRow(true,  true,  true,   true,      false)
    case .updateCustomMode:         TypeRow(true,  true,  true,   true,      false)
    case .ownerQuitMode:            TypeRow(true,  true,  true,   false,     false)
    case .memberChangeNotification: TypeRow(true,  true,  true,   true,      false)
    case .isSearchable:             TypeRow(false, true,  true,   false,     false)
    case .isMemberVisible:          TypeRow(true,  true,  true,   true,      false)
    case .historyVisibility:        TypeRow(true,  true,  true,   false,     false)
    case .slowMode:                 TypeRow(true,  true,  true,   true,      false)
    // By default; the configuration decides (`GroupPermissions.isSettable`).
    case .attributeMode:            TypeRow(false, false, false,  true,      false)
    }
    return settable[type]
  }

  /// Every value of the field, in the page's order; any other is 10004. None of a field of numbers,
  /// which has a range instead.
  public static func values(of field: PolicyField) -> [PolicyValue] {
    switch field.kind {
    case .words(let words): words.map(PolicyValue.word)
    case .flag: [.flag(true), .flag(false)]
    case .number: []
    }
  }
}
