import GroupModel

extension UserID: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) {
    guard let user = UserID(name) else { preconditionFailure("no userID: \(name)") }
    self = user
  }
}

extension GroupID: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) {
    guard let group = GroupID(name) else { preconditionFailure("no groupID: \(name)") }
    self = group
  }
}
