import GroupModel
import GroupPermissions
import WireProtocol

/// setGroupMemberInfo and muteGroupMember (Protocol.md, "Member info" and "Member mute").
extension GroupState {
  /// "Each field under the rule of its own method", all of them or none.
  mutating func setMemberInfo(
    _ request: SetGroupMemberInfo, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    // The right as such first: who has none does not learn here who is a member.
    if request.userID != caller.userID { try requireRights(for: request, by: caller) }
    let member = try target(request.userID)
    if request.editsMember, member.userID != caller.userID { try require(.editMember, by: caller, on: member) }
    if request.role != nil { try require(.changeRole, by: caller, on: member) }
    if request.muteUntil != nil { try require(.muteMember, by: caller, on: member) }
    if members[member.userID] == nil, facts.unknown.contains(member.userID) { throw WireError(.userUnknown, field: "userID") }

    var edited = member
    var change = try edited.apply(request, at: context.wall)
    var decision = Decision(.empty)
    let role = request.role ?? member.role
    let isGrantOrRevoke = role == .admin || member.role == .admin
    if role != member.role, !isGrantOrRevoke {
      edited.role = role
      change.role = role
    }
    if !change.isEmpty {
      update(member.userID, in: context, into: &decision) { $0 = edited }
      announce(change, by: caller, in: context, into: &decision)
    }
    if isGrantOrRevoke { give(role, to: edited, by: caller, in: context, into: &decision) }
    return decision
  }

  mutating func muteMember(_ request: MuteGroupMember, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.muteMember, by: caller)
    let member = try target(request.userID)
    try require(.muteMember, by: caller, on: member)
    let until = request.muteTime == 0 ? 0 : context.wall + request.muteTime * 1000
    var decision = Decision(.memberMute(MuteGroupMember.Result(muteUntil: until)))
    var edited = member
    var change = MemberChange(userID: member.userID)
    edited.mute(until: until, at: context.wall, noting: &change)
    guard !change.isEmpty else { return decision }
    update(member.userID, in: context, into: &decision) { $0 = edited }
    announce(change, by: caller, in: context, into: &decision)
    return decision
  }

  private func requireRights(for request: SetGroupMemberInfo, by caller: Caller) throws(WireError) {
    if request.editsMember { try require(.editMember, by: caller) }
    if request.role != nil { try require(.changeRole, by: caller) }
    if request.muteUntil != nil { try require(.muteMember, by: caller) }
  }

  /// onGroupMemberInfoChanged: "all members, the one concerned included; off, and AVChatRoom: the one concerned and the operator".
  mutating func announce(_ change: MemberChange, by caller: Caller, in context: DecisionContext, into decision: inout Decision) {
    let tip = appendTips(.memberInfoChange([change]), by: caller, in: context, into: &decision)
    let event = event(.onGroupMemberInfoChanged([change], by: eventOperator(caller), tip), in: context)
    let concerned = caller.userID.map { $0 == change.userID ? [$0] : [change.userID, $0] } ?? [change.userID]
    if record.type == .avChatRoom {
      decision.effects.append(.send(event, to: concerned))
    } else {
      announce(event, whenOff: concerned, into: &decision)
    }
  }
}

extension SetGroupMemberInfo {
  /// Whether it sets what members can always set of themselves.
  fileprivate var editsMember: Bool { nameCard != nil || customInfo != nil }
}

extension Member {
  /// Takes name card, customInfo and mute of a request, and says what has become different.
  fileprivate mutating func apply(_ request: SetGroupMemberInfo, at now: Instant) throws(WireError) -> MemberChange {
    var change = MemberChange(userID: userID)
    if let wanted = request.nameCard, !wanted.isSame(as: nameCard) {
      nameCard = wanted
      change.nameCard = wanted
    }
    if let given = request.customInfo, !customInfo.mergeCustomInfo(given).isEmpty { change.customInfo = customInfo }
    guard customInfo.count <= MapDomain.memberCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    if let wanted = request.muteUntil { mute(until: wanted, at: now, noting: &change) }
    return change
  }

  /// Silences the member until an instant, or lets the member speak where that is past. Nothing is noted where nothing changes.
  fileprivate mutating func mute(until wanted: Instant, at now: Instant, noting change: inout MemberChange) {
    let until = wanted > now ? wanted : 0
    guard until != (muteUntil > now ? muteUntil : 0) else { return }
    muteUntil = until
    mutedAt = now
    change.muteTime = until == 0 ? 0 : (until - now + 999) / 1000
  }
}
