import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `messageExtras` rows: the parts that most messages have not.
enum MessageExtrasRows {
  private static let columns = MessageExtrasRow.columns
  // The message is there, as the change leaves it: a recall takes its reply out of `messageReply`.
  fileprivate static let putSQL = """
    INSERT INTO messageExtras (number, seq, sender, countedReplyTo, \(columns.names))
    SELECT m.number, m.seq, m.sender, CASE WHEN m.isRevoked THEN NULL ELSE ?\(columns.place(of: "replyTo")) END,
    \(columns.places("?")) FROM message AS m
    WHERE m.number = (SELECT number FROM groupRecord WHERE groupID = ?\(columns.count + 1)) AND m.seq = ?\(columns.count + 2)
    ON CONFLICT (number, seq) DO UPDATE SET countedReplyTo = excluded.countedReplyTo, \(columns.excluded)
    """
  fileprivate static let removeSQL =
    "DELETE FROM messageExtras WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND seq = ?"

  // The indexes lead, whatever the planner knows.

  static func hiddenSQL(newestFirst: Bool) -> String {
    """
    SELECT e.seq FROM messageExtras AS e INDEXED BY messageTargeted
    WHERE e.number = ?1 AND e.seq BETWEEN ?2 AND ?3 AND e.toUserIDs IS NOT NULL AND e.sender <> ?4
    AND instr(' ' || e.toUserIDs || ' ', ' ' || ?4 || ' ') = 0 ORDER BY e.seq \(newestFirst ? "DESC" : "ASC") LIMIT ?5
    """
  }

  // `messageReply` has all that these look at, and no recalled reply: those that are for others are
  // walked over in the index alone. Their number has no bound; a count that did not walk over them
  // would need a row for each of the up to 51 users who see one.

  /// - Parameter condition: after five arguments.
  static func replySeqsSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT e.seq FROM messageExtras AS e INDEXED BY messageReply
    WHERE e.number = ?1 AND e.countedReplyTo = ?2 AND e.seq BETWEEN ?3 AND ?4 AND \(condition.sql) ORDER BY e.seq LIMIT ?5
    """
  }

  /// - Parameter condition: after five arguments.
  static func replyCountsSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT wanted.value, (SELECT count(*) FROM (
      SELECT 1 FROM messageExtras AS e INDEXED BY messageReply
      WHERE e.number = ?2 AND e.countedReplyTo = wanted.value AND e.seq BETWEEN ?3 AND ?4 AND \(condition.sql) LIMIT ?5))
    FROM json_each(?1) AS wanted
    """
  }
}

extension SQLiteTransaction {
  func put(_ extras: MessageExtras, of message: Message) throws {
    try db.run(MessageExtrasRows.putSQL) { binding in
      try MessageExtrasRow(extras).write(to: &binding)
      binding.append(message.groupID.rawValue)
      binding.append(message.seq ?? 0)
    }
  }

  func removeExtras(of message: Message) throws {
    try db.run(MessageExtrasRows.removeSQL) { binding in
      binding.append(message.groupID.rawValue)
      binding.append(message.seq ?? 0)
    }
  }
}

extension Database {
  package func hiddenSeqs(
    number: Int64, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) throws -> [Int64] {
    try rows(
      MessageExtrasRows.hiddenSQL(newestFirst: newestFirst),
      [number, range.lowerBound, range.upperBound, reader.rawValue, max(0, limit)]
    ) { try $0.integer() }
  }

  package func replySeqs(
    to seq: Int64, number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>, limit: Int
  ) throws -> [Int64] {
    let condition = VisibilityCondition(reader, in: .sqlite, after: 5)
    return try rows(
      MessageExtrasRows.replySeqsSQL(condition),
      [number, seq, range.lowerBound, range.upperBound, max(0, limit)] + condition.arguments
    ) { try $0.integer() }
  }

  package func replyCounts(
    to seqs: [Int64], number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>
  ) throws -> [Int64: Int] {
    let condition = VisibilityCondition(reader, in: .sqlite, after: 5)
    let counts = try rows(
      MessageExtrasRows.replyCountsSQL(condition),
      [jsonArray(seqs), number, range.lowerBound, range.upperBound, ReplyCount.max] + condition.arguments
    ) { (seq: try $0.integer(), count: try $0.value(Int.self)) }
    return Dictionary(counts.filter { $0.count > 0 }.map { ($0.seq, $0.count) }) { $1 }
  }
}

extension VisibilityCondition {
  /// The argument, as queries take it.
  fileprivate var arguments: [(any DatabaseValueConvertible)?] { reader.map { [$0.rawValue] } ?? [] }
}
