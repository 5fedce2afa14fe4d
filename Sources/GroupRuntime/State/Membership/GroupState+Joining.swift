import GroupModel
import GroupPermissions
import WireProtocol

/// New members: joinGroup, and the entry after a consent (Protocol.md, "Joining a group").
extension GroupState {
  mutating func join(_ request: JoinGroup, _ facts: UserFacts, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision
  {
    guard let user = caller.userID else { throw WireError(.noRight) }
    if members[user] != nil, !record.type.everyoneIsMember { throw WireError(.alreadyMember) }
    try require(.join, by: caller)
    if isBanned(user, at: context.wall) { throw WireError(.noRight, "Removed from this group and not to come back yet") }
    try checkRoom(for: user, facts)
    if record.policy.joinMode == .auth { return try apply(request, of: user, in: context) }
    var decision = Decision(.joinedGroup(JoinGroup.Result(status: .joined)))
    enter(user, by: caller, in: context, into: &decision)
    return decision
  }

  /// Whether the user was removed with a ban that has not ended (kickGroupMember, `banTime`).
  func isBanned(_ user: UserID, at now: Instant) -> Bool { former[user].map { $0.bannedUntil > now } ?? false }

  /// The group takes no more members. "A full group answers joinGroup 10014 in any mode."
  var isFull: Bool { record.type.limitsMembers && members.count >= record.maxMemberNum }

  /// Neither the group nor the user has too many of the other.
  func checkRoom(for user: UserID, _ facts: UserFacts) throws(WireError) {
    if isFull { throw WireError(.groupFull) }
    if record.type.isListed, facts.atGroupLimit.contains(user) { throw WireError(.tooManyGroups) }
  }

  /// onMemberEnter: the user came alone, though others may have let the user in.
  mutating func enter(_ user: UserID, by caller: Caller, in context: DecisionContext, into decision: inout Decision) {
    bring([user], invitedBy: nil, in: context, into: &decision)
    let info = person(user)
    let tip = appendTips(.join([info]), by: caller, in: context, into: &decision)
    settle([user], into: &decision)
    let event = event(.onMemberEnter([info], memberCount: members.count, tip), in: context)
    if rateLimiter == nil {
      announce(event, as: noticeClass, whenOff: [user], into: &decision)
    } else {
      noticeEntry(of: info, event, in: context, into: &decision)
    }
  }

  /// onMemberInvited: the inviter brought the users in, or they followed the invitation.
  mutating func enter(_ users: [UserID], invitedBy inviter: Caller, in context: DecisionContext, into decision: inout Decision) {
    bring(users, invitedBy: inviter.senderID, in: context, into: &decision)
    let list = users.map { person($0) }
    let tip = appendTips(.invite(list), by: inviter, in: context, into: &decision)
    settle(users, into: &decision)
    let event = event(
      .onMemberInvited(list, memberCount: members.count, by: eventOperator(inviter), tip), in: context)
    // An inviter may have left before the invitation was followed.
    let present = inviter.userID.flatMap { members[$0] == nil ? nil : $0 }
    announce(event, whenOff: (present.map { [$0] } ?? []) + users, into: &decision)
    notify(.invitedToGroup, users, by: operatorInfo(inviter), in: context, into: &decision)
  }

  /// The users are members from here on: "a joiner's visible history begins with the own Join or Invite tip".
  private mutating func bring(
    _ users: [UserID], invitedBy inviter: UserID?, in context: DecisionContext, into decision: inout Decision
  ) {
    for user in users {
      var member = newMember(user, role: .member, at: context.now)
      member.firstVisibleSeq = lastSeq + 1
      member.inviter = inviter
      remember(&member, into: &decision)
      put(member)
      decision.effects.append(.admit(user, receiving: member.receiveOption))
    }
  }

  /// What was visible to the member before is visible again, and a mute goes on.
  mutating func remember(_ member: inout Member, into decision: inout Decision) {
    guard let known = former.remove(member.userID) else { return }
    member.earlierVisibleRanges = known.visibleRanges
    member.muteUntil = known.muteUntil
    member.mutedAt = known.mutedAt
    decision.changes.append(.forgetFormer(member.userID, in: record.id))
  }

  /// Whoever comes has nothing unread, the own tip included.
  private mutating func settle(_ users: [UserID], into decision: inout Decision) {
    for user in users {
      let newest = lastSeq
      members[user]?.readSeq = newest
      if let member = members[user] { decision.changes.append(.putMember(member, in: record.id)) }
    }
  }
}
