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
  case searchGroups(SearchGroups)
  case transferGroupOwner(TransferGroupOwner)
  case muteGroup(MuteGroup)
  case setGroupReceiveMessageOpt(SetGroupReceiveMessageOpt)
  case initGroupAttributes(InitGroupAttributes)
  case setGroupAttributes(SetGroupAttributes)
  case deleteGroupAttributes(DeleteGroupAttributes)
  case getGroupAttributes(GetGroupAttributes)
  case getGroupMemberList(GetGroupMemberList)
  case getGroupMembersInfo(GetGroupMembersInfo)
  case getGroupOnlineMemberCount(GetGroupOnlineMemberCount)
  case setGroupMemberInfo(SetGroupMemberInfo)
  case muteGroupMember(MuteGroupMember)
  case getGroupMutedMembers(GetGroupMutedMembers)
  case inviteUserToGroup(InviteUserToGroup)
  case kickGroupMember(KickGroupMember)
  case setGroupMemberRole(SetGroupMemberRole)
  case getGroupMemberInviters(GetGroupMemberInviters)
  case getGroupMemberRoles(GetGroupMemberRoles)
  case getGroupApplicationList(GetGroupApplicationList)
  case acceptGroupApplication(AcceptGroupApplication)
  case refuseGroupApplication(RefuseGroupApplication)
  case setGroupApplicationRead(SetGroupApplicationRead)
  case sendGroupTextMessage(SendGroupTextMessage)
  case sendGroupCustomMessage(SendGroupCustomMessage)
  case getGroupHistoryMessageList(GetGroupHistoryMessageList)
  case syncGroups(SyncGroups)
  case revokeGroupMessage(RevokeGroupMessage)
  case markGroupMessageAsRead(MarkGroupMessageAsRead)
  case getGroupUnreadCount(GetGroupUnreadCount)
  case getSystemNotificationList(GetSystemNotificationList)
  case setSystemNotificationRead(SetSystemNotificationRead)
  case listGroups(ListGroups)
  case sendGroupSystemNotification(SendGroupSystemNotification)
  case recycleGroup(RecycleGroup)
  case listSessions(ListSessions)
  case kickUser(KickUser)
  case importUsers(ImportUsers)
  case importGroup(ImportGroup)
  case importGroupMembers(ImportGroupMembers)
  case importGroupMessages(ImportGroupMessages)
  case setUnreadCount(SetUnreadCount)
  case getStats(GetStats)

  /// The method's name.
  public var methodName: String { specification.name }

  /// What there is to say of the method.
  public var specification: MethodSpecification {
    switch self {
    case .login: Login.specification
    case .logout: Logout.specification
    case .ping: Ping.specification
    case .getServerInfo: GetServerInfo.specification
    case .discover: Discover.specification
    case .createGroup: CreateGroup.specification
    case .joinGroup: JoinGroup.specification
    case .quitGroup: QuitGroup.specification
    case .dismissGroup: DismissGroup.specification
    case .getJoinedGroupList: GetJoinedGroupList.specification
    case .getGroupsInfo: GetGroupsInfo.specification
    case .setGroupInfo: SetGroupInfo.specification
    case .searchGroups: SearchGroups.specification
    case .transferGroupOwner: TransferGroupOwner.specification
    case .muteGroup: MuteGroup.specification
    case .setGroupReceiveMessageOpt: SetGroupReceiveMessageOpt.specification
    case .initGroupAttributes: InitGroupAttributes.specification
    case .setGroupAttributes: SetGroupAttributes.specification
    case .deleteGroupAttributes: DeleteGroupAttributes.specification
    case .getGroupAttributes: GetGroupAttributes.specification
    case .getGroupMemberList: GetGroupMemberList.specification
    case .getGroupMembersInfo: GetGroupMembersInfo.specification
    case .getGroupOnlineMemberCount: GetGroupOnlineMemberCount.specification
    case .setGroupMemberInfo: SetGroupMemberInfo.specification
    case .muteGroupMember: MuteGroupMember.specification
    case .getGroupMutedMembers: GetGroupMutedMembers.specification
    case .inviteUserToGroup: InviteUserToGroup.specification
    case .kickGroupMember: KickGroupMember.specification
    case .setGroupMemberRole: SetGroupMemberRole.specification
    case .getGroupMemberInviters: GetGroupMemberInviters.specification
    case .getGroupMemberRoles: GetGroupMemberRoles.specification
    case .getGroupApplicationList: GetGroupApplicationList.specification
    case .acceptGroupApplication: AcceptGroupApplication.specification
    case .refuseGroupApplication: RefuseGroupApplication.specification
    case .setGroupApplicationRead: SetGroupApplicationRead.specification
    case .sendGroupTextMessage: SendGroupTextMessage.specification
    case .sendGroupCustomMessage: SendGroupCustomMessage.specification
    case .getGroupHistoryMessageList: GetGroupHistoryMessageList.specification
    case .syncGroups: SyncGroups.specification
    case .revokeGroupMessage: RevokeGroupMessage.specification
    case .markGroupMessageAsRead: MarkGroupMessageAsRead.specification
    case .getGroupUnreadCount: GetGroupUnreadCount.specification
    case .getSystemNotificationList: GetSystemNotificationList.specification
    case .setSystemNotificationRead: SetSystemNotificationRead.specification
    case .listGroups: ListGroups.specification
    case .sendGroupSystemNotification: SendGroupSystemNotification.specification
    case .recycleGroup: RecycleGroup.specification
    case .listSessions: ListSessions.specification
    case .kickUser: KickUser.specification
    case .importUsers: ImportUsers.specification
    case .importGroup: ImportGroup.specification
    case .importGroupMembers: ImportGroupMembers.specification
    case .importGroupMessages: ImportGroupMessages.specification
    case .setUnreadCount: SetUnreadCount.specification
    case .getStats: GetStats.specification
    }
  }
}
