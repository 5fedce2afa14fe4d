import GroupModel

/// The rights table and the three rules around it (Protocol.md, "Rights").
///
/// It reads nothing but its arguments. Callers check the facts that are not rights: muted, full,
/// banned, already a member.
public struct GroupPermissions: Sendable {
  private let configuration: RightsConfiguration

  /// Rights on a server of that configuration.
  public init(_ configuration: RightsConfiguration = RightsConfiguration()) {
    self.configuration = configuration
  }

  /// Rights on a server whose groups of these types have attributes, and nothing else is configured.
  public init(attributeTypes: Set<GroupType>) {
    var configuration = RightsConfiguration()
    configuration.attributeTypes = attributeTypes
    self.init(configuration)
  }

  /// The cell of the table for an action in a type of group.
  public func requirement(for action: GroupAction, in type: GroupType) -> Requirement {
    configuration.requirement(for: action, in: type) ?? RightsTable.requirements(for: action)[type]
  }

  /// Whether groups of that type can have admins. Where the role cannot be given, creation and
  /// imports do not give it either.
  public func allowsAdmins(in type: GroupType) -> Bool { requirement(for: .changeRole, in: type) != .nobody }

  /// Whether the right to edit the policy includes the field; false where the type lacks it.
  public func isSettable(_ field: PolicyField, in type: GroupType) -> Bool {
    guard PolicyTable.fields(of: type).contains(field) else { return false }
    return configuration.isSettable(field, in: type) ?? PolicyTable.isSettable(field, in: type)
  }

  /// Why a group of that type cannot have the value, at creation or later; nil = it can. A fixed
  /// field takes only the value it has, a BChatRoom none (Protocol.md, "Policies").
  /// - Parameter value: one of the field's.
  public func denial(ofSetting field: PolicyField, to value: PolicyValue, in type: GroupType) -> Denial? {
    guard PolicyTable.fields(of: type).contains(field) else { return .noRight }
    return isSettable(field, in: type) || GroupPolicy.defaults(for: type)[field] == value ? nil : .noRight
  }

  /// Why the principal may not do it; nil = allowed. Under joinMode Auth the right to join is the
  /// right to ask.
  ///
  /// Without a target it is the right as such. A bulk method asks that first, for the whole call,
  /// and then with each target, for that target's result.
  /// - Parameters:
  ///   - target: the role of the member that the action is aimed at.
  ///   - isSelf: the principal is that member.
  public func denial(
    of action: GroupAction, in type: GroupType, policy: GroupPolicy, by principal: Principal, on target: Role? = nil,
    isSelf: Bool = false
  ) -> Denial? {
    let reason = denialReason(of: action, in: type, policy: policy, by: principal, on: target, isSelf: isSelf)
    guard let reason else { return nil }
    guard reason.isRequirement else { return .noRight }
    return configuration.denial(of: action, in: type) ?? RightsTable.denials(of: action)[type]
  }

  /// The same as a reason, for the sentence of the error; nil = allowed.
  public func denialReason(
    of action: GroupAction, in type: GroupType, policy: GroupPolicy, by principal: Principal, on target: Role? = nil,
    isSelf: Bool = false
  ) -> DenialReason? {
    // Every user is a Member of a BChatRoom without a record.
    let principal = principal == .outsider && type.everyoneIsMember ? .member(.member) : principal
    // Membership comes before rights (Protocol.md, "Order of errors"), so no exception of rule 2
    // applies to outsiders.
    if principal == .outsider, !action.isOpenToOutsiders { return .notMember }

    // Rule 2 comes before rule 1: a member's recall of an equal's message is 10032, not 10007.
    // Rule 3 is in the levels: an administrator is above all roles, and below `nobody`.
    let requirement = requirement(for: action, in: type)
    let level = requirement.level(in: type, under: policy)
    guard principal.accessLevel >= level else { return DenialReason(requirement, level) }

    // 1. Members act only on members of a lower role, and in these actions not on themselves.
    if isSelf, action.actsOnMember { return .onOneself }
    if let target, !principal.outranks(target) { return .lowRoleForTarget }

    // 3. Not even an administrator removes the owner or gives the owner another role.
    if target == .owner, action.removesOwner { return .onOwner }
    return nil
  }
}

/// Why an action is denied. Each case stands for one error of the wire.
public enum Denial: Error, Sendable, Equatable, CaseIterable {
  /// The role is too low, the type does not support it, or the principal is not a member: 10007.
  case noRight
  /// The owner may not quit: 10009.
  case ownerMayNotQuit
  /// joinGroup on Work: 8508.
  case workNotJoinable
  /// Recall of another user's message: 10032.
  case recallNotYours
  /// Recall and pins where the type stores no messages: 10033.
  case recallUnsupported
}

/// Why an action is denied, in more detail than the wire's codes: 10007 stands for most of these.
public enum DenialReason: Hashable, Sendable {
  /// The principal is not a member of the group.
  case notMember
  /// Nobody can do it in a group of this type.
  case unsupportedByType
  /// The principal's role is below this requirement, which names a role or an administrator.
  case lowRole(Requirement)
  /// The group's choice leaves it to application administrators.
  case closedByPolicy(PolicyField)
  /// The target's role is as high as the principal's, or higher.
  case lowRoleForTarget
  /// The principal is the target.
  case onOneself
  /// The group would have no owner.
  case onOwner

  /// - Parameter level: the lowest level that meets the requirement, which the principal has not.
  init(_ requirement: Requirement, _ level: AccessLevel) {
    switch level {
    case .nobody: self = .unsupportedByType
    case .administrator:
      if case .policy(let field) = requirement { self = .closedByPolicy(field) } else { self = .lowRole(.administrator) }
    case .owner: self = .lowRole(.owner)
    case .admin: self = .lowRole(.admin)
    case .signedIn, .member: self = .lowRole(.member)
    }
  }

  /// Whether the principal is below the cell of the rights table, whatever the target.
  var isRequirement: Bool {
    switch self {
    case .unsupportedByType, .lowRole, .closedByPolicy: true
    case .notMember, .lowRoleForTarget, .onOneself, .onOwner: false
    }
  }
}
