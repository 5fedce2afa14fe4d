import GroupModel
import GroupPermissions
import WireProtocol

/// The caller's part in the group, and the answers of the table of rights.
extension GroupState {
  /// The caller as the table of rights knows it.
  func principal(of caller: Caller) -> Principal {
    guard let user = caller.userID else { return .administrator }
    if let member = roster[user] { return .member(member.role) }
    return record.type.everyoneIsMember ? .member(.member) : .outsider
  }

  /// Membership comes before rights (Protocol.md, "Order of errors"); an administrator needs none.
  func requireMembership(_ turn: borrowing Turn) throws(WireError) {
    if principal(of: turn.caller) == .outsider { throw WireError(.noRight, "Not a member") }
  }

  /// The caller's record; 10007 for users without one and for administrators, who have none.
  func requireMember(_ turn: borrowing Turn) throws(WireError) -> Member {
    guard let user = turn.userID, let member = roster[user] else { throw WireError(.noRight, "Not a member") }
    return member
  }

  /// Throws what the table denies the caller. It asks for membership first, where the action needs it.
  func require(_ action: GroupAction, _ turn: borrowing Turn) throws(WireError) {
    try require(action, by: principal(of: turn.caller))
  }

  /// Throws what the table denies a principal.
  func require(_ action: GroupAction, by principal: Principal) throws(WireError) {
    let denial = rules.permissions.denial(of: action, in: record.type, policy: record.policy, by: principal)
    if let denial { throw error(of: denial, action, by: principal) }
  }

  /// Throws what the table denies the caller towards a member: callers act on lower roles only, and
  /// never on themselves (rule 1).
  func require(_ action: GroupAction, on target: Member, _ turn: borrowing Turn) throws(WireError) {
    try require(action, on: target.role, of: target.userID, turn)
  }

  /// The same towards a user with a role, a member or not.
  func require(_ action: GroupAction, on role: Role, of user: UserID, _ turn: borrowing Turn) throws(WireError) {
    let (principal, isSelf) = (principal(of: turn.caller), user == turn.userID)
    let denial = rules.permissions.denial(
      of: action, in: record.type, policy: record.policy, by: principal, on: role, isSelf: isSelf)
    if let denial { throw error(of: denial, action, by: principal, on: role, isSelf: isSelf) }
  }

  /// The error of a denial, with its reason.
  private func error(
    of denial: Denial, _ action: GroupAction, by principal: Principal, on role: Role? = nil, isSelf: Bool = false
  ) -> WireError {
    let reason = rules.permissions.denialReason(
      of: action, in: record.type, policy: record.policy, by: principal, on: role, isSelf: isSelf)
    return WireError(denial, reason, in: record.type)
  }

  /// Whether the caller may do it to a member of that role.
  func isAllowed(_ action: GroupAction, on role: Role, _ turn: borrowing Turn) -> Bool {
    rules.permissions.denial(
      of: action, in: record.type, policy: record.policy, by: principal(of: turn.caller), on: role) == nil
  }

  /// The outcome of an action for each of several targets, as far as rights go: no member is Invalid,
  /// oneself and an equal or higher role Fail.
  func outcomes(of action: GroupAction, on users: [UserID], _ turn: borrowing Turn) -> [MemberResult] {
    users.map { MemberResult(userID: $0, result: outcome(of: action, on: roster.member($0)?.role, of: $0, turn)) }
  }

  /// The outcome for one target.
  /// - Parameter role: the target's; nil = it is no member.
  func outcome(
    of action: GroupAction, on role: Role?, of user: UserID, _ turn: borrowing Turn
  ) -> MemberResult.Outcome {
    guard user != turn.userID else { return .fail }
    guard let role else { return .invalid }
    return isAllowed(action, on: role, turn) ? .success : .fail
  }

  /// The member that a request is about; "a single target that is not a member is 10007".
  func requireTarget(_ user: UserID) throws(WireError) -> Member {
    guard let member = roster.member(user) else { throw WireError(.noRight, "userID is not a member", field: "userID") }
    return member
  }

  /// The owner and the admins.
  var managers: [UserID] {
    // Admins from before the role could not be given any more decide nothing.
    rules.permissions.allowsAdmins(in: record.type) ? roster.managers : [record.owner]
  }
}

extension WireError {
  /// The wire's code for a denial of the table (Protocol.md, "Rights"); 10007 says its reason.
  init(_ denial: Denial, _ reason: DenialReason?, in type: GroupType) {
    switch denial {
    case .noRight: self.init(ErrorCode.noRight, reason?.sentence(in: type))
    case .ownerMayNotQuit: self.init(ErrorCode.ownerMayNotQuit)
    case .workNotJoinable: self.init(ErrorCode.workNotJoinable)
    case .recallNotYours: self.init(ErrorCode.recallNotYours)
    case .recallUnsupported: self.init(ErrorCode.recallUnsupported)
    }
  }
}

extension WireError {
  /// 10007 for Admins in a list for a type that has none.
  static func noAdmins(in type: GroupType) -> WireError {
    WireError(.noRight, "Groups of type \(type.rawValue) have no admins", field: "memberList")
  }

  /// 10007 for a bound of members in a type that has none.
  static func noMaxMemberNum(in type: GroupType) -> WireError {
    WireError(.noRight, "Groups of type \(type.rawValue) have no maxMemberNum", field: "maxMemberNum")
  }
}

extension DenialReason {
  /// The reason for developers, without anything that people wrote.
  func sentence(in type: GroupType) -> String {
    switch self {
    case .notMember: "Not a member"
    case .unsupportedByType: "Groups of type \(type.rawValue) do not support it"
    case .lowRole(.administrator): "Only for application administrators"
    case .lowRole(let lowest): "The role is too low: it takes \(lowest.word)\(lowest == .admin ? " or Owner" : "")"
    case .closedByPolicy(let field): "The group's \(field.rawValue) leaves it to application administrators"
    case .lowRoleForTarget: "The role is too low: the other's is as high or higher"
    case .onOneself: "Nobody can do it to oneself"
    case .onOwner: "The owner can neither be removed nor get another role"
    }
  }
}
