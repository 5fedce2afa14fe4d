import GroupModel
import GroupPermissions
import WireProtocol

/// createGroup and the imports from another system (Protocol.md, "Creating a group" and "Imports").
extension GroupState {
  /// The error of creating a group whose ID is in use. It says whether the caller owns that group.
  func idInUseError(for owner: UserID) -> WireError {
    WireError(record.owner == owner ? .groupIDTakenByYourself : .groupIDTaken, field: "groupID")
  }

  /// Decides where there is no group: a creation or an import makes one, all else is 10010.
  /// - Returns: the new group, nil where its creation was only checked, and the decision.
  public static func create(
    _ operation: GroupOperation, id: GroupID, by caller: Caller, at now: ClockReading, rules: GroupRules
  ) throws(WireError) -> (state: GroupState?, decision: Decision) {
    var turn = Turn(of: id, by: caller, now: now.wall, at: now, making: rules.webhooks)
    var state: GroupState?
    switch operation {
    case .create(let request, let owner, let facts):
      turn.facts = facts
      state = try created(request, owner: owner, at: now, rules, &turn)
    case .checkCreation(let request, let owner, let facts):
      turn.facts = facts
      _ = try created(request, owner: owner, at: now, rules, &turn)
      return (nil, Decision())
    case .importGroup(let request, let owner, let facts):
      turn.pass(to: .administrator, facts)
      state = try imported(request, owner: owner, at: now, rules, &turn)
    default: throw WireError(.noSuchGroup)
    }
    return (state, turn.finish())
  }

  private static func created(
    _ request: CreateGroup, owner: UserID, at now: ClockReading, _ rules: GroupRules, _ turn: inout Turn
  ) throws(WireError) -> GroupState {
    let record = try newRecord(request, owner: owner, at: now.wall, rules, turn)
    let rows = initialMemberResults(request, owner: owner, turn)
    if record.type.limitsMembers, rows.count(where: { $0.result == .success || $0.result == .pending }) + 1 > record.maxMemberNum
    {
      throw WireError(.tooManyMembers, field: "memberList")
    }
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    state.addInitialMembers(request, rows: rows, &turn)
    turn.answer(.createdGroup(CreateGroup.Result(groupID: record.id, groupType: request.groupType, memberList: rows)))
    return state
  }

  /// A group as it was in another system, without events.
  private static func imported(
    _ request: ImportGroup, owner: UserID, at now: ClockReading, _ rules: GroupRules, _ turn: inout Turn
  ) throws(WireError) -> GroupState {
    guard request.group.groupType.storesMessages else { throw WireError(.noRight, "This type of group cannot be imported") }
    var record = try newRecord(request.group, owner: owner, at: request.createTime ?? now.wall, rules, turn)
    // Lists with `updatedSince` name the group from now on, however old it is.
    record.changeTime = now.wall
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    state.addFirstMembers([(owner, .owner)], &turn)
    turn.answer(.importedGroup(ImportGroup.Result(groupID: record.id)))
    return state
  }

  // MARK: Checks

