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
  /// A node has missed what came behind a stamp. Indirect, because every input is passed on in memory of one
  /// size.
  /// - Parameters:
  ///   - from: its stamp; nil = a live room's, of which it gets the last state.
  ///   - through: up to which it is to be told.
  ///   - completion: called once, on any thread.
  indirect case replay(from: GroupStamp?, through: GroupStamp, completion: @Sendable (GroupReplay) -> Void)
  /// Loads the group, which attaches its members and tells their nodes its stamp.
  /// - Parameter completion: called once, on the group's executor, with the group's epoch; nil = there is no
  ///   such group, or it could not be loaded.
  case refresh(completion: @Sendable (_ epoch: String?) -> Void)

  /// The user behind the input; nil = an application administrator.
  var userID: UserID? {
    switch self {
    case .request(_, let caller, _): caller.userID
    case .presence(let presence, _): presence.user
    case .removal, .replay, .refresh: nil
    }
  }

  /// Completes the input unprocessed; a request is answered 10002.
  func fail() {
    switch self {
    case .request(_, _, let completion): completion(.error(.temporary))
    case .presence(_, let completion): completion()
    case .removal: break
    case .replay(from: _, through: _, let completion): completion(.impossible(.noGroup))
    case .refresh(let completion): completion(nil)
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
