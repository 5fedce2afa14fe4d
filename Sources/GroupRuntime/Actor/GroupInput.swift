import GroupModel
import WireProtocol

/// An input of a group's actor; `Group.enqueue` takes it.
public enum GroupInput: Sendable {
  /// - Parameter completion: receives the reply once, on the group's executor.
  case request(GroupOperation, by: Caller, completion: Group.Completion)
  /// The sessions of a user have changed.
  case presence(Group.Presence, completion: @Sendable () -> Void)
  /// The store has removed messages.
  case removal(HistoryRemoval)

  /// The user behind the input; nil = an application administrator.
  var userID: UserID? {
    switch self {
    case .request(_, let caller, _): caller.userID
    case .presence(let presence, _): presence.user
    case .removal: nil
    }
  }

  /// Completes the input unprocessed; a request is answered 10002.
  func fail() {
    switch self {
    case .request(_, _, let completion): completion(.error(.temporary))
    case .presence(_, let completion): completion()
    case .removal: break
    }
  }
}

extension Group {
  /// A change in a user's sessions.
  public struct Presence: Sendable {
    public let user: UserID
    /// The start of the absence that ends with this change; nil = there was none, or it starts.
    public let awaySince: WallInstant?

    /// A change of a user's sessions.
    public init(of user: UserID, awaySince: WallInstant? = nil) {
      self.user = user
      self.awaySince = awaySince
    }
  }
}
