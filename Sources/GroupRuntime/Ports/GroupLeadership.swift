import GroupModel

/// Which groups this node decides for, where there are several nodes.
public protocol GroupLeadership: AnyObject, Sendable {
  /// Whether this node may decide for the group now.
  func leads(_ group: GroupID) -> Bool
}
