import GroupModel
import GroupRuntime
import StoreTables

/// `application` rows.
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
  private static let insertSQL = """
    INSERT INTO application (groupNumber, \(GroupApplication.columns.names), endTime)
    VALUES (\(groupNumber), \(GroupApplication.columns.places("$")), \(handledTime))
    """
  private static let updateSQL = """
    UPDATE application SET \(GroupApplication.columns.assignments("$", to: GroupApplication.changingColumns)),
    endTime = \(handledTime) WHERE id = \(id) AND groupNumber = \(groupNumber)
    """

  private static func place(_ column: String) -> Int { GroupApplication.columns.place(of: column) }

  /// Inserts an application, or one that was made again under a new number, so that it is the
  /// newest.
  static func insert(_ application: GroupApplication, _ transaction: WriteTransaction) throws {
    try transaction.run(
      "DELETE FROM application WHERE id = $1 AND groupNumber = (SELECT number FROM groupRecord WHERE groupID = $2 AND epoch = $3)",
      [application.id, application.groupID.rawValue, application.epoch])
    try transaction.run(insertSQL) { try application.write(to: &$0) }
  }

  static func update(_ application: GroupApplication, _ transaction: WriteTransaction) throws {
    try transaction.runForOne(updateSQL, binding: { try application.write(to: &$0) }) {
      "no application \(application.id) of a group that is there"
    }
  }

  /// The next page of a group's open applications, by number.
  static func open(
    groupNumber: Int64, after number: Int64, limit: Int, in db: PostgreSQLConnection
  ) throws -> [NumberedApplication] {
    try db.rows(
      """
      SELECT a.number, \(columns) FROM application AS a
      WHERE a.groupNumber = $1 AND a.endTime IS NULL AND a.number > $2 ORDER BY a.number LIMIT $3
      """, [groupNumber, number, limit], NumberedApplication.read)
  }
}
