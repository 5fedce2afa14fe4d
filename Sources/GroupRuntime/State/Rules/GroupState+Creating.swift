import GroupModel
import GroupPermissions
import WireProtocol

/// createGroup and the imports from another system (Protocol.md, "Creating a group" and "Imports").
extension GroupState {
  /// The error of creating a group whose ID is in use. It says whether the caller owns that group.
  func idInUseError(for owner: UserID) -> WireError {
    WireError(record.owner == owner ? .groupIDTakenByYourself : .groupIDTaken, field: "groupID")
  }

  /// A new group, and the decision to create it.
  public static func create(
    _ request: CreateGroup, id: GroupID, owner: UserID, _ facts: UserFacts, by caller: Caller, at now: ClockReading,
    rules: GroupRules
  ) throws(WireError) -> (GroupState, Decision) {
    let record = try newRecord(request, id: id, owner: owner, facts, by: caller, at: now.wall, rules: rules)
    let rows = initialMemberResults(request, owner: owner, facts, asksFirst: asksFirst(request, by: caller))
    if record.type.limitsMembers, rows.count(where: { $0.result == .success || $0.result == .pending }) + 1 > record.maxMemberNum
    {
      throw WireError(.tooManyMembers, field: "memberList")
    }
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    let decision = state.addInitialMembers(request, rows: rows, by: caller, at: now)
    return (state, decision)
  }

  /// A group as it was in another system, without events.
  public static func imported(
    _ request: ImportGroup, id: GroupID, owner: UserID, _ facts: UserFacts, at now: ClockReading, rules: GroupRules
  ) throws(WireError) -> (GroupState, Decision) {
    guard request.group.groupType.storesMessages else { throw WireError(.noRight, "This type of group cannot be imported") }
    let createTime = request.createTime ?? now.wall
    var record = try newRecord(
      request.group, id: id, owner: owner, facts, by: .administrator, at: createTime, rules: rules)
    // Lists with `updatedSince` name the group from now on, however old it is.
    record.changeTime = now.wall
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    var decision = Decision(.importedGroup(ImportGroup.Result(groupID: id)))
    state.addFirstMembers([(owner, .owner)], into: &decision)
    return (state, decision)
  }

  // MARK: Checks

  private static func newRecord(
    _ request: CreateGroup, id: GroupID, owner: UserID, _ facts: UserFacts, by caller: Caller, at now: WallInstant,
    rules: GroupRules
  ) throws(WireError) -> GroupRecord {
    let type = request.groupType
    let principal: Principal = caller.userID == nil ? .administrator : .outsider
    let defaults = GroupPolicy.defaults(for: type)
    if let denial = rules.permissions.denial(of: .create, in: type, policy: defaults, by: principal) {
      let reason = rules.permissions.denialReason(of: .create, in: type, policy: defaults, by: principal)
      throw WireError(denial, reason, in: type)
    }
    try checkServerCustomInfo(request, by: principal, rules: rules)
    try checkInitialRoles(request, by: caller)
    let policy = try initialPolicy(request, defaults: defaults)
    try checkMemberList(request, by: rules.permissions)
    let maxMemberNum = try initialMaxMemberNum(request, rules: rules)
    let customInfo = (request.fields.customInfo ?? [:]).filter { !$0.value.isEmpty }
    guard customInfo.count <= MapDomain.groupCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    if facts.unknown.contains(owner) { throw WireError(.userUnknown, field: "ownerUserID") }
    if type.isListed, facts.atGroupLimit.contains(owner) { throw WireError(.tooManyGroups) }
    if type == .avChatRoom, facts.isAtRoomLimit { throw WireError(.tooManyAVChatRooms) }
    var record = GroupRecord(
      id: id, type: type, epoch: makeEpoch(), createTime: now, owner: owner, name: request.groupName,
      introduction: request.fields.introduction ?? "", notification: request.fields.notification ?? "",
      faceURL: request.fields.faceURL ?? "", maxMemberNum: maxMemberNum, customInfo: customInfo, policy: policy)
    record.serverCustomInfo = request.fields.serverCustomInfo ?? ""
    return record
  }

  private static func makeEpoch() -> String { RandomID.with64Bits() }

