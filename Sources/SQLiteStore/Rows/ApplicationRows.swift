import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `application` rows.
enum ApplicationRows {
  /// The condition that a row's group still exists; a new group of the same groupID has another
  /// number.
  static let isOfLiveGroup = "EXISTS (SELECT 1 FROM groupRecord AS g WHERE g.number = application.groupNumber)"

  fileprivate static let groupNumber = "SELECT number FROM groupRecord WHERE groupID = ? AND epoch = ?"
  fileprivate static let insertSQL = """
    INSERT INTO application (groupNumber, \(GroupApplication.columns.names), endTime)
    SELECT number, \(GroupApplication.columns.places("?")), ? FROM groupRecord WHERE groupID = ? AND epoch = ?
    """
  fileprivate static let updateSQL = """
    UPDATE application SET \(GroupApplication.columns.assignments("?", to: GroupApplication.changingColumns)),
    endTime = ?\(GroupApplication.columns.place(of: "handledTime"))
    WHERE id = ?\(GroupApplication.columns.place(of: "id")) AND groupNumber = (
      SELECT number FROM groupRecord WHERE groupID = ?\(GroupApplication.columns.place(of: "groupID"))
      AND epoch = ?\(GroupApplication.columns.place(of: "epoch")))
    """
}

extension SQLiteTransaction {
  func insert(_ application: GroupApplication) throws {
    try db.run("DELETE FROM application WHERE id = ? AND groupNumber = (\(ApplicationRows.groupNumber))") { binding in
      binding.append(application.id)
      bindGroup(of: application, &binding)
    }
    let inserted = try db.run(ApplicationRows.insertSQL) { binding in
      try application.write(to: &binding)
      try (application.handling?.time).write(to: &binding)
      bindGroup(of: application, &binding)
    }
    guard inserted == 1 else { throw StoreError(.inconsistent, "no group \(application.groupID) to apply for") }
  }

  private func bindGroup(of application: GroupApplication, _ binding: inout StatementBinding) {
    binding.append(application.groupID.rawValue)
    binding.append(application.epoch)
  }

  func update(_ application: GroupApplication) throws {
    guard try db.run(ApplicationRows.updateSQL, binding: { try application.write(to: &$0) }) == 1 else {
      throw StoreError(.inconsistent, "no application \(application.id) of a group that is there")
    }
  }
}

extension Database {
  package func openApplications(number: Int64, after application: Int64, limit: Int) throws -> [NumberedApplication] {
    try rows(
      """
      SELECT number, \(GroupApplication.columns.names) FROM application INDEXED BY applicationOpen
      WHERE groupNumber = ? AND endTime IS NULL AND number > ? ORDER BY number LIMIT ?
      """, [number, application, limit], NumberedApplication.read)
  }
}
