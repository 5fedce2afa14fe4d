import GroupModel

/// A request whose parameters have been read. A case is named after its method and carries the
/// method's parameters. The largest are indirect: every request is passed on in memory of one size.
public enum Request: Sendable {
  /// A method of one group: `groupID` is the first parameter of each.
  case group(GroupID, GroupRequest)

  case login(Login)
  case logout(Logout)
  case ping(Ping)
  case getServerInfo(GetServerInfo)
  case discover(Discover)

  indirect case createGroup(CreateGroup)
  case getJoinedGroupList(GetJoinedGroupList)
  case getGroupsInfo(GetGroupsInfo)
  case searchGroups(SearchGroups)

  case getGroupApplicationList(GetGroupApplicationList)
  case acceptGroupApplication(AcceptGroupApplication)
  case refuseGroupApplication(RefuseGroupApplication)
  case setGroupApplicationRead(SetGroupApplicationRead)

  case setSelfInfo(SetSelfInfo)
  case getUsersInfo(GetUsersInfo)
  case setSelfStatus(SetSelfStatus)
  case getUsersStatus(GetUsersStatus)
  case subscribeUsersStatus(SubscribeUsersStatus)
  case unsubscribeUsersStatus(UnsubscribeUsersStatus)

  indirect case reportMessage(ReportMessage)

  case syncGroups(SyncGroups)
  indirect case searchGroupMessages(SearchGroupMessages)
  case getGroupUnreadCount(GetGroupUnreadCount)
  case getSystemNotificationList(GetSystemNotificationList)
  case setSystemNotificationRead(SetSystemNotificationRead)

  case listGroups(ListGroups)
  case listSessions(ListSessions)
  case kickUser(KickUser)
  case setUserInfo(SetUserInfo)
  case importUsers(ImportUsers)
  indirect case importGroup(ImportGroup)
  case getStats(GetStats)
  case listWebhookFailures(ListWebhookFailures)
  case retryWebhooks(RetryWebhooks)
  case trace(BeginTrace)
  case getTrace(GetTrace)
  case endTrace(EndTrace)
  case listActiveGroups(ListActiveGroups)
  case listAdministratorActions(ListAdministratorActions)
  case blockUser(BlockUser)
  case unblockUser(UnblockUser)
  case getBlockedUsers(GetBlockedUsers)
  case revokeTokens(RevokeTokens)
  case listReports(ListReports)
  case closeReport(CloseReport)

  case deleteUser(DeleteUser)
  case getUserDeletion(GetUserDeletion)
  case exportUser(ExportUser)
}

/// A request that one group decides.
public enum GroupRequest: Sendable {
  case joinGroup(JoinGroup)
  case quitGroup(QuitGroup)
  case dismissGroup(DismissGroup)
  indirect case setGroupInfo(SetGroupInfo)
  case transferGroupOwner(TransferGroupOwner)
  case muteGroup(MuteGroup)
  case setGroupReceiveMessageOpt(SetGroupReceiveMessageOpt)

  case initGroupAttributes(InitGroupAttributes)
  case setGroupAttributes(SetGroupAttributes)
  case deleteGroupAttributes(DeleteGroupAttributes)
  case getGroupAttributes(GetGroupAttributes)

  case setGroupCounters(SetGroupCounters)
  case increaseGroupCounter(IncreaseGroupCounter)
  case decreaseGroupCounter(DecreaseGroupCounter)
  case getGroupCounters(GetGroupCounters)

  case getGroupMemberList(GetGroupMemberList)
  case getGroupMembersInfo(GetGroupMembersInfo)
  case getGroupOnlineMemberCount(GetGroupOnlineMemberCount)
  indirect case setGroupMemberInfo(SetGroupMemberInfo)
  case muteGroupMember(MuteGroupMember)
  case getGroupMutedMembers(GetGroupMutedMembers)
  case getGroupBannedMembers(GetGroupBannedMembers)
  case inviteUserToGroup(InviteUserToGroup)
  case kickGroupMember(KickGroupMember)
  case unbanGroupMember(UnbanGroupMember)
  case setGroupMemberRole(SetGroupMemberRole)
  case getGroupMemberInviters(GetGroupMemberInviters)
  case getGroupMemberRoles(GetGroupMemberRoles)

