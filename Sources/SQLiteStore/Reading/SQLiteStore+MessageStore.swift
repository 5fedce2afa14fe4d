import GRDB
import GroupModel
import GroupRuntime
import StoreTables

extension SQLiteStore: MessageStore {
  /// Stored messages of a group with `seq` in the range; none where there is no such group.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func messages(
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

  /// Stored messages of a group by their `seq`, in that order; unknown ones are left out.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message] {
    if seqs.isEmpty { return [] }
    return try await read { db in
      guard let number = try db.number(of: group) else { return [] }
      return try seqs.flatMap { try MessageRows.messages(of: group, number: number, seq: $0, in: db) }
    }
  }

  /// Messages that were changed after a change, ascending by it, as they are now.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages {
    let most = options.rowsPerRead
    return try await read { db in
      guard let number = try db.number(of: group) else { return ChangedMessages(messages: [], cutAt: nil) }
      var found: [(changeSeq: Int64, seq: Int64)] = []
      var cutAt: Int64?
      var (last, looked) = (changeSeq, 0)
      // As a rule all changes are visible, and no more is read than the page holds.
      while looked < most, cutAt == nil {
        let wanted = min(limit + 1, most - looked)
        let changes = try MessageChangeRows.changes(number: number, after: last, limit: wanted, in: db)
        for change in changes where ranges.contains(where: { $0.contains(change.seq) }) {
          if found.count == limit { cutAt = found.last?.changeSeq } else { found.append(change) }
        }
        looked += changes.count
        last = changes.last?.changeSeq ?? last
        if changes.count < wanted { break }
        if looked == most { cutAt = cutAt ?? last }
      }
      let messages = try found.flatMap { try MessageRows.messages(of: group, number: number, seq: $0.seq, in: db) }
      return ChangedMessages(messages: messages, cutAt: cutAt)
    }
  }

  /// The reactions to messages, in the order in which they came; a message without any is absent.
  /// - Parameters:
  ///   - reader: for `isByReader`; nil = nobody's.
  ///   - users: how many users of each are named, in the order in which they gave it.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]] {
    if seqs.isEmpty { return [:] }
    return try await read { db in
      guard let number = try db.number(of: group) else { return [:] }
      var reactions: [Int64: [StoredReaction]] = [:]
      for seq in seqs {
        let found = try ReactionRows.reactions(to: seq, number: number, reader: reader, users: users, in: db)
        if !found.isEmpty { reactions[seq] = found }
      }
      return reactions
    }
  }

  /// The number of messages with `seq` in the range that are Text or Custom, not by `reader`, and
  /// not recalled (Protocol.md, "Unread counts"); at most `limit`.
  /// - Parameter managersOnly: only those with `isFromManager`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func unreadCount(
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

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is
  /// none. Timestamps never fall with `seq`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    try await read { db in
      guard let number = try db.number(of: group) else { return nil }
      return try MessageRows.firstSeq(number: number, notBefore: notBefore, in: db)
    }
  }
}

extension MessageRows {
  // A binary search: `seq` has no gap, and there is no index by time.
  static func firstSeq(number: Int64, notBefore: WallInstant, in db: Database) throws -> Int64? {
    guard let last = try newestSeq(number: number, in: db) else { return nil }
    let first = try db.rows("SELECT seq FROM message WHERE number = ? ORDER BY seq LIMIT 1", [number]) { try $0.integer() }
    var (low, high) = (first.first ?? last, last + 1)
    while low < high {
      let middle = low + (high - low) / 2
      if try timestamp(at: middle, number: number, in: db) < notBefore { low = middle + 1 } else { high = middle }
    }
    return low > last ? nil : low
  }

  private static func timestamp(at seq: Int64, number: Int64, in db: Database) throws -> WallInstant {
    let times = try db.rows("SELECT timestamp FROM message WHERE number = ? AND seq = ?", [number, seq]) { try $0.instant() }
    guard let time = times.first else { throw StoreError(.inconsistent, "message \(seq) of a group is missing") }
    return time
  }

  /// The newest message that is kept.
  static func newestSeq(number: Int64, in db: Database) throws -> Int64? {
    try db.rows("SELECT seq FROM message WHERE number = ? ORDER BY seq DESC LIMIT 1", [number]) { try $0.integer() }.first
  }

  static func newest(of group: GroupID, number: Int64, in db: Database) throws -> Message? {
    try db.rows("SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = ? ORDER BY m.seq DESC LIMIT 1", [number]) {
      try Message.read(of: group, &$0)
    }.first
  }

  static func messages(of group: GroupID, number: Int64, seq: Int64, in db: Database) throws -> [Message] {
    try db.rows("SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = ? AND m.seq = ?", [number, seq]) {
      try Message.read(of: group, &$0)
    }
  }

  /// The messages with a clientMsgID, by `seq`, without their texts.
  static func sent(number: Int64, in range: ClosedRange<Int64>, _ db: Database) throws -> [SentMessage] {
    try db.rows(
      """
      SELECT \(SentMessage.columnNames) FROM message
      WHERE number = ? AND seq BETWEEN ? AND ? AND clientMsgID IS NOT NULL ORDER BY seq
      """, [number, range.lowerBound, range.upperBound], SentMessage.read)
  }
}
