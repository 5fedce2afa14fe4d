import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension PostgreSQLStore: UserErasureStore {
  /// PostgreSQL frees rows by itself: autovacuum removes them, and the log is recycled.
  package func reclaim() async throws(StoreError) {}
}

extension PostgreSQLConnection {
  package var applicationIsListed: String { "NOT isGroupGone" }

  package func shared(_ sql: String, _ values: [StoredValue], _ kinds: [ColumnKind]) throws -> [StoredTable.Row] {
    try rows(sql, values) { reader in
      var row: StoredTable.Row = []
      for kind in kinds { row.append(try reader.value(of: kind)) }
      return row
    }
  }
}

extension WriteTransaction {
  func runShared(_ sql: String, _ values: [StoredValue]) throws { try run(sql, values) }
}

extension StoredValue: StatementValue {
  /// NULL stands in the statement itself, because an argument needs a type.
  func append(to arguments: inout StatementArguments) {
    switch self {
    case .null: arguments.append(null: .text)
    case .integer(let number): arguments.append(number)
    case .flag(let flag): arguments.append(flag)
    case .text(let text): arguments.append(text)
    case .bytes(let bytes): arguments.append(bytes: bytes)
    }
  }
}
