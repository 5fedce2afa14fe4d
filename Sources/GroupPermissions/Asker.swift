import GroupModel

/// Who asks.
public enum Asker: Hashable, Sendable {
  /// A member, by role. In a BChatRoom everyone signed in is one.
  case member(Role)
  /// Somebody signed in who is not a member.
  case outsider
  /// An application administrator, above the owner of every group (contract section 3, rule 3).
  case administrator

  /// Whether the asker stands above that role; nobody acts on an equal (contract section 3, rule 1).
  public func outranks(_ role: Role) -> Bool { standing > Standing(role) }

  var standing: Standing {
    switch self {
    case .outsider: .signedIn
    case .member(let role): Standing(role)
    case .administrator: .administrator
    }
  }
}

/// How high an asker stands, and how high a cell demands that one stands: every question ends in one comparison of two.
enum Standing: Int, Comparable, Sendable {
  case signedIn, member, admin, owner, administrator
  /// Above everyone: demanded where nobody may, held by nobody.
  case nobody

  init(_ role: Role) {
    switch role {
    case .owner: self = .owner
    case .admin: self = .admin
    case .member, .custom: self = .member
    }
  }

  static func < (a: Standing, b: Standing) -> Bool { a.rawValue < b.rawValue }
}
