import GroupModel

/// The caller of an action as the rights table knows it.
public enum Principal: Hashable, Sendable {
  /// A member, by role. In a BChatRoom every signed-in user is one.
  case member(Role)
  /// A signed-in user who is not a member.
  case outsider
  /// An application administrator, above the owner of every group.
  case administrator

  /// Whether the principal stands above that role. Members act only on members of a lower role
  /// (Protocol.md, "Rights").
  public func outranks(_ role: Role) -> Bool { accessLevel > AccessLevel(role) }

  var accessLevel: AccessLevel {
    switch self {
    case .outsider: .signedIn
    case .member(let role): AccessLevel(role)
    case .administrator: .administrator
    }
  }
}

/// The level of a principal, and the level that a requirement demands: every question of a right
/// ends in one comparison of two levels.
enum AccessLevel: Int, Comparable, Sendable {
  case signedIn, member, admin, owner, administrator
  /// Demanded where an action is impossible; no principal has it.
  case nobody

  init(_ role: Role) {
    switch role {
    case .owner: self = .owner
    case .admin: self = .admin
    case .member, .custom: self = .member
    }
  }

  static func < (a: AccessLevel, b: AccessLevel) -> Bool { a.rawValue < b.rawValue }
}
