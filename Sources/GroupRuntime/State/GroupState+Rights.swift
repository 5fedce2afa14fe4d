import GroupModel
import GroupPermissions
import WireProtocol

/// Who the caller is in this group, and what the table says to what the caller wants.
extension GroupState {
  /// The caller as the table of rights knows it.
  func standing(of caller: Caller) -> Asker {
    guard let user = caller.userID else { return .administrator }
    if let member = members[user] { return .member(member.role) }
    return record.type.everyoneIsMember ? .member(.member) : .outsider
  }

  /// Membership comes before rights (contract section 7, order); an administrator needs none.
  func requireMembership(_ caller: Caller) throws(WireError) {
    if standing(of: caller) == .outsider { throw WireError(.noRight, "Not a member") }
  }

  /// The member who asks; 10007 for others and for administrators, for whom the request means nothing.
  func requireMember(_ caller: Caller) throws(WireError) -> Member {
    guard let user = caller.userID, let member = members[user] else { throw WireError(.noRight, "Not a member") }
    return member
  }

  /// The table's answer.
  func require(_ action: GroupAction, by caller: Caller) throws(WireError) {
    let refusal = rules.permissions.refusal(of: action, in: record.type, policy: record.policy, by: standing(of: caller))
    if let refusal { throw WireError(refusal) }
  }

  /// The caller as events name it.
  func operatorInfo(_ caller: Caller) -> MemberInfo {
    guard let user = caller.userID else { return .administrator }
    return MemberInfo(members[user] ?? GroupState.everybody(user, in: record))
  }

  /// What a user without a record is in a group that everyone is a member of.
  static func everybody(_ user: UserID, in record: GroupRecord) -> Member {
    Member(userID: user, role: .member, joinTime: 0, ordinal: 0, receiveOption: record.type.defaultReceiveOption)
  }
}

extension WireError {
  /// The wire's code for what the table refuses (contract section 3, rule 2).
  init(_ refusal: Refusal) {
    switch refusal {
    case .roleTooLow: self.init(ErrorCode.noRight)
    case .ownerMayNotQuit: self.init(ErrorCode.ownerMayNotQuit)
    case .workNotJoinable: self.init(ErrorCode.workNotJoinable)
    case .recallNotYours, .recallUnsupported: self.init(ErrorCode.noRight)
    }
  }
}
