import GroupModel

/// All that distinguishes one type of group, as data: what getServerInfo answers in `groupTypes` (contract sections 3 and 4).
public struct GroupTypeDescription: Sendable, Equatable {
  /// One row of the rights table in this type's column.
  public struct Right: Sendable, Equatable {
    /// The row.
    public let action: GroupAction
    /// Who may.
    public let cell: Cell
  }

  /// One row of the policy table in this type's column.
  public struct Setting: Sendable, Equatable {
    /// The row.
    public let field: PolicyField
    /// What a new group starts with.
    public let defaultValue: PolicyValue
    /// Whether those who may edit policy may change it.
    public let isSettable: Bool
    /// Every value the field takes.
    public let values: [PolicyValue]
  }

  /// What getGroupMemberList shows of a group.
  public enum MemberList: String, Sendable {
    case whole
    /// The owner, then the 300 newest, newest first.
    case ownerAndNewest
    /// None: 10007.
    case none
  }

  /// The type described.
  public let type: GroupType
  /// A name of old that is accepted on input as well.
  public let legacyName: String?
  /// Who may do what, a row per action in the page's order.
  public let rights: [Right]
  /// Empty where the type has no policy fields.
  public let settings: [Setting]
  /// Whether users may be named members at creation; otherwise 10007.
  public let takesInitialMembers: Bool
  /// Whether initial members may be admins; otherwise 10007.
  public let takesInitialAdmins: Bool
  /// Whether maxMemberNum bounds the number of members.
  public let limitsMembers: Bool
  /// Whether everyone signed in is a member without a record.
  public let everyoneIsMember: Bool
  /// Whether messages are kept and numbered by `seq`.
  public let storesMessages: Bool
  /// Whether a member may read what was written before joining.
  public let showsHistoryFromBeforeJoining: Bool
  /// Whether unread messages are counted.
  public let countsUnread: Bool
  /// Whether getJoinedGroupList names the group.
  public let isListed: Bool
  /// The receive option of somebody who has not chosen one.
  public let defaultReceiveOption: ReceiveOption
  /// What getGroupMemberList shows.
  public let memberList: MemberList
  /// Whether messages can be recalled; otherwise 10033.
  public let allowsRecall: Bool

  /// Reads the type out of the tables.
  init(of type: GroupType, by permissions: GroupPermissions) {
    let policy = GroupPolicy.defaults(for: type)
    self.type = type
    legacyName = type.legacyName
    rights = GroupAction.allCases.map { Right(action: $0, cell: permissions.cell(for: $0, in: type)) }
    settings = PolicyTable.fields(of: type).map {
      Setting(
        field: $0, defaultValue: policy[$0], isSettable: PolicyTable.isSettable($0, in: type), values: PolicyTable.values(of: $0))
    }
    takesInitialMembers = type.takesInitialMembers
    // Who could not be made an admin later is not made one at once.
    takesInitialAdmins = type.takesInitialMembers && permissions.cell(for: .changeRole, in: type) != .nobody
    limitsMembers = type.limitsMembers
    everyoneIsMember = type.everyoneIsMember
    storesMessages = type.storesMessages
    showsHistoryFromBeforeJoining = type.showsHistoryFromBeforeJoining
    countsUnread = type.countsUnread
    isListed = type.isListed
    defaultReceiveOption = type.defaultReceiveOption
    memberList = type.memberList
    allowsRecall = permissions.cell(for: .recallOthers, in: type) != .nobody
  }
}

extension GroupType {
  /// The name of old by which `GroupType(wireName:)` also knows the type, if it has one.
  public var legacyName: String? {
    switch self {
    case .work: "Private"
    case .meeting: "ChatRoom"
    case .public, .avChatRoom, .bChatRoom: nil
    }
  }

  fileprivate var memberList: GroupTypeDescription.MemberList {
    switch self {
    case .work, .public, .meeting: .whole
    case .avChatRoom: .ownerAndNewest
    case .bChatRoom: .none
    }
  }
}
