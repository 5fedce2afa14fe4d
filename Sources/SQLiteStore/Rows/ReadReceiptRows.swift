import GRDB
import GroupModel
import GroupRuntime
import StoreTables

extension SQLiteTransaction {
  func putReceiptMembers(_ members: [UserID], from seq: Int64, in group: GroupID) throws {
    let number = try number(of: group, "to have members")
    try db.run("INSERT OR REPLACE INTO receiptMembers VALUES (?, ?, ?)") { binding in
      binding.append(number)
      binding.append(seq)
      try members.write(to: &binding)
    }
  }

  // Adds to the row of each block, which is one as a rule: confirmations are of new messages.
  func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID) throws {
    let number = try number(of: group, "to read in")
    for (block, seqs) in Dictionary(grouping: seqs, by: SeqBlock.number(of:)) {
      var confirmed = try db.confirmed(in: block, by: reader, number: number)
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
}

extension Database {
  fileprivate func confirmed(in block: Int64, by reader: UserID, number: Int64) throws -> SeqBlock {
    try rows("SELECT seqs FROM readReceipt WHERE number = ? AND block = ? AND userID = ?", [number, block, reader.rawValue]) {
      try $0.value(SeqBlock.self)
    }.first ?? SeqBlock()
  }

  package func number(of group: GroupID, epoch: String) throws -> Int64? {
    try rows("SELECT number FROM groupRecord WHERE groupID = ? AND epoch = ?", [group.rawValue, epoch.column]) {
      try $0.integer()
    }.first
  }

  package func confirmable(_ seqs: [Int64], by reader: UserID, number: Int64) throws -> [Int64] {
    let found = try rows(
      """
      SELECT m.seq FROM json_each(?1) AS wanted CROSS JOIN message AS m ON m.number = ?2 AND m.seq = wanted.value
      WHERE m.needReadReceipt AND NOT m.isRevoked AND m.sender <> ?3 AND instr(' ' || \(ReceiptMessage.membersSQL) || ' ', ' ' || ?3 || ' ')
      """, [jsonArray(seqs), number, reader.rawValue]
    ) { try $0.integer() }
    let blocks = try Dictionary(grouping: found, by: SeqBlock.number(of:)).map { block, seqs in
      let confirmed = try confirmed(in: block, by: reader, number: number)
      return seqs.filter { !confirmed.contains($0) }
    }
    return blocks.joined().sorted()
  }

  package func receiptCounts(of seqs: [Int64], number: Int64) throws -> [ReceiptCount] {
    let sent = try rows(
      """
      SELECT m.seq, m.sender, \(ReceiptMessage.membersSQL)
      FROM json_each(?1) AS wanted CROSS JOIN message AS m ON m.number = ?2 AND m.seq = wanted.value
      WHERE m.needReadReceipt AND NOT m.isRevoked
      """, [jsonArray(seqs), number], ReceiptMessage.read)
    var counts: [ReceiptCount] = []
    for (block, sent) in Dictionary(grouping: sent, by: { SeqBlock.number(of: $0.seq) }) {
      var read = [Int](repeating: 0, count: sent.count)
      // Only members at the message, and not its sender, have a bit: `confirmable` has seen to that.
      for (_, confirmed) in try readers(in: block, number: number) {
        for (index, message) in sent.enumerated() where confirmed.contains(message.seq) { read[index] += 1 }
      }
      for (message, read) in zip(sent, read) {
        counts.append(message.count(read: read))
      }
    }
    return counts.sorted { $0.seq < $1.seq }
  }

  /// The rows of a block: one for each reader.
  private func readers(in block: Int64, number: Int64) throws -> [(user: UserID, confirmed: SeqBlock)] {
    try rows("SELECT userID, seqs FROM readReceipt WHERE number = ? AND block = ?", [number, block]) { row in
      (try row.value(), try row.value())
    }
  }

  package func readers(of seq: Int64, number: Int64) throws -> MessageReaders? {
    let found = try rows(
      """
      SELECT m.sender, m.isRevoked, CASE WHEN m.needReadReceipt THEN \(ReceiptMessage.membersSQL) END, \(ReceiptMessage.targetsSQL)
      FROM message AS m WHERE m.number = ? AND m.seq = ?
      """, [number, seq], MessageReaders.read)
    guard let message = found.first, message.members != nil else { return found.first }
    return message.read(
      by: try readers(in: SeqBlock.number(of: seq), number: number).filter { $0.confirmed.contains(seq) }.map(\.user))
  }

  /// Each number once, for `json_each`.
  func jsonArray(_ seqs: [Int64]) -> String { "[" + Set(seqs).map { "\($0)" }.joined(separator: ",") + "]" }
}

/// `receiptMembers` and `readReceipt` rows that are removed.
enum ReadReceiptRows {
  /// Removes what belongs to messages before one alone, at most so many rows. Messages that are kept
  /// in the same block keep its rows.
  /// - Returns: whether there was anything.
  static func remove(number: Int64, before seq: Int64, limit: Int, in db: Database) throws -> Bool {
    let receipts = try db.run(
      """
      DELETE FROM readReceipt WHERE (number, block, userID) IN
      (SELECT number, block, userID FROM readReceipt WHERE number = ? AND block < ? LIMIT ?)
      """, [number, SeqBlock.number(of: seq), limit])
    if receipts > 0 { return true }
    return try db.run(
      """
      DELETE FROM receiptMembers WHERE (number, seq) IN (SELECT number, seq FROM receiptMembers WHERE number = ?1
      AND seq < (SELECT max(seq) FROM receiptMembers WHERE number = ?1 AND seq <= ?2) LIMIT ?3)
      """, [number, seq, limit]) > 0
  }
}
