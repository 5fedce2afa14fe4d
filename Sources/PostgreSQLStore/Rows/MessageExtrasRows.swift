import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `messageExtras` rows: the parts that most messages have not.
enum MessageExtrasRows {
  private static let columns = MessageExtrasRow.columns
  // Retention may have removed the message meanwhile. It stands there as the change leaves it: a recall
  // takes its reply out of `messageReply`.
  fileprivate static let putSQL = """
    INSERT INTO messageExtras (number, seq, sender, countedReplyTo, \(columns.names))
    SELECT m.number, m.seq, m.sender, CASE WHEN m.isRevoked THEN NULL ELSE $\(columns.place(of: "replyTo") + 2)::bigint END,
    \(columns.places("$", from: 3)) FROM message AS m WHERE m.number = \(numberOfGroup) AND m.seq = $2
    ON CONFLICT (number, seq) DO UPDATE SET countedReplyTo = excluded.countedReplyTo, \(columns.excluded)
    """
  fileprivate static let removeSQL = "DELETE FROM messageExtras WHERE number = \(numberOfGroup) AND seq = $2"

  static func hiddenSQL(newestFirst: Bool) -> String {
    """
    SELECT e.seq FROM messageExtras AS e
    WHERE e.number = $1 AND e.seq BETWEEN $2 AND $3 AND e.toUserIDs IS NOT NULL AND e.sender <> $4
    AND strpos(' ' || e.toUserIDs || ' ', ' ' || $4 || ' ') = 0 ORDER BY e.seq \(newestFirst ? "DESC" : "ASC") LIMIT $5
    """
  }

  // `messageReply` has all that these look at, and no recalled reply: those that are for others are
  // walked over in the index alone. Their number has no bound; a count that did not walk over them
  // would need a row for each of the up to 51 users who see one.

  /// - Parameter condition: after five arguments.
  static func replySeqsSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT e.seq FROM messageExtras AS e
    WHERE e.number = $1 AND e.countedReplyTo = $2 AND e.seq BETWEEN $3 AND $4 AND \(condition.sql) ORDER BY e.seq LIMIT $5
    """
  }

  /// - Parameter condition: after five arguments.
  static func replyCountsSQL(_ condition: VisibilityCondition) -> String {
    """
    SELECT wanted.seq, found.n FROM unnest($2) AS wanted (seq) CROSS JOIN LATERAL (
      SELECT count(*) AS n FROM (
        SELECT 1 FROM messageExtras AS e
        WHERE e.number = $1 AND e.countedReplyTo = wanted.seq AND e.seq BETWEEN $3 AND $4 AND \(condition.sql)
        LIMIT $5) AS reply) AS found
    WHERE found.n > 0
    """
  }
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
      MessageExtrasRows.hiddenSQL(newestFirst: newestFirst),
      [number, range.lowerBound, range.upperBound, reader.rawValue, max(0, limit)]
    ) { try $0.integer() }
  }

  package func replySeqs(
    to seq: Int64, number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>, limit: Int
  ) throws -> [Int64] {
    let condition = VisibilityCondition(reader, in: .postgreSQL, after: 5)
    return try rows(
      MessageExtrasRows.replySeqsSQL(condition),
      [number, seq, range.lowerBound, range.upperBound, max(0, limit)] + condition.arguments
    ) { try $0.integer() }
  }

  package func replyCounts(
    to seqs: [Int64], number: Int64, for reader: Visibility.Reader, in range: ClosedRange<Int64>
  ) throws -> [Int64: Int] {
    let condition = VisibilityCondition(reader, in: .postgreSQL, after: 5)
    let counts = try rows(
      MessageExtrasRows.replyCountsSQL(condition),
      [number, seqs, range.lowerBound, range.upperBound, ReplyCount.max] + condition.arguments
    ) { (seq: try $0.integer(), count: try $0.value(Int.self)) }
    return Dictionary(counts.map { ($0.seq, $0.count) }) { $1 }
  }
}

extension VisibilityCondition {
  /// The argument, as queries take it.
  fileprivate var arguments: [any StatementValue] { reader.map { [$0.rawValue] } ?? [] }
}
