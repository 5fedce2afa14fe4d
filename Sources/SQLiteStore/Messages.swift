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
  /// - Parameter managersOnly: only those with `isFromManager`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadCount(
    of group: GroupID, after: Int64, reader: UserID, managersOnly: Bool
  ) async throws(StoreError) -> Int {
    try await read { db in
      try db.rows(
        """
        SELECT count(*) FROM message WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?)
        AND seq > ? AND sender <> ? AND kind IN ('Text', 'Custom') AND NOT isRevoked
        AND isFromManager >= ?
        """, [group.rawValue, after, reader.rawValue, managersOnly]
      ) { Int(try $0.integer()) }.first ?? 0
    }
  }

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is none. Timestamps never fall with `seq`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func firstSeq(of group: GroupID, notBefore: Instant) async throws(StoreError) -> Int64? {
    try await read { db in
      guard let number = try db.number(of: group) else { return nil }
      return try MessageRows.firstSeq(number: number, notBefore: notBefore, in: db)
    }
  }
}

extension MessageRows {
  // Halves the range: `seq` has no gap, and the rows know no order but that of `seq`.
  fileprivate static func firstSeq(number: Int64, notBefore: Instant, in db: Database) throws -> Int64? {
    let last = try db.rows("SELECT seq FROM message WHERE number = ? ORDER BY seq DESC LIMIT 1", [number]) { try $0.integer() }
    guard let last = last.first else { return nil }
    var (low, high) = (Int64(1), last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      if try timestamp(at: middle, number: number, in: db) < notBefore { low = middle + 1 } else { high = middle }
    }
    return low > last ? nil : low
  }

  private static func timestamp(at seq: Int64, number: Int64, in db: Database) throws -> Instant {
    let times = try db.rows("SELECT timestamp FROM message WHERE number = ? AND seq = ?", [number, seq]) { try $0.integer() }
    guard let time = times.first else { throw StoreError(.inconsistent, "message \(seq) of a group is missing") }
    return time
  }

  /// The newest message, and those with a clientMsgID that were accepted at or after an instant, by `seq`. Other messages are passed
  /// over unread.
  static func tail(
    of group: GroupID, number: Int64, sentSince: Instant, in db: Database
  ) throws -> (newest: Message?, recentlySent: [Message]) {
    let select = "SELECT \(columns) FROM message WHERE number = ?"
    let newest = try db.rows("\(select) ORDER BY seq DESC LIMIT 1", [number]) { try message(of: group, &$0) }.first
    guard let newest, let first = try firstSeq(number: number, notBefore: sentSince, in: db) else { return (newest, []) }
    let recentlySent = try db.rows("\(select) AND seq >= ? AND clientMsgID IS NOT NULL ORDER BY seq", [number, first]) {
      try message(of: group, &$0)
    }
    return (newest, recentlySent)
  }
}
