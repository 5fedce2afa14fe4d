import GroupModel
import GroupRuntime
import StoreTables

extension PostgreSQLStore: MessageStore {
  /// Stored messages of a group with `seq` in the range; none where there is no such group.
  public func messages(
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

  /// Stored messages of a group by their `seq`, in that order; unknown ones are left out.
  public func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message] {
    if seqs.isEmpty { return [] }
    return try await read { db in
      guard let number = try db.number(of: group.rawValue) else { return [] }
      return try MessageRows.messages(of: group, number: number, seqs: seqs, in: db)
    }
  }

  /// Messages that were changed after a change, ascending by it, as they are now.
  public func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages {
    let most = options.rowsPerRead
    return try await read { db in
      guard let number = try db.number(of: group.rawValue) else { return ChangedMessages(messages: [], cutAt: nil) }
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
      let messages = try MessageRows.messages(of: group, number: number, seqs: found.map(\.seq), in: db)
      return ChangedMessages(messages: messages, cutAt: cutAt)
    }
  }

  /// The reactions to messages, in the order in which they came; a message without any is absent.
  public func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]] {
    if seqs.isEmpty { return [:] }
    return try await read { db in
      guard let number = try db.number(of: group.rawValue) else { return [:] }
      return try ReactionRows.reactions(to: seqs, number: number, reader: reader, users: users, in: db)
    }
  }

  /// The number of messages with `seq` in the range that are Text or Custom, not by `reader`, and
  /// not recalled (Protocol.md, "Unread counts"); at most `limit`.
  /// - Parameter managersOnly: only those with `isFromManager`.
  public func unreadCount(
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

  /// The `seq` of the first message with a timestamp at or after an instant; nil where there is
  /// none. Timestamps never fall with `seq`.
  public func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    try await read { db in
      guard let number = try db.number(of: group.rawValue) else { return nil }
      return try MessageRows.firstSeq(number: number, notBefore: notBefore, in: db)
    }
  }

  // MARK: Read receipts

  /// Those of the messages that a user may confirm and has not.
  public func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64] {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return [] }
      return try ReadReceiptRows.confirmable(seqs, by: reader, number: number, in: db)
    }
  }

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled,
  /// by `seq`.
  public func receiptCounts(of seqs: [Int64], in group: GroupID, epoch: String) async throws(StoreError) -> [ReceiptCount] {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return [] }
      return try ReadReceiptRows.counts(of: seqs, number: number, in: db)
    }
  }

  /// The readers of a message; nil where there is no such message.
  public func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders? {
    try await read { db in
      guard let number = try ReadReceiptRows.number(of: group, epoch: epoch, in: db) else { return nil }
      return try ReadReceiptRows.readers(of: seq, number: number, in: db)
    }
  }
}
