import GroupModel

/// Keeps which users are known (`users.requireKnown`, getStats), their texts, and when their last
/// sessions ended.
public protocol UserStore: Sendable {
  /// Makes users known. Durable soon, not at once: a repetition is harmless.
  func remember(_ users: [UserID])

  /// Those of the users that are known.
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID>

  /// The profiles of users, by one query; empty ones are absent.
  func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile]
  /// The texts of those of the users that are known, in the order given.
  func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo]
  /// The statuses of those of the users that are known, in the order given.
  func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus]
  /// The number of known users.
  func knownCount() async throws(StoreError) -> Int

  /// Notes the start of the user's first session or the end of the last, in the order of the calls,
  /// and makes the user known. Durable soon; never blocks on the disk. Sessions that a crash ends
  /// count as ended at about that time.
  /// - Parameter offlineSince: nil = there is a session.
  func notePresence(of user: UserID, offlineSince: WallInstant?)

  /// The end of the user's last session; nil = there is one, or never was.
  func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant?
}

/// Keeps a user's applications and system notifications (Protocol.md, "Applications" and "System
/// notifications").
public protocol PersonalStore: Sendable {
  /// The application with an id, handled or not.
  func application(_ id: String) async throws(StoreError) -> StoredApplication?

  /// Applications that a user may decide, handled ones included, the newest first: invitations of
  /// the user, and requests to join groups whose owner or admin the user is. Disbanded groups have
  /// none.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func applications(decidableBy user: UserID?, before: Int64, limit: Int) async throws(StoreError) -> [NumberedApplication]

  /// Applications that a user has sent, handled ones included, the newest first: the user's requests
  /// to join, and invitations by the user. Disbanded groups have none.
  /// - Parameter before: only those with a smaller number; 0 = from the newest.
  func applications(sentBy user: UserID, before: Int64, limit: Int) async throws(StoreError) -> [NumberedApplication]

  /// The marks of those who may decide an application; users without a mark are absent.
  func readMarks(ofDecidersOf application: GroupApplication) async throws(StoreError) -> [UserID: WallInstant]

  /// The number of received ones behind the user's mark (`StoreChange.markApplicationsRead`); counting
  /// stops at `limit`.
  func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int

  /// The user's mark of read applications; unset = none.
  func applicationsReadThrough(by user: UserID) async throws(StoreError) -> WallInstant

  /// The newest `SystemNotification.kept` notifications of the user, and of the managers of groups
  /// whose owner or admin the user is, the newest first, without expired ones.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func notifications(
    of user: UserID, since: WallInstant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification]

  /// The number of those behind the mark with a timestamp at or after an instant.
  func unreadNotifications(of user: UserID, since: WallInstant) async throws(StoreError) -> Int

  /// The user's mark of read notifications; 0 = none.
  func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64
}

/// An application found by its id.
public struct StoredApplication: Sendable, Equatable {
  public let application: GroupApplication
  /// Whether its group was disbanded; the groupID may be in use again.
  public let isGroupGone: Bool

  /// An application with everything given.
  public init(application: GroupApplication, isGroupGone: Bool) {
    self.application = application
    self.isGroupGone = isGroupGone
  }
}

/// An application in a list: larger numbers are newer; a repeated application gets a new one.
public struct NumberedApplication: Sendable, Equatable {
  public let number: Int64
  public let application: GroupApplication

  /// An application with its number.
  public init(number: Int64, application: GroupApplication) {
    self.number = number
    self.application = application
  }
}

/// A notification in a list: larger numbers are newer and never used twice.
public struct NumberedNotification: Sendable, Equatable {
  public let number: Int64
  public let notification: SystemNotification

  /// A notification with its number.
  public init(number: Int64, notification: SystemNotification) {
    self.number = number
    self.notification = notification
  }
}

/// A known user's custom status, and the end of the last session.
public struct StoredStatus: Sendable, Equatable {
  public let userID: UserID
  /// Empty = none.
  public let customStatus: String
  /// Nil = there is a session, or never was.
  public let offlineSince: WallInstant?

  /// A status with everything given.
  public init(userID: UserID, customStatus: String = "", offlineSince: WallInstant? = nil) {
    self.userID = userID
    self.customStatus = customStatus
    self.offlineSince = offlineSince
  }
}
