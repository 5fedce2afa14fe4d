/// A member's role in a group. Custom roles have the rights of `member` (Protocol.md, "Roles").
public enum Role: Hashable, Sendable {
  case owner
  case admin
  case member
  case custom(Int32)

  /// The numbers a custom role may have.
  public static let customRange: ClosedRange<Int32> = 100...Int32.max

  /// The role of that name, or nil. A custom role is its decimal digits without sign or leading
  /// zero.
  public init?(wireName: String) {
    switch wireName {
    case "Owner": self = .owner
    case "Admin": self = .admin
    case "Member": self = .member
    default:
      guard let number = Int32(wireName), String(number) == wireName, Role.customRange.contains(number) else { return nil }
      self = .custom(number)
    }
  }

  /// The role as it stands on the wire.
  public var wireName: String {
    switch self {
    case .owner: "Owner"
    case .admin: "Admin"
    case .member: "Member"
    case .custom(let number): String(number)
    }
  }

  /// Owner 3, admin 2, all others 1.
  public var rank: Int {
    switch self {
    case .owner: 3
    case .admin: 2
    case .member, .custom: 1
    }
  }

  /// Whether the member is the owner or an admin.
  public var isManager: Bool { rank > Role.member.rank }
}
