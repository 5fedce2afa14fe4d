import GroupModel

/// The result of a request. Rows of results are among them: a group answers a row,
/// and the gateway puts rows of several groups together.
public enum ReplyValue: Sendable {
  /// `{}`
  case empty

  indirect case session(Login.Result)
  case ping(Ping.Result)
  case serverInfo(Encoded<GetServerInfo.Result>)
  /// A result that is encoded already: the OpenRPC document, or another node's answer.
  case encoded([UInt8])

  case createdGroup(CreateGroup.Result)
  case joinedGroup(JoinGroup.Result)
  case joinedGroups(GetJoinedGroupList.Result)
  case groupsInfo(GetGroupsInfo.Result)
  case foundGroups(SearchGroups.Result)
  case groupMute(MuteGroup.Result)
  case attributes(GetGroupAttributes.Result)
  case counters(GetGroupCounters.Result)
  case counterValue(CounterValue)

  case memberList(GetGroupMemberList.Result)
  case memberPage(MemberPage)
  case membersInfo(GetGroupMembersInfo.Result)
  case onlineMemberCount(GetGroupOnlineMemberCount.Result)
  case inviters(GetGroupMemberInviters.Result)
  case roles(GetGroupMemberRoles.Result)
  case memberMute(MuteGroupMember.Result)
  case bannedMembers(GetGroupBannedMembers.Result)
  case usersInfo(GetUsersInfo.Result)
  case usersStatus(GetUsersStatus.Result)
  case memberResults(MemberResults)
  case applications(GetGroupApplicationList.Result)

  case receipt(MessageReceipt)
  case history(GetGroupHistoryMessageList.Result)
  case sync(SyncGroups.Result)
  case foundMessages(SearchGroupMessages.Result)
  case modified(ModifyGroupMessage.Result)
  case reactions(GetMessageReactions.Result)
  case pinned(GetPinnedGroupMessageList.Result)
  case messages(GetGroupMessages.Result)
  case replies(GetGroupMessageReplies.Result)
  case unreadCounts(GetGroupUnreadCount.Result)
  case notifications(GetSystemNotificationList.Result)
  case readReceipts(GetMessageReadReceipts.Result)
  case clearedHistory(ClearGroupHistory.Result)
  case reported(ReportMessage.Result)

  case groups(ListGroups.Result)
  case sessions(ListSessions.Result)
  case kicked(KickUser.Result)
  indirect case stats(GetStats.Result)
  case importedGroup(ImportGroup.Result)
  case importedMessages(ImportGroupMessages.Result)
  case webhookFailures(ListWebhookFailures.Result)
  case retriedWebhooks(RetryWebhooks.Result)
  case trace(BeginTrace.Result)
  case traceEntries(GetTrace.Result)
  case activeGroups(ListActiveGroups.Result)
  case administratorActions(ListAdministratorActions.Result)
  case blockedUser(BlockUser.Result)
  case blockedUsers(GetBlockedUsers.Result)
  case reports(ListReports.Result)
  case userDeletion(GetUserDeletion.Result)
  case personalRows(ExportUser.Result)

  /// A group for one reader; nil = the reader gets no row.
  indirect case groupInfo(GroupInfo?)
  case unreadCount(Int)
  /// The message that an edit would change, which the application is asked about.
  indirect case message(MessageInfo)
  indirect case syncRow(SyncGroups.Row)
}

