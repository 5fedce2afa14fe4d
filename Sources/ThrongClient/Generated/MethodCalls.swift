// swift-format-ignore-file
// Generated from the server's declarations: Scripts/generate rewrites it.

/// The methods of the server; each throws a ThrongError or a ClientError.
extension ThrongClient {
  /// Answers with the server's clock. See ``Methods/Ping``.
  @discardableResult
  public func ping() async throws -> Methods.Ping.Result {
    try await call(Methods.Ping())
  }

  /// Tells the server's name, version, limits, and what each group type allows. See
  /// ``Methods/GetServerInfo``.
  @discardableResult
  public func getServerInfo() async throws -> Methods.GetServerInfo.Result {
    try await call(Methods.GetServerInfo())
  }

  /// Answers the OpenRPC document of this server. See ``Methods/RPCDiscover``.
  @discardableResult
  public func rpcDiscover() async throws -> Methods.RPCDiscover.Result {
    try await call(Methods.RPCDiscover())
  }

  /// Makes a group that the caller owns, or the user whom the application names as ownerUserID. See
  /// ``Methods/CreateGroup``.
  @discardableResult
  public func createGroup(groupType: GroupType, groupName: String, groupID: String? = nil, introduction: String? = nil, notification: String? = nil, faceURL: String? = nil, maxMemberNum: Int? = nil, customInfo: [String: String?]? = nil, serverCustomInfo: String? = nil, joinMode: JoinMode? = nil, inviteMode: InviteMode? = nil, beInviteMode: BeInviteMode? = nil, updateInfoMode: UpdateMode? = nil, updateCustomMode: UpdateMode? = nil, ownerQuitMode: OwnerQuitMode? = nil, memberChangeNotification: Bool? = nil, isSearchable: Bool? = nil, isMemberVisible: Bool? = nil, historyVisibility: HistoryVisibility? = nil, slowMode: Int? = nil, attributeMode: AttributeMode? = nil, memberList: [Methods.CreateGroup.MemberRow]? = nil, inviteMessage: String? = nil, ownerUserID: String? = nil) async throws -> Methods.CreateGroup.Result {
    try await call(Methods.CreateGroup(groupType: groupType, groupName: groupName, groupID: groupID, introduction: introduction, notification: notification, faceURL: faceURL, maxMemberNum: maxMemberNum, customInfo: customInfo, serverCustomInfo: serverCustomInfo, joinMode: joinMode, inviteMode: inviteMode, beInviteMode: beInviteMode, updateInfoMode: updateInfoMode, updateCustomMode: updateCustomMode, ownerQuitMode: ownerQuitMode, memberChangeNotification: memberChangeNotification, isSearchable: isSearchable, isMemberVisible: isMemberVisible, historyVisibility: historyVisibility, slowMode: slowMode, attributeMode: attributeMode, memberList: memberList, inviteMessage: inviteMessage, ownerUserID: ownerUserID))
  }

  /// Joins a group, or asks its managers to be let in where joinMode is Auth. See
  /// ``Methods/JoinGroup``.
  @discardableResult
  public func joinGroup(groupID: String, message: String? = nil) async throws -> Methods.JoinGroup.Result {
    try await call(Methods.JoinGroup(groupID: groupID, message: message))
  }

  /// Leaves a group. See ``Methods/QuitGroup``.
  public func quitGroup(groupID: String) async throws {
    _ = try await call(Methods.QuitGroup(groupID: groupID))
  }

  /// Disbands a group. See ``Methods/DismissGroup``.
  public func dismissGroup(groupID: String) async throws {
    _ = try await call(Methods.DismissGroup(groupID: groupID))
  }

  /// Lists the groups that the caller is a member of. See ``Methods/GetJoinedGroupList``.
  @discardableResult
  public func getJoinedGroupList(groupType: GroupType? = nil, updatedSince: Int? = nil, count: Int? = nil, nextSeq: Int? = nil) async throws -> Methods.GetJoinedGroupList.Result {
    try await call(Methods.GetJoinedGroupList(groupType: groupType, updatedSince: updatedSince, count: count, nextSeq: nextSeq))
  }