  private static func newRecord(
    _ request: CreateGroup, owner: UserID, at createTime: WallInstant, _ rules: GroupRules, _ turn: borrowing Turn
  ) throws(WireError) -> GroupRecord {
    let type = request.groupType
    let principal: Principal = turn.userID == nil ? .administrator : .outsider
    let defaults = GroupPolicy.defaults(for: type)
    if let denial = rules.permissions.denial(of: .create, in: type, policy: defaults, by: principal) {
      let reason = rules.permissions.denialReason(of: .create, in: type, policy: defaults, by: principal)
      throw WireError(denial, reason, in: type)
    }
    try checkServerCustomInfo(request, by: principal, rules: rules)
    try checkInitialRoles(request, turn)
    let policy = try initialPolicy(request, defaults: defaults, by: rules.permissions)
    try checkMemberList(request, by: rules.permissions)
    let maxMemberNum = try initialMaxMemberNum(request, rules: rules)
    let customInfo = (request.fields.customInfo ?? [:]).filter { !$0.value.isEmpty }
    try MapDomain.groupCustomInfo.check(count: customInfo.count, in: "customInfo")
    var texts = request
    if let words = rules.currentWords(for: turn) { texts = try request.filtered(by: words) }
    if turn.facts.unknown.contains(owner) { throw WireError(.userUnknown, field: "ownerUserID") }
    if type.isListed, turn.facts.atGroupLimit.contains(owner) { throw WireError(.tooManyGroups) }
    if type == .avChatRoom, turn.facts.isAtRoomLimit { throw WireError(.tooManyAVChatRooms) }
    var record = GroupRecord(
      id: turn.group, type: type, epoch: RandomID.with64Bits(), createTime: createTime, owner: owner, name: texts.groupName,
      introduction: texts.fields.introduction ?? "", notification: texts.fields.notification ?? "",
      faceURL: request.fields.faceURL ?? "", maxMemberNum: maxMemberNum, customInfo: customInfo, policy: policy)
    record.serverCustomInfo = request.fields.serverCustomInfo ?? ""
    record.departuresSince = turn.wall
    return record
  }

  /// Whether the initial members are asked first: with beInviteMode Auth, which binds no application
  /// administrator. Every type's default is None.
  private static func asksFirst(_ request: CreateGroup, _ turn: borrowing Turn) -> Bool {
    let given = request.fields.policy.last { $0.field == .beInviteMode }?.value
    return given == .word(BeInviteMode.auth.rawValue) && turn.userID != nil
  }

  /// An invitation gives no role but Member.
  private static func checkInitialRoles(_ request: CreateGroup, _ turn: borrowing Turn) throws(WireError) {
    let canAsk = PolicyTable.isSettable(.beInviteMode, in: request.groupType)
    guard canAsk, asksFirst(request, turn), request.memberList.contains(where: { $0.role != .member }) else { return }
    throw WireError(.badValue, "Users who are asked first become Members", field: "memberList")
  }

  private static func checkServerCustomInfo(
    _ request: CreateGroup, by principal: Principal, rules: GroupRules
  ) throws(WireError) {
    guard request.fields.serverCustomInfo != nil else { return }
    let denial = rules.permissions.denial(
      of: .editServerCustomInfo, in: request.groupType, policy: .defaults(for: request.groupType), by: principal)
    if denial != nil { throw WireError(.noRight, "Only for application administrators", field: "serverCustomInfo") }
  }

  /// One row per distinct user: Invalid for the owner, Fail for an unknown user where users must be
  /// known, OverLimit for a user in the maximum number of groups.
  private static func initialMemberResults(
    _ request: CreateGroup, owner: UserID, _ turn: borrowing Turn
  ) -> [MemberResult] {
    let (facts, asksFirst) = (turn.facts, asksFirst(request, turn))
    return request.memberList.map(\.userID).uniqued().map { user in
      if user == owner { return MemberResult(userID: user, result: .invalid) }
      if facts.unknown.contains(user) { return MemberResult(userID: user, result: .fail) }
      if facts.atGroupLimit.contains(user) { return MemberResult(userID: user, result: .overLimit) }
      if asksFirst { return MemberResult(userID: user, result: .pending) }
      return MemberResult(userID: user, result: facts.beyondStrangers.contains(user) ? .overLimit : .success)
    }
  }

  /// Some types have no initial members, or no admins (Protocol.md, "Group types").
  private static func checkMemberList(_ request: CreateGroup, by permissions: GroupPermissions) throws(WireError) {
    guard !request.memberList.isEmpty else { return }
    guard request.groupType.takesInitialMembers else {
      throw WireError(.noRight, "Groups of type \(request.groupType.rawValue) begin with their owner alone", field: "memberList")
    }
    if !permissions.allowsAdmins(in: request.groupType), request.memberList.contains(where: { $0.role == .admin }) {
      throw .noAdmins(in: request.groupType)
    }
  }

