import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `report` rows.
private enum ReportRows {
  static let insertSQL = """
    INSERT INTO report (\(MessageReport.columns.names)) VALUES (\(MessageReport.columns.places("?")))
    """
  static let columns = "number, \(MessageReport.columns.names)"
}

extension SQLiteTransaction {
  func put(_ report: MessageReport) throws {
    try db.run("DELETE FROM report WHERE id = ?", [report.id])
    try db.run(ReportRows.insertSQL) { try report.write(to: &$0) }
  }

  func closeReport(_ id: String, note: String?) throws {
    try db.run(
      "UPDATE report SET state = ?, note = ? WHERE id = ?", [MessageReport.State.closed.rawValue, note?.column, id])
  }
}

extension Database {
  package func reports(
    state: MessageReport.State, in group: GroupID?, below number: Int64, limit: Int
  ) throws -> [NumberedReport] {
    guard let group else {
      return try rows(
        """
        SELECT \(ReportRows.columns) FROM report INDEXED BY reportByState WHERE state = ? AND number < ?
        ORDER BY number DESC LIMIT ?
        """, [state.rawValue, number, limit], NumberedReport.read)
    }
    return try rows(
      """
      SELECT \(ReportRows.columns) FROM report INDEXED BY reportByGroup WHERE groupID = ? AND state = ? AND number < ?
      ORDER BY number DESC LIMIT ?
      """, [group.rawValue, state.rawValue, number, limit], NumberedReport.read)
  }

  package func report(_ id: String) throws -> NumberedReport? {
    try rows("SELECT \(ReportRows.columns) FROM report WHERE id = ?", [id.column], NumberedReport.read).first
  }

  package func openReports() throws -> Int {
    try count(
      "SELECT count(*) FROM report INDEXED BY reportByState WHERE state = ?", [MessageReport.State.open.rawValue])
  }
}