  /// Tells what the caller may know of up to 50 groups. See ``Methods/GetGroupsInfo``.
  @discardableResult
  public func getGroupsInfo(groupIDList: [String]) async throws -> Methods.GetGroupsInfo.Result {
    try await call(Methods.GetGroupsInfo(groupIDList: groupIDList))
  }

  /// Changes a group's info, all of what is given or nothing. See ``Methods/SetGroupInfo``.
  public func setGroupInfo(groupID: String, groupName: String? = nil, introduction: String? = nil, notification: String? = nil, faceURL: String? = nil, maxMemberNum: Int? = nil, customInfo: [String: String?]? = nil, serverCustomInfo: String? = nil, joinMode: JoinMode? = nil, inviteMode: InviteMode? = nil, beInviteMode: BeInviteMode? = nil, updateInfoMode: UpdateMode? = nil, updateCustomMode: UpdateMode? = nil, ownerQuitMode: OwnerQuitMode? = nil, memberChangeNotification: Bool? = nil, isSearchable: Bool? = nil, isMemberVisible: Bool? = nil, historyVisibility: HistoryVisibility? = nil, slowMode: Int? = nil, attributeMode: AttributeMode? = nil, allMuted: Bool? = nil) async throws {
    _ = try await call(Methods.SetGroupInfo(groupID: groupID, groupName: groupName, introduction: introduction, notification: notification, faceURL: faceURL, maxMemberNum: maxMemberNum, customInfo: customInfo, serverCustomInfo: serverCustomInfo, joinMode: joinMode, inviteMode: inviteMode, beInviteMode: beInviteMode, updateInfoMode: updateInfoMode, updateCustomMode: updateCustomMode, ownerQuitMode: ownerQuitMode, memberChangeNotification: memberChangeNotification, isSearchable: isSearchable, isMemberVisible: isMemberVisible, historyVisibility: historyVisibility, slowMode: slowMode, attributeMode: attributeMode, allMuted: allMuted))
  }

  /// Finds groups whose texts hold any of up to 5 keywords: joined ones, and others that are
  /// searchable. See ``Methods/SearchGroups``.
  @discardableResult
  public func searchGroups(keywordList: [String], matchFields: [SearchField]? = nil, ignoreCase: Bool? = nil, joinedOnly: Bool? = nil, count: Int? = nil, nextSeq: Int? = nil) async throws -> Methods.SearchGroups.Result {
    try await call(Methods.SearchGroups(keywordList: keywordList, matchFields: matchFields, ignoreCase: ignoreCase, joinedOnly: joinedOnly, count: count, nextSeq: nextSeq))
  }

  /// Makes another member the owner; the old one becomes Member, or leaves. See
  /// ``Methods/TransferGroupOwner``.
  public func transferGroupOwner(groupID: String, userID: String, quit: Bool? = nil) async throws {
    _ = try await call(Methods.TransferGroupOwner(groupID: groupID, userID: userID, quit: quit))
  }

  /// Silences a group or some of its roles, for a time or without end; mode None lets all speak.
  /// See ``Methods/MuteGroup``.
  @discardableResult
  public func muteGroup(groupID: String, mode: MuteMode, roles: [String]? = nil, duration: Int? = nil) async throws -> Methods.MuteGroup.Result {
    try await call(Methods.MuteGroup(groupID: groupID, mode: mode, roles: roles, duration: duration))
  }

  /// Chooses which messages of a group the caller receives. See
  /// ``Methods/SetGroupReceiveMessageOpt``.
  public func setGroupReceiveMessageOpt(groupID: String, opt: ReceiveOption) async throws {
    _ = try await call(Methods.SetGroupReceiveMessageOpt(groupID: groupID, opt: opt))
  }

  /// Replaces all attributes of a group. See ``Methods/InitGroupAttributes``.
  public func initGroupAttributes(groupID: String, attributes: [String: String]) async throws {
    _ = try await call(Methods.InitGroupAttributes(groupID: groupID, attributes: attributes))
  }

