import GroupModel
import GroupPermissions
import WireProtocol

/// quitGroup and dismissGroup (contract sections 3 and 4).
extension GroupState {
  mutating func quit(by caller: Caller, at moment: Moment) throws(WireError) -> Decision {
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "Nobody can quit a BChatRoom") }
    let member = try requireMember(caller)
    guard member.role == .owner else { return leave(member, by: caller, at: moment, into: Decision(answer: .reply(.empty))) }
    try require(.quitAsOwner, by: caller)
    let heir = members.values.filter { $0.userID != member.userID }.min { ($0.joinTime, $0.ordinal) < ($1.joinTime, $1.ordinal) }
    guard let heir else { return leaveEmpty(member, by: caller, at: moment) }
    var decision = Decision(answer: .reply(.empty))
    passOwnership(to: heir, by: caller, at: moment, into: &decision)
    return leave(member, by: caller, at: moment, into: decision)
  }

  mutating func dismiss(by caller: Caller, at moment: Moment) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.disband, by: caller)
    var decision = Decision(answer: .reply(.empty))
    disband(by: caller, at: moment, into: &decision)
    return decision
  }

  /// onMemberLeave to the rest, onQuitFromGroup to the quitter.
  private mutating func leave(_ member: Member, by caller: Caller, at moment: Moment, into begun: Decision) -> Decision {
    var decision = begun
    rememberStay(of: member, into: &decision)
    let info = MemberInfo(member)
    let count = members.count - 1
    let tip = appendTips("Quit", by: caller, at: moment, into: &decision) { writer in
      writer.member("memberList", [info])
      writer.member("memberCount", count)
    }
    remove(member)
    decision.changes.append(.removeMember(member.userID, from: record.id, at: moment.now))
    decision.effects.append(.send(event(.onQuitFromGroup, at: moment), to: [member.userID]))
    decision.effects.append(.expel(member.userID))
    if record.policy.memberChangeNotification {
      let frame = event(.onMemberLeave, at: moment) { writer in
        writer.member("memberList", [info])
        writer.member("memberCount", count)
        writer.tip(tip)
      }
      decision.effects.append(.publish(frame, noticeClass(), except: nil))
    }
    return decision
  }

  /// What the member has seen is visible again after coming back.
  private mutating func rememberStay(of member: Member, into decision: inout Decision) {
    guard record.type.storesMessages, !record.type.showsHistoryFromBeforeJoining else { return }
    let stay = member.firstVisibleSeq <= lastSeq ? [member.firstVisibleSeq...lastSeq] : []
    let known = FormerMember(userID: member.userID, stays: member.earlierStays + stay)
    guard !known.stays.isEmpty else { return }
    former[member.userID] = known
    decision.changes.append(.putFormer(known, in: record.id))
  }

  private mutating func remove(_ member: Member) {
    order.noteDeparture(of: member)
    members[member.userID] = nil
    online.remove(member.userID)
  }

  /// "When the last member quits, the group is disbanded (onQuitFromGroup and onGroupDismissed)."
  private mutating func leaveEmpty(_ member: Member, by caller: Caller, at moment: Moment) -> Decision {
    var decision = Decision(answer: .reply(.empty))
    decision.effects.append(.send(event(.onQuitFromGroup, at: moment), to: [member.userID]))
    disband(by: caller, at: moment, into: &decision)
    return decision
  }

  private func disband(by caller: Caller, at moment: Moment, into decision: inout Decision) {
    let opUser = operatorInfo(caller)
    let frame = event(.onGroupDismissed, at: moment) { writer in
      writer.member("opUser", opUser)
      writer.member("platform", caller.platform.rawValue)
    }
    decision.changes.append(.dismiss(record.id, at: moment.now))
    decision.effects.append(.publish(frame, .control, except: nil))
    decision.effects.append(.disband)
    decision.disbands = true
  }

  /// The heir becomes the owner: onGroupInfoChanged Owner, no grant or revoke event.
  private mutating func passOwnership(to heir: Member, by caller: Caller, at moment: Moment, into decision: inout Decision) {
    var owner = heir
    owner.role = .owner
    owner.changeTime = moment.now
    members[owner.userID] = owner
    order.invalidate()
    record.owner = owner.userID
    record.lastInfoTime = moment.now
    decision.changes += [.putGroup(record, isNew: false), .putMember(owner, in: record.id)]
    publishInfoChange([.text("Owner", owner.userID.rawValue)], by: caller, at: moment, into: &decision)
  }
}
