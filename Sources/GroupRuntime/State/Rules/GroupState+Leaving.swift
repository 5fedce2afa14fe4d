import GroupModel
import GroupPermissions
import WireProtocol

/// Ends of memberships: quitGroup, kickGroupMember, transferGroupOwner, the grace of live rooms,
/// and the end of the group (Protocol.md, "Quitting a group", "Removal and bans", "Ownership",
/// "AVChatRoom" and "Disbanding a group").
extension GroupState {
  // MARK: Quitting

  mutating func quit(by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "Nobody can quit a BChatRoom") }
    let member = try requireMember(caller)
    var decision = Decision(.empty)
    if member.role == .owner {
      try require(.quitAsOwner, by: caller)
      guard let successor = roster.successor else { return disbandOnLastQuit(of: member, by: caller, in: context) }
      transferOwnership(to: successor, by: caller, in: context, into: &decision)
    }
    quit(member, by: caller, in: context, into: &decision)
    return decision
  }

  /// onMemberLeave to the remaining members, onQuitFromGroup to the member who quits.
  private mutating func quit(_ member: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision) {
    let info = leave(member, by: caller, in: context, into: &decision)
    let tip = appendTips(.quit([info]), by: caller, opUser: info, in: context, into: &decision)
    announceLeave(of: [info], on: caller.platform, tip, in: context, into: &decision)
    postLeft([info], .quit, in: context, into: &decision)
  }

  /// Ends the membership of a member who quits. The others are not told yet.
  /// - Returns: the member as it was.
  mutating func leave(
    _ member: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) -> MemberInfo {
    let info = MemberInfo(member)
    removeMember(
      member.userID, visibleRange: visibleRange(of: member), hasQuit: true, in: context, into: &decision)
    decision.effects.append(.send(event(.onQuitFromGroup(on: caller.platform), in: context), to: [member.userID]))
    decision.effects.append(.detach(member.userID))
    notify(.quitGroup, [member.userID], by: EventOperator(info, on: caller.platform), in: context, into: &decision)
    return info
  }

  /// onMemberLeave; "off: nobody".
  /// - Parameter platform: of the member who quits; nil = nobody has done it.
  mutating func announceLeave(
    of list: [MemberInfo], on platform: Platform?, _ tip: EventTip?, in context: DecisionContext, into decision: inout Decision
  ) {
    guard record.type.storesMessages else { return announceLeave(of: list, on: platform, in: context, into: &decision) }
    let event = event(.onMemberLeave(list, memberCount: roster.count, on: platform, tip), in: context)
    announce(event, whenOff: [], in: context, into: &decision)
  }

  /// The messages that this membership has shown; nil where there are none, or the type hides
  /// nothing.
  private func visibleRange(of member: Member) -> ClosedRange<Int64>? {
    guard record.type.storesMessages, !record.type.showsHistoryFromBeforeJoining, member.firstVisibleSeq <= messages.lastSeq
    else { return nil }
    return member.firstVisibleSeq...messages.lastSeq
  }

  /// "When the last member quits, the group is disbanded (onQuitFromGroup and onGroupDismissed)."
  private mutating func disbandOnLastQuit(of member: Member, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = Decision(.empty)
    post(
      .memberLeft,
      .memberLeft(record.id, [MemberInfo(member)], memberCount: 0, how: .quit, reason: nil, by: nil), at: context.now,
      into: &decision)
    decision.effects.append(.send(event(.onQuitFromGroup(on: caller.platform), in: context), to: [member.userID]))
    disband(.dismissed, by: caller, in: context, into: &decision)
    notify(.quitGroup, [member.userID], by: eventOperator(caller), in: context, into: &decision)
    return decision
  }

  // MARK: Removal

  mutating func kick(_ request: KickGroupMember, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.remove, by: caller)
    let rows = request.userIDList.map { MemberResult(userID: $0, result: outcome(of: .remove, on: $0, by: caller)) }
    var decision = Decision(.memberResults(MemberResults(memberList: rows)))
    let removed = rows.filter { $0.result == .success }.compactMap { roster[$0.userID] }
    if !removed.isEmpty { kick(removed, request, by: caller, in: context, into: &decision) }
    return decision
  }

  private mutating func kick(
    _ removed: [Member], _ request: KickGroupMember, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    let opUser = eventOperator(caller)
    let list = removed.map { MemberInfo($0) }
    let users = removed.map(\.userID)
    let bannedUntil = request.banTime == 0 ? .unset : context.wall + .seconds(request.banTime)
    let reason = request.reason ?? ""
    for member in removed {
      removeMember(
        member.userID, visibleRange: visibleRange(of: member), bannedUntil: bannedUntil,
        banReason: request.banTime == 0 ? "" : reason, in: context, into: &decision)
    }
    let tip = appendTips(.kicked(list), by: caller, in: context, into: &decision)
    let event = event(
      .onMemberKicked(list, memberCount: roster.count, reason: reason, by: opUser, tip), in: context)
    announce(event, whenOff: users + (caller.userID.map { [$0] } ?? []), in: context, into: &decision)
    decision.effects += users.map { .detach($0) }
    notify(.kickedOff, users, by: opUser, reason: reason, in: context, into: &decision)
    postLeft(list, .kicked, reason: request.reason, by: eventOperator(caller), in: context, into: &decision)
  }

  // MARK: Ownership

  mutating func transfer(_ request: TransferGroupOwner, by caller: Caller, in context: DecisionContext) throws(WireError)
    -> Decision
  {
    try requireMembership(caller)
    try require(.transfer, by: caller)
    guard let successor = roster[request.userID], let owner = roster[record.owner] else {
      throw WireError(.noRight, "Not a member", field: "userID")
    }
    var decision = Decision(.empty)
    // An application administrator may name the present owner; owners may not name themselves.
    if successor.userID == owner.userID, caller.userID == nil { return decision }
    try require(.transfer, by: caller, on: successor)
    transferOwnership(to: successor, by: caller, in: context, into: &decision)
    if request.quit, let former = roster[owner.userID] {
      // The former owner is the one who quits, also on behalf of an administrator.
      let quitter = Caller.user(owner.userID, platform: caller.platform, session: caller.session)
      quit(former, by: quitter, in: context, into: &decision)
    }
    return decision
  }

  /// The successor becomes owner, the owner a Member: onGroupInfoChanged Owner, no grant or revoke
  /// event.
  private mutating func transferOwnership(
    to successor: Member, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    updateMember(record.owner, in: context, into: &decision) { $0.role = .member }
    updateMember(successor.userID, in: context, into: &decision) { $0.role = .owner }
    var edited = record
    edited.owner = successor.userID
    let change = InfoChange.text("Owner", successor.userID.rawValue)
    changeInfo(to: edited, [change], by: caller, in: context, into: &decision)
  }

  // MARK: Presence and grace

  /// How many members one decision removes at the end of their grace; the next follows at once.
  private static let maxRemovedAtOnce = 1000

  /// Records whether a member has a session.
  /// - Parameter since: when the last session ended, where there is none.
  public mutating func setOnline(_ user: UserID, _ isOnline: Bool, since: MonotonicInstant) {
    if isOnline { roster.setOnline(user) } else { roster.setOffline(user, since: since) }
  }

  /// In a live room that was just loaded, members without a session and a known absence are absent
  /// from now on.
  mutating func setAbsent(except present: Set<UserID>, at now: MonotonicInstant) {
    roster.setAbsent(except: present, since: now)
  }

  /// Whether a member was absent for longer than the grace and is to be removed, back or not.
  func isGraceExceeded(by user: UserID, at now: MonotonicInstant) -> Bool {
    guard let since = roster.absentSince(user) else { return false }
    return since.advanced(byMilliseconds: rules.offlineGraceMilliseconds) < now && user != record.owner
  }

  /// Removes the members whose grace has ended.
  mutating func removeAbsentMembers(in context: DecisionContext, into decision: inout Decision) {
    let absent = roster.popAbsent(
      forMilliseconds: rules.offlineGraceMilliseconds, at: context.monotonic, atMost: GroupState.maxRemovedAtOnce)
    removeAbsent(absent, in: context, into: &decision)
  }

  /// Removes a member who signs in after an absence beyond the grace. A member who was added during
  /// that absence still has time.
  public mutating func removeAfterGrace(_ user: UserID, at now: ClockReading) -> Decision {
    var decision = Decision(.empty)
    guard record.type.removesAbsentMembers, let member = roster[user], member.role != .owner,
      now.wall - member.joinTime > rules.limits.offlineGrace
    else { return decision }
    removeAbsent([member], in: makeContext(at: now, usersSignedIn: 0), into: &decision)
    return decision
  }

  private mutating func removeAbsent(_ members: [Member], in context: DecisionContext, into decision: inout Decision) {
    guard !members.isEmpty else { return }
    for member in members {
      removeMember(member.userID, visibleRange: nil, in: context, into: &decision)
      decision.effects.append(.detach(member.userID))
    }
    announceLeave(of: members.suffix(CoalescedNotice.maxNamed).map { MemberInfo($0) }, on: nil, nil, in: context, into: &decision)
    postLeft(members.map { MemberInfo($0) }, .grace, in: context, into: &decision)
  }

  // MARK: The end of the group

  mutating func dismiss(by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.disband, by: caller)
    return disband(.dismissed, by: caller, in: context)
  }

  /// Why a group ends.
  enum DisbandCause { case dismissed, recycled }

  mutating func disband(_ cause: DisbandCause, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = Decision(.empty)
    disband(cause, by: caller, in: context, into: &decision)
    return decision
  }

  private mutating func disband(
    _ cause: DisbandCause, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    dropWaiting(in: context, into: &decision)
    let opUser = eventOperator(caller)
    let (content, kind): (GroupEvent.Content, SystemNotification.Kind) =
      switch cause {
      case .dismissed: (.onGroupDismissed(by: opUser), .groupDismissed)
      case .recycled: (.onGroupRecycled(by: opUser), .groupRecycled)
      }
    let notification = record.type.storesMessages ? notification(kind, by: opUser, in: context) : nil
    decision.changes.append(.dismiss(record.id, at: context.now, notifying: notification))
    let event = event(content, in: context)
    charge(event, in: context, into: &decision)
    decision.effects.append(.publish(event, .control, except: nil))
    decision.effects.append(.disband)
    decision.disbands = true
    post(.groupDismissed, .event(event), at: context.now, into: &decision)
  }
}
