/// The five types of group (Protocol.md, "Group types"). `GroupPermissions` holds their rights.
public enum GroupType: String, CaseIterable, Sendable, Hashable {
  case work = "Work"
  case `public` = "Public"
  case meeting = "Meeting"
  case avChatRoom = "AVChatRoom"
  case bChatRoom = "BChatRoom"

  /// The type of that name, legacy names included, or nil.
  public init?(wireName: String) {
    let named = GroupType(rawValue: wireName) ?? GroupType.allCases.first { $0.legacyName == wireName }
    guard let named else { return nil }
    self = named
  }

  /// The name that older clients use; nil where there is none.
  public var legacyName: String? {
    switch self {
    case .work: "Private"
    case .meeting: "ChatRoom"
    case .public, .avChatRoom, .bChatRoom: nil
    }
  }

  /// Messages are kept and numbered by `seq`.
  public var storesMessages: Bool {
    switch self {
    case .work, .public, .meeting: true
    case .avChatRoom, .bChatRoom: false
    }
  }

  /// The store can tell what a node has missed of the group (`GroupStamp`).
  public var isStamped: Bool { storesMessages }

  /// Members of a new group may read messages from before joining.
  public var showsHistoryFromBeforeJoining: Bool { storesMessages && defaultHistoryVisibility == .all }

  /// The choice of visible messages in a new group.
  public var defaultHistoryVisibility: HistoryVisibility {
    switch self {
    case .work, .public: .joined
    case .meeting, .avChatRoom, .bChatRoom: .all
    }
  }

  /// Unread messages are counted.
  public var countsUnread: Bool {
    switch self {
    case .work, .public: true
    case .meeting, .avChatRoom, .bChatRoom: false
    }
  }

  /// Senders may ask who has read a message.
  public var hasReadReceipts: Bool { countsUnread }

  /// Members may send signals.
  public var hasSignals: Bool { self != .bChatRoom }

  /// getJoinedGroupList names the group.
  public var isListed: Bool { storesMessages }

  /// The number of members is bounded by `maxMemberNum`.
  public var limitsMembers: Bool { storesMessages }

  /// Users may be named members when the group is created.
  public var takesInitialMembers: Bool { storesMessages }

  /// Users who are not members may read the group's info and find it in a search.
  public var isVisibleToNonMembers: Bool { self != .work }

  /// Every signed-in user is a member without a record.
  public var everyoneIsMember: Bool { self == .bChatRoom }

  /// Members without a session are removed after a grace.
  public var removesAbsentMembers: Bool { self == .avChatRoom }

  /// getGroupMemberList names the owner, the admins and the newest of the others only.
  public var listsNewestMembers: Bool { self == .avChatRoom }

  /// Changes of mutes and roles are announced to all members, several in one event; those of name
  /// cards and customInfo to the one concerned and the operator. Other types announce all to all.
  public var mergesMemberInfo: Bool { self == .avChatRoom }

  /// A role outlives leaving, and is given to users who are no members.
  public var keepsRolesOfAbsent: Bool { self == .avChatRoom }

  /// The receive option of a member who has not chosen one.
  public var defaultReceiveOption: ReceiveOption {
    switch self {
    case .work, .public: .receive
    case .meeting, .avChatRoom, .bChatRoom: .receiveNotNotify
    }
  }
}

/// The choice of messages that a member of a group receives (Protocol.md, "Receive options").
public enum ReceiveOption: String, CaseIterable, Sendable {
  case receive = "Receive"
  case notReceive = "NotReceive"
  case receiveNotNotify = "ReceiveNotNotify"
  case receiveFromManagers = "ReceiveFromManagers"
  case notifyFromManagers = "NotifyFromManagers"

  /// The option by which messages are sent to the member's sessions. Who is notified of managers'
  /// messages alone receives all of them; a device without a session is another matter.
  public var delivered: ReceiveOption {
    switch self {
    case .receive, .notReceive, .receiveNotNotify, .receiveFromManagers: self
    case .notifyFromManagers: .receive
    }
  }
}
