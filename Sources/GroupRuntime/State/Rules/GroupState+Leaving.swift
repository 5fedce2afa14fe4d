import GroupModel
import GroupPermissions
import WireProtocol

/// Ends of memberships: quitGroup, kickGroupMember, transferGroupOwner, the grace of live rooms,
/// and the end of the group (Protocol.md, "Quitting a group", "Removal and bans", "Ownership",
/// "AVChatRoom" and "Disbanding a group").
extension GroupState {
  // MARK: Quitting

  mutating func quit(_ turn: inout Turn) throws(WireError) {
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "Nobody can quit a BChatRoom") }
    let member = try requireMember(turn)
    if member.role == .owner {
      try require(.quitAsOwner, turn)
      guard let successor = roster.findSuccessor() else { return disbandOnLastQuit(of: member, &turn) }
      transferOwnership(to: successor, &turn)
    }
    quit(member, &turn)
  }

  /// onMemberLeave to the remaining members, onQuitFromGroup to the member who quits.
  private mutating func quit(_ member: Member, _ turn: inout Turn) {
    let info = leave(member, &turn)
    let tip = appendTips(.quit([info]), by: info, &turn)
    announceLeave(of: [info], on: turn.caller.platform, tip, &turn)
    postLeft([info], .quit, &turn)
  }

  /// Ends the membership of a member who quits. The others are not told yet.
  /// - Returns: the member as it was.
  mutating func leave(_ member: Member, _ turn: inout Turn) -> MemberInfo {
    let (info, platform) = (MemberInfo(member), turn.caller.platform)
    removeMember(member, hasQuit: true, &turn)
    turn.send(.onQuitFromGroup(on: platform), to: [member.userID])
    turn.perform(.detach(member.userID))
    notify(.quitGroup, [member.userID], by: EventOperator(info, on: platform), &turn)
    return info
  }

  /// onMemberLeave; "off: nobody".
  /// - Parameter platform: of the member who quits; nil = nobody has done it.
  mutating func announceLeave(of list: [MemberInfo], on platform: Platform?, _ tip: EventTip?, _ turn: inout Turn) {
    guard record.type.storesMessages else { return announceLeave(of: list, on: platform, &turn) }
    announce(.onMemberLeave(list, memberCount: roster.count, on: platform, tip), whenOff: [], &turn)
  }

  /// "When the last member quits, the group is disbanded (onQuitFromGroup and onGroupDismissed)."
  private mutating func disbandOnLastQuit(of member: Member, _ turn: inout Turn) {
    turn.post(.memberLeft, .memberLeft(record.id, [MemberInfo(member)], memberCount: 0, how: .quit, reason: nil, by: nil))
    turn.send(.onQuitFromGroup(on: turn.caller.platform), to: [member.userID])
    disband(.dismissed, &turn)
    notify(.quitGroup, [member.userID], &turn)
  }

  // MARK: Removal and bans

  mutating func kick(_ request: KickGroupMember, _ turn: inout Turn) throws(WireError) -> [MemberResult] {
    try require(.remove, turn)
    let rows = outcomes(of: .remove, on: request.userIDList, turn)
    let removed = rows.succeeded.compactMap { roster[$0] }
    if !removed.isEmpty { kick(removed, request, &turn) }
    return rows
  }

  private mutating func kick(_ removed: [Member], _ request: KickGroupMember, _ turn: inout Turn) {
    let opUser = eventOperator(turn)
    let (list, users) = (removed.map { MemberInfo($0) }, removed.map(\.userID))
    let (isBan, reason) = (request.banTime != 0, request.reason ?? "")
    for member in removed {
      removeMember(
        member, bannedUntil: isBan ? turn.wall + .seconds(request.banTime) : .unset, banReason: isBan ? reason : "",
        keepsRole: false, &turn)
    }
    // The last that members of a live room hear of a user must be true.
    for user in users { removeNotices(of: user) }
    let tip = appendTips(.kicked(list), &turn)
    announce(
      .onMemberKicked(list, memberCount: roster.count, reason: reason, by: opUser, tip), whenOff: users + turn.callers, &turn)
    for user in users { turn.perform(.detach(user)) }
    notify(.kickedOff, users, reason: reason, &turn)
    postLeft(list, .kicked, reason: request.reason, by: opUser, &turn)
  }

  mutating func bannedMembers(
    _ request: GetGroupBannedMembers, _ turn: borrowing Turn
  ) throws(WireError) -> GetGroupBannedMembers.Result {
    try require(.remove, turn)
    let page = roster.bannedPage(at: turn.wall, after: request.nextSeq, count: request.count)
    return GetGroupBannedMembers.Result(memberList: page.members.map { BannedMember($0) }, nextSeq: page.nextSeq)
  }

  mutating func unban(_ request: UnbanGroupMember, _ turn: inout Turn) throws(WireError) -> [MemberResult] {
    try require(.remove, turn)
    return request.userIDList.map { user in
      guard let former = roster.liftBan(of: user, at: turn.wall) else { return MemberResult(userID: user, result: .invalid) }
      turn.store(former.isMemorable(at: turn.wall) ? .putFormer(former, in: record.id) : .forgetFormer(user, in: record.id))
      return MemberResult(userID: user, result: .success)
    }
  }

  // MARK: Ownership

  mutating func transfer(_ request: TransferGroupOwner, _ turn: inout Turn) throws(WireError) {
    try require(.transfer, turn)
    guard let successor = roster[request.userID], let owner = roster[record.owner] else {
      throw WireError(.noRight, "Not a member", field: "userID")
    }
    // An application administrator may name the present owner; owners may not name themselves.
    if successor.userID == owner.userID, turn.userID == nil { return }
    try require(.transfer, on: successor, turn)
    transferOwnership(to: successor, &turn)
    guard request.quit, let former = roster[owner.userID] else { return }
    // The former owner is the one who quits, also on behalf of an administrator.
    turn.act(as: owner.userID) { turn in quit(former, &turn) }
  }

  /// The successor becomes owner, the owner a Member: onGroupInfoChanged Owner, no grant or revoke
  /// event.
  mutating func transferOwnership(to successor: Member, _ turn: inout Turn) {
    updateMember(record.owner, &turn) { $0.role = .member }
    updateMember(successor.userID, &turn) { $0.role = .owner }
    var edited = record
    edited.owner = successor.userID
    changeInfo(to: edited, [.text("Owner", successor.userID.rawValue)], &turn)
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
  mutating func removeAbsentMembers(_ turn: inout Turn) {
    let absent = roster.popAbsent(
      forMilliseconds: rules.offlineGraceMilliseconds, at: turn.monotonic, atMost: GroupState.maxRemovedAtOnce)
    removeAbsent(absent, &turn)
  }

  /// Removes a member who signs in after an absence beyond the grace. A member who was added during
  /// that absence still has time.
  public mutating func removeAfterGrace(_ user: UserID, at now: ClockReading) -> Decision {
    guard record.type.removesAbsentMembers, let member = roster[user], member.role != .owner,
      now.wall - member.joinTime > rules.limits.offlineGrace
    else { return Decision() }
    var turn = beginTurn(by: .administrator, at: now)
    removeAbsent([member], &turn)
    return finish(turn)
  }

  private mutating func removeAbsent(_ members: [Member], _ turn: inout Turn) {
    guard !members.isEmpty else { return }
    for member in members {
      removeMember(member, &turn)
      turn.perform(.detach(member.userID))
    }
    let list = members.map { MemberInfo($0) }
    announceLeave(of: list.suffix(CoalescedNotice.maxNamed), on: nil, nil, &turn)
    postLeft(list, .grace, &turn)
  }

  // MARK: The end of the group

  mutating func dismiss(_ turn: inout Turn) throws(WireError) {
    try require(.disband, turn)
    disband(.dismissed, &turn)
  }

  /// Why a group ends.
  enum DisbandCause { case dismissed, recycled }

  mutating func disband(_ cause: DisbandCause, _ turn: inout Turn) {
    dropWaiting(&turn)
    let opUser = eventOperator(turn)
    let (content, kind): (GroupEvent.Content, SystemNotification.Kind) =
      switch cause {
      case .dismissed: (.onGroupDismissed(by: opUser), .groupDismissed)
      case .recycled: (.onGroupRecycled(by: opUser), .groupRecycled)
      }
    let notification = record.type.storesMessages ? notification(kind, by: opUser, at: turn.now) : nil
    turn.store(.dismiss(record.id, at: turn.now, notifying: notification))
    let event = announce(content, &turn)
    turn.perform(.disband)
    turn.decision.disbands = true
    turn.post(.groupDismissed, .event(event))
  }
}