extension ReplyValue: WireEncodable {
  public func encode(into writer: inout JSONWriter) {
    switch self {
    case .receipt(let receipt): writer.value(receipt)
    case .empty: writer.raw("{}")
    case .session(let result): writer.value(result)
    case .ping(let result): writer.value(result)
    case .serverInfo(let result): writer.value(result)
    case .encoded(let text): writer.raw(text)
    case .createdGroup(let result): writer.value(result)
    case .joinedGroup(let result): writer.value(result)
    case .joinedGroups(let result): writer.value(result)
    case .groupsInfo(let result): writer.value(result)
    case .foundGroups(let result): writer.value(result)
    case .groupMute(let result): writer.value(result)
    case .attributes(let result): writer.value(result)
    case .counters(let result): writer.value(result)
    case .counterValue(let result): writer.value(result)
    case .memberList(let result): writer.value(result)
    case .memberPage(let result): writer.value(result)
    case .membersInfo(let result): writer.value(result)
    case .onlineMemberCount(let result): writer.value(result)
    case .inviters(let result): writer.value(result)
    case .roles(let result): writer.value(result)
    case .memberMute(let result): writer.value(result)
    case .bannedMembers(let result): writer.value(result)
    case .usersInfo(let result): writer.value(result)
    case .usersStatus(let result): writer.value(result)
    case .memberResults(let result): writer.value(result)
    case .applications(let result): writer.value(result)
    case .history(let result): writer.value(result)
    case .sync(let result): writer.value(result)
    case .foundMessages(let result): writer.value(result)
    case .modified(let result): writer.value(result)
    case .reactions(let result): writer.value(result)
    case .pinned(let result): writer.value(result)
    case .messages(let result): writer.value(result)
    case .replies(let result): writer.value(result)
    case .unreadCounts(let result): writer.value(result)
    case .notifications(let result): writer.value(result)
    case .readReceipts(let result): writer.value(result)
    case .clearedHistory(let result): writer.value(result)
    case .reported(let result): writer.value(result)
    case .groups(let result): writer.value(result)
    case .sessions(let result): writer.value(result)
    case .kicked(let result): writer.value(result)
    case .stats(let result): writer.value(result)
    case .importedGroup(let result): writer.value(result)
    case .importedMessages(let result): writer.value(result)
    case .webhookFailures(let result): writer.value(result)
    case .retriedWebhooks(let result): writer.value(result)
    case .trace(let result): writer.value(result)
    case .traceEntries(let result): writer.value(result)
    case .activeGroups(let result): writer.value(result)
    case .administratorActions(let result): writer.value(result)
    case .blockedUser(let result): writer.value(result)
    case .blockedUsers(let result): writer.value(result)
    case .reports(let result): writer.value(result)
    case .userDeletion(let result): writer.value(result)
    case .personalRows(let result): writer.value(result)
    case .groupInfo(let info): if let info { writer.value(info) } else { writer.null() }
    case .unreadCount(let count): writer.value(count)
    case .message(let info): writer.value(info)
    case .syncRow(let row): writer.value(row)
    }
  }

  /// The result as JSON.
  public var text: [UInt8] { JSONWriter.text(capacity: capacity) { $0.value(self) } }

