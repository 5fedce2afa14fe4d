import GroupModel
import GroupRuntime

/// `notification` rows, without addressee, number and the operator's profile.
extension SystemNotification: StoredRow {
  public static let columns = describe()
  public static var blank: SystemNotification {
    SystemNotification(kind: .custom, groupID: GroupID(allowed: "-"), opUser: "", timestamp: .unset)
  }

  /// The operator's profile, which a store fills in when it writes the row.
  public static let profileColumns = [StoredColumn("opNickName", String?.self), StoredColumn("opFaceURL", String?.self)]

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout SystemNotification, _ coder: inout Coder) throws(StoreError)
  {
    var (timestamp, kind, groupID, opUser) = (row.timestamp, row.kind, row.groupID, row.opUser)
    var (applicationID, reason, data) = (row.applicationID, row.reason, row.data)
    var (groupName, platform) = (row.groupName, row.platform)
    try coder.column("timestamp", &timestamp)
    try coder.column("kind", &kind)
    try coder.column("groupID", &groupID)
    try coder.column("opUser", &opUser)
    try coder.column("applicationID", &applicationID)
    try coder.column("reason", &reason)
    try coder.column("data", &data)
    try coder.column("groupName", &groupName)
    try coder.column("platform", &platform)
    guard Coder.isReader else { return }
    row = SystemNotification(
      kind: kind, groupID: groupID, groupName: groupName, opUser: opUser, applicationID: applicationID, reason: reason,
      data: data, timestamp: timestamp, platform: platform)
  }
}

extension NumberedNotification {
  /// The columns that `read` reads.
  public static let columns =
    [StoredColumn("number", Int64.self)] + SystemNotification.columns + SystemNotification.profileColumns

  /// Reads `columns`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> NumberedNotification {
    let number = try reader.integer()
    var notification = try SystemNotification.read(&reader)
    let nickName = try reader.value(String?.self) ?? ""
    notification.operatorProfile = .make(nickName: nickName, faceURL: try reader.value(String?.self) ?? "")
    return NumberedNotification(number: number, notification: notification)
  }
}
