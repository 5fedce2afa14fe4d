/// A request whose parameters have been read.
public enum Request: Sendable {
  case login(Login)
  case logout(Logout)
  case ping(Ping)
  case getServerInfo(GetServerInfo)
  case discover(Discover)
  case createGroup(CreateGroup)
  case joinGroup(JoinGroup)
  case quitGroup(QuitGroup)
  case dismissGroup(DismissGroup)
  case getJoinedGroupList(GetJoinedGroupList)
  case getGroupsInfo(GetGroupsInfo)
  case setGroupInfo(SetGroupInfo)
  case getGroupMemberList(GetGroupMemberList)
  case getGroupMembersInfo(GetGroupMembersInfo)
  case getGroupOnlineMemberCount(GetGroupOnlineMemberCount)
  case sendGroupTextMessage(SendGroupTextMessage)
  case sendGroupCustomMessage(SendGroupCustomMessage)
  case getGroupHistoryMessageList(GetGroupHistoryMessageList)
  case syncGroups(SyncGroups)

  /// The method's name.
  public var methodName: String { method.specification.name }

  private var method: any Method.Type {
    switch self {
    case .login: Login.self
    case .logout: Logout.self
    case .ping: Ping.self
    case .getServerInfo: GetServerInfo.self
    case .discover: Discover.self
    case .createGroup: CreateGroup.self
    case .joinGroup: JoinGroup.self
    case .quitGroup: QuitGroup.self
    case .dismissGroup: DismissGroup.self
    case .getJoinedGroupList: GetJoinedGroupList.self
    case .getGroupsInfo: GetGroupsInfo.self
    case .setGroupInfo: SetGroupInfo.self
    case .getGroupMemberList: GetGroupMemberList.self
    case .getGroupMembersInfo: GetGroupMembersInfo.self
    case .getGroupOnlineMemberCount: GetGroupOnlineMemberCount.self
    case .sendGroupTextMessage: SendGroupTextMessage.self
    case .sendGroupCustomMessage: SendGroupCustomMessage.self
    case .getGroupHistoryMessageList: GetGroupHistoryMessageList.self
    case .syncGroups: SyncGroups.self
    }
  }
}
