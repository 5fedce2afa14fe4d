import GroupModel
import GroupPermissions
import WireProtocol

/// kickGroupMember (Protocol.md, "Removal and bans").
extension GroupState {
  mutating func kick(_ request: KickGroupMember, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.remove, by: caller)
    let rows = request.userIDList.map { MemberResult(userID: $0, result: verdict(onRemoving: $0, by: caller)) }
    var decision = Decision(.memberResults(MemberResults(memberList: rows)))
    let removed = rows.filter { $0.result == .success }.compactMap { members[$0.userID] }
    if !removed.isEmpty { remove(removed, request, by: caller, in: context, into: &decision) }
    return decision
  }

  private func verdict(onRemoving user: UserID, by caller: Caller) -> MemberResult.Outcome {
    if user == caller.userID { return .fail }
    guard let member = members[user] else { return .invalid }
    return isAllowed(.remove, by: caller, on: member.role) ? .success : .fail
  }

  private mutating func remove(
    _ removed: [Member], _ request: KickGroupMember, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    let opUser = operatorInfo(caller)
    let list = removed.map { MemberInfo($0) }
    let users = removed.map(\.userID)
    let stays = removed.map { stay(of: $0) }
    let bannedUntil = request.banTime == 0 ? 0 : context.wall + request.banTime * 1000
    for (member, stay) in zip(removed, stays) {
      depart(member, stay: stay, bannedUntil: bannedUntil, in: context, into: &decision)
    }
    let tip = appendTips(.kicked(list), by: caller, in: context, into: &decision)
    let reason = request.reason ?? ""
    let event = event(
      .onMemberKicked(list, memberCount: members.count, reason: reason, by: eventOperator(caller), tip), in: context)
    announce(event, whenOff: users + (caller.userID.map { [$0] } ?? []), into: &decision)
    decision.effects += users.map { .expel($0) }
    notify(.kickedOff, users, by: opUser, reason: reason, in: context, into: &decision)
  }
}
