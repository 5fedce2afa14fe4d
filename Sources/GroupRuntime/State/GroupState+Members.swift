import GroupModel
import GroupPermissions
import WireProtocol

/// getGroupMemberList, getGroupMembersInfo, getGroupOnlineMemberCount (contract section 4).
extension GroupState {
  mutating func memberList(_ request: GetGroupMemberList, for caller: Caller) throws(WireError) -> Decision {
    try requireSight(of: caller)
    let page = order.page(
      of: members, filter: request.filter, after: request.nextSeq, count: request.count, newestFirst: record.type == .avChatRoom)
    let listed = page.members.map { listing($0, for: caller) }
    return .object(capacity: 128 + listed.count * 192) { writer in
      writer.member("memberList", listed)
      writer.member("nextSeq", page.nextSeq)
    }
  }

  func membersInfo(_ users: [UserID], for caller: Caller) throws(WireError) -> Decision {
    try requireSight(of: caller, beyond: users)
    let listed = users.compactMap { members[$0] }.map { listing($0, for: caller) }
    return .object(capacity: 128 + listed.count * 192) { $0.member("memberList", listed) }
  }

  func onlineMemberCount(for caller: Caller, at moment: Moment) throws(WireError) -> Decision {
    try requireMembership(caller)
    let count = onlineCount(at: moment)
    return .object { $0.member("count", count) }
  }

  /// "With isMemberVisible false only managers may list or read other members"; a BChatRoom lists nobody.
  private func requireSight(of caller: Caller, beyond users: [UserID]? = nil) throws(WireError) {
    try requireMembership(caller)
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "A BChatRoom has no list of members") }
    guard !record.policy.isMemberVisible, case .member(let role) = standing(of: caller), !role.isManager else { return }
    if let users, users.allSatisfy({ $0 == caller.userID }) { return }
    throw WireError(.noRight, "Only managers see the members of this group")
  }

  private func listing(_ member: Member, for caller: Caller) -> ListedMember {
    ListedMember(member, isOnline: online.contains(member.userID), isReader: member.userID == caller.userID)
  }
}