  case sendGroupTextMessage(SendGroupTextMessage)
  case sendGroupCustomMessage(SendGroupCustomMessage)
  case sendGroupSignal(SendGroupSignal)
  case getGroupHistoryMessageList(GetGroupHistoryMessageList)
  case getGroupMessages(GetGroupMessages)
  case getGroupMessageReplies(GetGroupMessageReplies)
  case revokeGroupMessage(RevokeGroupMessage)
  case modifyGroupMessage(ModifyGroupMessage)
  case addMessageReaction(AddMessageReaction)
  case removeMessageReaction(RemoveMessageReaction)
  case getMessageReactions(GetMessageReactions)
  case pinGroupMessage(PinGroupMessage)
  case getPinnedGroupMessageList(GetPinnedGroupMessageList)
  case markGroupMessageAsRead(MarkGroupMessageAsRead)
  case sendMessageReadReceipts(SendMessageReadReceipts)
  case getMessageReadReceipts(GetMessageReadReceipts)
  case getGroupMessageReadMemberList(GetGroupMessageReadMemberList)
  case setConversation(SetConversation)
  case clearGroupHistory(ClearGroupHistory)

  case sendGroupSystemNotification(SendGroupSystemNotification)
  case recycleGroup(RecycleGroup)
  case importGroupMembers(ImportGroupMembers)
  case importGroupMessages(ImportGroupMessages)
  case setUnreadCount(SetUnreadCount)
}

/// The methods by their names, in the order of Reference.md.
public enum MethodName: String, CaseIterable, Sendable {
  case login, logout, ping, getServerInfo, discover = "rpc.discover"
  case createGroup, joinGroup, quitGroup, dismissGroup, getJoinedGroupList, getGroupsInfo, setGroupInfo, searchGroups
  case transferGroupOwner, muteGroup, setGroupReceiveMessageOpt
  case initGroupAttributes, setGroupAttributes, deleteGroupAttributes, getGroupAttributes
  case setGroupCounters, increaseGroupCounter, decreaseGroupCounter, getGroupCounters
  case getGroupMemberList, getGroupMembersInfo, getGroupOnlineMemberCount, setGroupMemberInfo, muteGroupMember
  case getGroupMutedMembers, getGroupBannedMembers, inviteUserToGroup, kickGroupMember, unbanGroupMember, setGroupMemberRole
  case getGroupMemberInviters, getGroupMemberRoles
  case setSelfInfo, getUsersInfo, setSelfStatus, getUsersStatus, subscribeUsersStatus, unsubscribeUsersStatus
  case getGroupApplicationList, acceptGroupApplication, refuseGroupApplication, setGroupApplicationRead
  case sendGroupTextMessage, sendGroupCustomMessage, sendGroupSignal
  case getGroupHistoryMessageList, getGroupMessages, getGroupMessageReplies
  case syncGroups, searchGroupMessages
  case revokeGroupMessage, modifyGroupMessage, addMessageReaction, removeMessageReaction, getMessageReactions, pinGroupMessage
  case getPinnedGroupMessageList
  case reportMessage
  case markGroupMessageAsRead, getGroupUnreadCount, sendMessageReadReceipts, getMessageReadReceipts
  case getGroupMessageReadMemberList
  case setConversation, clearGroupHistory
  case getSystemNotificationList, setSystemNotificationRead
  case listGroups, sendGroupSystemNotification, recycleGroup, listSessions, kickUser, setUserInfo
  case importUsers, importGroup, importGroupMembers, importGroupMessages, setUnreadCount
  case getStats, listWebhookFailures, retryWebhooks, trace, getTrace, endTrace, listActiveGroups, listAdministratorActions
  case blockUser, unblockUser, getBlockedUsers, revokeTokens
  case listReports, closeReport
  case deleteUser, getUserDeletion, exportUser

