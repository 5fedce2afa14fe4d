import GRDB
import GroupModel
import StoreEngine
import StoreTables

/// Deletes rows that are too old to be asked for.
enum ExpiredRowCleanup {
  /// Deletes one chunk in the transaction that is open.
  /// - Parameters:
  ///   - rows: how many rows a chunk has at most.
  ///   - reportRetention: the time that a report is kept.
  /// - Returns: false where nothing old is left.
  static func chunk(
    of rows: Int, at now: WallInstant, reportRetention: Duration = EngineOptions.standardReportRetention, in db: Database
  ) throws -> Bool {
    try ExpiredRows.all(at: now, reportRetention: reportRetention).contains { expired in
      let (table, key) = (expired.table, StoredTable.named(expired.table).key.names)
      return try db.run(
        """
        DELETE FROM \(table) WHERE (\(key)) IN
        (SELECT \(key) FROM \(table) INDEXED BY \(expired.index) WHERE \(expired.column) < ? LIMIT ?)
        """, [expired.before, rows]) > 0
    }
  }
}
