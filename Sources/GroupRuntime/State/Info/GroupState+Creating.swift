import GroupModel
import GroupPermissions
import WireProtocol

/// createGroup (Protocol.md, "Creating a group").
extension GroupState {
  /// The error of creating a group whose ID is in use: it says whether the caller owns the one there is.
  func taken(byOwner owner: UserID) -> WireError {
    WireError(record.owner == owner ? .groupIDTakenByYourself : .groupIDTaken, field: "groupID")
  }

  /// A new group, and what comes of making it.
  public static func create(
    _ request: CreateGroup, id: GroupID, owner: UserID, _ facts: UserFacts, by caller: Caller, at now: Instant,
    rules: GroupRules
  ) throws(WireError) -> (GroupState, Decision) {
    let record = try newRecord(request, id: id, owner: owner, facts, by: caller, at: now, rules: rules)
    let rows = results(request, owner: owner, facts)
    if record.type.limitsMembers, rows.count(where: { $0.result == .success }) + 1 > record.maxMemberNum {
      throw WireError(.tooManyMembers, field: "memberList")
    }
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    let decision = state.begin(with: request, rows: rows)
    return (state, decision)
  }

  /// A group as it was in another system, without events (Protocol.md, "Imports").
  public static func imported(
    _ request: ImportGroup, id: GroupID, owner: UserID, _ facts: UserFacts, at now: Instant, rules: GroupRules
  ) throws(WireError) -> (GroupState, Decision) {
    guard request.group.groupType.storesMessages else { throw WireError(.noRight, "This type of group cannot be imported") }
    let createTime = request.createTime ?? now
    var record = try newRecord(
      request.group, id: id, owner: owner, facts, by: .administrator, at: createTime, rules: rules)
    // Lists that ask what is new since an instant find it, however old it is.
    record.changeTime = now
    var state = GroupState(StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: []), at: now, rules: rules)
    var decision = Decision(.importedGroup(ImportGroup.Result(groupID: id)))
    state.seat([(owner, .owner)], into: &decision)
    return (state, decision)
  }

  private static func newRecord(
    _ request: CreateGroup, id: GroupID, owner: UserID, _ facts: UserFacts, by caller: Caller, at now: Instant,
    rules: GroupRules
  ) throws(WireError) -> GroupRecord {
    let type = request.groupType
    let principal: Principal = caller.userID == nil ? .administrator : .outsider
    let defaults = GroupPolicy.defaults(for: type)
    if let denial = rules.permissions.denial(of: .create, in: type, policy: defaults, by: principal) { throw WireError(denial) }
    let policy = try initialPolicy(request, defaults: defaults)
    try checkMemberList(request, by: rules.permissions)
    let maxMemberNum = try initialMaxMemberNum(request, rules: rules)
    let customInfo = (request.fields.customInfo ?? [:]).filter { !$0.value.isEmpty }
    guard customInfo.count <= MapDomain.groupCustomInfo.entries else { throw WireError(.badValue, field: "customInfo") }
    if facts.unknown.contains(owner) { throw WireError(.userUnknown, field: "ownerUserID") }
    if type.isListed, facts.atGroupLimit.contains(owner) { throw WireError(.tooManyGroups) }
    if type == .avChatRoom, facts.isAtRoomLimit { throw WireError(.tooManyAVChatRooms) }
    return GroupRecord(
      id: id, type: type, epoch: makeEpoch(), createTime: now, owner: owner, name: request.groupName,
      introduction: request.fields.introduction ?? "", notification: request.fields.notification ?? "",
      faceURL: request.fields.faceURL ?? "", maxMemberNum: maxMemberNum, customInfo: customInfo, policy: policy)
  }

  /// Brings in the owner and the initial members, in the order of the list.
  private mutating func begin(with request: CreateGroup, rows: [MemberResult]) -> Decision {
    var decision = Decision(
      .createdGroup(CreateGroup.Result(groupID: record.id, groupType: request.groupType, memberList: rows)))
    let roles = Dictionary(request.memberList.map { ($0.userID, $0.role) }) { first, _ in first }
    let joining = rows.filter { $0.result == .success }.map { ($0.userID, roles[$0.userID] ?? .member) }
    seat([(record.owner, .owner)] + joining, into: &decision)
    let context = self.makeContext(at: record.createTime, usersSignedIn: 0)
    decision.effects.append(.send(event(.onGroupCreated, in: context), to: [record.owner] + joining.map(\.0)))
    notify(.groupCreated, [record.owner], by: person(record.owner), in: context, into: &decision)
    return decision
  }

  /// The first members of a group that is new with this.
  private mutating func seat(_ seats: [(UserID, Role)], into decision: inout Decision) {
    for (user, role) in seats {
      var member = newMember(user, role: role, at: record.createTime)
      member.inviter = role == .owner ? nil : record.owner
      put(member)
      decision.changes.append(.putMember(member, in: record.id))
      decision.effects.append(.admit(user, receiving: member.receiveOption))
    }
    if record.type.everyoneIsMember { decision.effects.append(.admitEverybody) }
    decision.changes.insert(.putGroup(record, isNew: true), at: 0)
  }

  /// Somebody who comes now. The next ordinal is taken.
  mutating func newMember(_ user: UserID, role: Role, at now: Instant) -> Member {
    defer { record.nextOrdinal += 1 }
    return Member(
      userID: user, role: role, joinTime: now, ordinal: record.nextOrdinal, receiveOption: record.type.defaultReceiveOption)
  }

  /// One row per distinct user; the creator is Invalid, a user that must be known and is not is Fail, one who is in as many groups as one may
  /// be is OverLimit.
  private static func results(_ request: CreateGroup, owner: UserID, _ facts: UserFacts) -> [MemberResult] {
    var seen: Set<UserID> = []
    return request.memberList.map(\.userID).filter { seen.insert($0).inserted }.map { user in
      if user == owner { return MemberResult(userID: user, result: .invalid) }
      if facts.unknown.contains(user) { return MemberResult(userID: user, result: .fail) }
      return MemberResult(userID: user, result: facts.atGroupLimit.contains(user) ? .overLimit : .success)
    }
  }

  /// Some types take no members at creation, or no admins (Protocol.md, "Group types").
  private static func checkMemberList(_ request: CreateGroup, by permissions: GroupPermissions) throws(WireError) {
    guard !request.memberList.isEmpty else { return }
    guard request.groupType.takesInitialMembers else { throw WireError(.noRight, field: "memberList") }
    if !permissions.allowsAdmins(in: request.groupType), request.memberList.contains(where: { $0.role == .admin }) {
      throw WireError(.noRight, field: "memberList")
    }
  }

  private static func initialPolicy(_ request: CreateGroup, defaults: GroupPolicy) throws(WireError) -> GroupPolicy {
    var policy = defaults
    for change in request.fields.policy { try apply(change, to: &policy, of: request.groupType) }
    return policy
  }

  /// "A fixed field may be set to the value it has; another is 10007."
  static func apply(_ change: PolicyChange, to policy: inout GroupPolicy, of type: GroupType) throws(WireError) {
    if PolicyTable.denial(ofSetting: change.field, to: change.value, in: type) != nil {
      throw WireError(.noRight, field: change.field.rawValue)
    }
    guard policy.set(change.field, to: change.value) else { throw WireError(.badValue, field: change.field.rawValue) }
  }

  private static func initialMaxMemberNum(_ request: CreateGroup, rules: GroupRules) throws(WireError) -> Int {
    let cap = rules.limits.maxMemberNum[request.groupType]
    guard let wanted = request.fields.maxMemberNum else { return cap ?? 0 }
    guard let cap else { throw WireError(.noRight, field: "maxMemberNum") }
    guard wanted <= cap else { throw WireError(.tooManyMembers, field: "maxMemberNum") }
    return wanted
  }

  private static func makeEpoch() -> String { RandomID.with64Bits() }
}
