import GroupModel
import WireProtocol

/// A request to a group. The largest cases are indirect, because every request is passed on in
/// memory of one size.
public enum GroupRequest: Sendable {
  indirect case create(CreateGroup, owner: UserID, UserFacts)
  indirect case importGroup(ImportGroup, owner: UserID, UserFacts)
  case join(JoinGroup, UserFacts)
  case quit
  case dismiss
  case recycle
  /// The row of getGroupsInfo.
  case info
  /// The row of searchGroups; nil where the caller may not find the group.
  case foundInfo
  /// The row of getJoinedGroupList; nil where nothing changed since the instant, or the caller is no member.
  case joinedInfo(updatedSince: Instant)
  indirect case setInfo(SetGroupInfo)
  case muteGroup(MuteGroup)
  case transfer(TransferGroupOwner)
  case memberList(GetGroupMemberList)
  case membersInfo([UserID])
  case mutedMembers(GetGroupMutedMembers)
  case inviters([UserID])
  case roles([UserID])
  case onlineMemberCount
  case invite(InviteUserToGroup, UserFacts)
  /// - Parameter application: as the store knows it; the group may know better.
  indirect case decide(GroupApplication, agrees: Bool, reason: String, UserFacts)
  case kick(KickGroupMember)
  case setRole(SetGroupMemberRole, UserFacts)
  indirect case setMemberInfo(SetGroupMemberInfo, UserFacts)
  case muteMember(MuteGroupMember)
  case setReceiveOption(ReceiveOption)
  case initAttributes([GroupAttributes.Entry])
  case setAttributes([GroupAttributes.Entry])
  case deleteAttributes([String]?)
  case attributes([String]?)
  case send(Message.Content, MessageOptions)
  case history(GetGroupHistoryMessageList)
  /// - Parameter bytes: how much room the reply has left for messages.
  case sync(epoch: String, seq: Int64, bytes: Int)
  case revoke(seq: Int64)
  /// - Parameter message: as the store keeps it; nil = there is none.
  indirect case revokeFound(seq: Int64, message: Message?)
  case markRead(seq: Int64?)
  /// The caller's number of unread messages.
  case unreadCount
  case customData(SendGroupSystemNotification)
  /// - Parameter firstSeqs: the first message since each joined, where there is one.
  case importMembers(ImportGroupMembers, firstSeqs: [UserID: Int64], UserFacts)
  case importMessages(ImportGroupMessages)
  case setUnreadCount(SetUnreadCount)
}

/// What only stores know of the users that a request concerns.
public struct UserFacts: Sendable, Equatable {
  /// Those whom nobody has ever seen, where that matters (`users.requireKnown`).
  public var unknown: Set<UserID>
  /// Those who are in as many groups as one may be (`limits.groupsPerUser`).
  public var atGroupLimit: Set<UserID>
  /// There are as many AVChatRooms as there may be (`limits.avChatRooms`, `limits.avChatRoomsPerUser`).
  public var isAtRoomLimit: Bool

  /// Facts; nothing speaks against anybody by default.
  public init(unknown: Set<UserID> = [], atGroupLimit: Set<UserID> = [], isAtRoomLimit: Bool = false) {
    self.unknown = unknown
    self.atGroupLimit = atGroupLimit
    self.isAtRoomLimit = isAtRoomLimit
  }

  /// Nothing speaks against anybody.
  public static let none = UserFacts()
}
