import GroupModel
import Synchronization

/// A group as the store keeps it, everything that its actor needs to go on.
public struct StoredGroup: Sendable {
  public var record: GroupRecord
  public var members: [Member]
  /// Those who have left and of whom something is remembered.
  public var former: [FormerMember]
  /// The newest message; nil where there is none.
  public var lastMessage: Message?
  /// Stored messages that carry a clientMsgID and were accepted at or after the instant asked for, in order of `seq`.
  public var recentlySent: [Message]

  /// A group with everything given.
  public init(
    record: GroupRecord, members: [Member], former: [FormerMember] = [], lastMessage: Message?, recentlySent: [Message]
  ) {
    self.record = record
    self.members = members
    self.former = former
    self.lastMessage = lastMessage
    self.recentlySent = recentlySent
  }
}

/// A group that a user is a member of, as far as signing in needs it.
public struct Membership: Sendable, Equatable {
  public let groupID: GroupID
  public let type: GroupType
  /// Counts the groups of the store; orders lists that go on from a `nextSeq`. Never changes for a group, never used twice.
  public let groupNumber: Int64

  /// A membership with everything given.
  public init(groupID: GroupID, type: GroupType, groupNumber: Int64) {
    self.groupID = groupID
    self.type = type
    self.groupNumber = groupNumber
  }
}

/// Why a store could not do what it was asked; the client gets 10002, the operator the text.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it was.
  public enum Kind: Sendable, Equatable {
    /// The disk is full or read-only, or does not answer: worth trying again.
    case unavailable
    /// What is stored makes no sense, or the change contradicts it.
    case inconsistent
    /// An earlier commit of the same lineage failed, so this one was not tried.
    case abandoned
  }

  public let kind: Kind
  public let description: String

  /// An error with its text for the log, which names no message body.
  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}

/// The commits that were decided one upon the other. When one fails the later ones must not be applied, because they were decided on a state
/// that never became durable; the group takes a new lineage when it has loaded itself again.
public final class Lineage: Sendable {
  private let broken = Atomic<Bool>(false)

  /// A lineage in which nothing has failed yet.
  public init() {}

  /// Whether a commit of this lineage has failed.
  public var isBroken: Bool { broken.load(ordering: .acquiring) }

  /// Called by the store before it answers a failed commit.
  public func markBroken() { broken.store(true, ordering: .releasing) }
}

/// What a decision hands to the store.
public struct Commit: Sendable {
  public let changes: [StoreChange]
  public let lineage: Lineage
  /// Called once, from a thread of the store, when the changes are durable or cannot be.
  public let completion: @Sendable (Result<Void, StoreError>) -> Void

  /// A commit with everything given.
  public init(
    changes: [StoreChange], lineage: Lineage, completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    self.changes = changes
    self.lineage = lineage
    self.completion = completion
  }
}

/// Keeps groups and memberships, and makes changes durable.
public protocol GroupStore: Sendable {
  /// Takes the commit in the order of the calls and completes commits in that order; many pending ones share a transaction.
  /// A commit of a broken lineage is answered `.abandoned`. Never blocks on the disk.
  func commit(_ commit: Commit)

  /// The group, or nil where nobody uses the groupID.
  /// - Parameter sentSince: how far back `recentlySent` reaches.
  func group(_ id: GroupID, sentSince: Instant) async throws(StoreError) -> StoredGroup?

  /// The groups a user is a member of, by `groupNumber` ascending.
  func memberships(of user: UserID) async throws(StoreError) -> [Membership]

  /// The groups that a user has left or that were disbanded, at or after an instant, oldest first; not those the user has joined again.
  func departures(of user: UserID, since: Instant) async throws(StoreError) -> [GroupID]

  /// All groups of a type, by `groupNumber` ascending, at most `limit` behind `after`.
  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership]

  /// How many groups of each type there are.
  func groupCounts() async throws(StoreError) -> [GroupType: Int]
}

/// Keeps messages by their group and `seq`.
public protocol MessageStore: Sendable {
  /// Stored messages of a group with `seq` in the range.
  /// - Parameters:
  ///   - newestFirst: descending by `seq`, else ascending.
  ///   - limit: at most so many.
  func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message]

  /// How many messages with `seq` above `after` are Text or Custom, of somebody else than `reader`, and not recalled.
  func unreadCount(of group: GroupID, after: Int64, reader: UserID) async throws(StoreError) -> Int
}

/// Remembers which users have ever been seen (`users.requireKnown`, getStats).
public protocol UserStore: Sendable {
  /// Makes users known. Durable soon, not at once: knowing a user again is harmless.
  func remember(_ users: [UserID])

  /// Those of the users that are known.
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID>

  /// How many users are known.
  func knownCount() async throws(StoreError) -> Int
}

/// Whether the store could write when it last tried; `/readyz` tells.
public protocol StoreHealth: Sendable {
  /// False from a failed write until one succeeds again; a store that failed tries again by itself about once a second.
  var canPersist: Bool { get }
}
