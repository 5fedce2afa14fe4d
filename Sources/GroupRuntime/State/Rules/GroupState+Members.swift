import GroupModel
import GroupPermissions
import WireProtocol

/// The lists of members, and the changes of one member's info, mute and role (Protocol.md, "Member
/// lists", "Member info", "Member mute" and "Role changes").
extension GroupState {
  // MARK: Lists

  mutating func memberList(
    _ request: GetGroupMemberList, _ turn: borrowing Turn
  ) throws(WireError) -> ShownAnswer {
    try requireMemberVisibility(turn)
    return listed(roster.page(rank: request.filter.rank, after: request.nextSeq, count: request.count), turn)
  }

  /// "Individually muted only."
  mutating func mutedMembers(
    _ request: GetGroupMutedMembers, _ turn: borrowing Turn
  ) throws(WireError) -> ShownAnswer {
    try requireMemberVisibility(turn)
    return listed(roster.mutedPage(at: turn.wall, after: request.nextSeq, count: request.count), turn)
  }

  private func listed(_ page: MemberOrder.Page, _ turn: borrowing Turn) -> ShownAnswer {
    .memberList(listed(page.members, turn), nextSeq: page.nextSeq)
  }

  private func listed(_ members: [Member], _ turn: borrowing Turn) -> [ListedMember] {
    let (now, reader) = (turn.wall, turn.userID)
    return members.map { member in
      ListedMember(member.current(at: now), isOnline: roster.isOnline(member.userID), isReader: member.userID == reader)
    }
  }

  /// A row for each user, with the inviter where there was one.
  func inviters(of users: [UserID], _ turn: borrowing Turn) throws(WireError) -> [GetGroupMemberInviters.Row] {
    try requireMemberVisibility(of: users, turn)
    return users.map { GetGroupMemberInviters.Row(userID: $0, inviter: roster[$0]?.inviter) }
  }

  /// A row for each user. Every user has a role in a BChatRoom.
  func roles(of users: [UserID], _ turn: borrowing Turn) throws(WireError) -> [GetGroupMemberRoles.Row] {
    if record.type.everyoneIsMember { try requireMembership(turn) } else { try requireMemberVisibility(of: users, turn) }
    return users.map { GetGroupMemberRoles.Row(userID: $0, role: memberInfo(of: $0).role) }
  }

  func members(_ users: [UserID], _ turn: borrowing Turn) throws(WireError) -> ShownAnswer {
    try requireMemberVisibility(of: users, turn)
    return .membersInfo(listed(users.compactMap { roster[$0] }, turn))
  }

  func onlineMemberCount(_ turn: borrowing Turn) throws(WireError) -> Int {
    try requireMembership(turn)
    return roster.onlineCount(usersSignedIn: turn.usersSignedIn)
  }

  /// "With isMemberVisible false only managers may list or read other members"; a BChatRoom has no
  /// list.
  /// - Parameter users: the members to be read; nil = all.
  private func requireMemberVisibility(of users: [UserID]? = nil, _ turn: borrowing Turn) throws(WireError) {
    try requireMembership(turn)
    guard !record.type.everyoneIsMember else { throw WireError(.noRight, "A BChatRoom has no list of members") }
    guard !record.policy.isMemberVisible, case .member(let role) = principal(of: turn.caller), !role.isManager else { return }
    let reader = turn.userID
    if let users, users.allSatisfy({ $0 == reader }) { return }
    throw WireError(.noRight, "Only managers see the members of this group")
  }

  // MARK: Member info and mute

  /// "Each field under the rule of its own method", all of them or none.
  mutating func setMemberInfo(_ request: SetGroupMemberInfo, _ turn: inout Turn) throws(WireError) {
    try requireMembership(turn)
    // Rights come first, so that callers without them do not learn here who is a member.
    let isOwn = request.userID == turn.userID
    if !isOwn { for action in request.actions { try require(action, turn) } }
    let member = try requireTarget(request.userID)
    for action in request.actions where !isOwn || action != .editMember { try require(action, on: member, turn) }
    try requireKnown(member, turn)

    var edited = member
    var change = try edited.apply(request, at: turn.wall)
    let role = request.role ?? member.role
    let isGrantOrRevoke = role == .admin || member.role == .admin
    if role != member.role, !isGrantOrRevoke {
      edited.role = role
      change.role = role
    }
    if !change.isEmpty {
      updateMember(member.userID, &turn) { $0 = edited }
      announce([change], &turn)
    }
    if isGrantOrRevoke { changeRoles(of: [edited], to: role, &turn) }
  }

