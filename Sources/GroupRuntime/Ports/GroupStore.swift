import GroupModel

/// That a user has left a group.
public enum DepartureRecord {
  /// How long it is kept, in milliseconds.
  public static let lifetime: Instant = 30 * 86_400_000
}

/// Keeps groups and memberships, and makes changes durable.
public protocol GroupStore: Sendable {
  /// Takes the commit in the order of the calls and completes commits in that order; many pending ones share a transaction.
  /// A commit of a broken generation is answered `.abandoned`. Never blocks on the disk.
  func commit(_ commit: Commit)

  /// The group, or nil where nobody uses the groupID.
  /// - Parameters:
  ///   - sentSince: how far back `recentlySent` reaches.
  ///   - now: `former` holds those of whom something is to be remembered at this instant.
  ///   - mostFormer: at most so many, and no more rows are read. Bans and mutes come first, the
  ///     longest before all; then the others, the latest to leave first.
  func group(_ id: GroupID, sentSince: Instant, at now: Instant, mostFormer: Int) async throws(StoreError) -> StoredGroup?

  /// The groups a user is a member of, by `groupNumber` ascending.
  func memberships(of user: UserID) async throws(StoreError) -> [Membership]

  /// In how many groups of a listed type each of the users is; counting stops at `limit`.
  func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int]

  /// How many groups of a type a user owns; counting stops at `limit`.
  func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int

  /// The same with what else a sign-in needs, before other reads.
  func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord

  /// The groups of a listed type (`GroupType.isListed`) that a user is a member of, by `groupNumber` ascending, at most `limit` behind
  /// `after`.
  /// - Parameters:
  ///   - type: nil = of any.
  ///   - changedSince: leaves out groups of which nothing that the user sees has changed at or after it. May let some of them pass.
  func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: Instant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership]

  /// The groups of a listed type that a user has left or that were disbanded, at or after an instant, by `groupNumber` ascending, at
  /// most `limit` behind `after`; not those the user has joined again. Forgotten after `DepartureRecord.lifetime`.
  /// - Parameter type: nil = of any.
  func departures(
    of user: UserID, type: GroupType?, since: Instant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership]

  /// All groups of a type, by `groupNumber` ascending, at most `limit` behind `after`.
  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership]

  /// How many groups of each type there are.
  func groupCounts() async throws(StoreError) -> [GroupType: Int]

  /// Groups that match a search, by `groupNumber` ascending behind `after`. Looks at a bounded number of groups, so a page may hold few
  /// or none and still have a next one.
  func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page
}
