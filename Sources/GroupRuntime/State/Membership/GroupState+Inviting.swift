import GroupModel
import GroupPermissions
import WireProtocol

/// inviteUserToGroup (Protocol.md, "Invitations").
extension GroupState {
  mutating func invite(
    _ request: InviteUserToGroup, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.invite, by: caller)
    var decision = Decision(.empty)
    var rows: [MemberResult] = []
    var joining: [UserID] = []
    // Rule 3: an application administrator is not bound by beInviteMode.
    let asksFirst = record.policy.beInviteMode == .auth && caller.userID != nil
    for user in request.userIDList {
      var result = verdict(on: user, facts, by: caller, joining: joining.count, in: context)
      if result == .success, asksFirst {
        result = ask(user, request, by: caller, in: context, into: &decision) ? .pending : .overLimit
      } else if result == .success {
        joining.append(user)
      }
      rows.append(MemberResult(userID: user, result: result))
    }
    if !joining.isEmpty { enter(joining, invitedBy: caller, in: context, into: &decision) }
    decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
    return decision
  }

  /// "Everything about one target is that target's result": success means that nothing speaks against it.
  private func verdict(
    on user: UserID, _ facts: UserFacts, by caller: Caller, joining: Int, in context: DecisionContext
  ) -> MemberResult.Outcome {
    if user == caller.userID || members[user] != nil { return .invalid }
    if isBanned(user, at: context.wall) || facts.unknown.contains(user) { return .fail }
    if record.type.limitsMembers, members.count + joining >= record.maxMemberNum { return .overLimit }
    return record.type.isListed && facts.atGroupLimit.contains(user) ? .overLimit : .success
  }
}