  /// A member's change of the own name card or customInfo. The others are not told yet.
  /// - Returns: nil = nothing is different.
  mutating func editSelf(_ request: SetGroupMemberInfo, _ turn: inout Turn) throws(WireError) -> MemberChange? {
    var edited = try requireMember(turn)
    try requireKnown(edited, turn)
    let change = try edited.apply(request, at: turn.wall)
    if change.isEmpty { return nil }
    updateMember(edited.userID, &turn) { $0 = edited }
    return change
  }

  mutating func muteMembers(_ request: MuteGroupMember, _ turn: inout Turn) throws(WireError) -> MuteGroupMember.Result {
    try require(.muteMember, turn)
    let until = request.muteTime == 0 ? .unset : turn.wall + .seconds(request.muteTime)
    let targets: [UserID]
    var rows: [MemberResult]?
    switch request.targets {
    case .one(let user):
      try require(.muteMember, on: try requireTarget(user), turn)
      targets = [user]
    case .list(let users):
      let outcomes = outcomes(of: .muteMember, on: users, turn)
      targets = outcomes.succeeded
      rows = outcomes
    }
    var changes: [MemberChange] = []
    for user in targets {
      guard var edited = roster.member(user) else { continue }
      var change = MemberChange(userID: user)
      edited.mute(until: until, at: turn.wall, &change)
      if change.isEmpty { continue }
      updateMember(user, &turn) { $0 = edited }
      changes.append(change)
    }
    announce(changes, &turn)
    return MuteGroupMember.Result(muteUntil: until, memberList: rows)
  }

  private func requireKnown(_ member: Member, _ turn: borrowing Turn) throws(WireError) {
    if !isKnown(member.userID, turn) { throw WireError(.userUnknown, field: "userID") }
  }

  /// A user without a record is about to get one, and must be known where users must be.
  private func isKnown(_ user: UserID, _ turn: borrowing Turn) -> Bool {
    roster[user] != nil || !turn.facts.unknown.contains(user)
  }

  /// onGroupMemberInfoChanged: "all members, the one concerned included; off, and AVChatRoom: the
  /// one concerned and the operator". One event names all who changed.
  mutating func announce(_ changes: [MemberChange], _ turn: inout Turn) {
    guard !changes.isEmpty else { return }
    let tip = appendTips(.memberInfoChange(changes), &turn)
    let content = GroupEvent.Content.onGroupMemberInfoChanged(changes, by: eventOperator(turn), tip)
    let concerned = (changes.map(\.userID) + turn.callers).uniqued()
    if record.type.announcesMemberInfo {
      announce(content, whenOff: concerned, &turn)
    } else {
      turn.send(content, to: concerned)
    }
    let event = turn.event(content)
    turn.post(.memberInfoChanged, .event(event))
  }

  // MARK: Roles

  /// - Returns: nil where the request gave no list.
  mutating func setRoles(_ request: SetGroupMemberRole, _ turn: inout Turn) throws(WireError) -> [MemberResult]? {
    try require(.changeRole, turn)
    switch request.targets {
    case .one(let user):
      let member = try requireTarget(user)
      try require(.changeRole, on: member, turn)
      try requireKnown(member, turn)
      changeRoles(of: [member], to: request.role, &turn)
      return nil
    case .list(let users):
      var rows = outcomes(of: .changeRole, on: users, turn)
      for (index, row) in rows.enumerated() where row.result == .success && !isKnown(row.userID, turn) {
        rows[index] = MemberResult(userID: row.userID, result: .fail)
      }
      changeRoles(of: rows.succeeded.compactMap { roster.member($0) }, to: request.role, &turn)
      return rows
    }
  }

