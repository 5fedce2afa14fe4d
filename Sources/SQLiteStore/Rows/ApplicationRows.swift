import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `application` rows.
enum ApplicationRows {
  /// The condition that a row's group still exists; a new group of the same groupID has another
  /// number.
  static let isOfLiveGroup = "EXISTS (SELECT 1 FROM groupRecord AS g WHERE g.number = application.groupNumber)"

  private static let groupNumber = "SELECT number FROM groupRecord WHERE groupID = ? AND epoch = ?"
  private static let insertSQL = """
    INSERT INTO application (groupNumber, \(GroupApplication.columns.names), endTime)
    SELECT number, \(GroupApplication.columns.places("?")), ? FROM groupRecord WHERE groupID = ? AND epoch = ?
    """
  private static let updateSQL = """
    UPDATE application SET \(GroupApplication.columns.assignments("?", to: GroupApplication.changingColumns)),
    endTime = ?\(GroupApplication.columns.place(of: "handledTime"))
    WHERE id = ?\(GroupApplication.columns.place(of: "id")) AND groupNumber = (
      SELECT number FROM groupRecord WHERE groupID = ?\(GroupApplication.columns.place(of: "groupID"))
      AND epoch = ?\(GroupApplication.columns.place(of: "epoch")))
    """

  /// Inserts an application, or one that was made again under a new number, so that it is the
  /// newest.
  static func insert(_ application: GroupApplication, in db: Database) throws {
    let group = [application.groupID.rawValue, application.epoch.column]
    try db.run("DELETE FROM application WHERE id = ? AND groupNumber = (\(groupNumber))", [application.id.column] + group)
    let inserted = try db.run(insertSQL) { binding in
      try application.write(to: &binding)
      try (application.handling?.time).write(to: &binding)
      binding.append(application.groupID.rawValue)
      binding.append(application.epoch)
    }
    guard inserted == 1 else { throw StoreError(.inconsistent, "no group \(application.groupID) to apply for") }
  }

  static func update(_ application: GroupApplication, in db: Database) throws {
    guard try db.run(updateSQL, binding: { try application.write(to: &$0) }) == 1 else {
      throw StoreError(.inconsistent, "no application \(application.id) of a group that is there")
    }
  }

  /// The next page of a group's open applications, by number.
  static func open(
    groupNumber: Int64, after number: Int64, limit: Int, in db: Database
  ) throws -> [NumberedApplication] {
    try db.rows(
      """
      SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOpen
      WHERE groupNumber = ? AND endTime IS NULL AND number > ? ORDER BY number LIMIT ?
      """, [groupNumber, number, limit], NumberedApplication.read)
  }
}
