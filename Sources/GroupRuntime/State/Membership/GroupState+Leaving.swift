import GroupModel
import GroupPermissions
import WireProtocol

/// quitGroup, dismissGroup and recycleGroup (Protocol.md, "Quitting a group" and "Disbanding a
/// group").
extension GroupState {
  mutating func quit(by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "Nobody can quit a BChatRoom") }
    let member = try requireMember(caller)
    var decision = Decision(.empty)
    if member.role == .owner {
      try require(.quitAsOwner, by: caller)
      guard let heir else { return leaveEmpty(member, by: caller, in: context) }
      passOwnership(to: heir, by: caller, in: context, into: &decision)
    }
    leave(member, by: caller, in: context, into: &decision)
    return decision
  }

  mutating func dismiss(by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.disband, by: caller)
    return disband(.dismissed, by: caller, in: context)
  }

  /// Who becomes owner when the owner quits: "the earliest-joined member (ties: the order of memberList)".
  private var heir: Member? {
    members.values.filter { $0.role != .owner }.min { ($0.joinTime, $0.ordinal) < ($1.joinTime, $1.ordinal) }
  }

  /// onMemberLeave to the rest, onQuitFromGroup to the quitter.
  mutating func leave(_ member: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision) {
    let info = MemberInfo(member)
    let stay = stay(of: member)
    depart(member, stay: stay, in: context, into: &decision)
    let tip = appendTips(.quit([info]), by: caller, opUser: info, in: context, into: &decision)
    decision.effects.append(.send(event(.onQuitFromGroup, in: context), to: [member.userID]))
    decision.effects.append(.expel(member.userID))
    notify(.quitGroup, [member.userID], by: info, in: context, into: &decision)
    announceLeave(of: [info], tip, in: context, into: &decision)
  }

  /// onMemberLeave; "off: nobody".
  mutating func announceLeave(of list: [MemberInfo], _ tip: EventTip?, in context: DecisionContext, into decision: inout Decision) {
    if rateLimiter != nil { return noticeLeave(of: list, in: context, into: &decision) }
    let event = event(.onMemberLeave(list, memberCount: members.count, tip), in: context)
    announce(event, as: noticeClass, whenOff: [], into: &decision)
  }

  /// The messages that the membership has shown up to now; nil where there are none, or the type hides nothing.
  func stay(of member: Member) -> ClosedRange<Int64>? {
    guard record.type.storesMessages, !record.type.showsHistoryFromBeforeJoining, member.firstVisibleSeq <= lastSeq else {
      return nil
    }
    return member.firstVisibleSeq...lastSeq
  }

  /// The user is no member from here on; what is to be known on coming back is remembered.
  mutating func depart(
    _ member: Member, stay: ClosedRange<Int64>?, bannedUntil: Instant = 0, in context: DecisionContext, into decision: inout Decision
  ) {
    var known = FormerMember(
      userID: member.userID, visibleRanges: member.earlierVisibleRanges + (stay.map { [$0] } ?? []),
      muteUntil: member.muteUntil > context.wall ? member.muteUntil : 0, bannedUntil: bannedUntil, leftTime: context.wall)
    known.mutedAt = member.mutedAt
    if known.isMemorable(at: context.wall) {
      decision.changes.append(.putFormer(known, in: record.id))
      for user in former.put(known, at: context.wall) { decision.changes.append(.forgetFormer(user, in: record.id)) }
    }
    remove(member.userID)
    online.remove(member.userID)
    absent.forget(member.userID)
    decision.changes.append(.removeMember(member.userID, from: record.id, at: context.now))
  }

  /// "When the last member quits, the group is disbanded (onQuitFromGroup and onGroupDismissed)."
  private mutating func leaveEmpty(_ member: Member, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = disband(.dismissed, by: caller, in: context)
    decision.effects.insert(.send(event(.onQuitFromGroup, in: context), to: [member.userID]), at: 0)
    notify(.quitGroup, [member.userID], by: operatorInfo(caller), in: context, into: &decision)
    return decision
  }

  /// Why a group ends.
  enum Disbanding { case dismissed, recycled }

  mutating func disband(_ cause: Disbanding, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = dropWaiting(in: context)
    let opUser = eventOperator(caller)
    let (content, kind): (GroupEvent.Content, SystemNotification.Kind) =
      switch cause {
      case .dismissed: (.onGroupDismissed(by: opUser), .groupDismissed)
      case .recycled: (.onGroupRecycled(by: opUser), .groupRecycled)
      }
    let notification = record.type.storesMessages ? notification(kind, by: opUser.opUser, in: context) : nil
    decision.changes.append(.dismiss(record.id, at: context.now, notifying: notification))
    decision.effects.append(.publish(event(content, in: context), .control, except: nil))
    decision.effects.append(.disband)
    decision.disbands = true
    return decision
  }
}
