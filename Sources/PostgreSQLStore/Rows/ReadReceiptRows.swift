import GroupModel
import GroupRuntime
import StoreTables

extension WriteTransaction {
  func putReceiptMembers(_ members: [UserID], from seq: Int64, in group: GroupID) throws {
    try run(
      """
      INSERT INTO receiptMembers VALUES (\(numberOfGroup), $2, $3)
      ON CONFLICT (number, seq) DO UPDATE SET userIDs = excluded.userIDs
      """
    ) { arguments in
      arguments.append(group.rawValue)
      arguments.append(seq)
      try members.write(to: &arguments)
    }
  }

  // Adds to the row of each block, which is one as a rule: confirmations are of new messages.
  func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID) throws {
    for (number, seqs) in Dictionary(grouping: seqs, by: SeqBlock.number(of:)).sorted(by: { $0.key < $1.key }) {
      var block = SeqBlock()
      for seq in seqs { block.insert(seq) }
      try run(
        """
        INSERT INTO readReceipt VALUES (\(numberOfGroup), $2, $3, $4)
        ON CONFLICT (number, block, userID) DO UPDATE SET seqs = readReceipt.seqs | excluded.seqs
        WHERE readReceipt.seqs | excluded.seqs <> readReceipt.seqs
        """, [group.rawValue, number, reader.rawValue, block])
    }
  }
}

extension PostgreSQLConnection {
  package func number(of group: GroupID, epoch: String) throws -> Int64? {
    try rows("SELECT number FROM groupRecord WHERE groupID = $1 AND epoch = $2", [group.rawValue, epoch]) {
      try $0.integer()
    }.first
  }

  package func confirmable(_ seqs: [Int64], by reader: UserID, number: Int64) throws -> [Int64] {
    try rows(
      """
      SELECT m.seq FROM message AS m WHERE m.number = $1 AND m.seq = ANY ($2)
      AND m.needReadReceipt AND NOT m.isRevoked AND m.sender <> $3
      AND strpos(' ' || \(ReceiptMessage.membersSQL) || ' ', ' ' || $3 || ' ') > 0
      AND NOT EXISTS (
        SELECT 1 FROM readReceipt AS r WHERE r.number = m.number AND r.block = m.seq / \(SeqBlock.size) AND r.userID = $3
        AND get_bit(r.seqs, (m.seq % \(SeqBlock.size))::integer) = 1)
      ORDER BY m.seq
      """, [number, Array(Set(seqs)), reader.rawValue]
    ) { try $0.integer() }
  }

  package func receiptCounts(of seqs: [Int64], number: Int64) throws -> [ReceiptCount] {
    // Only members at the message, and not its sender, have a bit: `confirmable` has seen to that.
    try rows(
      """
      SELECT m.seq, m.sender, \(ReceiptMessage.membersSQL), (
        SELECT count(*) FROM readReceipt AS r WHERE r.number = m.number AND r.block = m.seq / \(SeqBlock.size)
        AND get_bit(r.seqs, (m.seq % \(SeqBlock.size))::integer) = 1)
      FROM message AS m WHERE m.number = $1 AND m.seq = ANY ($2) AND m.needReadReceipt AND NOT m.isRevoked ORDER BY m.seq
      """, [number, Array(Set(seqs))]
    ) { try ReceiptMessage.read(&$0).count(read: $0.value()) }
  }

  package func readers(of seq: Int64, number: Int64) throws -> MessageReaders? {
    let found = try rows(
      """
      SELECT m.sender, m.isRevoked, CASE WHEN m.needReadReceipt THEN \(ReceiptMessage.membersSQL) END, \(ReceiptMessage.targetsSQL)
      FROM message AS m WHERE m.number = $1 AND m.seq = $2
      """, [number, seq], MessageReaders.read)
    guard let message = found.first, message.members != nil else { return found.first }
    return message.read(
      by: try rows(
        """
        SELECT userID FROM readReceipt WHERE number = $1 AND block = $2 / \(SeqBlock.size)
        AND get_bit(seqs, ($2 % \(SeqBlock.size))::integer) = 1
        """, [number, seq]
      ) { try $0.value() })
  }
}
