import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `receiptMembers` and `readReceipt` rows.
enum ReadReceiptRows {
  static func put(_ members: [UserID], from seq: Int64, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to have members") }
    try db.run("INSERT OR REPLACE INTO receiptMembers VALUES (?, ?, ?)") { binding in
      binding.append(number)
      binding.append(seq)
      try members.write(to: &binding)
    }
  }

  /// Adds to the row of each block, which is one as a rule: confirmations are of new messages.
  static func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID, _ db: Database) throws {
    guard let number = try db.number(of: group) else { throw StoreError(.inconsistent, "no group \(group) to read in") }
    for (block, seqs) in Dictionary(grouping: seqs, by: SeqBlock.number(of:)) {
      var confirmed = try self.block(block, of: reader, number: number, in: db)
      var isChanged = false
      for seq in seqs where confirmed.insert(seq) { isChanged = true }
      guard isChanged else { continue }
      try db.run("INSERT OR REPLACE INTO readReceipt VALUES (?, ?, ?, ?)") { binding in
        binding.append(number)
        binding.append(block)
        binding.append(reader.rawValue)
        binding.append(confirmed)
      }
    }
  }

  private static func block(_ block: Int64, of reader: UserID, number: Int64, in db: Database) throws -> SeqBlock {
    try db.rows(
      "SELECT seqs FROM readReceipt WHERE number = ? AND block = ? AND userID = ?", [number, block, reader.rawValue]
    ) { try $0.value(SeqBlock.self) }.first ?? SeqBlock()
  }

  // MARK: Reading

  /// The number of a group of that epoch.
  static func number(of group: GroupID, epoch: String, in db: Database) throws -> Int64? {
    try db.rows("SELECT number FROM groupRecord WHERE groupID = ? AND epoch = ?", [group.rawValue, epoch.column]) {
      try $0.integer()
    }.first
  }

  /// Those of the messages that a user may confirm and has not.
  static func confirmable(_ seqs: [Int64], by reader: UserID, number: Int64, in db: Database) throws -> [Int64] {
    let found = try db.rows(
      """
      SELECT m.seq FROM json_each(?1) AS wanted CROSS JOIN message AS m ON m.number = ?2 AND m.seq = wanted.value
      WHERE m.needReadReceipt AND NOT m.isRevoked AND m.sender <> ?3 AND instr(' ' || \(memberSQL) || ' ', ' ' || ?3 || ' ')
      """, [jsonArray(seqs), number, reader.rawValue]
    ) { try $0.integer() }
    let blocks = try Dictionary(grouping: found, by: SeqBlock.number(of:)).map { block, seqs in
      let confirmed = try self.block(block, of: reader, number: number, in: db)
      return seqs.filter { !confirmed.contains($0) }
    }
    return blocks.joined().sorted()
  }

  /// The members when message `m` was sent.
  private static let memberSQL = """
    coalesce((SELECT userIDs FROM receiptMembers AS l WHERE l.number = m.number AND l.seq <= m.seq ORDER BY l.seq DESC LIMIT 1), '')
    """

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled.
  static func counts(of seqs: [Int64], number: Int64, in db: Database) throws -> [ReceiptCount] {
    let sent = try db.rows(
      """
      SELECT m.seq, m.sender, \(memberSQL)
      FROM json_each(?1) AS wanted CROSS JOIN message AS m ON m.number = ?2 AND m.seq = wanted.value
      WHERE m.needReadReceipt AND NOT m.isRevoked
      """, [jsonArray(seqs), number], ReceiptMessage.read)
    var counts: [ReceiptCount] = []
    for (block, sent) in Dictionary(grouping: sent, by: { SeqBlock.number(of: $0.seq) }) {
      var read = [Int](repeating: 0, count: sent.count)
      // Only members at the message, and not its sender, have a bit: `confirmable` has seen to that.
      for (_, confirmed) in try readers(in: block, number: number, db) {
        for (index, message) in sent.enumerated() where confirmed.contains(message.seq) { read[index] += 1 }
      }
      for (message, read) in zip(sent, read) {
        counts.append(message.count(read: read))
      }
    }
    return counts.sorted { $0.seq < $1.seq }
  }

  /// The rows of a block: one for each reader.
  private static func readers(in block: Int64, number: Int64, _ db: Database) throws -> [(user: UserID, confirmed: SeqBlock)] {
    try db.rows("SELECT userID, seqs FROM readReceipt WHERE number = ? AND block = ?", [number, block]) { row in
      (try row.value(), try row.value())
    }
  }

  /// The readers of a message; nil where there is none.
  static func readers(of seq: Int64, number: Int64, in db: Database) throws -> MessageReaders? {
    let found = try db.rows(
      """
      SELECT sender, isRevoked, CASE WHEN needReadReceipt THEN \(memberSQL) END FROM message AS m WHERE number = ? AND seq = ?
      """, [number, seq], MessageReaders.read)
    guard let message = found.first, message.members != nil else { return found.first }
    return message.read(
      by: try readers(in: SeqBlock.number(of: seq), number: number, db).filter { $0.confirmed.contains(seq) }.map(\.user))
  }

  // MARK: Removing

  /// Removes rows of a group that is gone, at most so many.
  /// - Returns: whether there were any.
  static func removeAll(number: Int64, limit: Int, in db: Database) throws -> Bool {
    try remove(number: number, before: .max, members: .max, limit: limit, in: db)
  }

  /// Removes what belongs to messages before one alone, at most so many rows. Messages that are kept
  /// in the same block keep its rows.
  /// - Returns: whether there was anything.
  static func remove(number: Int64, before seq: Int64, limit: Int, in db: Database) throws -> Bool {
    let newest = try db.rows(
      "SELECT seq FROM receiptMembers WHERE number = ? AND seq <= ? ORDER BY seq DESC LIMIT 1", [number, seq]
    ) { try $0.integer() }
    return try remove(number: number, before: seq, members: newest.first ?? 0, limit: limit, in: db)
  }

  private static func remove(
    number: Int64, before seq: Int64, members seqOfMembers: Int64, limit: Int, in db: Database
  ) throws -> Bool {
    let receipts = try db.run(
      """
      DELETE FROM readReceipt WHERE (number, block, userID) IN
      (SELECT number, block, userID FROM readReceipt WHERE number = ? AND block < ? LIMIT ?)
      """, [number, SeqBlock.number(of: seq), limit])
    if receipts > 0 { return true }
    return try db.run(
      """
      DELETE FROM receiptMembers WHERE (number, seq) IN
      (SELECT number, seq FROM receiptMembers WHERE number = ? AND seq < ? LIMIT ?)
      """, [number, seqOfMembers, limit]) > 0
  }

  private static func jsonArray(_ seqs: [Int64]) -> String { "[" + Set(seqs).map { "\($0)" }.joined(separator: ",") + "]" }
}
