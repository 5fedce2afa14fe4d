import GroupModel
import GroupPermissions
import WireProtocol

/// The bans that kickGroupMember has set (Protocol.md, "Removal and bans").
extension GroupState {
  mutating func bannedMembers(
    _ request: GetGroupBannedMembers, for caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.remove, by: caller)
    let page = roster.bannedPage(at: context.wall, after: request.nextSeq, count: request.count)
    let listed = page.members.map { BannedMember($0) }
    return Decision(.bannedMembers(GetGroupBannedMembers.Result(memberList: listed, nextSeq: page.nextSeq)))
  }

  mutating func unban(
    _ request: UnbanGroupMember, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.remove, by: caller)
    var decision = Decision(.empty)
    var rows: [MemberResult] = []
    for user in request.userIDList {
      let former = roster.liftBan(of: user, at: context.wall)
      if let former {
        let isOfUse = former.isMemorable(at: context.wall)
        decision.changes.append(isOfUse ? .putFormer(former, in: record.id) : .forgetFormer(user, in: record.id))
      }
      rows.append(MemberResult(userID: user, result: former == nil ? .invalid : .success))
    }
    decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
    return decision
  }
}
