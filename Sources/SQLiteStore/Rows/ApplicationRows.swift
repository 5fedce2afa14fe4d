import GRDB
import GroupModel
import GroupRuntime

/// `application` rows.
enum ApplicationRows {
  static let columns = """
    id, groupID, epoch, kind, fromUser, toUser, addTime, handledTime, isAgreed, handledBy, requestMsg, attach, handledMsg
    """
  /// The condition that a row's group still exists; a new group of the same groupID has another
  /// number.
  static let isOfLiveGroup = "EXISTS (SELECT 1 FROM groupRecord AS g WHERE g.number = application.groupNumber)"

  private static let groupNumber = "SELECT number FROM groupRecord WHERE groupID = ? AND epoch = ?"
  private static let insertSQL = """
    INSERT INTO application (groupNumber, endTime, \(columns))
    SELECT number, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM groupRecord WHERE groupID = ? AND epoch = ?
    """
  private static let updateSQL = """
    UPDATE application SET fromUser = ?, addTime = ?, handledTime = ?, isAgreed = ?, handledBy = ?, endTime = ?, requestMsg = ?,
    attach = ?, handledMsg = ? WHERE id = ? AND groupNumber = (\(groupNumber))
    """

  /// Inserts an application, or one that was made again under a new number, so that it is the
  /// newest.
  static func insert(_ application: GroupApplication, in db: Database) throws {
    let (id, group) = (application.id.column, [application.groupID.rawValue, application.epoch.column])
    try db.run("DELETE FROM application WHERE id = ? AND groupNumber = (\(groupNumber))", [id] + group)
    guard try db.run(insertSQL, values(of: application) + group) == 1 else {
      throw StoreError(.inconsistent, "no group \(application.groupID) to apply for")
    }
  }

  static func update(_ application: GroupApplication, in db: Database) throws {
    let handling = application.handling
    let updated = try db.run(
      updateSQL,
      [
        application.fromUser.rawValue, application.addTime, handling?.time, handling?.isAgreed, handling?.by.rawValue,
        handling?.time, application.requestMsg.column, application.attach?.column, handling?.message.column,
        application.id.column, application.groupID.rawValue, application.epoch.column,
      ])
    guard updated == 1 else { throw StoreError(.inconsistent, "no application \(application.id) of a group that is there") }
  }

  /// The next page of a group's open applications, by number.
  static func open(
    groupNumber: Int64, after number: Int64, limit: Int, in db: Database
  ) throws -> [(number: Int64, application: GroupApplication)] {
    try db.rows(
      """
      SELECT number, \(columns) FROM application INDEXED BY applicationOpen
      WHERE groupNumber = ? AND endTime IS NULL AND number > ? ORDER BY number LIMIT ?
      """, [groupNumber, number, limit]
    ) { (try $0.integer(), try application(&$0)) }
  }

  static func application(_ row: inout RowReader) throws -> GroupApplication {
    let id = try row.text()
    let groupID = try row.value(GroupID.init)
    let epoch = try row.text()
    let kind = try row.value(GroupApplication.Kind.init)
    let fromUser = try row.value(UserID.init(stored:))
    let toUser = try row.optionalValue(UserID.init(stored:))
    let addTime = try row.instant()
    let handling = try unfinishedHandling(&row)
    var application = GroupApplication(
      id: id, groupID: groupID, epoch: epoch, kind: kind, fromUser: fromUser, toUser: toUser, addTime: addTime,
      requestMsg: try row.text(), attach: try row.optionalText())
    let message = try row.optionalText()
    application.handling = handling.map { .init(isAgreed: $0.isAgreed, by: $0.by, time: $0.time, message: message ?? "") }
    return application
  }

  private static func unfinishedHandling(_ row: inout RowReader) throws -> (time: WallInstant, isAgreed: Bool, by: UserID)? {
    let time = try row.optionalInstant()
    let isAgreed = try row.optionalInteger()
    let by = try row.optionalValue(UserID.init(stored:))
    guard let time else { return nil }
    guard let isAgreed, let by else { throw StoreError(.inconsistent, "column handledTime says handled, and nobody did") }
    return (time, isAgreed != 0, by)
  }

  private static func values(of application: GroupApplication) -> [(any DatabaseValueConvertible)?] {
    let handling = application.handling
    return [
      handling?.time, application.id.column, application.groupID.rawValue, application.epoch.column, application.kind.rawValue,
      application.fromUser.rawValue, application.toUser?.rawValue, application.addTime, handling?.time, handling?.isAgreed,
      handling?.by.rawValue, application.requestMsg.column, application.attach?.column, handling?.message.column,
    ]
  }
}
