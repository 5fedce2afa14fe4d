import GroupModel
import GroupRuntime

/// `application` rows, without their numbers.
extension GroupApplication: StoredRow {
  public static let columns = describe()
  public static var blank: GroupApplication {
    GroupApplication(
      id: "", groupID: GroupID(allowed: "-"), epoch: "", kind: .join, fromUser: .administrator, toUser: nil, addTime: .unset,
      requestMsg: "")
  }

  /// When it was handled, or its group was disbanded; NULL = it is open.
  public static let endTime = StoredColumn("endTime", WallInstant?.self)
  /// The columns of its state; the others tell which one it is.
  public static let changingColumns = columns.without("id", "groupID", "epoch", "kind", "toUser").map(\.name)

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout GroupApplication, _ coder: inout Coder) throws(StoreError) {
    var (id, groupID, epoch, kind, toUser) = (row.id, row.groupID, row.epoch, row.kind, row.toUser)
    var (time, isAgreed, by) = (row.handling?.time, row.handling?.isAgreed, row.handling?.by)
    var message = row.handling?.message
    try coder.column("id", &id)
    try coder.column("groupID", &groupID)
    try coder.column("epoch", &epoch)
    try coder.column("kind", &kind)
    try coder.column("fromUser", &row.fromUser)
    try coder.column("toUser", &toUser)
    try coder.column("addTime", &row.addTime)
    try coder.column("handledTime", &time)
    try coder.column("isAgreed", &isAgreed)
    try coder.column("handledBy", &by)
    try coder.column("requestMsg", &row.requestMsg)
    try coder.column("attach", &row.attach)
    try coder.column("handledMsg", &message)
    guard Coder.isReader else { return }
    row = GroupApplication(
      id: id, groupID: groupID, epoch: epoch, kind: kind, fromUser: row.fromUser, toUser: toUser, addTime: row.addTime,
      requestMsg: row.requestMsg, attach: row.attach)
    guard let time else { return }
    guard let isAgreed, let by else { throw StoreError(.inconsistent, "column handledTime says handled, and nobody did") }
    row.handling = Handling(isAgreed: isAgreed, by: by, time: time, message: message ?? "")
  }
}

extension NumberedApplication {
  /// Reads the number, and `GroupApplication.columns`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> NumberedApplication {
    NumberedApplication(number: try reader.integer(), application: try GroupApplication.read(&reader))
  }
}

extension StoredApplication {
  /// Reads whether the group is there, and `GroupApplication.columns`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> StoredApplication {
    let isGroupThere = try reader.flag()
    return StoredApplication(application: try GroupApplication.read(&reader), isGroupGone: !isGroupThere)
  }
}