  /// Sets some attributes of a group and leaves the others. See ``Methods/SetGroupAttributes``.
  public func setGroupAttributes(groupID: String, attributes: [String: String], expect: [String: String?]? = nil, isDeleteAfterHolderLeft: Bool? = nil, isTakeOver: Bool? = nil) async throws {
    _ = try await call(Methods.SetGroupAttributes(groupID: groupID, attributes: attributes, expect: expect, isDeleteAfterHolderLeft: isDeleteAfterHolderLeft, isTakeOver: isTakeOver))
  }

  /// Removes attributes of a group; one unknown key, and none is removed. See
  /// ``Methods/DeleteGroupAttributes``.
  public func deleteGroupAttributes(groupID: String, keys: [String]? = nil) async throws {
    _ = try await call(Methods.DeleteGroupAttributes(groupID: groupID, keys: keys))
  }

  /// Reads attributes of a group; keys that are not there are left out. See
  /// ``Methods/GetGroupAttributes``.
  @discardableResult
  public func getGroupAttributes(groupID: String, keys: [String]? = nil, withHolders: Bool? = nil) async throws -> Methods.GetGroupAttributes.Result {
    try await call(Methods.GetGroupAttributes(groupID: groupID, keys: keys, withHolders: withHolders))
  }

  /// Sets counters of a group, and removes those whose value is null; the others stay. See
  /// ``Methods/SetGroupCounters``.
  public func setGroupCounters(groupID: String, counters: [String: Int?]) async throws {
    _ = try await call(Methods.SetGroupCounters(groupID: groupID, counters: counters))
  }

  /// Raises a counter of a group, which starts at 0 where it is not there. See
  /// ``Methods/IncreaseGroupCounter``.
  @discardableResult
  public func increaseGroupCounter(groupID: String, key: String, value: Int) async throws -> Methods.IncreaseGroupCounter.Result {
    try await call(Methods.IncreaseGroupCounter(groupID: groupID, key: key, value: value))
  }

  /// Lowers a counter of a group, which starts at 0 where it is not there. See
  /// ``Methods/DecreaseGroupCounter``.
  @discardableResult
  public func decreaseGroupCounter(groupID: String, key: String, value: Int) async throws -> Methods.DecreaseGroupCounter.Result {
    try await call(Methods.DecreaseGroupCounter(groupID: groupID, key: key, value: value))
  }

  /// Reads counters of a group; keys that are not there are left out. See
  /// ``Methods/GetGroupCounters``.
  @discardableResult
  public func getGroupCounters(groupID: String, keys: [String]? = nil) async throws -> Methods.GetGroupCounters.Result {
    try await call(Methods.GetGroupCounters(groupID: groupID, keys: keys))
  }

