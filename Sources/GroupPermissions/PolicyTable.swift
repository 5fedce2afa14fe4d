import GroupModel

extension GroupPolicy {
  // swift-format-ignore
  /// What a new group of that type starts with (contract section 3). A BChatRoom has no policy: its value is closed in all that
  /// decides rights, hides nothing and silences no notification, and is never shown.
  public static func defaults(for type: GroupType) -> GroupPolicy {
    switch type {
    //                            joinMode invite   beInvite updateInfo updateCustom ownerQuit notify searchable visible
    case .work:       GroupPolicy(.forbid, .any,    .none,   .any,      .any,        .transfer, true,  false,    true)
    case .public:     GroupPolicy(.auth,   .nobody, .none,   .admin,    .admin,      .forbid,   true,  true,     true)
    case .meeting:    GroupPolicy(.any,    .nobody, .none,   .admin,    .admin,      .forbid,   false, true,     true)
    case .avChatRoom: GroupPolicy(.any,    .nobody, .none,   .owner,    .owner,      .forbid,   true,  false,    true)
    case .bChatRoom:  GroupPolicy(.forbid, .nobody, .none,   .owner,    .owner,      .forbid,   true,  false,    true)
    }
  }

  /// A row of the table above, where labels would hide the columns.
  private init(
    _ joinMode: JoinMode, _ inviteMode: InviteMode, _ beInviteMode: BeInviteMode, _ updateInfoMode: EditMode,
    _ updateCustomMode: EditMode, _ ownerQuitMode: OwnerQuitMode, _ memberChangeNotification: Bool, _ isSearchable: Bool,
    _ isMemberVisible: Bool
  ) {
    self.init(
      joinMode: joinMode, inviteMode: inviteMode, beInviteMode: beInviteMode, updateInfoMode: updateInfoMode,
      updateCustomMode: updateCustomMode, ownerQuitMode: ownerQuitMode, memberChangeNotification: memberChangeNotification,
      isSearchable: isSearchable, isMemberVisible: isMemberVisible)
  }
}

/// Which policy fields a type of group has, and which of them those who may edit policy may change (contract section 3, the
/// second table and its (s)).
public enum PolicyTable {
  /// The fields of a type in the page's order; none in a BChatRoom.
  public static func fields(of type: GroupType) -> [PolicyField] {
    switch type {
    case .work, .public, .meeting, .avChatRoom: PolicyField.allCases
    case .bChatRoom: []
    }
  }

  // swift-format-ignore
  /// Whether those who may edit policy may change the field in groups of that type. Not where the field does not exist.
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
    }
    return settable[type]
  }

  /// Every value the field takes, in the page's order; anything else is 10004.
  public static func values(of field: PolicyField) -> [PolicyValue] {
    field.isFlag ? [.flag(true), .flag(false)] : field.words.map(PolicyValue.word)
  }

  /// Why a group of that type cannot have the value, at creation or later; nil = it can. A fixed field takes the value it has,
  /// and another is 10007; a BChatRoom takes none (contract section 3). That the value is one of the field's is presumed.
  public static func refusal(ofSetting field: PolicyField, to value: PolicyValue, in type: GroupType) -> Refusal? {
    guard fields(of: type).contains(field) else { return .roleTooLow }
    return isSettable(field, in: type) || GroupPolicy.defaults(for: type)[field] == value ? nil : .roleTooLow
  }
}
