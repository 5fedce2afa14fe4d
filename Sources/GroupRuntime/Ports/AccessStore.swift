import GroupModel

/// Keeps what the application has decided about users' sign-ins. It is changed by `StoreChange`.
public protocol AccessStore: Sendable {
  /// The decisions about a user, known or not; ended blocks may be among them.
  func access(of user: UserID) async throws(StoreError) -> UserAccess

  /// Blocked users by `userID`, at most `limit`, without those whose block has ended at an instant. A
  /// page looks at a bounded number of users, so it may be empty and still have a next one.
  /// - Parameter number: the `next` of the page before; 0 = from the first.
  /// - Returns: nil where no page has ended there: the user's decisions are gone.
  func blockedUsers(after number: Int64, at now: WallInstant, limit: Int) async throws(StoreError) -> BlockedPage?
}

/// Some of the blocked users.
public struct BlockedPage: Sendable, Equatable {
  /// By `userID`.
  public let users: [BlockedUser]
  /// Where the next page begins; 0 = there is none.
  public let next: Int64

  /// A page with everything given.
  public init(users: [BlockedUser], next: Int64) {
    self.users = users
    self.next = next
  }
}

/// A blocked user.
public struct BlockedUser: Sendable, Equatable {
  public let userID: UserID
  public let block: UserAccess.Block

  /// A user with everything given.
  public init(userID: UserID, block: UserAccess.Block) {
    self.userID = userID
    self.block = block
  }
}
