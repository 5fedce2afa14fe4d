import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: PersonalStore {
  /// The application of that id, handled or not.
  public func application(_ id: String) async throws(StoreError) -> StoredApplication? {
    contents.withLock { contents in
      contents.applications[ExactText(id)].map {
        StoredApplication(application: $0.application, isGroupGone: contents.isGroupGone(of: $0))
      }
    }
  }

  /// Applications that a user may decide, handled ones included, newest first; those of disbanded
  /// groups are left out.
  /// - Parameters:
  ///   - user: nil = an application administrator, who may decide all requests to join.
  ///   - before: only those with a smaller number; 0 = from the newest.
  public func applications(
    decidableBy user: UserID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedApplication] {
    contents.withLock { contents in
      let older = contents.applications(decidableBy: user).filter { before == 0 || $0.number < before }
      return Array(older.prefix(max(0, limit)))
    }
  }

  /// The number of those applications that are newer than the user's mark, or all for an
  /// application administrator, who has none.
  public func unreadApplications(of user: UserID?, limit: Int) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let all = contents.applications(decidableBy: user)
      guard let user else { return min(limit, all.count) }
      let mark = contents.applicationMarks[user] ?? 0
      return min(limit, all.count { $0.application.addTime > mark })
    }
  }

  /// Up to when the user has read applications; unset = none.
  public func applicationsReadThrough(by user: UserID) async throws(StoreError) -> WallInstant {
    contents.withLock { $0.applicationMarks[user] ?? 0 }
  }

  /// The user's notifications, newest first.
  /// - Parameters:
  ///   - since: only those with a timestamp at or after it.
  ///   - before: only those with a smaller number; 0 = from the newest.
  public func notifications(
    of user: UserID, since: WallInstant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification] {
    contents.withLock { contents in
      let newest = contents.newestNotifications(of: user, since: since)
      return Array(newest.filter { before == 0 || $0.number < before }.prefix(max(0, limit)))
    }
  }

  /// The number of the user's notifications, at or after an instant, that are newer than the mark.
  public func unreadNotifications(of user: UserID, since: WallInstant) async throws(StoreError) -> Int {
    contents.withLock { contents in
      let mark = contents.notificationMarks[user] ?? 0
      return contents.newestNotifications(of: user, since: since).count { $0.number > mark }
    }
  }

  /// Up to which number the user has read notifications; 0 = none.
  public func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64 {
    contents.withLock { $0.notificationMarks[user] ?? 0 }
  }
}
