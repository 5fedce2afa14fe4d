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
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    try await read(.singleStatement) { db in
      try db.count(
        """
        SELECT count(*) FROM (SELECT 1 FROM message WHERE number = (SELECT number FROM groupRecord WHERE groupID = $1)
        AND seq BETWEEN $2 AND $3 AND sender <> $4 AND kind IN ('Text', 'Custom') AND NOT isRevoked
        AND (isFromManager OR NOT $5) LIMIT $6) AS unread
        """, [group.rawValue, range.lowerBound, range.upperBound, reader.rawValue, managersOnly, limit])
    }
  }
}