  /// The method in a table.
  /// - Parameter number: its place there, from 0.
  func entry(_ number: Int, _ textLimits: TextLimits) -> MethodTable.Entry {
    switch self {
    case .login: .init(Request.login, number, textLimits)
    case .logout: .init(Request.logout, number, textLimits)
    case .ping: .init(Request.ping, number, textLimits)
    case .getServerInfo: .init(Request.getServerInfo, number, textLimits)
    case .discover: .init(Request.discover, number, textLimits)
    case .createGroup: .init(Request.createGroup, number, textLimits)
    case .joinGroup: .init(GroupRequest.joinGroup, number, textLimits)
    case .quitGroup: .init(GroupRequest.quitGroup, number, textLimits)
    case .dismissGroup: .init(GroupRequest.dismissGroup, number, textLimits)
    case .getJoinedGroupList: .init(Request.getJoinedGroupList, number, textLimits)
    case .getGroupsInfo: .init(Request.getGroupsInfo, number, textLimits)
    case .setGroupInfo: .init(GroupRequest.setGroupInfo, number, textLimits)
    case .searchGroups: .init(Request.searchGroups, number, textLimits)
    case .transferGroupOwner: .init(GroupRequest.transferGroupOwner, number, textLimits)
    case .muteGroup: .init(GroupRequest.muteGroup, number, textLimits)
    case .setGroupReceiveMessageOpt: .init(GroupRequest.setGroupReceiveMessageOpt, number, textLimits)
    case .initGroupAttributes: .init(GroupRequest.initGroupAttributes, number, textLimits)
    case .setGroupAttributes: .init(GroupRequest.setGroupAttributes, number, textLimits)
    case .deleteGroupAttributes: .init(GroupRequest.deleteGroupAttributes, number, textLimits)
    case .getGroupAttributes: .init(GroupRequest.getGroupAttributes, number, textLimits)
    case .setGroupCounters: .init(GroupRequest.setGroupCounters, number, textLimits)
    case .increaseGroupCounter: .init(GroupRequest.increaseGroupCounter, number, textLimits)
    case .decreaseGroupCounter: .init(GroupRequest.decreaseGroupCounter, number, textLimits)
    case .getGroupCounters: .init(GroupRequest.getGroupCounters, number, textLimits)
    case .getGroupMemberList: .init(GroupRequest.getGroupMemberList, number, textLimits)
    case .getGroupMembersInfo: .init(GroupRequest.getGroupMembersInfo, number, textLimits)
    case .getGroupOnlineMemberCount: .init(GroupRequest.getGroupOnlineMemberCount, number, textLimits)
    case .setGroupMemberInfo: .init(GroupRequest.setGroupMemberInfo, number, textLimits)
    case .muteGroupMember: .init(GroupRequest.muteGroupMember, number, textLimits)
    case .getGroupMutedMembers: .init(GroupRequest.getGroupMutedMembers, number, textLimits)
    case .getGroupBannedMembers: .init(GroupRequest.getGroupBannedMembers, number, textLimits)
    case .inviteUserToGroup: .init(GroupRequest.inviteUserToGroup, number, textLimits)
    case .kickGroupMember: .init(GroupRequest.kickGroupMember, number, textLimits)
    case .unbanGroupMember: .init(GroupRequest.unbanGroupMember, number, textLimits)
    case .setGroupMemberRole: .init(GroupRequest.setGroupMemberRole, number, textLimits)
    case .getGroupMemberInviters: .init(GroupRequest.getGroupMemberInviters, number, textLimits)
    case .getGroupMemberRoles: .init(GroupRequest.getGroupMemberRoles, number, textLimits)
    case .setSelfInfo: .init(Request.setSelfInfo, number, textLimits)
    case .getUsersInfo: .init(Request.getUsersInfo, number, textLimits)
    case .setSelfStatus: .init(Request.setSelfStatus, number, textLimits)
    case .getUsersStatus: .init(Request.getUsersStatus, number, textLimits)
    case .subscribeUsersStatus: .init(Request.subscribeUsersStatus, number, textLimits)
    case .unsubscribeUsersStatus: .init(Request.unsubscribeUsersStatus, number, textLimits)
    case .getGroupApplicationList: .init(Request.getGroupApplicationList, number, textLimits)
    case .acceptGroupApplication: .init(Request.acceptGroupApplication, number, textLimits)
    case .refuseGroupApplication: .init(Request.refuseGroupApplication, number, textLimits)
    case .setGroupApplicationRead: .init(Request.setGroupApplicationRead, number, textLimits)
    case .sendGroupTextMessage: .init(GroupRequest.sendGroupTextMessage, number, textLimits)
    case .sendGroupCustomMessage: .init(GroupRequest.sendGroupCustomMessage, number, textLimits)
    case .sendGroupSignal: .init(GroupRequest.sendGroupSignal, number, textLimits)
    case .getGroupHistoryMessageList: .init(GroupRequest.getGroupHistoryMessageList, number, textLimits)
    case .getGroupMessages: .init(GroupRequest.getGroupMessages, number, textLimits)
    case .getGroupMessageReplies: .init(GroupRequest.getGroupMessageReplies, number, textLimits)
    case .syncGroups: .init(Request.syncGroups, number, textLimits)
    case .searchGroupMessages: .init(Request.searchGroupMessages, number, textLimits)
    case .revokeGroupMessage: .init(GroupRequest.revokeGroupMessage, number, textLimits)
    case .modifyGroupMessage: .init(GroupRequest.modifyGroupMessage, number, textLimits)
    case .addMessageReaction: .init(GroupRequest.addMessageReaction, number, textLimits)
    case .removeMessageReaction: .init(GroupRequest.removeMessageReaction, number, textLimits)
    case .getMessageReactions: .init(GroupRequest.getMessageReactions, number, textLimits)
    case .pinGroupMessage: .init(GroupRequest.pinGroupMessage, number, textLimits)
    case .getPinnedGroupMessageList: .init(GroupRequest.getPinnedGroupMessageList, number, textLimits)
    case .reportMessage: .init(Request.reportMessage, number, textLimits)
    case .markGroupMessageAsRead: .init(GroupRequest.markGroupMessageAsRead, number, textLimits)
    case .getGroupUnreadCount: .init(Request.getGroupUnreadCount, number, textLimits)
    case .sendMessageReadReceipts: .init(GroupRequest.sendMessageReadReceipts, number, textLimits)
    case .getMessageReadReceipts: .init(GroupRequest.getMessageReadReceipts, number, textLimits)
    case .getGroupMessageReadMemberList: .init(GroupRequest.getGroupMessageReadMemberList, number, textLimits)
    case .setConversation: .init(GroupRequest.setConversation, number, textLimits)
    case .clearGroupHistory: .init(GroupRequest.clearGroupHistory, number, textLimits)
    case .getSystemNotificationList: .init(Request.getSystemNotificationList, number, textLimits)
    case .setSystemNotificationRead: .init(Request.setSystemNotificationRead, number, textLimits)
    case .listGroups: .init(Request.listGroups, number, textLimits)
    case .sendGroupSystemNotification: .init(GroupRequest.sendGroupSystemNotification, number, textLimits)
    case .recycleGroup: .init(GroupRequest.recycleGroup, number, textLimits)
    case .listSessions: .init(Request.listSessions, number, textLimits)
    case .kickUser: .init(Request.kickUser, number, textLimits)
    case .setUserInfo: .init(Request.setUserInfo, number, textLimits)
    case .importUsers: .init(Request.importUsers, number, textLimits)
    case .importGroup: .init(Request.importGroup, number, textLimits)
    case .importGroupMembers: .init(GroupRequest.importGroupMembers, number, textLimits)
    case .importGroupMessages: .init(GroupRequest.importGroupMessages, number, textLimits)
    case .setUnreadCount: .init(GroupRequest.setUnreadCount, number, textLimits)
    case .getStats: .init(Request.getStats, number, textLimits)
    case .listWebhookFailures: .init(Request.listWebhookFailures, number, textLimits)
    case .retryWebhooks: .init(Request.retryWebhooks, number, textLimits)
    case .trace: .init(Request.trace, number, textLimits)
    case .getTrace: .init(Request.getTrace, number, textLimits)
    case .endTrace: .init(Request.endTrace, number, textLimits)
    case .listActiveGroups: .init(Request.listActiveGroups, number, textLimits)
    case .listAdministratorActions: .init(Request.listAdministratorActions, number, textLimits)
    case .blockUser: .init(Request.blockUser, number, textLimits)
    case .unblockUser: .init(Request.unblockUser, number, textLimits)
    case .getBlockedUsers: .init(Request.getBlockedUsers, number, textLimits)
    case .revokeTokens: .init(Request.revokeTokens, number, textLimits)
    case .listReports: .init(Request.listReports, number, textLimits)
    case .closeReport: .init(Request.closeReport, number, textLimits)
    case .deleteUser: .init(Request.deleteUser, number, textLimits)
    case .getUserDeletion: .init(Request.getUserDeletion, number, textLimits)
    case .exportUser: .init(Request.exportUser, number, textLimits)
    }
  }
}