  /// How many bytes the text has, about: room that is too small costs a copy.
  var capacity: Int {
    switch self {
    case .receipt: 128
    case .serverInfo(let result): result.text.count
    case .encoded(let text): text.count
    case .createdGroup(let result): 192 + result.memberList.count * 64
    case .joinedGroups(let result): 128 + result.groupList.byteCount() + result.leftGroupIDList.count * 32
    case .groupsInfo(let result): 64 + result.resultList.count * 768
    case .foundGroups(let result): 128 + result.groupList.byteCount()
    case .attributes(let result): 64 + result.attributes.byteCount + (result.holders?.byteCount ?? 0)
    case .counters(let result): 64 + result.counters.byteCount
    case .counterValue, .clearedHistory: 64
    case .memberList(let result): 128 + result.memberList.count * 192 + (result.departures?.users.count ?? 0) * 24
    case .memberPage(let result): 128 + result.memberList.count * 192
    case .membersInfo(let result): 128 + result.memberList.count * 192
    case .inviters(let result): 64 + result.inviterList.count * 80
    case .roles(let result): 64 + result.roleList.count * 80
    case .memberMute(let result): 128 + (result.memberList?.count ?? 0) * 64
    case .bannedMembers(let result): 64 + result.memberList.count * 128
    case .usersInfo(let result): 64 + result.userList.count * 256
    case .usersStatus(let result): 64 + result.userList.count * 192
    case .memberResults(let result): 64 + result.memberList.count * 64
    case .applications(let result): 128 + result.applicationList.count * 384
    case .history(let result): 64 + result.messageList.byteCount()
    case .sync(let result): 64 + result.groups.byteCount()
    case .foundMessages(let result): 64 + result.messageList.byteCount()
    case .reactions(let result): result.resultList.reduce(64) { $0 + 32 + $1.reactions.count * 96 }
    case .pinned(let result): 64 + result.messageList.byteCount()
    case .messages(let result): 64 + result.messageList.byteCount()
    case .replies(let result): 128 + result.messageList.byteCount()
    case .unreadCounts(let result): 64 + result.groups.count * 96
    case .notifications(let result): 128 + result.notificationList.count * 256
    case .readReceipts(let result): 64 + result.receiptList.count * 64
    case .groups(let result): 128 + result.groupList.byteCount()
    case .sessions(let result): 64 + result.sessionList.count * 192
    case .importedMessages(let result): 64 + result.resultList.count * 32
    case .webhookFailures(let result): result.failureList.reduce(128) { $0 + $1.data.text.count + 256 }
    case .traceEntries(let result): 128 + result.entryList.count * 192
    case .activeGroups(let result): 64 + result.groupList.count * 128
    case .administratorActions(let result):
      result.actionList.reduce(64) { $0 + 192 + ($1.userIDList?.count ?? 0) * 40 + ($1.reason?.utf8.count ?? 0) }
    case .blockedUsers(let result): result.userList.reduce(64) { $0 + 112 + $1.reason.utf8.count }
    case .reports(let result): result.reportList.reduce(64) { $0 + $1.byteCount }
    case .personalRows(let result): result.rows.reduce(64) { $0 + $1.byteCount + 1 }
    case .userDeletion: 64
    case .groupInfo: 768
    case .message(let info): 512 + info.message.byteCount
    case .syncRow(let row): row.capacity
    case .empty, .session, .ping, .reported, .joinedGroup, .groupMute, .onlineMemberCount, .kicked, .stats, .importedGroup,
      .unreadCount, .retriedWebhooks, .modified, .trace, .blockedUser:
      256
    }
  }
}

extension ReplyValue {
  /// The group that the request has made, whose groupID the server may have chosen.
  public var newGroup: GroupID? { made.group }

  /// The users whom the request has made members.
  public var newMembers: [UserID] { made.members.filter { $0.result == .success }.map(\.userID) }

  private var made: (group: GroupID?, members: [MemberResult]) {
    switch self {
    case .createdGroup(let result): (result.groupID, result.memberList)
    case .importedGroup(let result): (result.groupID, [])
    case .memberResults(let result): (nil, result.memberList)
    case .empty, .session, .ping, .serverInfo, .encoded, .joinedGroup, .joinedGroups, .groupsInfo, .foundGroups, .groupMute,
      .attributes, .counters, .counterValue, .memberList, .memberPage, .membersInfo, .onlineMemberCount, .inviters, .roles,
      .memberMute, .bannedMembers, .usersInfo, .usersStatus, .applications, .receipt, .history, .sync, .foundMessages,
      .modified, .reactions, .pinned, .messages, .replies, .unreadCounts, .notifications, .readReceipts, .clearedHistory,
      .reported, .groups, .sessions, .kicked, .stats, .importedMessages, .webhookFailures, .retriedWebhooks, .trace,
      .traceEntries, .activeGroups, .administratorActions, .blockedUser, .blockedUsers, .reports, .userDeletion,
      .personalRows, .groupInfo, .unreadCount, .message, .syncRow:
      (nil, [])
    }
  }
}
