import GroupModel

/// All that distinguishes one type of group, as data: an element of getServerInfo's `groupTypes`
/// (Protocol.md, "Group types" and "Server information").
public struct GroupTypeDescription: Sendable, Equatable {
  /// One row of the rights table in this type's column.
  public struct Right: Sendable, Equatable {
    /// The row.
    public let action: GroupAction
    /// The lowest role that has the right, or what decides it.
    public let requirement: Requirement
  }

  /// One row of the policy table in this type's column.
  public struct Setting: Sendable, Equatable {
    /// The row.
    public let field: PolicyField
    /// The value in a new group.
    public let defaultValue: PolicyValue
    /// Whether the right to edit the policy includes this field.
    public let isSettable: Bool
    /// Every value the field takes; none of a field of numbers.
    public let values: [PolicyValue]
    /// The numbers the field takes; nil = it has `values`.
    public let range: ClosedRange<Int64>?
  }

  /// The members that getGroupMemberList shows.
  public enum MemberList: String, Sendable {
    case whole
    /// The owner, admins where the type has them, then the 300 newest others, newest first.
    case ownerAndNewest
    /// None: 10007.
    case none
  }

  /// The type described.
  public let type: GroupType
  /// A former name that is still accepted on input.
  public let legacyName: String?
  /// The rights, a row per action in the page's order.
  public let rights: [Right]
  /// Empty where the type has no policy fields.
  public let settings: [Setting]
  /// Whether users may be named members at creation; otherwise 10007.
  public let takesInitialMembers: Bool
  /// Whether initial members may be admins; otherwise 10007.
  public let takesInitialAdmins: Bool
  /// Whether maxMemberNum bounds the number of members.
  public let limitsMembers: Bool
  /// Whether every signed-in user is a member without a record.
  public let everyoneIsMember: Bool
  /// Whether messages are kept and numbered by `seq`.
  public let storesMessages: Bool
  /// Whether members of a new group may read messages from before joining; `historyVisibility` decides.
  public let showsHistoryFromBeforeJoining: Bool
  /// Whether unread messages are counted.
  public let countsUnread: Bool
  /// Whether getJoinedGroupList names the group.
  public let isListed: Bool
  /// The receive option of a member who has not chosen one.
  public let defaultReceiveOption: ReceiveOption
  /// The members that getGroupMemberList shows.
  public let memberList: MemberList
  /// Whether messages can be recalled; otherwise 10033.
  public let allowsRecall: Bool

  /// Every type of group, as getServerInfo answers it.
  /// - Parameter permissions: of the server, whose configuration decides a row.
  public static func all(by permissions: GroupPermissions = GroupPermissions()) -> [GroupTypeDescription] {
    GroupType.allCases.map { GroupTypeDescription(of: $0, by: permissions) }
  }

  /// The description that the tables give of a type.
  init(of type: GroupType, by permissions: GroupPermissions) {
    let policy = GroupPolicy.defaults(for: type)
    self.type = type
    legacyName = type.legacyName
    rights = GroupAction.allCases.filter(\.isInServerInfo).map {
      Right(action: $0, requirement: permissions.requirement(for: $0, in: type))
    }
    settings = PolicyTable.fields(of: type).map {
      Setting(
        field: $0, defaultValue: policy[$0], isSettable: permissions.isSettable($0, in: type),
        values: PolicyTable.values(of: $0), range: $0.range)
    }
    takesInitialMembers = type.takesInitialMembers
    takesInitialAdmins = type.takesInitialMembers && permissions.allowsAdmins(in: type)
    limitsMembers = type.limitsMembers
    everyoneIsMember = type.everyoneIsMember
    storesMessages = type.storesMessages
    showsHistoryFromBeforeJoining = type.showsHistoryFromBeforeJoining
    countsUnread = type.countsUnread
    isListed = type.isListed
    defaultReceiveOption = type.defaultReceiveOption
    memberList = type.memberList
    allowsRecall = permissions.requirement(for: .recallOthers, in: type) != .nobody
  }
}

extension GroupType {
  fileprivate var memberList: GroupTypeDescription.MemberList {
    switch self {
    case .work, .public, .meeting: .whole
    case .avChatRoom: .ownerAndNewest
    case .bChatRoom: .none
    }
  }
}