/// Reads a fact from the parameters of a request, whatever its method.
protocol MethodVisitor {
  associatedtype Fact

  func visit(_ method: some Method) -> Fact
}

extension Request {
  /// Inlined, and the traits with it: a fact costs a jump, and copies nothing.
  @inline(__always)
  func accept<Visitor: MethodVisitor>(_ visitor: Visitor) -> Visitor.Fact {
    switch self {
    case .group(_, let request): request.accept(visitor)
    case .login(let method): visitor.visit(method)
    case .logout(let method): visitor.visit(method)
    case .ping(let method): visitor.visit(method)
    case .getServerInfo(let method): visitor.visit(method)
    case .discover(let method): visitor.visit(method)
    case .createGroup(let method): visitor.visit(method)
    case .getJoinedGroupList(let method): visitor.visit(method)
    case .getGroupsInfo(let method): visitor.visit(method)
    case .searchGroups(let method): visitor.visit(method)
    case .getGroupApplicationList(let method): visitor.visit(method)
    case .acceptGroupApplication(let method): visitor.visit(method)
    case .refuseGroupApplication(let method): visitor.visit(method)
    case .setGroupApplicationRead(let method): visitor.visit(method)
    case .setSelfInfo(let method): visitor.visit(method)
    case .getUsersInfo(let method): visitor.visit(method)
    case .reportMessage(let method): visitor.visit(method)
    case .setSelfStatus(let method): visitor.visit(method)
    case .getUsersStatus(let method): visitor.visit(method)
    case .subscribeUsersStatus(let method): visitor.visit(method)
    case .unsubscribeUsersStatus(let method): visitor.visit(method)
    case .syncGroups(let method): visitor.visit(method)
    case .searchGroupMessages(let method): visitor.visit(method)
    case .getGroupUnreadCount(let method): visitor.visit(method)
    case .getSystemNotificationList(let method): visitor.visit(method)
    case .setSystemNotificationRead(let method): visitor.visit(method)
    case .listGroups(let method): visitor.visit(method)
    case .listSessions(let method): visitor.visit(method)
    case .kickUser(let method): visitor.visit(method)
    case .setUserInfo(let method): visitor.visit(method)
    case .importUsers(let method): visitor.visit(method)
    case .importGroup(let method): visitor.visit(method)
    case .getStats(let method): visitor.visit(method)
    case .listWebhookFailures(let method): visitor.visit(method)
    case .retryWebhooks(let method): visitor.visit(method)
    case .trace(let method): visitor.visit(method)
    case .getTrace(let method): visitor.visit(method)
    case .endTrace(let method): visitor.visit(method)
    case .listActiveGroups(let method): visitor.visit(method)
    case .listAdministratorActions(let method): visitor.visit(method)
    case .blockUser(let method): visitor.visit(method)
    case .unblockUser(let method): visitor.visit(method)
    case .getBlockedUsers(let method): visitor.visit(method)
    case .revokeTokens(let method): visitor.visit(method)
    case .listReports(let method): visitor.visit(method)
    case .closeReport(let method): visitor.visit(method)
    case .deleteUser(let method): visitor.visit(method)
    case .getUserDeletion(let method): visitor.visit(method)
    case .exportUser(let method): visitor.visit(method)
    }
  }
}

