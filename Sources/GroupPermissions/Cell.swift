import GroupModel

/// One cell of the rights table: the lowest role that may, or what stands in its place (contract section 3).
public enum Cell: Hashable, Sendable {
  /// Everyone signed in.
  case anyone
  case member
  case admin
  case owner
  /// The group's own choice decides.
  case policy(PolicyField)
  /// Only an application administrator.
  case administrator
  /// Nobody, an application administrator included.
  case nobody

  static let joinMode = Cell.policy(.joinMode)
  static let inviteMode = Cell.policy(.inviteMode)
  static let updateInfoMode = Cell.policy(.updateInfoMode)
  static let updateCustomMode = Cell.policy(.updateCustomMode)
  static let ownerQuitMode = Cell.policy(.ownerQuitMode)

  /// The cell as printed on the page. `Admin` is the role, `admin` the application administrator.
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

  /// How high one has to stand in a group of that type and policy.
  func required(in type: GroupType, under policy: GroupPolicy) -> Standing {
    switch self {
    case .anyone: .signedIn
    case .member: .member
    case .admin: .admin
    case .owner: .owner
    case .policy(let field):
      // A fixed field has the page's value, whatever a record says.
      (PolicyTable.isSettable(field, in: type) ? policy : .defaults(for: type)).standing(for: field)
    case .administrator: .administrator
    case .nobody: .nobody
    }
  }
}

extension GroupPolicy {
  /// How high one has to stand where `field` decides. What a mode denies to all members it still leaves to an application
  /// administrator: rule 3 binds that one by no mode.
  func standing(for field: PolicyField) -> Standing {
    switch field {
    case .joinMode: joinMode.standing
    case .inviteMode: inviteMode.standing
    case .updateInfoMode: updateInfoMode.standing
    case .updateCustomMode: updateCustomMode.standing
    case .ownerQuitMode: ownerQuitMode.standing
    // These decide what happens or is shown, not who may; no cell names them.
    case .beInviteMode, .memberChangeNotification, .isSearchable, .isMemberVisible: .nobody
    }
  }
}

extension JoinMode {
  /// `auth` lets everyone ask; who answers is another row.
  fileprivate var standing: Standing {
    switch self {
    case .any, .auth: .signedIn
    case .forbid: .administrator
    }
  }
}

extension InviteMode {
  fileprivate var standing: Standing {
    switch self {
    case .any: .member
    case .admin: .admin
    case .nobody: .administrator
    }
  }
}

extension EditMode {
  fileprivate var standing: Standing {
    switch self {
    case .any: .member
    case .admin: .admin
    case .owner: .owner
    }
  }
}

extension OwnerQuitMode {
  fileprivate var standing: Standing {
    switch self {
    case .transfer: .owner
    case .forbid: .administrator
    }
  }
}
