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
    let since = request.updatedSince
    if since != nil, record.type.listsNewestMembers {
      throw WireError(.badValue, "Groups of type \(record.type.rawValue) list no changes of members", field: "updatedSince")
    }
    let page = roster.page(rank: request.filter.rank, changedSince: since, after: request.nextSeq, count: request.count)
    var departures: GetGroupMemberList.Departures?
    if let since, request.nextSeq == 0 { departures = roster.departures(since: since, at: turn.wall) }
    return .memberList(listed(page.members, turn), nextSeq: page.nextSeq, departures: departures)
  }

  /// "Individually muted only."
  mutating func mutedMembers(
    _ request: GetGroupMutedMembers, _ turn: borrowing Turn
  ) throws(WireError) -> ShownAnswer {
    try requireMemberVisibility(turn)
    let page = roster.mutedPage(at: turn.wall, after: request.nextSeq, count: request.count)
    return .memberPage(listed(page.members, turn), nextSeq: page.nextSeq)
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
    let checked = try checkedMemberInfo(request, turn)
    let member = checked.member
    var (edited, change) = (checked.edited, checked.change)
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
    if isGrantOrRevoke { changeRoles(of: [RoleTarget(userID: member.userID, role: member.role)], to: role, &turn) }
  }

  /// The checks of setGroupMemberInfo.
  /// - Returns: the member as it is and as it would be, and what would be different, but for the role.
  func checkedMemberInfo(
    _ request: SetGroupMemberInfo, _ turn: borrowing Turn
  ) throws(WireError) -> (member: Member, edited: Member, change: MemberChange) {
    try requireMembership(turn)
    // Rights come first, so that callers without them do not learn here who is a member.
    let isOwn = request.userID == turn.userID
    if !isOwn { for action in request.actions { try require(action, turn) } }
    let member = try requireTarget(request.userID)
    for action in request.actions where !isOwn || action != .editMember { try require(action, on: member, turn) }
    try requireKnown(member.userID, turn)
    if request.muteUntil != nil || request.role ?? .admin != .admin { try requireRoomForMemberNotice() }
    let (edited, change) = try edit(member, by: request, turn)
    return (member, edited, change)
  }

  /// A member as a request makes it, and what is different, but for the role.
  private func edit(
    _ member: Member, by request: SetGroupMemberInfo, _ turn: borrowing Turn
  ) throws(WireError) -> (edited: Member, change: MemberChange) {
    var edited = member
    let change = try edited.apply(request, at: turn.wall)
    guard let words = rules.currentWords(for: turn) else { return (edited, change) }
    var filtered = member
    let difference = try filtered.apply(request.filtered(by: words), at: turn.wall)
    return (filtered, difference)
  }

  /// A member's change of the own name card or customInfo. The others are not told yet.
  /// - Returns: nil = nothing is different.
  mutating func editSelf(_ request: SetGroupMemberInfo, _ turn: inout Turn) throws(WireError) -> MemberChange? {
    let member = try requireMember(turn)
    try requireKnown(member.userID, turn)
    let (edited, change) = try edit(member, by: request, turn)
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
    try requireRoomForMemberNotice()
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

  private func requireKnown(_ user: UserID, _ turn: borrowing Turn) throws(WireError) {
    if !isKnown(user, turn) { throw WireError(.userUnknown, field: "userID") }
  }

  /// A user without a record is about to get one, and must be known where users must be. Who has a
  /// role without being a member was known when it was given.
  private func isKnown(_ user: UserID, _ turn: borrowing Turn) -> Bool {
    roster[user] != nil || roster.former[user]?.role != nil || !turn.facts.unknown.contains(user)
  }

  // MARK: Roles

  /// A user whose role changes, a member or not, with the role until then.
  private struct RoleTarget {
    let userID: UserID
    let role: Role
  }

  /// - Returns: nil where the request gave no list.
  mutating func setRoles(_ request: SetGroupMemberRole, _ turn: inout Turn) throws(WireError) -> [MemberResult]? {
    // Only where any user may be named is a name that nobody can have a row of the answer.
    guard request.refusedNames.isEmpty || record.type.keepsRolesOfAbsent else { throw .noUserID(in: "userIDList") }
    try require(.changeRole, turn)
    switch request.targets {
    case .one(let user):
      guard let role = presentRole(of: user) else {
        throw WireError(.noRight, "userID is not a member", field: "userID")
      }
      try require(.changeRole, on: role, of: user, turn)
      try requireKnown(user, turn)
      if request.role != .admin { try requireRoomForMemberNotice() }
      changeRoles(of: [RoleTarget(userID: user, role: role)], to: request.role, &turn)
      return nil
    case .list(let users):
      let rows = users.map { user in
        let result = outcome(of: .changeRole, on: presentRole(of: user), of: user, turn)
        return MemberResult(userID: user, result: result == .success && !isKnown(user, turn) ? .fail : result)
      }
      if request.role != .admin { try requireRoomForMemberNotice() }
      let targets = rows.succeeded.compactMap { user in presentRole(of: user).map { RoleTarget(userID: user, role: $0) } }
      changeRoles(of: targets, to: request.role, &turn)
      return rows + request.refusedNames.map { MemberResult(refusedName: $0) }
    }
  }

  /// The role of a user who may be given another one; nil = none may. Where roles outlive leaving, any
  /// user may.
  private func presentRole(of user: UserID) -> Role? {
    roster.member(user)?.role ?? (record.type.keepsRolesOfAbsent ? roster.roleOfAbsent(user) : nil)
  }

  /// "Setting the role somebody has changes nothing and sends nothing." One event of each kind names
  /// all who changed.
  private mutating func changeRoles(of targets: [RoleTarget], to role: Role, _ turn: inout Turn) {
    let changed = targets.filter { $0.role != role }
    for target in changed { setRole(of: target.userID, to: role, &turn) }
    guard role != .admin else { return announceAdmins(changed.map(\.userID), are: role, &turn) }
    announceAdmins(changed.filter { $0.role == .admin }.map(\.userID), are: role, &turn)
    announce(changed.filter { $0.role != .admin }.map { MemberChange(userID: $0.userID, role: role) }, &turn)
  }

  private mutating func setRole(of user: UserID, to role: Role, _ turn: inout Turn) {
    guard !roster.isMember(user) else { return updateMember(user, &turn) { $0.role = role } }
    store(roster.setRole(ofAbsent: user, to: role, at: turn.wall), &turn)
  }

  /// onGrantAdministrator to new admins, onRevokeAdministrator to former ones; the application is
  /// told of their roles.
  private mutating func announceAdmins(_ users: [UserID], are role: Role, _ turn: inout Turn) {
    guard !users.isEmpty else { return }
    // A change from before that still waits would be told behind this one.
    for user in users { memberNotices.removeRole(of: user) }
    let isGrant = role == .admin
    // The event tells the new role also of users who have it for the time of their next membership.
    let list = users.map { roster.isMember($0) ? memberInfo(of: $0) : .absent($0, role: role) }
    let tip = appendTips(isGrant ? .setAdmin(list) : .cancelAdmin(list), &turn)
    let by = eventOperator(turn)
    let content: GroupEvent.Content =
      isGrant ? .onGrantAdministrator(list, by: by, tip) : .onRevokeAdministrator(list, by: by, tip)
    announce(content, whenOff: turn.callers + users.filter { roster.isMember($0) }, &turn)
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
    let (member, wasFormer) = roster.add(user, role: role, joinTime: joinTime, at: turn.wall, complete)
    if wasFormer { turn.store(.forgetFormer(user, in: record.id)) }
    turn.perform(.attach(user, receiving: member.receiveOption.delivered))
    return member
  }

  /// Changes and stores a member.
  mutating func updateMember(_ user: UserID, _ turn: inout Turn, _ change: (inout Member) -> Void) {
    let now = turn.now
    let changed = roster.update(user) { member in
      let known = member
      change(&member)
      member.changeTime = now
      if !member.hasSameInfo(as: known) { member.infoTime = now }
    }
    if let changed { turn.store(.putMember(changed, in: record.id, isKnown: true)) }
  }

  /// Removes a member, and stores the record of the former member where one is of use.
  /// - Parameters:
  ///   - hasQuit: the user ends the membership, nobody else does.
  ///   - keepsRole: false = the role ends with the membership also where roles outlive leaving.
  mutating func removeMember(
    _ member: Member, bannedUntil: WallInstant = .unset, banReason: String = "", hasQuit: Bool = false, keepsRole: Bool = true,
    _ turn: inout Turn
  ) {
    let user = member.userID
    let removal = roster.remove(
      user, visibleRange: visibleRange(of: member), bannedUntil: bannedUntil, banReason: banReason, hasQuit: hasQuit,
      keepsRole: keepsRole, at: turn.wall)
    store(removal, &turn)
    turn.store(.removeMember(user, from: record.id, at: turn.now))
    turn.left.append(user)
  }

  private mutating func store(_ removal: Roster.Removal, _ turn: inout Turn) {
    if let former = removal.former { turn.store(.putFormer(former, in: record.id)) }
    for user in removal.forgotten { turn.store(.forgetFormer(user, in: record.id)) }
    // Those who ask who has left are told since when that is known.
    if !removal.forgotten.isEmpty, record.type.storesMessages { turn.store(recordChange()) }
  }

  /// The messages since the beginning of this membership; nil where there are none.
  func visibleRange(of member: Member) -> ClosedRange<Int64>? {
    guard record.type.storesMessages, member.firstVisibleSeq <= messages.lastSeq else { return nil }
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
