import GroupModel
import GroupPermissions
import WireProtocol

/// The rows of getGroupsInfo, getJoinedGroupList and searchGroups (Protocol.md, "Group info",
/// "Joined groups" and "Search").
extension GroupState {
  func info(for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    switch principal(of: caller) {
    case .administrator: return rendered(.administrator, in: context)
    case .outsider:
      guard record.type != .work else { throw WireError(.noRight, "Not a member") }
      return rendered(.outsider, in: context)
    case .member:
      guard let user = caller.userID else { return rendered(.administrator, in: context) }
      return infoForMember(members[user] ?? GroupState.everybody(user, in: record), in: context)
    }
  }

  /// "Groups whose info, last message or selfInfo changed at or after it."
  func joinedInfo(for caller: Caller, since: Instant, in context: DecisionContext) -> Decision {
    guard let user = caller.userID, let member = members[user],
      lastChange(for: member, in: context) >= since
    else { return .nothing }
    return infoForMember(member, in: context)
  }

  /// When something of the group or of the member's own view of it last changed; the end of a mute is such a change.
  private func lastChange(for member: Member, in context: DecisionContext) -> Instant {
    let muteEnds = [member.muteUntil, record.mute.muteUntil ?? 0].filter { $0 <= context.wall }
    let changes = [record.lastInfoTime, record.changeTime, lastMessage?.timestamp ?? 0, member.changeTime]
    return (changes + muteEnds).reduce(0, max)
  }

  /// What searchGroups answers: "joined groups, and other groups that are searchable (their public fields only)".
  func foundInfo(for caller: Caller, in context: DecisionContext) -> Decision {
    if principal(of: caller) == .outsider {
      return record.policy.isSearchable && record.type != .work ? rendered(.outsider, in: context) : .nothing
    }
    guard let user = caller.userID else { return rendered(.administrator, in: context) }
    return infoForMember(members[user] ?? GroupState.everybody(user, in: record), in: context)
  }

  /// The unread count needs the store, unless there is plainly nothing to count.
  private func infoForMember(_ member: Member, in context: DecisionContext) -> Decision {
    let member = member.current(at: context.wall)
    let unread = unread(of: member)
    let reader = GroupInfo.Reader.member(GroupInfo.SelfInfo(member: member, unreadCount: unread.total()))
    guard unread.range != nil else { return rendered(reader, in: context) }
    return .answer(.stored(.info(groupInfo(reader, in: context), of: member, unread)))
  }

  private func rendered(_ reader: GroupInfo.Reader, in context: DecisionContext) -> Decision {
    Decision(.groupInfo(groupInfo(reader, in: context)))
  }

  private func groupInfo(_ reader: GroupInfo.Reader, in context: DecisionContext) -> GroupInfo {
    GroupInfo(
      record: record, now: context.wall, memberCount: memberCount(in: context), onlineCount: onlineCount(in: context),
      lastSeq: lastSeq,
      lastMessageTime: lastMessage?.timestamp ?? 0, lastMessage: lastMessage.flatMap { sees($0, reader) ? $0 : nil },
      reader: reader)
  }

  private func sees(_ message: Message, _ reader: GroupInfo.Reader) -> Bool {
    switch reader {
    case .administrator: true
    case .outsider: false
    case .member(let selfInfo): visibleHistory(of: selfInfo.member).contains(message.seq ?? 0)
    }
  }
}

extension Decision {
  /// The caller gets no row of this group.
  fileprivate static var nothing: Decision { Decision(.groupInfo(nil)) }
}
