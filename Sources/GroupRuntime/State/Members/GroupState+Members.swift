import GroupModel
import GroupPermissions
import WireProtocol

/// The methods that read members (Protocol.md, "Member lists").
extension GroupState {
  mutating func memberList(
    _ request: GetGroupMemberList, for caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireSight(of: caller)
    let (rank, after, count) = (request.filter.rank, request.nextSeq, request.count)
    let page =
      record.type == .avChatRoom
      ? order.newestPage(of: members, rank: rank, after: after, count: count)
      : order.page(of: members, rank: rank, after: after, count: count)
    return list(page, for: caller, in: context)
  }

  /// "Individually muted only."
  mutating func mutedMembers(
    _ request: GetGroupMutedMembers, for caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireSight(of: caller)
    let page = order.mutedPage(of: members, at: context.wall, after: request.nextSeq, count: request.count)
    return list(page, for: caller, in: context)
  }

  private func list(_ page: MemberOrder.Page, for caller: Caller, in context: DecisionContext) -> Decision {
    let listed = page.members.map { listing($0, for: caller, in: context) }
    return Decision(.memberList(GetGroupMemberList.Result(memberList: listed, nextSeq: page.nextSeq)))
  }

  /// The user is a member from here on, or another one.
  mutating func put(_ member: Member) {
    let former = members.updateValue(member, forKey: member.userID)
    order.note(member, was: former, among: members)
  }

  /// The user is no member from here on.
  mutating func remove(_ user: UserID) {
    let former = members.removeValue(forKey: user)
    order.note(nil, was: former, among: members)
  }

  /// Who brought the members in, a row for each user.
  func inviters(of users: [UserID], for caller: Caller) throws(WireError) -> Decision {
    try requireSight(of: caller, beyond: users)
    let rows = users.map { GetGroupMemberInviters.Row(userID: $0, inviter: members[$0]?.inviter) }
    return Decision(.inviters(GetGroupMemberInviters.Result(inviterList: rows)))
  }

  /// What the users are, a row for each; in a BChatRoom everybody is something.
  func roles(of users: [UserID], for caller: Caller) throws(WireError) -> Decision {
    if record.type.everyoneIsMember { try requireMembership(caller) } else { try requireSight(of: caller, beyond: users) }
    let rows = users.map { GetGroupMemberRoles.Row(userID: $0, role: person($0).role) }
    return Decision(.roles(GetGroupMemberRoles.Result(roleList: rows)))
  }

  func membersInfo(_ users: [UserID], for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireSight(of: caller, beyond: users)
    let listed = users.compactMap { members[$0] }.map { listing($0, for: caller, in: context) }
    return Decision(.membersInfo(GetGroupMembersInfo.Result(memberList: listed)))
  }

  func onlineMemberCount(for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    return Decision(.onlineMemberCount(GetGroupOnlineMemberCount.Result(count: onlineCount(in: context))))
  }

  /// "With isMemberVisible false only managers may list or read other members"; a BChatRoom lists nobody.
  private func requireSight(of caller: Caller, beyond users: [UserID]? = nil) throws(WireError) {
    try requireMembership(caller)
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "A BChatRoom has no list of members") }
    guard !record.policy.isMemberVisible, case .member(let role) = principal(of: caller), !role.isManager else { return }
    if let users, users.allSatisfy({ $0 == caller.userID }) { return }
    throw WireError(.noRight, "Only managers see the members of this group")
  }

  private func listing(_ member: Member, for caller: Caller, in context: DecisionContext) -> ListedMember {
    ListedMember(
      member.current(at: context.wall), isOnline: online.contains(member.userID), isReader: member.userID == caller.userID)
  }
}

extension GetGroupMemberList.Filter {
  /// That of the roles that are taken; nil = all are.
  fileprivate var rank: Int? {
    switch self {
    case .all: nil
    case .owner: Role.owner.rank
    case .admin: Role.admin.rank
    case .common: Role.member.rank
    }
  }
}
