import GroupModel
import GroupPermissions
import WireProtocol

/// transferGroupOwner, and the transfer when an owner quits (Protocol.md, "Ownership").
extension GroupState {
  mutating func transfer(_ request: TransferGroupOwner, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.transfer, by: caller)
    guard let heir = members[request.userID], let owner = members[record.owner] else {
      throw WireError(.noRight, "Not a member", field: "userID")
    }
    var decision = Decision(.empty)
    // An application administrator may name the owner, who stays it; the owner may not mean oneself.
    if heir.userID == owner.userID, caller.userID == nil { return decision }
    try require(.transfer, by: caller, on: heir)
    passOwnership(to: heir, by: caller, in: context, into: &decision)
    if request.quit, let former = members[owner.userID] {
      // Who leaves is the owner, whoever asked for it.
      let quitter = Caller.user(owner.userID, platform: caller.platform, session: caller.session)
      leave(former, by: quitter, in: context, into: &decision)
    }
    return decision
  }

  /// The heir becomes the owner and the owner a Member: onGroupInfoChanged Owner, no grant or revoke event.
  mutating func passOwnership(to heir: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision) {
    let before = record.owner
    update(before, in: context, into: &decision) { $0.role = .member }
    update(heir.userID, in: context, into: &decision) { $0.role = .owner }
    record.owner = heir.userID
    record.lastInfoTime = context.now
    decision.changes.append(.putGroup(record, isNew: false))
    publishInfoChange([.text("Owner", heir.userID.rawValue)], by: caller, in: context, into: &decision)
  }

  /// Changes a member's record and remembers that.
  mutating func update(
    _ user: UserID, in context: DecisionContext, into decision: inout Decision, _ change: (inout Member) -> Void
  ) {
    guard var member = members[user] ?? unrecorded(user) else { return }
    change(&member)
    member.changeTime = context.now
    put(member)
    decision.changes.append(.putMember(member, in: record.id))
  }

  /// A member without a record, in a group that everyone is a member of.
  private func unrecorded(_ user: UserID) -> Member? {
    record.type.everyoneIsMember ? GroupState.everybody(user, in: record) : nil
  }
}
