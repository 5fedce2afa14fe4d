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
      encodeOperator(into: &writer)
      writer.member("platform", ifPresent: notification.platform?.rawValue)
      writer.member("applicationID", ifPresent: notification.applicationID)
      writer.member("reason", ifPresent: notification.reason)
      writer.member("data", ifPresent: notification.data)
      writer.member("timestamp", notification.timestamp)
      writer.member("isRead", isRead)
    }
  }

  /// The profile stands behind the members that the store keeps as one text.
  private func encodeOperator(into writer: inout JSONWriter) {
    guard let profile = notification.operatorProfile else { return writer.raw(notification.opUser) }
    let members = JSONWriter.text { $0.object { profile.encodeMembers(into: &$0) } }
    writer.raw(Array(notification.opUser.utf8.dropLast()) + [UInt8(ascii: ",")] + members.dropFirst())
  }
}

extension NotificationInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("notificationID", "string"), ResultField("type", NamedType.words(SystemNotification.Kind.self)),
    ResultField("groupID", "string"), ResultField("groupName?", "string"), ResultField("opUser", "MemberInfo"),
    ResultField("platform?", "string"), ResultField("applicationID?", "string"), ResultField("reason?", "string"),
    ResultField("data?", "string"), ResultField("timestamp", "integer"), ResultField("isRead", "boolean"),
  ]
}