  private static func initialPolicy(
    _ request: CreateGroup, defaults: GroupPolicy, by permissions: GroupPermissions
  ) throws(WireError) -> GroupPolicy {
    var policy = defaults
    for change in request.fields.policy { try policy.apply(change, in: request.groupType, by: permissions) }
    return policy
  }

  private static func initialMaxMemberNum(_ request: CreateGroup, rules: GroupRules) throws(WireError) -> Int {
    let cap = rules.limits.maxMemberNum[request.groupType]
    guard let wanted = request.fields.maxMemberNum else { return cap ?? 0 }
    guard let cap else { throw .noMaxMemberNum(in: request.groupType) }
    guard wanted <= cap else { throw WireError(.tooManyMembers, field: "maxMemberNum") }
    return wanted
  }

  // MARK: First members

  /// Adds the owner and the initial members, or invites these, in the order of the list.
  private mutating func addInitialMembers(_ request: CreateGroup, rows: [MemberResult], _ turn: inout Turn) {
    let (owner, platform) = (record.owner, turn.caller.platform)
    let roles = Dictionary(request.memberList.map { ($0.userID, $0.role) }) { first, _ in first }
    let joining = rows.succeeded.map { ($0, roles[$0] ?? .member) }
    addFirstMembers([(owner, .owner)] + joining, &turn)
    let list = joining.map { memberInfo(of: $0.0) }
    let tip = rules.limits.storesCreationTip ? appendTips(.create(list), always: true, &turn) : nil
    turn.send(.onGroupCreated(on: platform, tip), to: [owner] + joining.map(\.0))
    notify(.groupCreated, [owner], by: EventOperator(memberInfo(of: owner), on: platform), &turn)
    let creator = eventOperator(turn)
    turn.post(.groupCreated, .groupCreated(record, memberList: list, by: creator))
    postIfFull(&turn)
    for row in rows where row.result == .pending {
      _ = submitInvitation(of: row.userID, message: request.inviteMessage ?? "", attach: nil, &turn)
    }
  }

  /// Adds and stores the members of a new group, after its record.
  private mutating func addFirstMembers(_ members: [(UserID, Role)], _ turn: inout Turn) {
    let owner = record.owner
    for (user, role) in members {
      let member = addMember(user, role: role, joinTime: record.createTime, &turn) { member in
        member.inviter = role == .owner ? nil : owner
      }
      turn.store(.putMember(member, in: record.id))
    }
    noteGroup(of: members.map(\.0), &turn)
    if record.type.everyoneIsMember { turn.perform(.attachSignedInUsers) }
    turn.decision.changes.insert(recordChange(isNew: true), at: 0)
  }

  // MARK: Importing members

  mutating func importMembers(_ request: ImportGroupMembers, _ turn: inout Turn) throws(WireError) -> [MemberResult] {
    try requireImportable()
    if !rules.permissions.allowsAdmins(in: record.type), request.memberList.contains(where: { $0.role == .admin }) {
      throw .noAdmins(in: record.type)
    }
    return request.memberList.uniqued(by: \.userID).map { given in
      let result = importOutcome(of: given, turn)
      if result == .success { importMember(given, &turn) }
      return MemberResult(userID: given.userID, result: result)
    }
  }

  /// Imports make no events and no tips; 10007 for a type without history.
  private func requireImportable() throws(WireError) {
    guard record.type.storesMessages else { throw WireError(.noRight, "Nothing can be imported into this type of group") }
  }

  private func importOutcome(of given: ImportGroupMembers.ImportedMember, _ turn: borrowing Turn) -> MemberResult.Outcome {
    let user = given.userID
    if roster[user] != nil { return .invalid }
    if given.hasBadValue || roster.isBanned(user, at: turn.wall) || turn.facts.unknown.contains(user) { return .fail }
    return isFull || turn.facts.atGroupLimit.contains(user) ? .overLimit : .success
  }

