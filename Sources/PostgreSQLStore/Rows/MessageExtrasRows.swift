import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `messageExtras` rows: the parts that most messages have not.
private enum MessageExtrasRows {
  private static let columns = MessageExtrasRow.columns
  // Retention may have removed the message meanwhile.
  static let putSQL = """
    INSERT INTO messageExtras (number, seq, \(columns.names))
    SELECT m.number, m.seq, \(columns.places("$", from: 3)) FROM message AS m WHERE m.number = \(numberOfGroup) AND m.seq = $2
    ON CONFLICT (number, seq) DO UPDATE SET \(columns.excluded)
    """
  static let removeSQL = "DELETE FROM messageExtras WHERE number = \(numberOfGroup) AND seq = $2"
  /// Replies of a group, with their messages.
  static let replies = "messageExtras AS e JOIN message AS m ON m.number = e.number AND m.seq = e.seq"
}

extension WriteTransaction {
  func put(_ extras: MessageExtras, of message: Message) throws {
    try run(MessageExtrasRows.putSQL) { arguments in
      arguments.append(message.groupID.rawValue)
      arguments.append(message.seq ?? 0)
      try MessageExtrasRow(extras).write(to: &arguments)
    }
  }

  func removeExtras(of message: Message) throws {
    try run(MessageExtrasRows.removeSQL, [message.groupID.rawValue, message.seq ?? 0])
  }
}

extension PostgreSQLConnection {
  package func hiddenSeqs(
    number: Int64, from reader: UserID, in range: ClosedRange<Int64>, newestFirst: Bool, limit: Int
  ) throws -> [Int64] {
    try rows(
      """
      SELECT e.seq FROM messageExtras AS e JOIN message AS m ON m.number = e.number AND m.seq = e.seq
      WHERE e.number = $1 AND e.seq BETWEEN $2 AND $3 AND e.toUserIDs IS NOT NULL AND m.sender <> $4
      AND strpos(' ' || e.toUserIDs || ' ', ' ' || $4 || ' ') = 0 ORDER BY e.seq \(newestFirst ? "DESC" : "ASC") LIMIT $5
      """, [number, range.lowerBound, range.upperBound, reader.rawValue, max(0, limit)]
    ) { try $0.integer() }
  }

  package func replies(
    to seq: Int64, of group: GroupID, number: Int64, visible: Visibility, after: Int64, limit: Int
  ) throws -> [Message] {
    let condition = VisibilityCondition(visible, in: .postgreSQL, after: 4)
    return try rows(
      """
      SELECT \(Message.allColumns) FROM \(MessageExtrasRows.replies) \(Message.joinedChanges)
      WHERE e.number = $1 AND e.replyTo = $2 AND e.seq > $3 AND NOT m.isRevoked AND \(condition.sql) ORDER BY e.seq LIMIT $4
      """,
      encoding: { arguments in
        arguments.append(number)
        arguments.append(seq)
        arguments.append(after)
        arguments.append(max(0, limit))
        condition.appendArguments(to: &arguments)
      }, { try Message.read(of: group, &$0) })
  }

  package func replyCounts(to seqs: [Int64], number: Int64, visible: Visibility) throws -> [Int64: Int] {
    let condition = VisibilityCondition(visible, in: .postgreSQL, after: 3)
    let counts = try rows(
      """
      SELECT wanted.seq, found.n FROM unnest($2) AS wanted (seq) CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM (
          SELECT 1 FROM \(MessageExtrasRows.replies)
          WHERE e.number = $1 AND e.replyTo = wanted.seq AND NOT m.isRevoked AND \(condition.sql) LIMIT $3) AS reply) AS found
      WHERE found.n > 0
      """,
      encoding: { arguments in
        arguments.append(number)
        arguments.append(seqs)
        arguments.append(ReplyCount.max)
        condition.appendArguments(to: &arguments)
      }, { (seq: try $0.integer(), count: try $0.value(Int.self)) })
    return Dictionary(counts.map { ($0.seq, $0.count) }) { $1 }
  }
}