  /// Whether the initial members are asked first: with beInviteMode Auth, which binds no application
  /// administrator. Every type's default is None.
  private static func asksFirst(_ request: CreateGroup, by caller: Caller) -> Bool {
    let given = request.fields.policy.last { $0.field == .beInviteMode }?.value
    return given == .word(BeInviteMode.auth.rawValue) && caller.userID != nil
  }

  /// An invitation gives no role but Member.
  private static func checkInitialRoles(_ request: CreateGroup, by caller: Caller) throws(WireError) {
    let canAsk = PolicyTable.isSettable(.beInviteMode, in: request.groupType)
    guard canAsk, asksFirst(request, by: caller), request.memberList.contains(where: { $0.role != .member }) else { return }
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
    _ request: CreateGroup, owner: UserID, _ facts: UserFacts, asksFirst: Bool
  ) -> [MemberResult] {
    var seen: Set<UserID> = []
    return request.memberList.map(\.userID).filter { seen.insert($0).inserted }.map { user in
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

  private static func initialPolicy(_ request: CreateGroup, defaults: GroupPolicy) throws(WireError) -> GroupPolicy {
    var policy = defaults
    for change in request.fields.policy { try policy.apply(change, in: request.groupType) }
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
  private mutating func addInitialMembers(
    _ request: CreateGroup, rows: [MemberResult], by caller: Caller, at now: ClockReading
  ) -> Decision {
    var decision = Decision(
      .createdGroup(CreateGroup.Result(groupID: record.id, groupType: request.groupType, memberList: rows)))
    let roles = Dictionary(request.memberList.map { ($0.userID, $0.role) }) { first, _ in first }
    let joining = rows.filter { $0.result == .success }.map { ($0.userID, roles[$0.userID] ?? .member) }
    addFirstMembers([(record.owner, .owner)] + joining, into: &decision)
    let context = self.makeContext(at: now, usersSignedIn: 0)
    decision.effects.append(
      .send(event(.onGroupCreated(on: caller.platform), in: context), to: [record.owner] + joining.map(\.0)))
    let owner = EventOperator(memberInfo(of: record.owner), on: caller.platform)
    notify(.groupCreated, [record.owner], by: owner, in: context, into: &decision)
    post(
      .groupCreated,
      .groupCreated(record, memberList: joining.map { memberInfo(of: $0.0) }, by: eventOperator(caller)),
      at: context.now, into: &decision)
    postIfFull(at: context.now, into: &decision)
    for row in rows where row.result == .pending {
      _ = submitInvitation(
        of: row.userID, message: request.inviteMessage ?? "", attach: nil, by: caller, in: context, into: &decision)
    }
    return decision
  }

  /// Adds and stores the members of a new group, after its record.
  private mutating func addFirstMembers(_ members: [(UserID, Role)], into decision: inout Decision) {
    let owner = record.owner
    for (user, role) in members {
      let member = addMember(user, role: role, joinTime: record.createTime, into: &decision) { member in
        member.inviter = role == .owner ? nil : owner
      }
      decision.changes.append(.putMember(member, in: record.id))
    }
    if record.type.everyoneIsMember { decision.effects.append(.attachSignedInUsers) }
    decision.changes.insert(recordChange(isNew: true), at: 0)
  }

  // MARK: Importing members

  mutating func importMembers(
    _ request: ImportGroupMembers, firstSeqs: [UserID: Int64], _ facts: UserFacts, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireImportable()
    if !rules.permissions.allowsAdmins(in: record.type), request.memberList.contains(where: { $0.role == .admin }) {
      throw .noAdmins(in: record.type)
    }
    var decision = Decision(.empty)
    var rows: [MemberResult] = []
    var seen: Set<UserID> = []
    for given in request.memberList where seen.insert(given.userID).inserted {
      let result = importOutcome(of: given.userID, facts, in: context)
      rows.append(MemberResult(userID: given.userID, result: result))
      if result == .success { importMember(given, firstSeq: firstSeqs[given.userID], in: context, into: &decision) }
    }
    decision.answer = .reply(.success(.memberResults(MemberResults(memberList: rows))))
    return decision
  }

  /// Imports make no events and no tips; 10007 for a type without history.
  private func requireImportable() throws(WireError) {
    guard record.type.storesMessages else { throw WireError(.noRight, "Nothing can be imported into this type of group") }
  }

  private func importOutcome(of user: UserID, _ facts: UserFacts, in context: DecisionContext) -> MemberResult.Outcome {
    if roster[user] != nil { return .invalid }
    if roster.isBanned(user, at: context.wall) || facts.unknown.contains(user) { return .fail }
    return isFull || facts.atGroupLimit.contains(user) ? .overLimit : .success
  }

  /// A member without a given joinTime has been in the group since its creation.
  private mutating func importMember(
    _ given: ImportGroupMembers.ImportedMember, firstSeq: Int64?, in context: DecisionContext, into decision: inout Decision
  ) {
    let (createTime, newest, countsUnread) = (record.createTime, messages.lastSeq, record.type.countsUnread)
    let joinTime = given.joinTime ?? createTime
    let member = addMember(given.userID, role: given.role, joinTime: joinTime, into: &decision) { member in
      member.firstVisibleSeq = joinTime <= createTime ? 1 : firstSeq ?? newest + 1
      member.unreadSinceSeq = newest
      member.unreadBase = countsUnread ? given.unreadCount : 0
      member.changeTime = context.now
    }
    decision.changes.append(.putMember(member, in: record.id))
  }

  // MARK: Importing messages

  mutating func importMessages(_ request: ImportGroupMessages, in context: DecisionContext) throws(WireError) -> Decision {
    try requireImportable()
    guard messages.lastSeq == record.importedThroughSeq else {
      throw WireError(.noRight, "The group has messages of its own")
    }
    let new = request.messageList.filter { importedSeq(of: $0, in: context) == nil }
    if let first = new.first, first.timestamp < messages.lastTime {
      throw WireError(.badValue, "Older than a message that was imported before", field: "messageList")
    }
    var decision = Decision(.empty)
    let firstSeq = messages.lastSeq + 1
    let seqs = request.messageList.map { importedSeq(of: $0, in: context) ?? importMessage($0, in: context, into: &decision) }
    if !decision.changes.isEmpty {
      hideMessagesFromBeforeJoining(firstSeq: firstSeq, in: &decision)
      record.importedThroughSeq = messages.lastSeq
      record.changeTime = context.now
      decision.changes.append(recordChange())
    }
    let rows = seqs.map { ImportGroupMessages.Row(seq: $0, code: 0) }
    decision.answer = .reply(.success(.importedMessages(ImportGroupMessages.Result(resultList: rows))))
    return decision
  }

  /// The `seq` of a message that was imported a moment ago: a caller who lost the answer repeats
  /// the batch.
  private func importedSeq(of given: ImportGroupMessages.ImportedMessage, in context: DecisionContext) -> Int64? {
    messages.receipt(of: given.clientMsgID, from: given.sender, at: context.monotonic)?.seq
  }

  private mutating func importMessage(
    _ given: ImportGroupMessages.ImportedMessage, in context: DecisionContext, into decision: inout Decision
  ) -> Int64 {
    let seq = messages.lastSeq + 1
    let sender = roster[given.sender]
    let message = Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: given.sender,
      nameCard: sender?.nameCard ?? "",
      timestamp: given.timestamp, content: given.content, priority: .normal, clientMsgID: given.clientMsgID,
      platform: .restAPI, isFromManager: sender?.role.isManager ?? false)
    messages.recordReceipt(of: message, .stored, at: context.monotonic)
    messages.append(message)
    decision.changes.append(.append(message))
    return seq
  }

  /// "History from before joining: no": members do not see imported messages older than their
  /// joining.
  private mutating func hideMessagesFromBeforeJoining(firstSeq: Int64, in decision: inout Decision) {
    guard !record.type.showsHistoryFromBeforeJoining else { return }
    let times = decision.changes.compactMap { if case .append(let message) = $0 { message.timestamp } else { nil } }
    for member in roster.all where member.joinTime > record.createTime {
      let older = times.prefix { $0 < member.joinTime }.count
      let visible = firstSeq + Int64(older)
      guard older > 0, member.firstVisibleSeq < visible,
        let changed = roster.update(member.userID, { $0.firstVisibleSeq = visible })
      else { continue }
      decision.changes.append(.putMember(changed, in: record.id))
    }
  }
}
