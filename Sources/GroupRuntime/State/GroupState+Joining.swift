import GroupModel
import GroupPermissions
import WireProtocol

/// joinGroup (contract sections 3 and 4).
extension GroupState {
  mutating func join(by caller: Caller, at moment: Moment) throws(WireError) -> Decision {
    guard let user = caller.userID else { throw WireError(.noRight) }
    if members[user] != nil, !record.type.everyoneIsMember { throw WireError(.alreadyMember) }
    try require(.join, by: caller)
    // "A full group answers joinGroup 10014 in any mode."
    if record.type.limitsMembers, members.count >= record.maxMemberNum { throw WireError(.groupFull) }
    if record.policy.joinMode == .auth {
      throw WireError(.noRight, "This group takes members by approval, which this version does not offer yet")
    }
    return enter(user, by: caller, at: moment)
  }

  /// The user is a member from here on: "a joiner's visible history begins with the own Join tip".
  private mutating func enter(_ user: UserID, by caller: Caller, at moment: Moment) -> Decision {
    var decision = Decision(answer: .reply(.object { $0.member("status", "Joined") }))
    var member = newMember(user, role: .member, at: moment.now)
    member.firstVisibleSeq = lastSeq + 1
    if let known = former.removeValue(forKey: user) {
      member.earlierStays = known.stays
      decision.changes.append(.forgetFormer(user, in: record.id))
    }
    members[user] = member
    let info = MemberInfo(member)
    let count = members.count
    let tip = appendTips("Join", by: caller, at: moment, into: &decision) { writer in
      writer.member("memberList", [info])
      writer.member("memberCount", count)
    }
    member.readSeq = lastSeq
    members[user] = member
    decision.changes.insert(.putMember(member, in: record.id), at: 0)

    let frame = event(.onMemberEnter, at: moment) { writer in
      writer.member("memberList", [info])
      writer.member("memberCount", count)
      writer.tip(tip)
    }
    decision.effects.append(.admit(user))
    decision.effects.append(
      record.policy.memberChangeNotification ? .publish(frame, noticeClass(), except: nil) : .send(frame, to: [user]))
    return decision
  }
}
