import GroupModel
import GroupPermissions
import WireProtocol

/// setGroupMemberRole (Protocol.md, "Role changes").
extension GroupState {
  mutating func setRole(
    _ request: SetGroupMemberRole, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.changeRole, by: caller)
    let member = try target(request.userID)
    try require(.changeRole, by: caller, on: member)
    if members[member.userID] == nil, facts.unknown.contains(member.userID) { throw WireError(.userUnknown, field: "userID") }
    var decision = Decision(.empty)
    give(request.role, to: member, by: caller, in: context, into: &decision)
    return decision
  }

  /// "Setting the role somebody has changes nothing and sends nothing."
  mutating func give(
    _ role: Role, to member: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    guard role != member.role else { return }
    update(member.userID, in: context, into: &decision) { $0.role = role }
    switch (member.role, role) {
    case (_, .admin):
      let list = [person(member.userID)]
      let tip = appendTips(.setAdmin(list), by: caller, in: context, into: &decision)
      let event = event(.onGrantAdministrator(list, by: eventOperator(caller), tip), in: context)
      announceRole(of: member.userID, event, .grantAdmin, by: caller, in: context, into: &decision)
    case (.admin, _):
      let list = [person(member.userID)]
      let tip = appendTips(.cancelAdmin(list), by: caller, in: context, into: &decision)
      let event = event(.onRevokeAdministrator(list, by: eventOperator(caller), tip), in: context)
      announceRole(of: member.userID, event, .cancelAdmin, by: caller, in: context, into: &decision)
    default:
      var change = MemberChange(userID: member.userID)
      change.role = role
      announce(change, by: caller, in: context, into: &decision)
    }
  }

  private func announceRole(
    of user: UserID, _ event: GroupEvent, _ kind: SystemNotification.Kind, by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) {
    announce(event, whenOff: (caller.userID.map { [$0] } ?? []) + [user], into: &decision)
    notify(kind, [user], by: operatorInfo(caller), in: context, into: &decision)
  }
}
