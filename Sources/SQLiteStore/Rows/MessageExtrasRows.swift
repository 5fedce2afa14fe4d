import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `messageExtras` rows: the parts that most messages have not.
enum MessageExtrasRows {
  private static let columns = MessageExtrasRow.columns
  /// The message is there.
  fileprivate static let putSQL = """
    INSERT INTO messageExtras (number, seq, \(columns.names))
    SELECT number, ?\(columns.count + 2), \(columns.places("?")) FROM groupRecord WHERE groupID = ?\(columns.count + 1)
    ON CONFLICT (number, seq) DO UPDATE SET \(columns.excluded)
    """
  fileprivate static let removeSQL =
    "DELETE FROM messageExtras WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND seq = ?"

  // The indexes lead, whatever the planner knows.
  private static let replies = """
    messageExtras AS e INDEXED BY messageReply CROSS JOIN message AS m ON m.number = e.number AND m.seq = e.seq
    """

  static func hiddenSQL(newestFirst: Bool) -> String {
    """
    SELECT e.seq FROM messageExtras AS e INDEXED BY messageTargeted
    CROSS JOIN message AS m ON m.number = e.number AND m.seq = e.seq
    WHERE e.number = ?1 AND e.seq BETWEEN ?2 AND ?3 AND e.toUserIDs IS NOT NULL AND m.sender <> ?4
    AND instr(' ' || e.toUserIDs || ' ', ' ' || ?4 || ' ') = 0 ORDER BY e.seq \(newestFirst ? "DESC" : "ASC") LIMIT ?5
    """
  }

  /// - Parameter condition: after four arguments.
  static func repliesSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT \(Message.allColumns) FROM \(replies) \(Message.joinedChanges)
    WHERE e.number = ?1 AND e.replyTo = ?2 AND e.seq > ?3 AND NOT m.isRevoked AND \(condition.sql) ORDER BY e.seq LIMIT ?4
    """
  }

  /// - Parameter condition: after three arguments.
  fileprivate static func replyCountsSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT wanted.value, (SELECT count(*) FROM (
      SELECT 1 FROM \(replies)
      WHERE e.number = ?2 AND e.replyTo = wanted.value AND NOT m.isRevoked AND \(condition.sql) LIMIT ?3))
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

  package func replies(
    to seq: Int64, of group: GroupID, number: Int64, visible: Visibility, after: Int64, limit: Int
  ) throws -> [Message] {
    let condition = VisibilityCondition(visible, in: .sqlite, after: 4)
    return try rows(
      MessageExtrasRows.repliesSQL(condition), [number, seq, after, max(0, limit)] + condition.arguments
    ) { try Message.read(of: group, &$0) }
  }

  package func replyCounts(to seqs: [Int64], number: Int64, visible: Visibility) throws -> [Int64: Int] {
    let condition = VisibilityCondition(visible, in: .sqlite, after: 3)
    let counts = try rows(
      MessageExtrasRows.replyCountsSQL(condition), [jsonArray(seqs), number, ReplyCount.max] + condition.arguments
    ) { (seq: try $0.integer(), count: try $0.value(Int.self)) }
    return Dictionary(counts.filter { $0.count > 0 }.map { ($0.seq, $0.count) }) { $1 }
  }
}

extension VisibilityCondition {
  /// The arguments, as queries take them.
  fileprivate var arguments: [(any DatabaseValueConvertible)?] {
    var values = StoredValues()
    appendArguments(to: &values)
    return values.row.map(\.argument)
  }
}
