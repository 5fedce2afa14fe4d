import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: MessageStore {
  /// Stored messages of a group with `seq` in the range; none where nobody uses the groupID.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func messages(
    of group: GroupID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Message] {
    try await read { db in
      guard let number = try db.number(of: group) else { return [] }
      let order = newestFirst ? "DESC" : "ASC"
      return try db.rows(
        "SELECT \(MessageRows.columns) FROM message WHERE number = ? AND seq BETWEEN ? AND ? ORDER BY seq \(order) LIMIT ?",
        [number, range.lowerBound, range.upperBound, max(0, limit)]
      ) { try MessageRows.message(of: group, &$0) }
    }
  }

  /// How many messages with `seq` above `after` are Text or Custom, of somebody else than `reader`, and not recalled (contract
  /// section 4, Unread).
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadCount(of group: GroupID, after: Int64, reader: UserID) async throws(StoreError) -> Int {
    try await read { db in
      try db.rows(
        """
        SELECT count(*) FROM message WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?)
        AND seq > ? AND sender <> ? AND kind IN ('Text', 'Custom') AND NOT isRevoked
        """, [group.rawValue, after, reader.rawValue]
      ) { Int(try $0.integer()) }.first ?? 0
    }
  }
}

extension MessageRows {
  /// The newest message, and those with a clientMsgID that were accepted at or after an instant, by `seq`. Goes backwards from
  /// the end and stops at the first older one.
  static func tail(
    of group: GroupID, number: Int64, sentSince: Instant, in db: Database
  ) throws -> (newest: Message?, recentlySent: [Message]) {
    let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM message WHERE number = ? ORDER BY seq DESC")
    let cursor = try Row.fetchCursor(statement, arguments: [number])
    var newest: Message?
    var recentlySent: [Message] = []
    while let row = try cursor.next() {
      var values = Columns(row)
      let message = try message(of: group, &values)
      if newest == nil { newest = message }
      if message.timestamp < sentSince { break }
      if message.clientMsgID != nil { recentlySent.append(message) }
    }
    return (newest, recentlySent.reversed())
  }
}