  /// Lists the members of a group: owner, admins, others. See ``Methods/GetGroupMemberList``.
  @discardableResult
  public func getGroupMemberList(groupID: String, filter: MemberFilter? = nil, updatedSince: Int? = nil, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupMemberList.Result {
    try await call(Methods.GetGroupMemberList(groupID: groupID, filter: filter, updatedSince: updatedSince, nextSeq: nextSeq, count: count))
  }

  /// Tells of up to 50 users what they are in a group; those who are no members are left out. See
  /// ``Methods/GetGroupMembersInfo``.
  @discardableResult
  public func getGroupMembersInfo(groupID: String, userIDList: [String]) async throws -> Methods.GetGroupMembersInfo.Result {
    try await call(Methods.GetGroupMembersInfo(groupID: groupID, userIDList: userIDList))
  }

  /// Counts the members with at least one signed-in session. See
  /// ``Methods/GetGroupOnlineMemberCount``.
  @discardableResult
  public func getGroupOnlineMemberCount(groupID: String) async throws -> Methods.GetGroupOnlineMemberCount.Result {
    try await call(Methods.GetGroupOnlineMemberCount(groupID: groupID))
  }

  /// Changes name card, customInfo, role or mute of a member, all of what is given or nothing. See
  /// ``Methods/SetGroupMemberInfo``.
  public func setGroupMemberInfo(groupID: String, userID: String, nameCard: String? = nil, customInfo: [String: String?]? = nil, role: String? = nil, muteUntil: Int? = nil) async throws {
    _ = try await call(Methods.SetGroupMemberInfo(groupID: groupID, userID: userID, nameCard: nameCard, customInfo: customInfo, role: role, muteUntil: muteUntil))
  }

  /// Silences members, one or up to 50 by list, for a time; it survives leaving and coming back.
  /// See ``Methods/MuteGroupMember``.
  @discardableResult
  public func muteGroupMember(groupID: String, userID: String? = nil, userIDList: [String]? = nil, muteTime: Int) async throws -> Methods.MuteGroupMember.Result {
    try await call(Methods.MuteGroupMember(groupID: groupID, userID: userID, userIDList: userIDList, muteTime: muteTime))
  }

  /// Lists the members that are silenced individually. See ``Methods/GetGroupMutedMembers``.
  @discardableResult
  public func getGroupMutedMembers(groupID: String, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupMutedMembers.Result {
    try await call(Methods.GetGroupMutedMembers(groupID: groupID, nextSeq: nextSeq, count: count))
  }

  /// Lists the removed users whose ban has not ended, the soonest end first. See
  /// ``Methods/GetGroupBannedMembers``.
  @discardableResult
  public func getGroupBannedMembers(groupID: String, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupBannedMembers.Result {
    try await call(Methods.GetGroupBannedMembers(groupID: groupID, nextSeq: nextSeq, count: count))
  }

  /// Makes users members, or asks them first where beInviteMode is Auth. See
  /// ``Methods/InviteUserToGroup``.
  @discardableResult
  public func inviteUserToGroup(groupID: String, userIDList: [String], message: String? = nil, attach: String? = nil) async throws -> Methods.InviteUserToGroup.Result {
    try await call(Methods.InviteUserToGroup(groupID: groupID, userIDList: userIDList, message: message, attach: attach))
  }

  /// Removes members from a group, and keeps them out for a time where banTime says so. See
  /// ``Methods/KickGroupMember``.
  @discardableResult
  public func kickGroupMember(groupID: String, userIDList: [String], reason: String? = nil, banTime: Int? = nil) async throws -> Methods.KickGroupMember.Result {
    try await call(Methods.KickGroupMember(groupID: groupID, userIDList: userIDList, reason: reason, banTime: banTime))
  }

  /// Ends the bans of users; no event tells of it. See ``Methods/UnbanGroupMember``.
  @discardableResult
  public func unbanGroupMember(groupID: String, userIDList: [String]) async throws -> Methods.UnbanGroupMember.Result {
    try await call(Methods.UnbanGroupMember(groupID: groupID, userIDList: userIDList))
  }

  /// Makes members admins, ordinary members, or gives a custom role: one, or up to 50 by list. See
  /// ``Methods/SetGroupMemberRole``.
  @discardableResult
  public func setGroupMemberRole(groupID: String, userID: String? = nil, userIDList: [String]? = nil, role: String) async throws -> Methods.SetGroupMemberRole.Result {
    try await call(Methods.SetGroupMemberRole(groupID: groupID, userID: userID, userIDList: userIDList, role: role))
  }

  /// Tells of up to 200 users who brought them into a group. See
  /// ``Methods/GetGroupMemberInviters``.
  @discardableResult
  public func getGroupMemberInviters(groupID: String, userIDList: [String]) async throws -> Methods.GetGroupMemberInviters.Result {
    try await call(Methods.GetGroupMemberInviters(groupID: groupID, userIDList: userIDList))
  }

  /// Tells of up to 100 users which role they have in a group, or NotMember. See
  /// ``Methods/GetGroupMemberRoles``.
  @discardableResult
  public func getGroupMemberRoles(groupID: String, userIDList: [String]) async throws -> Methods.GetGroupMemberRoles.Result {
    try await call(Methods.GetGroupMemberRoles(groupID: groupID, userIDList: userIDList))
  }

  /// Changes the caller's own nickName, faceURL and customInfo. See ``Methods/SetSelfInfo``.
  public func setSelfInfo(nickName: String? = nil, faceURL: String? = nil, customInfo: [String: String?]? = nil) async throws {
    _ = try await call(Methods.SetSelfInfo(nickName: nickName, faceURL: faceURL, customInfo: customInfo))
  }

  /// Tells the texts of up to 100 users; those whom nobody knows are left out. See
  /// ``Methods/GetUsersInfo``.
  @discardableResult
  public func getUsersInfo(userIDList: [String]) async throws -> Methods.GetUsersInfo.Result {
    try await call(Methods.GetUsersInfo(userIDList: userIDList))
  }

  /// Says something about the caller's presence; an empty text takes it back. See
  /// ``Methods/SetSelfStatus``.
  public func setSelfStatus(customStatus: String) async throws {
    _ = try await call(Methods.SetSelfStatus(customStatus: customStatus))
  }

  /// Tells which of up to 100 users are online; those whom nobody knows are left out. See
  /// ``Methods/GetUsersStatus``.
  @discardableResult
  public func getUsersStatus(userIDList: [String]) async throws -> Methods.GetUsersStatus.Result {
    try await call(Methods.GetUsersStatus(userIDList: userIDList))
  }

  /// Tells the status of up to 100 users, and from now on of its changes by onUsersStatusChanged;
  /// unknown users may be watched, too. See ``Methods/SubscribeUsersStatus``.
  @discardableResult
  public func subscribeUsersStatus(userIDList: [String]) async throws -> Methods.SubscribeUsersStatus.Result {
    try await call(Methods.SubscribeUsersStatus(userIDList: userIDList))
  }

  /// Tells of changes of these users' statuses no longer. See ``Methods/UnsubscribeUsersStatus``.
  public func unsubscribeUsersStatus(userIDList: [String]? = nil) async throws {
    _ = try await call(Methods.UnsubscribeUsersStatus(userIDList: userIDList))
  }

  /// Lists the applications that the caller may decide, or has sent, handled ones included, newest
  /// first. See ``Methods/GetGroupApplicationList``.
  @discardableResult
  public func getGroupApplicationList(box: ApplicationBox? = nil, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupApplicationList.Result {
    try await call(Methods.GetGroupApplicationList(box: box, nextSeq: nextSeq, count: count))
  }

  /// Lets an applicant in, or follows an invitation. See ``Methods/AcceptGroupApplication``.
  public func acceptGroupApplication(applicationID: String, reason: String? = nil) async throws {
    _ = try await call(Methods.AcceptGroupApplication(applicationID: applicationID, reason: reason))
  }

  /// Turns an applicant away, or an invitation down. See ``Methods/RefuseGroupApplication``.
  public func refuseGroupApplication(applicationID: String, reason: String? = nil) async throws {
    _ = try await call(Methods.RefuseGroupApplication(applicationID: applicationID, reason: reason))
  }

  /// Marks the applications up to an instant as read by the caller. See
  /// ``Methods/SetGroupApplicationRead``.
  public func setGroupApplicationRead(timestamp: Int? = nil) async throws {
    _ = try await call(Methods.SetGroupApplicationRead(timestamp: timestamp))
  }

  /// Tells the members who are online something of the moment, which is kept nowhere. See
  /// ``Methods/SendGroupSignal``.
  public func sendGroupSignal(groupID: String, name: String, data: String? = nil) async throws {
    _ = try await call(Methods.SendGroupSignal(groupID: groupID, name: name, data: data))
  }

  /// Reads the messages that a group keeps, newest or oldest first. See
  /// ``Methods/GetGroupHistoryMessageList``.
  @discardableResult
  public func getGroupHistoryMessageList(groupID: String, count: Int? = nil, fromSeq: Int? = nil, direction: HistoryDirection? = nil) async throws -> Methods.GetGroupHistoryMessageList.Result {
    try await call(Methods.GetGroupHistoryMessageList(groupID: groupID, count: count, fromSeq: fromSeq, direction: direction))
  }

  /// Reads messages as they are now, in the order of seqList; those that the caller may not see are
  /// left out. See ``Methods/GetGroupMessages``.
  @discardableResult
  public func getGroupMessages(groupID: String, seqList: [Int]) async throws -> Methods.GetGroupMessages.Result {
    try await call(Methods.GetGroupMessages(groupID: groupID, seqList: seqList))
  }

  /// Reads the messages that answer a message and that the caller may see, oldest first; recalled
  /// ones are left out. See ``Methods/GetGroupMessageReplies``.
  @discardableResult
  public func getGroupMessageReplies(groupID: String, seq: Int, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupMessageReplies.Result {
    try await call(Methods.GetGroupMessageReplies(groupID: groupID, seq: seq, nextSeq: nextSeq, count: count))
  }

  /// Answers the messages of up to 50 groups that came, and those that changed, after a position,
  /// none missing, or says that this is not possible. See ``Methods/SyncGroups``.
  @discardableResult
  public func syncGroups(groups: [Methods.SyncGroups.GroupRow]) async throws -> Methods.SyncGroups.Result {
    try await call(Methods.SyncGroups(groups: groups))
  }

  /// Finds Text messages with any of up to 5 keywords that the caller may see, if `search.messages`
  /// is on. See ``Methods/SearchGroupMessages``.
  @discardableResult
  public func searchGroupMessages(keywordList: [String], groupIDList: [String]? = nil, senderUserIDList: [String]? = nil, from: Int? = nil, to: Int? = nil, count: Int? = nil, nextSeq: Int? = nil) async throws -> Methods.SearchGroupMessages.Result {
    try await call(Methods.SearchGroupMessages(keywordList: keywordList, groupIDList: groupIDList, senderUserIDList: senderUserIDList, from: from, to: to, count: count, nextSeq: nextSeq))
  }

  /// Takes a message back: it keeps its place and loses its content. See
  /// ``Methods/RevokeGroupMessage``.
  public func revokeGroupMessage(groupID: String, seq: Int? = nil, msgID: String? = nil) async throws {
    _ = try await call(Methods.RevokeGroupMessage(groupID: groupID, seq: seq, msgID: msgID))
  }

  /// Replaces the text or data of a message, its extension, or both; the same ones change nothing.
  /// See ``Methods/ModifyGroupMessage``.
  @discardableResult
  public func modifyGroupMessage(groupID: String, seq: Int, text: String? = nil, data: String? = nil, extension: String? = nil) async throws -> Methods.ModifyGroupMessage.Result {
    try await call(Methods.ModifyGroupMessage(groupID: groupID, seq: seq, text: text, data: data, extension: `extension`))
  }

  /// Adds a reaction of the caller's to a message; twice is once. See
  /// ``Methods/AddMessageReaction``.
  public func addMessageReaction(groupID: String, seq: Int, reaction: String) async throws {
    _ = try await call(Methods.AddMessageReaction(groupID: groupID, seq: seq, reaction: reaction))
  }

  /// Removes a reaction of the caller's from a message; one that is not there changes nothing. See
  /// ``Methods/RemoveMessageReaction``.
  public func removeMessageReaction(groupID: String, seq: Int, reaction: String) async throws {
    _ = try await call(Methods.RemoveMessageReaction(groupID: groupID, seq: seq, reaction: reaction))
  }

  /// Reads the reactions to messages, the first reaction first; unknown messages are left out. See
  /// ``Methods/GetMessageReactions``.
  @discardableResult
  public func getMessageReactions(groupID: String, seqList: [Int], userCount: Int? = nil) async throws -> Methods.GetMessageReactions.Result {
    try await call(Methods.GetMessageReactions(groupID: groupID, seqList: seqList, userCount: userCount))
  }

  /// Pins a message for all who may see it, or unpins it. See ``Methods/PinGroupMessage``.
  public func pinGroupMessage(groupID: String, seq: Int, isPinned: Bool) async throws {
    _ = try await call(Methods.PinGroupMessage(groupID: groupID, seq: seq, isPinned: isPinned))
  }

  /// Reads the pinned messages that the caller may see, the last pinned first. See
  /// ``Methods/GetPinnedGroupMessageList``.
  @discardableResult
  public func getPinnedGroupMessageList(groupID: String) async throws -> Methods.GetPinnedGroupMessageList.Result {
    try await call(Methods.GetPinnedGroupMessageList(groupID: groupID))
  }

  /// Reports a message that the caller may see to the application; once more renews the report. See
  /// ``Methods/ReportMessage``.
  @discardableResult
  public func reportMessage(groupID: String, seq: Int? = nil, msgID: String? = nil, category: String? = nil, text: String? = nil) async throws -> Methods.ReportMessage.Result {
    try await call(Methods.ReportMessage(groupID: groupID, seq: seq, msgID: msgID, category: category, text: text))
  }

  /// Notes up to which message the caller has read a group; never goes back. See
  /// ``Methods/MarkGroupMessageAsRead``.
  public func markGroupMessageAsRead(groupID: String, seq: Int? = nil) async throws {
    _ = try await call(Methods.MarkGroupMessageAsRead(groupID: groupID, seq: seq))
  }

  /// Counts the messages of groups that the caller has not read. See
  /// ``Methods/GetGroupUnreadCount``.
  @discardableResult
  public func getGroupUnreadCount(groupIDList: [String]? = nil) async throws -> Methods.GetGroupUnreadCount.Result {
    try await call(Methods.GetGroupUnreadCount(groupIDList: groupIDList))
  }

  /// Tells the senders of messages that the caller has read them. See
  /// ``Methods/SendMessageReadReceipts``.
  public func sendMessageReadReceipts(groupID: String, seqList: [Int]) async throws {
    _ = try await call(Methods.SendMessageReadReceipts(groupID: groupID, seqList: seqList))
  }

  /// Tells how many members have read messages of the caller's own. See
  /// ``Methods/GetMessageReadReceipts``.
  @discardableResult
  public func getMessageReadReceipts(groupID: String, seqList: [Int]) async throws -> Methods.GetMessageReadReceipts.Result {
    try await call(Methods.GetMessageReadReceipts(groupID: groupID, seqList: seqList))
  }

  /// Lists who has read a message of the caller's own, or who has not. See
  /// ``Methods/GetGroupMessageReadMemberList``.
  @discardableResult
  public func getGroupMessageReadMemberList(groupID: String, seq: Int, filter: ReadFilter? = nil, nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetGroupMessageReadMemberList.Result {
    try await call(Methods.GetGroupMessageReadMemberList(groupID: groupID, seq: seq, filter: filter, nextSeq: nextSeq, count: count))
  }

  /// Pins, hides or marks a group in the caller's own list of conversations. See
  /// ``Methods/SetConversation``.
  public func setConversation(groupID: String, isPinned: Bool? = nil, isHidden: Bool? = nil, isMarkedUnread: Bool? = nil, marks: [String]? = nil) async throws {
    _ = try await call(Methods.SetConversation(groupID: groupID, isPinned: isPinned, isHidden: isHidden, isMarkedUnread: isMarkedUnread, marks: marks))
  }

  /// Makes all messages that a group has by now invisible to the caller, for good; nobody else
  /// notices. See ``Methods/ClearGroupHistory``.
  @discardableResult
  public func clearGroupHistory(groupID: String) async throws -> Methods.ClearGroupHistory.Result {
    try await call(Methods.ClearGroupHistory(groupID: groupID))
  }

  /// Lists what has happened to the caller in groups, newest first. See
  /// ``Methods/GetSystemNotificationList``.
  @discardableResult
  public func getSystemNotificationList(nextSeq: Int? = nil, count: Int? = nil) async throws -> Methods.GetSystemNotificationList.Result {
    try await call(Methods.GetSystemNotificationList(nextSeq: nextSeq, count: count))
  }

  /// Marks a notification and older ones as read by the caller. See
  /// ``Methods/SetSystemNotificationRead``.
  public func setSystemNotificationRead(notificationID: String? = nil) async throws {
    _ = try await call(Methods.SetSystemNotificationRead(notificationID: notificationID))
  }
}
