import GroupModel
import GroupPermissions
import WireProtocol

/// The rows of getGroupsInfo, getJoinedGroupList and searchGroups (Protocol.md, "Group info",
/// "Joined groups" and "Search").
extension GroupState {
  func info(for caller: Caller, at moment: Moment) throws(WireError) -> Decision {
    switch standing(of: caller) {
    case .administrator: return rendered(.administrator, at: moment)
    case .outsider:
      guard record.type != .work else { throw WireError(.noRight, "Not a member") }
      return rendered(.outsider, at: moment)
    case .member:
      guard let user = caller.userID else { return rendered(.administrator, at: moment) }
      return infoForMember(members[user] ?? GroupState.everybody(user, in: record), at: moment)
    }
  }

  /// "Groups whose info, last message or selfInfo changed at or after it."
  func joinedInfo(for caller: Caller, since: Instant, at moment: Moment) -> Decision {
    guard let user = caller.userID, let member = members[user],
      lastChange(for: member, at: moment) >= since
    else { return .nothing }
    return infoForMember(member, at: moment)
  }

  /// When something of the group or of the member's own view of it last changed; the end of a mute is such a change.
  private func lastChange(for member: Member, at moment: Moment) -> Instant {
    let muteEnds = [member.muteUntil, record.mute.muteUntil ?? 0].filter { $0 <= moment.wall }
    let changes = [record.lastInfoTime, record.changeTime, lastMessage?.timestamp ?? 0, member.changeTime]
    return (changes + muteEnds).reduce(0, max)
  }

  /// What searchGroups answers: "joined groups, and other groups that are searchable (their public fields only)".
  func foundInfo(for caller: Caller, at moment: Moment) -> Decision {
    if standing(of: caller) == .outsider {
      return record.policy.isSearchable && record.type != .work ? rendered(.outsider, at: moment) : .nothing
    }
    guard let user = caller.userID else { return rendered(.administrator, at: moment) }
    return infoForMember(members[user] ?? GroupState.everybody(user, in: record), at: moment)
  }

  /// The unread count needs the store, unless there is plainly nothing to count.
  private func infoForMember(_ member: Member, at moment: Moment) -> Decision {
    let member = member.current(at: moment.wall)
    let unread = unread(of: member)
    let reader = GroupInfo.Reader.member(GroupInfo.SelfInfo(member: member, unreadCount: unread.total()))
    guard unread.range != nil else { return rendered(reader, at: moment) }
    return .answer(.stored(.info(groupInfo(reader, at: moment), of: member, unread)))
  }

  private func rendered(_ reader: GroupInfo.Reader, at moment: Moment) -> Decision {
    Decision(.groupInfo(groupInfo(reader, at: moment)))
  }

  private func groupInfo(_ reader: GroupInfo.Reader, at moment: Moment) -> GroupInfo {
    GroupInfo(
      record: record, now: moment.wall, memberCount: memberCount(at: moment), onlineCount: onlineCount(at: moment),
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
