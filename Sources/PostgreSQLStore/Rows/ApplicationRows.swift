import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `application` rows.
enum ApplicationRows {
  /// The columns of `application AS a`.
  static let columns = GroupApplication.columns.names(of: "a")
  /// The condition that a row's group still exists; a new group of the same groupID has another
  /// number.
  static let isOfLiveGroup = "EXISTS (SELECT 1 FROM groupRecord AS g WHERE g.number = a.groupNumber)"

  // Take the arguments of the codec.
  private static let (id, handledTime) = ("$\(place("id"))", "$\(place("handledTime"))")
  private static let groupNumber = """
    (SELECT g.number FROM groupRecord AS g WHERE g.groupID = $\(place("groupID")) AND g.epoch = $\(place("epoch")))
    """
  fileprivate static let insertSQL = """
    INSERT INTO application (groupNumber, \(GroupApplication.columns.names), endTime)
    VALUES (\(groupNumber), \(GroupApplication.columns.places("$")), \(handledTime))
    """
  fileprivate static let updateSQL = """
    UPDATE application SET \(GroupApplication.columns.assignments("$", to: GroupApplication.changingColumns)),
    endTime = \(handledTime) WHERE id = \(id) AND groupNumber = \(groupNumber)
    """

  private static func place(_ column: String) -> Int { GroupApplication.columns.place(of: column) }
}

extension WriteTransaction {
  func insert(_ application: GroupApplication) throws {
    try run(
      "DELETE FROM application WHERE id = $1 AND groupNumber = (SELECT number FROM groupRecord WHERE groupID = $2 AND epoch = $3)",
      [application.id, application.groupID.rawValue, application.epoch])
    try run(ApplicationRows.insertSQL) { try application.write(to: &$0) }
  }

  func update(_ application: GroupApplication) throws {
    try runForOne(ApplicationRows.updateSQL, binding: { try application.write(to: &$0) }) {
      "no application \(application.id) of a group that is there"
    }
  }
}

extension PostgreSQLConnection {
  package func openApplications(number: Int64, after application: Int64, limit: Int) throws -> [NumberedApplication] {
    try rows(
      """
      SELECT a.number, \(ApplicationRows.columns) FROM application AS a
      WHERE a.groupNumber = $1 AND a.endTime IS NULL AND a.number > $2 ORDER BY a.number LIMIT $3
      """, [number, application, limit], NumberedApplication.read)
  }
}
