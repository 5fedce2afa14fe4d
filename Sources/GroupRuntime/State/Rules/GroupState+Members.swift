import GroupModel
import GroupPermissions
import WireProtocol

/// The lists of members, and the changes of one member's info, mute and role (Protocol.md, "Member
/// lists", "Member info", "Member mute" and "Role changes").
extension GroupState {
  // MARK: Lists

  mutating func memberList(
    _ request: GetGroupMemberList, for caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMemberVisibility(caller)
    let page = roster.page(rank: request.filter.rank, after: request.nextSeq, count: request.count)
    return memberListReply(page, for: caller, in: context)
  }

  /// "Individually muted only."
  mutating func mutedMembers(
    _ request: GetGroupMutedMembers, for caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMemberVisibility(caller)
    let page = roster.mutedPage(at: context.wall, after: request.nextSeq, count: request.count)
    return memberListReply(page, for: caller, in: context)
  }

  private func memberListReply(_ page: MemberOrder.Page, for caller: Caller, in context: DecisionContext) -> Decision {
    let listed = page.members.map { listedMember($0, for: caller, in: context) }
    let result = GetGroupMemberList.Result(memberList: listed, nextSeq: page.nextSeq)
    return .answer(.stored(.shown(.memberList(result)), for: caller.requester))
  }

  /// A row for each user, with the inviter where there was one.
  func inviters(of users: [UserID], for caller: Caller) throws(WireError) -> Decision {
    try requireMemberVisibility(caller, of: users)
    let rows = users.map { GetGroupMemberInviters.Row(userID: $0, inviter: roster[$0]?.inviter) }
    return Decision(.inviters(GetGroupMemberInviters.Result(inviterList: rows)))
  }

  /// A row for each user. Every user has a role in a BChatRoom.
  func roles(of users: [UserID], for caller: Caller) throws(WireError) -> Decision {
    if record.type.everyoneIsMember { try requireMembership(caller) } else { try requireMemberVisibility(caller, of: users) }
    let rows = users.map { GetGroupMemberRoles.Row(userID: $0, role: memberInfo(of: $0).role) }
    return Decision(.roles(GetGroupMemberRoles.Result(roleList: rows)))
  }

  func membersInfo(_ users: [UserID], for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMemberVisibility(caller, of: users)
    let listed = users.compactMap { roster[$0] }.map { listedMember($0, for: caller, in: context) }
    return .answer(.stored(.shown(.membersInfo(GetGroupMembersInfo.Result(memberList: listed))), for: caller.requester))
  }

  func onlineMemberCount(for caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    let count = roster.onlineCount(usersSignedIn: context.usersSignedIn)
    return Decision(.onlineMemberCount(GetGroupOnlineMemberCount.Result(count: count)))
  }

