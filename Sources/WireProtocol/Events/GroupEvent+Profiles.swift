import GroupModel

/// The profiles that an event shows (Protocol.md, "Profiles"). The sender's profile of a message is
/// given with the message.
extension GroupEvent {
  /// The members that the event shows, the operator included.
  public var members: [MemberInfo] {
    switch content {
    case .onMemberEnter(let list, _, _, _), .onMemberLeave(let list, _, _, _): list
    case .onMemberInvited(let list, _, let by, _, _), .onMemberKicked(let list, _, _, let by, _): list + [by.opUser]
    case .onGrantAdministrator(let list, let by, _), .onRevokeAdministrator(let list, let by, _): list + [by.opUser]
    case .onGroupMemberInfoChanged(_, let by, _): [by.opUser]
    case .onGroupDismissed(let by), .onGroupRecycled(let by): [by.opUser]
    case .onGroupInfoChanged(_, let by, _): [by.opUser]
    case .onReceiveJoinApplication(_, let member, _, _): [member]
    case .onReceiveGroupInvitation(_, _, _, let by, _): [by.opUser]
    case .onApplicationProcessed(_, _, _, let by): [by.opUser]
    case .onRecvMessageRevoked(_, _, _, let by), .onRecvMessageReactionsChanged(_, let by),
      .onGroupMessagePinned(_, _, _, let by):
      [by.opUser]
    case .onGroupCreated, .onGroupApplicationListChanged, .onQuitFromGroup, .onReceiveMessageOptChanged,
      .onGroupAttributeChanged, .onGroupCounterChanged, .onRecvNewMessage, .onRecvMessageModified, .onMessageDropped,
      .onConversationRead, .onConversationChanged, .onRecvMessageReadReceipts, .onGroupSignal, .onReceiveRESTCustomData:
      []
    }
  }

  /// The users whose profiles the event shows; some more than once.
  public var users: [UserID] {
    let users = members.map(\.userID).filter { $0 != .administrator }
    return switch content {
    case .onRecvMessageModified(let info): users + info.users
    case .onGroupMessagePinned(_, _, let info?, _): users + info.users
    default: users
    }
  }

  /// Gives each member that has a profile its profile; the others keep theirs.
  public mutating func show(_ profiles: [UserID: UserProfile]) {
    if profiles.isEmpty { return }
    switch content {
    case .onMemberEnter(let list, let count, let platform, let tip):
      content = .onMemberEnter(list.showing(profiles), memberCount: count, on: platform, tip)
    case .onMemberLeave(let list, let count, let platform, let tip):
      content = .onMemberLeave(list.showing(profiles), memberCount: count, on: platform, tip)
    case .onMemberInvited(let list, let count, let by, let isAccepted, let tip):
      content = .onMemberInvited(
        list.showing(profiles), memberCount: count, by: by.showing(profiles), isAccepted: isAccepted, tip)
    case .onMemberKicked(let list, let count, let reason, let by, let tip):
      content = .onMemberKicked(list.showing(profiles), memberCount: count, reason: reason, by: by.showing(profiles), tip)
    case .onGrantAdministrator(let list, let by, let tip):
      content = .onGrantAdministrator(list.showing(profiles), by: by.showing(profiles), tip)
    case .onRevokeAdministrator(let list, let by, let tip):
      content = .onRevokeAdministrator(list.showing(profiles), by: by.showing(profiles), tip)
    case .onGroupMemberInfoChanged(let changes, let by, let tip):
      content = .onGroupMemberInfoChanged(changes, by: by.showing(profiles), tip)
    case .onGroupDismissed(let by): content = .onGroupDismissed(by: by.showing(profiles))
    case .onGroupRecycled(let by): content = .onGroupRecycled(by: by.showing(profiles))
    case .onGroupInfoChanged(let changes, let by, let tip):
      content = .onGroupInfoChanged(changes, by: by.showing(profiles), tip)
    case .onReceiveJoinApplication(let id, let member, let platform, let reason):
      content = .onReceiveJoinApplication(
        applicationID: id, member: member.showing(profiles), on: platform, opReason: reason)
    case .onReceiveGroupInvitation(let id, let reason, let attach, let by, let group):
      content = .onReceiveGroupInvitation(
        applicationID: id, opReason: reason, attach: attach, by: by.showing(profiles), to: group)
    case .onApplicationProcessed(let id, let isAgreeJoin, let reason, let by):
      content = .onApplicationProcessed(
        applicationID: id, isAgreeJoin: isAgreeJoin, opReason: reason, by: by.showing(profiles))
    case .onRecvMessageRevoked(let msgID, let seq, let changeSeq, let by):
      content = .onRecvMessageRevoked(msgID: msgID, seq: seq, changeSeq: changeSeq, by: by.showing(profiles))
    case .onRecvMessageReactionsChanged(let change, let by):
      content = .onRecvMessageReactionsChanged(change, by: by.showing(profiles))
    case .onRecvMessageModified(var info):
      info.show(profiles)
      content = .onRecvMessageModified(info)
    case .onGroupMessagePinned(let seq, let changeSeq, var info, let by):
      info?.show(profiles)
      content = .onGroupMessagePinned(seq: seq, changeSeq: changeSeq, info, by: by.showing(profiles))
    case .onGroupCreated, .onGroupApplicationListChanged, .onQuitFromGroup, .onReceiveMessageOptChanged,
      .onGroupAttributeChanged, .onGroupCounterChanged, .onRecvNewMessage, .onMessageDropped, .onConversationRead,
      .onConversationChanged, .onRecvMessageReadReceipts, .onGroupSignal, .onReceiveRESTCustomData:
      break
    }
  }
}

extension MemberInfo {
  /// With the user's profile, where there is one.
  package func showing(_ profiles: [UserID: UserProfile]) -> MemberInfo {
    guard let profile = profiles[userID] else { return self }
    var info = self
    info.profile = profile
    return info
  }
}

extension [MemberInfo] {
  /// With the profiles of those who have one.
  package func showing(_ profiles: [UserID: UserProfile]) -> [MemberInfo] { map { $0.showing(profiles) } }
}

extension EventOperator {
  /// With the user's profile, where there is one.
  package func showing(_ profiles: [UserID: UserProfile]) -> EventOperator {
    EventOperator(opUser.showing(profiles), on: platform)
  }
}
