import GroupModel
import GroupPermissions
import WireProtocol

/// Who the caller is in this group, and what the table says to what the caller wants.
extension GroupState {
  /// The caller as the table of rights knows it.
  func principal(of caller: Caller) -> Principal {
    guard let user = caller.userID else { return .administrator }
    if let member = members[user] { return .member(member.role) }
    return record.type.everyoneIsMember ? .member(.member) : .outsider
  }

  /// Membership comes before rights (Protocol.md, "Order of errors"); an administrator needs none.
  func requireMembership(_ caller: Caller) throws(WireError) {
    if principal(of: caller) == .outsider { throw WireError(.noRight, "Not a member") }
  }

  /// The member who asks; 10007 for others and for administrators, for whom the request means nothing.
  func requireMember(_ caller: Caller) throws(WireError) -> Member {
    guard let user = caller.userID, let member = members[user] else { throw WireError(.noRight, "Not a member") }
    return member
  }

  /// The table's answer.
  func require(_ action: GroupAction, by caller: Caller) throws(WireError) { try require(action, by: principal(of: caller)) }

  /// The table's answer.
  func require(_ action: GroupAction, by principal: Principal) throws(WireError) {
    let denial = rules.permissions.denial(of: action, in: record.type, policy: record.policy, by: principal)
    if let denial { throw WireError(denial) }
  }

  /// The table's answer about one member: nobody acts on somebody of an equal or higher role, nor on oneself (rule 1).
  func require(_ action: GroupAction, by caller: Caller, on target: Member) throws(WireError) {
    let refusal = refusal(of: action, by: caller, on: target.role, isSelf: target.userID == caller.userID)
    if let refusal { throw WireError(refusal) }
  }

  /// Whether the caller may do it to a member of that role.
  func isAllowed(_ action: GroupAction, by caller: Caller, on role: Role) -> Bool {
    refusal(of: action, by: caller, on: role, isSelf: false) == nil
  }

  private func refusal(of action: GroupAction, by caller: Caller, on role: Role, isSelf: Bool) -> Denial? {
    rules.permissions.denial(
      of: action, in: record.type, policy: record.policy, by: principal(of: caller), on: role, isSelf: isSelf)
  }

  /// The member that a request means; "a single target that is not a member is 10007".
  func target(_ user: UserID) throws(WireError) -> Member {
    if let member = members[user] { return member }
    guard record.type.everyoneIsMember else { throw WireError(.noRight, "Not a member", field: "userID") }
    return GroupState.everybody(user, in: record)
  }

  /// The owner and the admins.
  var managers: [UserID] {
    // Where nobody can be made an admin there is only the owner, and there may be very many members.
    if !rules.permissions.allowsAdmins(in: record.type) { return [record.owner] }
    return members.values.filter { $0.role.isManager }.map(\.userID).sorted()
  }

  /// The caller as events name it.
  func operatorInfo(_ caller: Caller) -> MemberInfo { person(caller.senderID) }

  /// Somebody as events name them, a member or not.
  func person(_ user: UserID) -> MemberInfo {
    if user == .administrator { return .administrator }
    if let member = members[user] { return MemberInfo(member) }
    return record.type.everyoneIsMember ? MemberInfo(GroupState.everybody(user, in: record)) : .outsider(user)
  }

  /// What a user without a record is in a group that everyone is a member of.
  static func everybody(_ user: UserID, in record: GroupRecord) -> Member {
    Member(userID: user, role: .member, joinTime: 0, ordinal: 0, receiveOption: record.type.defaultReceiveOption)
  }
}

extension WireError {
  /// The wire's code for what the table refuses (Protocol.md, "Rights").
  init(_ denial: Denial) {
    switch denial {
    case .noRight: self.init(ErrorCode.noRight)
    case .ownerMayNotQuit: self.init(ErrorCode.ownerMayNotQuit)
    case .workNotJoinable: self.init(ErrorCode.workNotJoinable)
    case .recallNotYours: self.init(ErrorCode.recallNotYours)
    case .recallUnsupported: self.init(ErrorCode.recallUnsupported)
    }
  }
}
