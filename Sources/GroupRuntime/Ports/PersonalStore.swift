import GroupModel

/// A user's applications to decide and system notifications (Protocol.md, "Applications" and
/// "System notifications").
public protocol PersonalStore: Sendable {
  /// The application of that id, handled or not.
  func application(_ id: String) async throws(StoreError) -> StoredApplication?

  /// Applications that a user may decide, handled ones included, the newest first: invitations of the user, and requests to join groups
  /// whose owner or admin the user is. Those of groups that are gone are left out.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func applications(decidableBy user: UserID?, before: Int64, limit: Int) async throws(StoreError) -> [NumberedApplication]

  /// How many of those are newer than the user's mark (`StoreChange.markApplicationsRead`). Counts no further than `limit`.
  func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int

  /// Up to when the user has read applications; 0 = none.
  func applicationsReadThrough(by user: UserID) async throws(StoreError) -> Instant

  /// The newest `SystemNotification.kept` notifications of the user, and of the managers of groups whose owner or admin the user is,
  /// the newest first, without those that are too old.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  func notifications(
    of user: UserID, since: Instant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification]

  /// How many of those with a timestamp at or after an instant are newer than the mark.
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
