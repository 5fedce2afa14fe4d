import GroupModel
import GroupRuntime

/// The messages of a block as PostgreSQL's bit(1024), whose first bit is the first place.
struct BlockBits: StatementValue {
  static var valueType: StatementArguments.ValueType { .bits }
  let block: SeqBlock

  func append(to arguments: inout StatementArguments) {
    let places = Int(SeqBlock.size)
    let bytes = (0..<places / 8).map { $0 < block.bytes.count ? block.bytes[$0].reversedBits : 0 }
    arguments.append(bits: bytes)
  }
}

extension SeqBlock {
  /// The messages whose bits are set, the highest bit of each byte first.
  init?(bits: some Sequence<UInt8>) {
    var bytes = bits.map(\.reversedBits)
    while bytes.last == 0 { bytes.removeLast() }
    self.init(bytes: bytes)
  }
}

extension UInt8 {
  fileprivate var reversedBits: UInt8 { (0..<8).reduce(0) { $0 | (self >> $1 & 1) << (7 - $1) } }
}

/// `receiptMembers` and `readReceipt` rows.
enum ReadReceiptRows {
  static func put(_ members: [UserID], from seq: Int64, in group: GroupID, _ transaction: WriteTransaction) throws {
    try transaction.run(
      """
      INSERT INTO receiptMembers VALUES (\(numberOfGroup), $2, $3)
      ON CONFLICT (number, seq) DO UPDATE SET userIDs = excluded.userIDs
      """, [group.rawValue, seq, members.map(\.rawValue).joined(separator: " ")])
  }

  /// Adds to the row of each block, which is one as a rule: confirmations are of new messages.
  static func confirm(_ seqs: [Int64], by reader: UserID, in group: GroupID, _ transaction: WriteTransaction) throws {
    for (number, seqs) in Dictionary(grouping: seqs, by: SeqBlock.number(of:)).sorted(by: { $0.key < $1.key }) {
      var block = SeqBlock()
      for seq in seqs { block.insert(seq) }
      try transaction.run(
        """
        INSERT INTO readReceipt VALUES (\(numberOfGroup), $2, $3, $4)
        ON CONFLICT (number, block, userID) DO UPDATE SET seqs = readReceipt.seqs | excluded.seqs
        WHERE readReceipt.seqs | excluded.seqs <> readReceipt.seqs
        """, [group.rawValue, number, reader.rawValue, BlockBits(block: block)])
    }
  }

  // MARK: Reading

  /// The number of a group of that epoch.
  static func number(of group: GroupID, epoch: String, in db: PostgreSQLConnection) throws -> Int64? {
    try db.rows("SELECT number FROM groupRecord WHERE groupID = $1 AND epoch = $2", [group.rawValue, epoch]) {
      try $0.integer()
    }.first
  }

  /// The members when message `m` was sent.
  private static let memberSQL = """
    coalesce((SELECT l.userIDs FROM receiptMembers AS l WHERE l.number = m.number AND l.seq <= m.seq ORDER BY l.seq DESC LIMIT 1), '')
    """

  /// Those of the messages that a user may confirm and has not.
  static func confirmable(_ seqs: [Int64], by reader: UserID, number: Int64, in db: PostgreSQLConnection) throws -> [Int64] {
    try db.rows(
      """
      SELECT m.seq FROM message AS m WHERE m.number = $1 AND m.seq = ANY ($2)
      AND m.needReadReceipt AND NOT m.isRevoked AND m.sender <> $3
      AND strpos(' ' || \(memberSQL) || ' ', ' ' || $3 || ' ') > 0
      AND NOT EXISTS (
        SELECT 1 FROM readReceipt AS r WHERE r.number = m.number AND r.block = m.seq / \(SeqBlock.size) AND r.userID = $3
        AND get_bit(r.seqs, (m.seq % \(SeqBlock.size))::integer) = 1)
      ORDER BY m.seq
      """, [number, Array(Set(seqs)), reader.rawValue]
    ) { try $0.integer() }
  }

  /// The counts of those of the messages that were sent with needReadReceipt and are not recalled.
  static func counts(of seqs: [Int64], number: Int64, in db: PostgreSQLConnection) throws -> [ReceiptCount] {
    // Only members at the message, and not its sender, have a bit: `confirmable` has seen to that.
    try db.rows(
      """
      SELECT m.seq, m.sender, \(memberSQL), (
        SELECT count(*) FROM readReceipt AS r WHERE r.number = m.number AND r.block = m.seq / \(SeqBlock.size)
        AND get_bit(r.seqs, (m.seq % \(SeqBlock.size))::integer) = 1)
      FROM message AS m WHERE m.number = $1 AND m.seq = ANY ($2) AND m.needReadReceipt AND NOT m.isRevoked ORDER BY m.seq
      """, [number, Array(Set(seqs))]
    ) { row in
      let seq = try row.integer()
      let sender = try row.value(UserID.init(stored:))
      let others = try row.text().othersCount(than: sender)
      let read = Int(try row.integer())
      return ReceiptCount(seq: seq, sender: sender, read: read, unread: max(0, others - read))
    }
  }

  /// The readers of a message; nil where there is no such message.
  static func readers(of seq: Int64, number: Int64, in db: PostgreSQLConnection) throws -> MessageReaders? {
    let found = try db.rows(
      """
      SELECT m.sender, m.isRevoked, CASE WHEN m.needReadReceipt THEN \(memberSQL) END
      FROM message AS m WHERE m.number = $1 AND m.seq = $2
      """, [number, seq]
    ) { row in
      let sender = try row.value(UserID.init(stored:))
      let isRevoked = try row.flag()
      return (sender: sender, isRevoked: isRevoked, members: try row.optionalText()?.userIDs())
    }
    guard let message = found.first else { return nil }
    var readers: [UserID] = []
    if message.members != nil {
      readers = try db.rows(
        """
        SELECT userID FROM readReceipt WHERE number = $1 AND block = $2 / \(SeqBlock.size)
        AND get_bit(seqs, ($2 % \(SeqBlock.size))::integer) = 1
        """, [number, seq]
      ) { try $0.value(UserID.init(stored:)) }
    }
    return MessageReaders(
      sender: message.sender, isRevoked: message.isRevoked, members: message.members, readers: Set(readers))
  }
}

extension String {
  /// A stored list of members.
  fileprivate func userIDs() throws(StoreError) -> [UserID] {
    var users: [UserID] = []
    for name in utf8.split(separator: UInt8(ascii: " ")) {
      guard let user = UserID(stored: String(Substring(name))) else {
        throw StoreError(.inconsistent, "column userIDs holds no userIDs")
      }
      users.append(user)
    }
    return users
  }

  /// How many members a stored list has, one apart.
  fileprivate func othersCount(than user: UserID) -> Int {
    let names = utf8.split(separator: UInt8(ascii: " "))
    return names.count - (names.contains { $0.elementsEqual(user.rawValue.utf8) } ? 1 : 0)
  }
}
