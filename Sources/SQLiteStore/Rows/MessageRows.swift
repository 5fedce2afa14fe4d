import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// `message` rows.
enum MessageRows {
  // The message before must exist, because `seq` has no gap (Protocol.md, "Sending"), unless
  // retention has removed it: the number is NULL otherwise, and no row is added. The check is free:
  // the page is read anyway. An INSERT from a SELECT of its own table would use a temporary one.
  private static let appendSQL = {
    let seq = "?\(Message.columns.place(of: "seq"))"
    return """
      INSERT OR IGNORE INTO message (number, \(Message.columns.names)) VALUES (
      (SELECT number FROM groupRecord AS g WHERE groupID = ?\(Message.columns.count + 1)
      AND (EXISTS (SELECT 1 FROM message AS m WHERE m.number = g.number AND m.seq = \(seq) - 1) OR g.firstSeq = \(seq))),
      \(Message.columns.places("?")))
      """
  }()
  // Takes the arguments of `appendSQL`, and the same msgID.
  private static let reviseSQL = """
    UPDATE message SET \(Message.columns.assignments("?", to: ["kind", "isRevoked", "content"]))
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?\(Message.columns.count + 1))
    AND seq = ?\(Message.columns.place(of: "seq")) AND msgID = ?\(Message.columns.place(of: "msgID"))
    """

  static func append(_ message: Message, in db: Database) throws {
    guard let seq = message.seq else { throw StoreError(.inconsistent, "message \(message.msgID) has no seq") }
    guard try db.run(appendSQL, binding: { try bind(message, &$0) }) == 1 else {
      throw StoreError(.inconsistent, "seq \(seq) is not the next of a group \(message.groupID)")
    }
  }

  private static func bind(_ message: Message, _ binding: inout StatementBinding) throws(StoreError) {
    try message.write(to: &binding)
    binding.append(message.groupID.rawValue)
  }

  static func revise(_ message: Message, in db: Database) throws {
    let revised = try db.run(reviseSQL, binding: { try bind(message, &$0) })
    guard try revised == 1 || isRemoved(message.seq ?? .max, of: message.groupID, db) else {
      throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)")
    }
    if message.changeSeq > 0 { try MessageChangeRows.put(message, in: db) }
  }

  /// Retention may remove a message between the decision to change it and its commit.
  static func isRemoved(_ seq: Int64, of group: GroupID, _ db: Database) throws -> Bool {
    try db.finds("SELECT 1 FROM groupRecord WHERE groupID = ? AND firstSeq > ?") { binding in
      binding.append(group.rawValue)
      binding.append(seq)
    }
  }
}