  /// "With isMemberVisible false only managers may list or read other members"; a BChatRoom has no
  /// list.
  /// - Parameter users: the members to be read; nil = all.
  private func requireMemberVisibility(_ caller: Caller, of users: [UserID]? = nil) throws(WireError) {
    try requireMembership(caller)
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "A BChatRoom has no list of members") }
    guard !record.policy.isMemberVisible, case .member(let role) = principal(of: caller), !role.isManager else { return }
    if let users, users.allSatisfy({ $0 == caller.userID }) { return }
    throw WireError(.noRight, "Only managers see the members of this group")
  }

  private func listedMember(_ member: Member, for caller: Caller, in context: DecisionContext) -> ListedMember {
    ListedMember(
      member.current(at: context.wall), isOnline: roster.isOnline(member.userID), isReader: member.userID == caller.userID)
  }

  // MARK: Member info and mute

  /// "Each field under the rule of its own method", all of them or none.
  mutating func setMemberInfo(
    _ request: SetGroupMemberInfo, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    // Rights come first, so that callers without them do not learn here who is a member.
    if request.userID != caller.userID { try requireRights(for: request, by: caller) }
    let member = try requireTarget(request.userID)
    if request.editsMember, member.userID != caller.userID { try require(.editMember, by: caller, on: member) }
    if request.role != nil { try require(.changeRole, by: caller, on: member) }
    if request.muteUntil != nil { try require(.muteMember, by: caller, on: member) }
    try requireKnown(member, facts)

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
      updateMember(member.userID, in: context, into: &decision) { $0 = edited }
      announce([change], by: caller, in: context, into: &decision)
    }
    if isGrantOrRevoke { changeRoles(of: [edited], to: role, by: caller, in: context, into: &decision) }
    return decision
  }

  /// A member's change of the own name card or customInfo. The others are not told yet.
  /// - Returns: nil = nothing is different.
  mutating func editSelf(
    _ request: SetGroupMemberInfo, _ facts: UserFacts, by caller: Caller, in context: DecisionContext,
    into decision: inout Decision
  ) throws(WireError) -> MemberChange? {
    let member = try requireMember(caller)
    try requireKnown(member, facts)
    var edited = member
    let change = try edited.apply(request, at: context.wall)
    if change.isEmpty { return nil }
    updateMember(member.userID, in: context, into: &decision) { $0 = edited }
    return change
  }

  mutating func muteMembers(_ request: MuteGroupMember, by caller: Caller, in context: DecisionContext) throws(WireError)
    -> Decision
  {
    try requireMembership(caller)
    try require(.muteMember, by: caller)
    let until = request.muteTime == 0 ? .unset : context.wall + .seconds(request.muteTime)
    let targets: [UserID]
    var result = MuteGroupMember.Result(muteUntil: until)
    switch request.targets {
    case .one(let user):
      try require(.muteMember, by: caller, on: try requireTarget(user))
      targets = [user]
    case .list(let users):
      let rows = users.map { MemberResult(userID: $0, result: outcome(of: .muteMember, on: $0, by: caller)) }
      targets = rows.succeeded
      result = MuteGroupMember.Result(muteUntil: until, memberList: rows)
    }
    var decision = Decision(.memberMute(result))
    var changes: [MemberChange] = []
    for user in targets {
      guard var edited = roster.member(user) else { continue }
      var change = MemberChange(userID: user)
      edited.mute(until: until, at: context.wall, &change)
      if change.isEmpty { continue }
      updateMember(user, in: context, into: &decision) { $0 = edited }
      changes.append(change)
    }
    announce(changes, by: caller, in: context, into: &decision)
    return decision
  }

  private func requireRights(for request: SetGroupMemberInfo, by caller: Caller) throws(WireError) {
    if request.editsMember { try require(.editMember, by: caller) }
    if request.role != nil { try require(.changeRole, by: caller) }
    if request.muteUntil != nil { try require(.muteMember, by: caller) }
  }

  private func requireKnown(_ member: Member, _ facts: UserFacts) throws(WireError) {
    if !isKnown(member, facts) { throw WireError(.userUnknown, field: "userID") }
  }

  /// onGroupMemberInfoChanged: "all members, the one concerned included; off, and AVChatRoom: the
  /// one concerned and the operator". One event names all who changed.
  mutating func announce(
    _ changes: [MemberChange], by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    guard !changes.isEmpty else { return }
    let tip = appendTips(.memberInfoChange(changes), by: caller, in: context, into: &decision)
    let event = event(.onGroupMemberInfoChanged(changes, by: eventOperator(caller), tip), in: context)
    let concerned = (changes.map(\.userID) + (caller.userID.map { [$0] } ?? [])).uniqued()
    if record.type.announcesMemberInfo {
      announce(event, whenOff: concerned, in: context, into: &decision)
    } else {
      decision.effects.append(.send(event, to: concerned))
    }
    post(.memberInfoChanged, .event(event), at: context.now, into: &decision)
  }

  // MARK: Roles

  mutating func setRoles(
    _ request: SetGroupMemberRole, _ facts: UserFacts, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.changeRole, by: caller)
    var decision = Decision(.empty)
    let members: [Member]
    switch request.targets {
    case .one(let user):
      let member = try requireTarget(user)
      try require(.changeRole, by: caller, on: member)
      try requireKnown(member, facts)
      members = [member]
    case .list(let users):
      let rows = users.map { MemberResult(userID: $0, result: outcome(of: .changeRole, on: $0, facts, by: caller)) }
      decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
      members = rows.succeeded.compactMap { roster.member($0) }
    }
    changeRoles(of: members, to: request.role, by: caller, in: context, into: &decision)
    return decision
  }

  /// "Setting the role somebody has changes nothing and sends nothing." One event of each kind names
  /// all who changed.
  private mutating func changeRoles(
    of members: [Member], to role: Role, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    let changed = members.filter { $0.role != role }
    for member in changed { updateMember(member.userID, in: context, into: &decision) { $0.role = role } }
    guard role != .admin else { return announceGrant(to: changed.map(\.userID), by: caller, in: context, into: &decision) }
    announceRevocation(
      of: changed.filter { $0.role == .admin }.map(\.userID), to: role, by: caller, in: context, into: &decision)
    let changes = changed.filter { $0.role != .admin }.map { member in
      var change = MemberChange(userID: member.userID)
      change.role = role
      return change
    }
    announce(changes, by: caller, in: context, into: &decision)
  }

  private mutating func announceGrant(
    to users: [UserID], by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    guard !users.isEmpty else { return }
    let list = users.map { memberInfo(of: $0) }
    let tip = appendTips(.setAdmin(list), by: caller, in: context, into: &decision)
    let event = event(.onGrantAdministrator(list, by: eventOperator(caller), tip), in: context)
    announceRole(of: users, to: .admin, event, tip, .grantAdmin, by: caller, in: context, into: &decision)
  }

  private mutating func announceRevocation(
    of users: [UserID], to role: Role, by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    guard !users.isEmpty else { return }
    let list = users.map { memberInfo(of: $0) }
    let tip = appendTips(.cancelAdmin(list), by: caller, in: context, into: &decision)
    let event = event(.onRevokeAdministrator(list, by: eventOperator(caller), tip), in: context)
    announceRole(of: users, to: role, event, tip, .cancelAdmin, by: caller, in: context, into: &decision)
  }

  private func announceRole(
    of users: [UserID], to role: Role, _ event: GroupEvent, _ tip: EventTip?, _ kind: SystemNotification.Kind,
    by caller: Caller, in context: DecisionContext, into decision: inout Decision
  ) {
    announce(event, whenOff: (caller.userID.map { [$0] } ?? []) + users, in: context, into: &decision)
    notify(kind, users, by: eventOperator(caller), in: context, into: &decision)
    let changes = users.map { user in
      var change = MemberChange(userID: user)
      change.role = role
      return change
    }
    post(
      .memberInfoChanged, .event(self.event(.onGroupMemberInfoChanged(changes, by: eventOperator(caller), tip), in: context)),
      at: context.now, into: &decision)
  }

  // MARK: Changing the roster

  /// Adds a member to the roster, and attaches the user's sessions. The caller stores the member.
  @discardableResult
  mutating func addMember(
    _ user: UserID, role: Role, joinTime: WallInstant, into decision: inout Decision, _ complete: (inout Member) -> Void
  ) -> Member {
    let (member, wasFormer) = roster.add(user, role: role, joinTime: joinTime, complete)
    if wasFormer { decision.changes.append(.forgetFormer(user, in: record.id)) }
    decision.effects.append(.attach(user, receiving: member.receiveOption))
    return member
  }

  /// Changes and stores a member.
  mutating func updateMember(
    _ user: UserID, in context: DecisionContext, into decision: inout Decision, _ change: (inout Member) -> Void
  ) {
    let changed = roster.update(user) { member in
      change(&member)
      member.changeTime = context.now
    }
    if let changed { decision.changes.append(.putMember(changed, in: record.id)) }
  }

  /// Removes a member, and stores the record of the former member where one is of use.
  /// - Parameters:
  ///   - visibleRange: the messages that this membership has shown; nil = none to remember.
  ///   - hasQuit: the user ends the membership, nobody else does.
  mutating func removeMember(
    _ user: UserID, visibleRange: ClosedRange<Int64>?, bannedUntil: WallInstant = .unset, banReason: String = "",
    hasQuit: Bool = false, in context: DecisionContext,
    into decision: inout Decision
  ) {
    let removal = roster.remove(
      user, visibleRange: visibleRange, bannedUntil: bannedUntil, banReason: banReason, hasQuit: hasQuit, at: context.wall)
    if let former = removal.former { decision.changes.append(.putFormer(former, in: record.id)) }
    decision.changes += removal.forgotten.map { .forgetFormer($0, in: record.id) }
    decision.changes.append(.removeMember(user, from: record.id, at: context.now))
  }
}

