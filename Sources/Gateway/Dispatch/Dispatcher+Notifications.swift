import GroupModel
import GroupRuntime
import WireProtocol

/// A user's system notifications (Protocol.md, "System notifications").
extension Dispatcher {
  func notifications(_ request: GetSystemNotificationList, of caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let since = oldestNotification
    let found = try await stores.personal.notifications(
      of: user, since: since, before: request.nextSeq, limit: request.count + 1)
    let unread = try await stores.personal.unreadNotifications(of: user, since: since)
    let readThrough = try await stores.personal.notificationsReadThrough(by: user)
    let page = found.prefix(request.count)
    let views = page.map { row in
      NotificationInfo(number: row.number, notification: row.notification, isRead: row.number <= readThrough)
    }
    return .success(
      .notifications(
        GetSystemNotificationList.Result(
          notificationList: views, unreadCount: unread,
          nextSeq: found.count > page.count ? page.last?.number ?? 0 : 0)))
  }

  /// Marks a notification and all older ones; without an ID, all. An unknown ID is 10004.
  func markNotificationsRead(_ request: SetSystemNotificationRead, by caller: Caller) async throws(StoreError) -> Reply {
    guard let user = caller.userID else { return .missingUser }
    let wanted = request.notificationID.map { NotificationInfo.number($0) ?? -1 }
    // The largest number has no successor, and no notification has it: the comparison below fails.
    let bound = wanted.map { min($0, .max - 1) + 1 } ?? 0
    let found = try await stores.personal.notifications(of: user, since: oldestNotification, before: bound, limit: 1).first
    if let wanted, found?.number != wanted {
      return .error(.badValue, "No such notification", field: "notificationID")
    }
    guard let found else { return .empty }
    return await commit([.markNotificationsRead(user, through: found.number)])
  }

  private var oldestNotification: WallInstant { clocks.wall - SystemNotification.lifetime }
}
