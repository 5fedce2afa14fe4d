import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `message` rows.
private enum MessageRows {
  // The message before must exist, because `seq` has no gap (Protocol.md, "Sending"), unless
  // retention has removed it: the number is NULL otherwise, and no row is added. The check is free:
  // the page is read anyway. An INSERT from a SELECT of its own table would use a temporary one.
  static let appendSQL = {
    let seq = "?\(Message.columns.place(of: "seq"))"
    return """
      INSERT OR IGNORE INTO message (number, \(Message.columns.names)) VALUES (
      (SELECT number FROM groupRecord AS g WHERE groupID = ?\(Message.columns.count + 1)
      AND (EXISTS (SELECT 1 FROM message AS m WHERE m.number = g.number AND m.seq = \(seq) - 1) OR g.firstSeq = \(seq))),
      \(Message.columns.places("?")))
      """
  }()
  // Takes the arguments of `appendSQL`, and the same msgID.
  static let reviseSQL = """
    UPDATE message SET \(Message.columns.assignments("?", to: ["kind", "isRevoked", "content"]))
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?\(Message.columns.count + 1))
    AND seq = ?\(Message.columns.place(of: "seq")) AND msgID = ?\(Message.columns.place(of: "msgID"))
    """
}

extension SQLiteTransaction {
  func append(_ message: Message) throws {
    guard let seq = message.seq else { throw StoreError(.inconsistent, "message \(message.msgID) has no seq") }
    guard try db.run(MessageRows.appendSQL, binding: { try bind(message, &$0) }) == 1 else {
      throw StoreError(.inconsistent, "seq \(seq) is not the next of a group \(message.groupID)")
    }
    if let extras = message.extras { try put(extras, of: message) }
  }

  private func bind(_ message: Message, _ binding: inout StatementBinding) throws(StoreError) {
    try message.write(to: &binding)
    binding.append(message.groupID.rawValue)
  }

  func revise(_ message: Message) throws {
    let revised = try db.run(MessageRows.reviseSQL, binding: { try bind(message, &$0) })
    if revised == 0 { return try checkRemoved(message) }
    if let extras = message.extras { try put(extras, of: message) } else { try removeExtras(of: message) }
  }

  /// Retention may remove a message between the decision to change it and its commit.
  func isRemoved(_ seq: Int64, of group: GroupID) throws -> Bool {
    try db.finds("SELECT 1 FROM groupRecord WHERE groupID = ? AND firstSeq > ?") { binding in
      binding.append(group.rawValue)
      binding.append(seq)
    }
  }

  /// A message is missing: retention must have removed it.
  func checkRemoved(_ message: Message) throws {
    if try isRemoved(message.seq ?? .max, of: message.groupID) { return }
    throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)")
  }
}

extension Database {
  package func seqBounds(number: Int64) throws -> ClosedRange<Int64>? {
    guard let last = try newestSeq(number: number) else { return nil }
    let first = try rows("SELECT seq FROM message WHERE number = ? ORDER BY seq LIMIT 1", [number]) { try $0.integer() }
    return (first.first ?? last)...last
  }

  package func newestSeq(number: Int64) throws -> Int64? {
    try rows("SELECT seq FROM message WHERE number = ? ORDER BY seq DESC LIMIT 1", [number]) { try $0.integer() }.first
  }

  package func timestamp(of seq: Int64, number: Int64) throws -> WallInstant? {
    try rows("SELECT timestamp FROM message WHERE number = ? AND seq = ?", [number, seq]) { try $0.instant() }.first
  }

  func newestMessage(of group: GroupID, number: Int64) throws -> Message? {
    try rows("SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = ? ORDER BY m.seq DESC LIMIT 1", [number]) {
      try Message.read(of: group, &$0)
    }.first
  }

  package func messages(of group: GroupID, number: Int64, seqs: [Int64]) throws -> [Message] {
    try seqs.flatMap { seq in
      try rows("SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = ? AND m.seq = ?", [number, seq]) {
        try Message.read(of: group, &$0)
      }
    }
  }

  package func sentMessages(number: Int64, in range: ClosedRange<Int64>) throws -> [SentMessage] {
    try rows(
      """
      SELECT \(SentMessage.columnNames) FROM message
      WHERE number = ? AND seq BETWEEN ? AND ? AND clientMsgID IS NOT NULL ORDER BY seq
      """, [number, range.lowerBound, range.upperBound], SentMessage.read)
  }

  package func sentMessages(number: Int64, from sender: UserID, in range: ClosedRange<Int64>) throws -> [SentMessage] {
    try rows(
      """
      SELECT \(SentMessage.columnNames) FROM message
      WHERE number = ? AND seq BETWEEN ? AND ? AND sender = ? AND clientMsgID IS NOT NULL ORDER BY seq
      """, [number, range.lowerBound, range.upperBound, sender.rawValue], SentMessage.read)
  }
}