extension [MemberResult] {
  /// The users whose outcome is a success.
  var succeeded: [UserID] { filter { $0.result == .success }.map(\.userID) }
}

extension GetGroupMemberList.Filter {
  /// The rank of the listed roles; nil = all.
  fileprivate var rank: Int? {
    switch self {
    case .all: nil
    case .owner: Role.owner.rank
    case .admin: Role.admin.rank
    case .common: Role.member.rank
    }
  }
}

extension SetGroupMemberInfo {
  /// Whether it sets fields that members may always set of themselves.
  fileprivate var editsMember: Bool { nameCard != nil || customInfo != nil }
}

extension Member {
  /// Changes name card, customInfo and mute as a request gives them.
  /// - Returns: the fields that are different now.
  fileprivate mutating func apply(_ request: SetGroupMemberInfo, at now: WallInstant) throws(WireError) -> MemberChange {
    var change = MemberChange(userID: userID)
    if let wanted = request.nameCard, !wanted.isSame(as: nameCard) {
      nameCard = wanted
      change.nameCard = wanted
    }
    if let given = request.customInfo, !customInfo.mergeCustomInfo(given).isEmpty { change.customInfo = customInfo }
    guard customInfo.count <= MapDomain.memberCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    if let wanted = request.muteUntil { mute(until: wanted, at: now, &change) }
    return change
  }

  /// Mutes the member until an instant, or ends the mute where that is past.
  fileprivate mutating func mute(until wanted: WallInstant, at now: WallInstant, _ change: inout MemberChange) {
    let until = wanted > now ? wanted : .unset
    guard until != (muteUntil > now ? muteUntil : .unset) else { return }
    muteUntil = until
    mutedAt = now
    change.muteTime = until.isSet ? (until.milliseconds(since: now) + 999) / 1000 : 0
  }
}
