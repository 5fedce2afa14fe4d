import GroupModel

/// Which groups this node decides for, where there are several nodes.
public protocol GroupOwnership: AnyObject, Sendable {
  /// Whether this node may decide for the group now.
  func owns(_ group: GroupID) -> Bool
}
