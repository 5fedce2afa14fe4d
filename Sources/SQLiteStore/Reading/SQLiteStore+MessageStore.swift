import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension SQLiteStore {
  package func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    try await read { db in
      guard let number = try db.number(of: group) else { return [] }
      let order = newestFirst ? "DESC" : "ASC"
      return try db.rows(
        """
        SELECT \(Message.allColumns) FROM \(Message.source)
        WHERE m.number = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq \(order) LIMIT ?
        """,
        [number, range.lowerBound, range.upperBound, max(0, limit)]
      ) { try Message.read(of: group, &$0) }
    }
  }

  package func unreadCount(
    of group: GroupID, in range: ClosedRange<Int64>, reader: UserID, managersOnly: Bool, limit: Int
  ) async throws(StoreError) -> Int {
    try await read { db in
      try db.count(
        """
        SELECT count(*) FROM (SELECT 1 FROM message WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?)
        AND seq BETWEEN ? AND ? AND sender <> ? AND kind IN ('Text', 'Custom') AND NOT isRevoked AND isFromManager >= ? LIMIT ?)
        """, [group.rawValue, range.lowerBound, range.upperBound, reader.rawValue, managersOnly, limit])
    }
  }
}
