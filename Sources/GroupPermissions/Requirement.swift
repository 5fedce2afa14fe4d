import GroupModel

/// One cell of the rights table: the lowest role that has the right, or the policy field that
/// decides (Permissions.md, "Tables").
public enum Requirement: Hashable, Sendable {
  /// Every signed-in user.
  case anyone
  case member
  case admin
  case owner
  /// The group's own choice decides.
  case policy(PolicyField)
  /// Only an application administrator.
  case administrator
  /// No principal, not even an application administrator.
  case nobody

  static let joinMode = Requirement.policy(.joinMode)
  static let inviteMode = Requirement.policy(.inviteMode)
  static let updateInfoMode = Requirement.policy(.updateInfoMode)
  static let updateCustomMode = Requirement.policy(.updateCustomMode)
  static let ownerQuitMode = Requirement.policy(.ownerQuitMode)

  /// The requirement as the page prints it. `Admin` is the role, `admin` the application
  /// administrator.
  public var word: String {
    switch self {
    case .anyone: "anyone"
    case .member: "Member"
    case .admin: "Admin"
    case .owner: "Owner"
    case .policy(let field): field.rawValue
    case .administrator: "admin"
    case .nobody: "×"
    }
  }

  /// The lowest level that meets the requirement in a group of that type and policy.
  func level(in type: GroupType, under policy: GroupPolicy) -> AccessLevel {
    switch self {
    case .anyone: .signedIn
    case .member: .member
    case .admin: .admin
    case .owner: .owner
    case .policy(let field):
      // A fixed field has its default, whatever a record says.
      (PolicyTable.isSettable(field, in: type) ? policy : .defaults(for: type)).requiredLevel(by: field)
    case .administrator: .administrator
    case .nobody: .nobody
    }
  }
}

extension GroupPolicy {
  /// The lowest level that a field admits. A mode that denies a right to all members leaves it to
  /// application administrators: no mode binds them.
  func requiredLevel(by field: PolicyField) -> AccessLevel {
    switch field {
    case .joinMode: joinMode.requiredLevel
    case .inviteMode: inviteMode.requiredLevel
    case .updateInfoMode: updateInfoMode.requiredLevel
    case .updateCustomMode: updateCustomMode.requiredLevel
    case .ownerQuitMode: ownerQuitMode.requiredLevel
    // No right depends on these: they decide what happens or is shown.
    case .beInviteMode, .memberChangeNotification, .isSearchable, .isMemberVisible, .historyVisibility, .slowMode,
      .attributeMode:
      .nobody
    }
  }
}

extension JoinMode {
  /// `auth` lets everyone ask; the answer is a right of its own.
  fileprivate var requiredLevel: AccessLevel {
    switch self {
    case .any, .auth: .signedIn
    case .forbid: .administrator
    }
  }
}

extension InviteMode {
  fileprivate var requiredLevel: AccessLevel {
    switch self {
    case .any: .member
    case .admin: .admin
    case .nobody: .administrator
    }
  }
}

extension EditMode {
  fileprivate var requiredLevel: AccessLevel {
    switch self {
    case .any: .member
    case .admin: .admin
    case .owner: .owner
    }
  }
}

extension OwnerQuitMode {
  fileprivate var requiredLevel: AccessLevel {
    switch self {
    case .transfer: .owner
    case .forbid: .administrator
    }
  }
}
