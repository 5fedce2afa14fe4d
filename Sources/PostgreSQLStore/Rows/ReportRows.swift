import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of `report` rows.
private enum ReportRows {
  /// A report that is made again gets the next number.
  static let putSQL = """
    INSERT INTO report (\(MessageReport.columns.names)) VALUES (\(MessageReport.columns.places("$")))
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, \(MessageReport.columns.without("id").excluded)
    """
  static let columns = "number, \(MessageReport.columns.names)"
}

extension WriteTransaction {
  func put(_ report: MessageReport) throws { try run(ReportRows.putSQL) { try report.write(to: &$0) } }

  func closeReport(_ id: String, note: String?) throws {
    try run("UPDATE report SET state = $1, note = $2 WHERE id = $3", [MessageReport.State.closed.rawValue, note, id])
  }
}

extension PostgreSQLConnection {
  package func reports(
    state: MessageReport.State, in group: GroupID?, below number: Int64, limit: Int
  ) throws -> [NumberedReport] {
    guard let group else {
      return try rows(
        "SELECT \(ReportRows.columns) FROM report WHERE state = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
        [state.rawValue, number, limit], NumberedReport.read)
    }
    return try rows(
      """
      SELECT \(ReportRows.columns) FROM report WHERE groupID = $1 AND state = $2 AND number < $3
      ORDER BY number DESC LIMIT $4
      """, [group.rawValue, state.rawValue, number, limit], NumberedReport.read)
  }

  package func report(_ id: String) throws -> NumberedReport? {
    try rows("SELECT \(ReportRows.columns) FROM report WHERE id = $1", [id], NumberedReport.read).first
  }

  package func openReports() throws -> Int {
    try count("SELECT count(*) FROM report WHERE state = $1", [MessageReport.State.open.rawValue])
  }
}