  /// "Setting the role somebody has changes nothing and sends nothing." One event of each kind names
  /// all who changed.
  private mutating func changeRoles(of members: [Member], to role: Role, _ turn: inout Turn) {
    let changed = members.filter { $0.role != role }
    for member in changed { updateMember(member.userID, &turn) { $0.role = role } }
    guard role != .admin else { return announceAdmins(changed.map(\.userID), are: role, &turn) }
    announceAdmins(changed.filter { $0.role == .admin }.map(\.userID), are: role, &turn)
    announce(changed.filter { $0.role != .admin }.map { MemberChange(userID: $0.userID, role: role) }, &turn)
  }

  /// onGrantAdministrator to new admins, onRevokeAdministrator to former ones; the application is
  /// told of their roles.
  private mutating func announceAdmins(_ users: [UserID], are role: Role, _ turn: inout Turn) {
    guard !users.isEmpty else { return }
    let isGrant = role == .admin
    let list = users.map { memberInfo(of: $0) }
    let tip = appendTips(isGrant ? .setAdmin(list) : .cancelAdmin(list), &turn)
    let by = eventOperator(turn)
    let content: GroupEvent.Content =
      isGrant ? .onGrantAdministrator(list, by: by, tip) : .onRevokeAdministrator(list, by: by, tip)
    announce(content, whenOff: turn.callers + users, &turn)
    notify(isGrant ? .grantAdmin : .cancelAdmin, users, &turn)
    let event = turn.event(.onGroupMemberInfoChanged(users.map { MemberChange(userID: $0, role: role) }, by: by, tip))
    turn.post(.memberInfoChanged, .event(event))
  }

  // MARK: Changing the roster

  /// Adds a member to the roster, and attaches the user's sessions. The caller stores the member.
  @discardableResult
  mutating func addMember(
    _ user: UserID, role: Role, joinTime: WallInstant, _ turn: inout Turn, _ complete: (inout Member) -> Void
  ) -> Member {
    let (member, wasFormer) = roster.add(user, role: role, joinTime: joinTime, complete)
    if wasFormer { turn.store(.forgetFormer(user, in: record.id)) }
    turn.perform(.attach(user, receiving: member.receiveOption))
    return member
  }

  /// Changes and stores a member.
  mutating func updateMember(_ user: UserID, _ turn: inout Turn, _ change: (inout Member) -> Void) {
    let now = turn.now
    let changed = roster.update(user) { member in
      change(&member)
      member.changeTime = now
    }
    if let changed { turn.store(.putMember(changed, in: record.id, isKnown: true)) }
  }

  /// Removes a member, and stores the record of the former member where one is of use.
  /// - Parameter hasQuit: the user ends the membership, nobody else does.
  mutating func removeMember(
    _ member: Member, bannedUntil: WallInstant = .unset, banReason: String = "", hasQuit: Bool = false, _ turn: inout Turn
  ) {
    let user = member.userID
    let removal = roster.remove(
      user, visibleRange: visibleRange(of: member), bannedUntil: bannedUntil, banReason: banReason, hasQuit: hasQuit,
      at: turn.wall)
    if let former = removal.former { turn.store(.putFormer(former, in: record.id)) }
    for user in removal.forgotten { turn.store(.forgetFormer(user, in: record.id)) }
    turn.store(.removeMember(user, from: record.id, at: turn.now))
  }

  /// The messages that this membership has shown; nil where there are none, or the type hides
  /// nothing.
  func visibleRange(of member: Member) -> ClosedRange<Int64>? {
    guard record.type.storesMessages, !record.type.showsHistoryFromBeforeJoining, member.firstVisibleSeq <= messages.lastSeq
    else { return nil }
    return member.firstVisibleSeq...messages.lastSeq
  }
}

extension MemberChange {
  fileprivate init(userID: UserID, role: Role) {
    self.init(userID: userID)
    self.role = role
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
  /// The rows of the table of rights that apply. Members may always set their own name card and customInfo.
  fileprivate var actions: [GroupAction] {
    (nameCard != nil || customInfo != nil ? [.editMember] : []) + (role != nil ? [.changeRole] : [])
      + (muteUntil != nil ? [.muteMember] : [])
  }
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
    try MapDomain.memberCustomInfo.check(count: customInfo.count, in: "customInfo")
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
