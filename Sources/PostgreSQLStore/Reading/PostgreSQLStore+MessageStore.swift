import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension PostgreSQLStore {
  package func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT \(Message.allColumns) FROM \(Message.source)
        WHERE m.number = \(numberOfGroup) AND m.seq BETWEEN $2 AND $3 ORDER BY m.seq \(newestFirst ? "DESC" : "ASC") LIMIT $4
        """, [group.rawValue, range.lowerBound, range.upperBound, max(0, limit)]
      ) { try Message.read(of: group, &$0) }
    }
  }

  package func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, skipsFlagged: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    let sql = skipsFlagged ? UnreadStatements.countedSQL : UnreadStatements.allSQL
    return try await read(.singleStatement) { db in
      try db.count(sql, [group.rawValue, range.lowerBound, range.upperBound, reader.rawValue, managersOnly, limit])
    }
  }
}

/// Statements that count unread messages.
enum UnreadStatements {
  private static let isUnread = """
    m.sender <> $4 AND m.kind IN ('Text', 'Custom') AND NOT m.isRevoked AND (m.isFromManager OR NOT $5)
    """
  private static let unread = """
    SELECT 1 FROM message AS m WHERE m.number = \(numberOfGroup) AND m.seq BETWEEN $2 AND $3 AND \(isUnread)
    """

  static let allSQL = "SELECT count(*) FROM (\(unread) LIMIT $6) AS unread"

  // The flagged ones, which are few, are counted for themselves: so all others are counted as before,
  // without a look at their extras. As many more are counted as are taken away. No join: while the
  // tables are small the planner may read all messages of the group for each flagged one, and keep that.
  static let countedSQL = """
    WITH flagged (n) AS MATERIALIZED (
      SELECT count(*) FROM messageExtras AS e
      WHERE e.number = \(numberOfGroup) AND e.seq BETWEEN $2 AND $3 AND e.isUncounted
      AND (SELECT true FROM message AS m WHERE m.number = e.number AND m.seq = e.seq AND \(isUnread)))
    SELECT count(*) - (SELECT n FROM flagged) FROM (\(unread) LIMIT $6 + (SELECT n FROM flagged)) AS unread
    """
}