  /// A member without a given joinTime has been in the group since its creation.
  private mutating func importMember(_ given: ImportGroupMembers.ImportedMember, _ turn: inout Turn) {
    let (createTime, newest, countsUnread) = (record.createTime, messages.lastSeq, record.type.countsUnread)
    let (firstSeq, now, wall) = (turn.facts.firstSeqs[given.userID], turn.now, turn.wall)
    let joinTime = given.joinTime ?? createTime
    let member = addMember(given.userID, role: given.role, joinTime: joinTime, &turn) { member in
      member.firstVisibleSeq = joinTime <= createTime ? 1 : firstSeq ?? newest + 1
      member.unreadSinceSeq = newest
      member.unreadBase = countsUnread ? given.unreadCount : 0
      member.nameCard = given.nameCard
      member.customInfo = given.customInfo
      if let wanted = given.muteUntil {
        member.muteUntil = wanted > wall ? wanted : .unset
        member.mutedAt = wall
      }
      (member.changeTime, member.infoTime) = (now, now)
    }
    turn.store(.putMember(member, in: record.id))
    noteGroup(of: [given.userID], &turn)
  }

  // MARK: Importing messages

  mutating func importMessages(
    _ request: ImportGroupMessages, _ turn: inout Turn
  ) throws(WireError) -> [ImportGroupMessages.Row] {
    try requireImportable()
    guard messages.lastSeq == record.importedThroughSeq else {
      throw WireError(.noRight, "The group has messages of its own")
    }
    let new = request.messageList.filter { importedSeq(of: $0, turn) == nil }
    if let first = new.first, first.timestamp < messages.newestTime {
      throw WireError(.badValue, "Older than a message that was imported before", field: "messageList")
    }
    let firstSeq = messages.lastSeq + 1
    let seqs = request.messageList.map { importedSeq(of: $0, turn) ?? importMessage($0, &turn) }
    if !new.isEmpty {
      // A sender need never have been a member.
      noteGroup(of: Set(new.map(\.sender)).filter { $0 != .administrator }.sorted(), &turn)
      hideMessagesFromBeforeJoining(firstSeq: firstSeq, &turn)
      record.importedThroughSeq = messages.lastSeq
      record.changeTime = turn.now
      turn.store(recordChange())
    }
    return seqs.map { ImportGroupMessages.Row(seq: $0, code: 0) }
  }

  /// The `seq` of a message that was imported a moment ago: a caller who lost the answer repeats
  /// the batch.
  private func importedSeq(of given: ImportGroupMessages.ImportedMessage, _ turn: borrowing Turn) -> Int64? {
    messages.receipt(of: given.clientMsgID, from: given.sender, at: turn.monotonic)?.seq
  }

  private mutating func importMessage(_ given: ImportGroupMessages.ImportedMessage, _ turn: inout Turn) -> Int64 {
    let seq = messages.lastSeq + 1
    let sender = roster[given.sender]
    var message = Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: given.sender,
      nameCard: sender?.nameCard ?? "",
      timestamp: given.timestamp, content: given.content, priority: .normal, clientMsgID: given.clientMsgID,
      platform: .restAPI, isFromManager: sender?.role.isManager ?? false)
    message.extras = MessageExtras(extension: given.extension)
    messages.recordReceipt(of: message, .stored, at: turn.monotonic)
    messages.append(message)
    turn.store(.append(message))
    return seq
  }

  /// "History from before joining: no": members do not see imported messages older than their
  /// joining. In other groups the same is noted: what is visible there is decided when it is read.
  private mutating func hideMessagesFromBeforeJoining(firstSeq: Int64, _ turn: inout Turn) {
    let times = turn.decision.changes.compactMap { if case .append(let message) = $0 { message.timestamp } else { nil } }
    for member in roster.all where member.joinTime > record.createTime {
      let older = times.prefix { $0 < member.joinTime }.count
      let visible = firstSeq + Int64(older)
      guard older > 0, member.firstVisibleSeq < visible,
        let changed = roster.update(member.userID, { $0.firstVisibleSeq = visible })
      else { continue }
      turn.store(.putMember(changed, in: record.id, isKnown: true))
    }
  }
}
