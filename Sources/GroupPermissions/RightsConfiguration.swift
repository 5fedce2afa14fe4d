import GroupModel

/// The choices of a server's configuration that change cells of the rights table.
public struct RightsConfiguration: Sendable, Equatable {
  /// The types whose groups have attributes (`attributes.groupTypes`).
  public var attributeTypes: Set<GroupType> = [.avChatRoom]
  /// Whether AVChatRooms have admins, who moderate them (`avChatRoom.moderation`).
  public var moderatesLiveRooms = false
  /// Whether AVChatRooms remember messages, which can be recalled (`avChatRoom.recentMessages` above 0).
  public var remembersLiveMessages = false
  /// Whether the owner of a Work group may disband it (`work.ownerMayDisband`).
  public var ownerDisbandsWork = false

  /// The defaults.
  public init() {}

  /// The cell of the rights table; nil = the table's own.
  func requirement(for action: GroupAction, in type: GroupType) -> Requirement? {
    let isLiveRoom = type == .avChatRoom
    let isModerated = isLiveRoom && moderatesLiveRooms
    switch action {
    case .decideApplications, .remove, .muteMember, .muteGroup: return isModerated ? .admin : nil
    case .changeRole: return isModerated ? .owner : nil
    case .recallOthers: return isLiveRoom && remembersLiveMessages ? isModerated ? .admin : .administrator : nil
    case .disband: return type == .work && ownerDisbandsWork ? .owner : nil
    case .useAttributes: return attributeTypes.contains(type) ? .member : nil
    case .create, .join, .invite, .send, .editInfo, .editCustomInfo, .editServerCustomInfo, .editPolicy, .editMember, .transfer,
      .quitAsOwner, .pinMessage, .setCounters:
      return nil
    }
  }

  /// Whether a policy field can be changed; nil = as the table says.
  func isSettable(_ field: PolicyField, in type: GroupType) -> Bool? {
    // Who may change an attribute is a choice where there are attributes.
    field == .attributeMode ? attributeTypes.contains(type) : nil
  }

  /// The denial of principals below the requirement; nil = the table's own.
  func denial(of action: GroupAction, in type: GroupType) -> Denial? {
    action == .recallOthers && type == .avChatRoom && remembersLiveMessages ? .recallNotYours : nil
  }
}
