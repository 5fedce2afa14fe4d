import GroupModel
import GroupRuntime

extension StoreQueries {
  /// The first message at or after an instant. A binary search: `seq` has no gap, and there is no
  /// index by time.
  func firstSeq(number: Int64, notBefore: WallInstant) throws -> Int64? {
    guard let bounds = try seqBounds(number: number) else { return nil }
    var (low, high) = (bounds.lowerBound, bounds.upperBound + 1)
    while low < high {
      let middle = low + (high - low) / 2
      guard let time = try timestamp(of: middle, number: number) else {
        throw StoreError(.inconsistent, "message \(middle) of a group is missing")
      }
      if time < notBefore { low = middle + 1 } else { high = middle }
    }
    return low > bounds.upperBound ? nil : low
  }

  // Each range of places is looked up for itself: replies from before a reader joined, or from between
  // two memberships, are not walked over.

  /// The replies to a message that a reader may see and that are not recalled, behind one.
  func replies(
    to seq: Int64, of group: GroupID, number: Int64, visible: Visibility, after: Int64, limit: Int
  ) throws -> [Message] {
    var seqs: [Int64] = []
    for range in visible.ranges where range.upperBound > after && seqs.count < limit {
      seqs += try replySeqs(
        to: seq, number: number, for: visible.reader, in: max(range.lowerBound, after + 1)...range.upperBound,
        limit: limit - seqs.count)
    }
    return try messages(of: group, number: number, seqs: seqs)
  }

  /// How many such replies each of the messages has, at most `ReplyCount.max`; those without are
  /// absent.
  func replyCounts(to seqs: [Int64], number: Int64, visible: Visibility) throws -> [Int64: Int] {
    var counts: [Int64: Int] = [:]
    var wanted = seqs
    for range in visible.ranges where !wanted.isEmpty {
      let found = try replyCounts(to: wanted, number: number, for: visible.reader, in: range)
      counts.merge(found) { min($0 + $1, ReplyCount.max) }
      wanted.removeAll { counts[$0] == ReplyCount.max }
    }
    return counts
  }
}

extension DatabaseStore {
  /// Reads what there is of a group in one snapshot.
  /// - Parameter none: what there is without the group.
  private func read<Value: Sendable>(
    _ group: GroupID, else none: Value, _ body: @escaping @Sendable (Queries, _ number: Int64) throws -> Value
  ) async throws(StoreError) -> Value {
    try await read(.snapshot) { db in try db.number(of: group).map { try body(db, $0) } ?? none }
  }

  /// Stored messages of a group by their `seq`, in that order; unknown ones are left out.
  package func messages(of group: GroupID, seqs: [Int64]) async throws(StoreError) -> [Message] {
    if seqs.isEmpty { return [] }
    return try await read(group, else: []) { try $0.messages(of: group, number: $1, seqs: seqs) }
  }

  /// Messages that were changed after a change, ascending by it, as they are now.
  package func changedMessages(
    of group: GroupID, after changeSeq: Int64, in ranges: [ClosedRange<Int64>], limit: Int
  ) async throws(StoreError) -> ChangedMessages {
    let most = engineOptions.rowsPerRead
    return try await read(group, else: ChangedMessages(messages: [], cutAt: nil)) { db, number in
      var found: [(changeSeq: Int64, seq: Int64)] = []
      var cutAt: Int64?
      var (last, looked) = (changeSeq, 0)
      // As a rule all changes are visible, and no more is read than the page holds.
      while looked < most, cutAt == nil {
        let wanted = min(limit + 1, most - looked)
        let changes = try db.changes(number: number, after: last, limit: wanted)
        for change in changes where ranges.contains(where: { $0.contains(change.seq) }) {
          if found.count == limit { cutAt = found.last?.changeSeq } else { found.append(change) }
        }
        looked += changes.count
        last = changes.last?.changeSeq ?? last
        if changes.count < wanted { break }
        if looked == most { cutAt = cutAt ?? last }
      }
      return ChangedMessages(messages: try db.messages(of: group, number: number, seqs: found.map(\.seq)), cutAt: cutAt)
    }
  }

  /// How messages were changed the last time.
  package func changeOrigins(
    of group: GroupID, seqs: [Int64]
  ) async throws(StoreError) -> [Int64: StoredChangeOrigin] {
    if seqs.isEmpty { return [:] }
    return try await read(group, else: [:]) { try $0.changeOrigins(number: $1, seqs: seqs) }
  }

  /// Messages of a range that name others than a reader.
  package func hiddenSeqs(
    of group: GroupID, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) async throws(StoreError) -> [Int64] {
    try await read(group, else: []) {
      try $0.hiddenSeqs(number: $1, from: reader, in: range, newestFirst: newestFirst, limit: limit)
    }
  }

  /// Replies to a message, and how many there are of them.
  package func replies(
    to seq: Int64, in group: GroupID, visible: Visibility, after: Int64, limit: Int
  ) async throws(StoreError) -> (messages: [Message], total: Int) {
    try await read(group, else: (messages: [], total: 0)) { db, number in
      let messages = try db.replies(to: seq, of: group, number: number, visible: visible, after: after, limit: limit)
      return (messages: messages, total: try db.replyCounts(to: [seq], number: number, visible: visible)[seq] ?? 0)
    }
  }

  /// How many replies messages have.
  package func replyCounts(
    of group: GroupID, to seqs: [Int64], visible: Visibility
  ) async throws(StoreError) -> [Int64: Int] {
    if seqs.isEmpty { return [:] }
    return try await read(group, else: [:]) { try $0.replyCounts(to: seqs, number: $1, visible: visible) }
  }

  /// The reactions to messages, in the order in which they came.
  package func reactions(
    of group: GroupID, to seqs: [Int64], reader: UserID?, users: Int
  ) async throws(StoreError) -> [Int64: [StoredReaction]] {
    if seqs.isEmpty { return [:] }
    return try await read(group, else: [:]) { try $0.reactions(to: seqs, number: $1, reader: reader, users: users) }
  }

  /// The first message at or after an instant.
  package func firstSeq(of group: GroupID, notBefore: WallInstant) async throws(StoreError) -> Int64? {
    try await read(group, else: nil) { try $0.firstSeq(number: $1, notBefore: notBefore) }
  }

  // MARK: Read receipts

  private func read<Value: Sendable>(
    _ group: GroupID, _ epoch: String, else none: Value, _ body: @escaping @Sendable (Queries, _ number: Int64) throws -> Value
  ) async throws(StoreError) -> Value {
    try await read(.snapshot) { db in try db.number(of: group, epoch: epoch).map { try body(db, $0) } ?? none }
  }

  /// Those of the messages that a user may confirm and has not.
  package func confirmable(
    _ seqs: [Int64], of group: GroupID, epoch: String, by reader: UserID
  ) async throws(StoreError) -> [Int64] {
    try await read(group, epoch, else: []) { try $0.confirmable(seqs, by: reader, number: $1) }
  }

  /// The counts of messages with read receipts.
  package func receiptCounts(of seqs: [Int64], in group: GroupID, epoch: String) async throws(StoreError) -> [ReceiptCount] {
    try await read(group, epoch, else: []) { try $0.receiptCounts(of: seqs, number: $1) }
  }

  /// The readers of a message.
  package func readers(of seq: Int64, in group: GroupID, epoch: String) async throws(StoreError) -> MessageReaders? {
    try await read(group, epoch, else: nil) { try $0.readers(of: seq, number: $1) }
  }
}
