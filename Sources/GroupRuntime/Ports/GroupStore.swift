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
  /// The group's attributes.
  public var attributes: GroupAttributes
  /// Applications that nobody has decided yet.
  public var openApplications: [GroupApplication]
  /// When the last session of a member ended, of an AVChatRoom's members alone, and only of those whose last has.
  public var offlineSince: [UserID: Instant]
  /// Stored messages that carry a clientMsgID and were accepted at or after the instant asked for, in order of `seq`.
  public var recentlySent: [Message]

  /// A group with everything given.
  public init(
    record: GroupRecord, members: [Member], former: [FormerMember] = [], lastMessage: Message?, recentlySent: [Message],
    attributes: GroupAttributes = GroupAttributes(), openApplications: [GroupApplication] = [],
    offlineSince: [UserID: Instant] = [:]
  ) {
    self.record = record
    self.members = members
    self.former = former
    self.lastMessage = lastMessage
    self.recentlySent = recentlySent
    self.attributes = attributes
    self.openApplications = openApplications
    self.offlineSince = offlineSince
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

  /// The groups of a listed type (`GroupType.isListed`) that a user has left or that were disbanded, at or after an instant, oldest
  /// first; not those the user has joined again.
  /// - Parameter type: nil = of any.
  func departures(of user: UserID, from type: GroupType?, since: Instant) async throws(StoreError) -> [GroupID]

  /// All groups of a type, by `groupNumber` ascending, at most `limit` behind `after`.
  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership]

  /// How many groups of each type there are.
  func groupCounts() async throws(StoreError) -> [GroupType: Int]

  /// Groups that match a search, by `groupNumber` ascending behind `after`. Looks at a bounded number of groups, so a page may hold few
  /// or none and still have a next one.
  func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page
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
  /// - Parameter managersOnly: only those with `isFromManager`.
  func unreadCount(of group: GroupID, after: Int64, reader: UserID, managersOnly: Bool) async throws(StoreError) -> Int

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is none. Timestamps never fall with `seq`.
  func firstSeq(of group: GroupID, notBefore: Instant) async throws(StoreError) -> Int64?
}

/// Remembers which users have ever been seen (`users.requireKnown`, getStats), and when they were last here.
public protocol UserStore: Sendable {
  /// Makes users known. Durable soon, not at once: knowing a user again is harmless.
  func remember(_ users: [UserID])

  /// Those of the users that are known.
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID>

  /// How many users are known.
  func knownCount() async throws(StoreError) -> Int

  /// The user's first session has begun, or the last has ended. Makes the user known. Taken in the order of the calls, never blocks on
  /// the disk, durable soon. Who was here when the process died counts as gone from about that moment on.
  /// - Parameter offlineSince: nil = here now.
  func notePresence(of user: UserID, offlineSince: Instant?)

  /// When the user's last session ended; nil where there is one, or never was.
  func offlineSince(of user: UserID) async throws(StoreError) -> Instant?
}

/// What waits for a user to look at it: applications to decide, and system notifications (contract sections 4 and 5).
public protocol PersonalStore: Sendable {
  /// The application of that id, handled or not.
  func application(_ id: String) async throws(StoreError) -> StoredApplication?

  /// Applications that a user may decide, handled ones included, the newest first: invitations of the user, and requests to join groups
  /// whose owner or admin the user is. Those of groups that are gone are left out.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func applications(decidableBy user: UserID?, before: Int64, limit: Int) async throws(StoreError) -> [NumberedApplication]

  /// How many of those are newer than the user's mark (`StoreChange.markApplicationsRead`).
  func unreadApplications(of user: UserID?) async throws(StoreError) -> Int

  /// Up to when the user has read applications; 0 = none.
  func applicationsReadThrough(by user: UserID) async throws(StoreError) -> Instant

  /// The user's notifications that are not too old, the newest first.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func notifications(
    of user: UserID, since: Instant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification]

  /// How many of the user's notifications with a timestamp at or after an instant are newer than the mark.
  func unreadNotifications(of user: UserID, since: Instant) async throws(StoreError) -> Int

  /// Up to which number the user has read notifications; 0 = none.
  func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64
}

/// An application as it is found by its id.
public struct StoredApplication: Sendable, Equatable {
  public let application: GroupApplication
  /// The group it is for has been disbanded, though its groupID may be in use again.
  public let isGroupGone: Bool

  /// An application with everything given.
  public init(application: GroupApplication, isGroupGone: Bool) {
    self.application = application
    self.isGroupGone = isGroupGone
  }
}

/// An application in a list: larger numbers are newer, and one that is made again gets a new number.
public struct NumberedApplication: Sendable, Equatable {
  public let number: Int64
  public let application: GroupApplication

  /// An application with its place.
  public init(number: Int64, application: GroupApplication) {
    self.number = number
    self.application = application
  }
}

/// A notification in a list: larger numbers are newer. Numbers are never used twice.
public struct NumberedNotification: Sendable, Equatable {
  public let number: Int64
  public let notification: SystemNotification

  /// A notification with its place.
  public init(number: Int64, notification: SystemNotification) {
    self.number = number
    self.notification = notification
  }
}

/// Whether the store could write when it last tried; `/readyz` tells.
public protocol StoreHealth: Sendable {
  /// False from a failed write until one succeeds again; a store that failed tries again by itself about once a second.
  var canPersist: Bool { get }
}
