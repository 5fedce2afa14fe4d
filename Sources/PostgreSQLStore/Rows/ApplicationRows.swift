import GroupModel
import GroupRuntime

/// `application` rows.
enum ApplicationRows {
  static let columns = """
    a.id, a.groupID, a.epoch, a.kind, a.fromUser, a.toUser, a.addTime, a.handledTime, a.isAgreed, a.handledBy, a.requestMsg,
    a.attach, a.handledMsg
    """
  /// The condition that a row's group still exists; a new group of the same groupID has another
  /// number.
  static let isOfLiveGroup = "EXISTS (SELECT 1 FROM groupRecord AS g WHERE g.number = a.groupNumber)"

  private static let groupNumber = "(SELECT g.number FROM groupRecord AS g WHERE g.groupID = $2 AND g.epoch = $3)"
  private static let insertSQL = """
    INSERT INTO application (groupNumber, id, groupID, epoch, kind, fromUser, toUser, addTime, handledTime, isAgreed, handledBy,
    endTime, requestMsg, attach, handledMsg)
    VALUES (\(groupNumber), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $8, $11, $12, $13)
    """
  private static let updateSQL = """
    UPDATE application SET fromUser = $4, addTime = $5, handledTime = $6, isAgreed = $7, handledBy = $8, endTime = $6,
    requestMsg = $9, attach = $10, handledMsg = $11 WHERE id = $1 AND groupNumber = \(groupNumber)
    """

  /// Inserts an application, or one that was made again under a new number, so that it is the
  /// newest.
  static func insert(_ application: GroupApplication, _ transaction: WriteTransaction) throws {
    let key = [application.id, application.groupID.rawValue, application.epoch]
    try transaction.run("DELETE FROM application WHERE id = $1 AND groupNumber = \(groupNumber)", key)
    let handling = application.handling
    try transaction.run(
      insertSQL,
      [
        application.id, application.groupID.rawValue, application.epoch, application.kind.rawValue, application.fromUser.rawValue,
        application.toUser?.rawValue, application.addTime, handling?.time, handling?.isAgreed, handling?.by.rawValue,
        application.requestMsg, application.attach, handling?.message,
      ])
  }

  static func update(_ application: GroupApplication, _ transaction: WriteTransaction) throws {
    let handling = application.handling
    try transaction.runForOne(
      updateSQL,
      [
        application.id, application.groupID.rawValue, application.epoch, application.fromUser.rawValue, application.addTime,
        handling?.time, handling?.isAgreed, handling?.by.rawValue, application.requestMsg, application.attach, handling?.message,
      ]
    ) { "no application \(application.id) of a group that is there" }
  }

  /// The next page of a group's open applications, by number.
  static func open(
    groupNumber: Int64, after number: Int64, limit: Int, in db: PostgreSQLConnection
  ) throws -> [(number: Int64, application: GroupApplication)] {
    try db.rows(
      """
      SELECT a.number, \(columns) FROM application AS a
      WHERE a.groupNumber = $1 AND a.endTime IS NULL AND a.number > $2 ORDER BY a.number LIMIT $3
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
    let isAgreed = try row.optionalFlag()
    let by = try row.optionalValue(UserID.init(stored:))
    guard let time else { return nil }
    guard let isAgreed, let by else { throw StoreError(.inconsistent, "column handledTime says handled, and nobody did") }
    return (time, isAgreed, by)
  }
}

extension NumberedApplication {
  /// From the number and `ApplicationRows.columns`.
  init(row: inout RowReader) throws {
    self.init(number: try row.integer(), application: try ApplicationRows.application(&row))
  }
}
