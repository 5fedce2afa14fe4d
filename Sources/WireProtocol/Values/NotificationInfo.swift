import GroupModel

/// A system notification for its user (Protocol.md, "System notifications").
public struct NotificationInfo: FieldValue {
  public static let notation = "SystemNotification"

  public let number: Int64
  public let notification: SystemNotification
  public let isRead: Bool

  /// A notification under its number.
  public init(number: Int64, notification: SystemNotification, isRead: Bool) {
    self.number = number
    self.notification = notification
    self.isRead = isRead
  }

  /// The notificationID of a number.
  public static func id(_ number: Int64) -> String { String(number) }

  /// The number of a notificationID, or nil.
  public static func number(_ id: String) -> Int64? { Int64(id).flatMap { String($0) == id && $0 > 0 ? $0 : nil } }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("notificationID", NotificationInfo.id(number))
      writer.member("type", notification.kind.rawValue)
      writer.member("groupID", notification.groupID.rawValue)
      writer.member("groupName", ifPresent: notification.groupName)
      writer.key("opUser")
      writer.raw(notification.opUser)
      writer.member("applicationID", ifPresent: notification.applicationID)
      writer.member("reason", ifPresent: notification.reason)
      writer.member("data", ifPresent: notification.data)
      writer.member("timestamp", notification.timestamp)
      writer.member("isRead", isRead)
    }
  }
}