extension GroupRequest {
  @inline(__always)
  func accept<Visitor: MethodVisitor>(_ visitor: Visitor) -> Visitor.Fact {
    switch self {
    case .joinGroup(let method): visitor.visit(method)
    case .quitGroup(let method): visitor.visit(method)
    case .dismissGroup(let method): visitor.visit(method)
    case .setGroupInfo(let method): visitor.visit(method)
    case .transferGroupOwner(let method): visitor.visit(method)
    case .muteGroup(let method): visitor.visit(method)
    case .setGroupReceiveMessageOpt(let method): visitor.visit(method)
    case .initGroupAttributes(let method): visitor.visit(method)
    case .setGroupAttributes(let method): visitor.visit(method)
    case .deleteGroupAttributes(let method): visitor.visit(method)
    case .getGroupAttributes(let method): visitor.visit(method)
    case .setGroupCounters(let method): visitor.visit(method)
    case .increaseGroupCounter(let method): visitor.visit(method)
    case .decreaseGroupCounter(let method): visitor.visit(method)
    case .getGroupCounters(let method): visitor.visit(method)
    case .getGroupMemberList(let method): visitor.visit(method)
    case .getGroupMembersInfo(let method): visitor.visit(method)
    case .getGroupOnlineMemberCount(let method): visitor.visit(method)
    case .setGroupMemberInfo(let method): visitor.visit(method)
    case .muteGroupMember(let method): visitor.visit(method)
    case .getGroupMutedMembers(let method): visitor.visit(method)
    case .getGroupBannedMembers(let method): visitor.visit(method)
    case .inviteUserToGroup(let method): visitor.visit(method)
    case .kickGroupMember(let method): visitor.visit(method)
    case .unbanGroupMember(let method): visitor.visit(method)
    case .setGroupMemberRole(let method): visitor.visit(method)
    case .getGroupMemberInviters(let method): visitor.visit(method)
    case .getGroupMemberRoles(let method): visitor.visit(method)
    case .sendGroupTextMessage(let method): visitor.visit(method)
    case .sendGroupCustomMessage(let method): visitor.visit(method)
    case .sendGroupSignal(let method): visitor.visit(method)
    case .getGroupHistoryMessageList(let method): visitor.visit(method)
    case .getGroupMessages(let method): visitor.visit(method)
    case .getGroupMessageReplies(let method): visitor.visit(method)
    case .revokeGroupMessage(let method): visitor.visit(method)
    case .modifyGroupMessage(let method): visitor.visit(method)
    case .addMessageReaction(let method): visitor.visit(method)
    case .removeMessageReaction(let method): visitor.visit(method)
    case .getMessageReactions(let method): visitor.visit(method)
    case .pinGroupMessage(let method): visitor.visit(method)
    case .getPinnedGroupMessageList(let method): visitor.visit(method)
    case .markGroupMessageAsRead(let method): visitor.visit(method)
    case .sendMessageReadReceipts(let method): visitor.visit(method)
    case .getMessageReadReceipts(let method): visitor.visit(method)
    case .getGroupMessageReadMemberList(let method): visitor.visit(method)
    case .setConversation(let method): visitor.visit(method)
    case .clearGroupHistory(let method): visitor.visit(method)
    case .sendGroupSystemNotification(let method): visitor.visit(method)
    case .recycleGroup(let method): visitor.visit(method)
    case .importGroupMembers(let method): visitor.visit(method)
    case .importGroupMessages(let method): visitor.visit(method)
    case .setUnreadCount(let method): visitor.visit(method)
    }
  }
}
