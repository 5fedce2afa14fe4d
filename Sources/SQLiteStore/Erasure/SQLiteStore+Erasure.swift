import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension SQLiteStore: UserErasureStore {
  /// Returns when neither the database nor its log holds a page that a deletion has freed. A reader of an
  /// old snapshot, such as a backup, is waited for.
  package func reclaim() async throws(StoreError) {
    let isDone = await withCheckedContinuation { continuation in
      maintenance.reclaim { continuation.resume(returning: $0) }
    }
    guard isDone else { throw StoreError(.unavailable, "the store is closed") }
  }
}

extension Database {
  package var applicationIsListed: String { "isGroupGone = 0" }

  package func shared(_ sql: String, _ values: [StoredValue], _ kinds: [ColumnKind]) throws -> [StoredTable.Row] {
    try rows(sql.inSQLite, values.map(\.argument)) { reader in
      var row: StoredTable.Row = []
      for kind in kinds { row.append(try reader.value(of: kind)) }
      return row
    }
  }
}

extension SQLiteTransaction {
  func runShared(_ sql: String, _ values: [StoredValue]) throws { try db.run(sql.inSQLite, values.map(\.argument)) }
}

extension String {
  /// The statement with SQLite's names of arguments.
  fileprivate var inSQLite: String { replacing("$", with: "?") }
}
