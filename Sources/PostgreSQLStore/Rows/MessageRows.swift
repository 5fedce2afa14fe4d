import GroupModel
import GroupRuntime
import StoreTables

/// Statements of `message` rows.
enum MessageRows {
  // The message before must exist, because `seq` has no gap (Protocol.md, "Sending"), unless
  // retention has removed it: the number is NULL otherwise, and the statement fails. Not EXISTS: for one
  // within OR the planner may hash the messages with this `seq` of all groups.
  static let appendSQL = """
    INSERT INTO message (number, \(Message.columns.names)) VALUES (
    (SELECT g.number FROM groupRecord AS g WHERE g.groupID = $1
    AND ((SELECT m.seq FROM message AS m WHERE m.number = g.number AND m.seq = \(seq) - 1) IS NOT NULL OR g.firstSeq = \(seq))),
    \(Message.columns.places("$", from: 2)))
    """
  fileprivate static let seq = "$\(Message.columns.place(of: "seq") + 1)"

  // Retention may remove a message between the decision to change it and its commit.
  fileprivate static let reviseSQL = """
    WITH g AS (SELECT number, firstSeq FROM groupRecord WHERE groupID = $1),
    revised AS (
      UPDATE message AS m SET \(Message.columns.assignments("$", from: 2, to: ["kind", "isRevoked", "content"])) FROM g
      WHERE m.number = g.number AND m.seq = \(seq) AND m.msgID = $\(Message.columns.place(of: "msgID") + 1) RETURNING m.seq)
    SELECT seq FROM revised UNION ALL SELECT firstSeq FROM g WHERE firstSeq > \(seq)
    """
}

extension WriteTransaction {
  func append(_ message: Message) throws {
    if message.seq == nil { throw StoreError(.inconsistent, "message \(message.msgID) has no seq") }
    try run(MessageRows.appendSQL) { try bind(message, &$0) }
    if let extras = message.extras { try put(extras, of: message) }
  }

  private func bind(_ message: Message, _ arguments: inout StatementArguments) throws(StoreError) {
    arguments.append(message.groupID.rawValue)
    try message.write(to: &arguments)
  }

  func revise(_ message: Message) throws {
    try runForOne(MessageRows.reviseSQL, binding: { try bind(message, &$0) }) { missing(message) }
    if let extras = message.extras { try put(extras, of: message) } else { try removeExtras(of: message) }
  }
}

private func missing(_ message: Message) -> String {
  "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)"
}

extension PostgreSQLConnection {
  package func seqBounds(number: Int64) throws -> ClosedRange<Int64>? {
    let bounds = try rows("SELECT min(seq), max(seq) FROM message WHERE number = $1", [number]) {
      (first: try $0.optionalInteger(), last: try $0.optionalInteger())
    }.first
    guard let first = bounds?.first, let last = bounds?.last else { return nil }
    return first...last
  }

  package func newestSeq(number: Int64) throws -> Int64? {
    try rows("SELECT max(seq) FROM message WHERE number = $1", [number]) { try $0.optionalInteger() }.first ?? nil
  }

  package func timestamp(of seq: Int64, number: Int64) throws -> WallInstant? {
    try rows("SELECT timestamp FROM message WHERE number = $1 AND seq = $2", [number, seq]) { try $0.instant() }.first
  }

  func newestMessage(of group: GroupID, number: Int64) throws -> Message? {
    try rows("SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = $1 ORDER BY m.seq DESC LIMIT 1", [number]) {
      try Message.read(of: group, &$0)
    }.first
  }

  package func messages(of group: GroupID, number: Int64, seqs: [Int64]) throws -> [Message] {
    let found = try rows(
      "SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = $1 AND m.seq = ANY ($2)", [number, seqs]
    ) { try Message.read(of: group, &$0) }
    let bySeq = Dictionary(found.map { ($0.seq, $0) }) { $1 }
    return seqs.compactMap { bySeq[$0] }
  }

  package func sentMessages(number: Int64, in range: ClosedRange<Int64>) throws -> [SentMessage] {
    try rows(
      """
      SELECT \(SentMessage.columnNames) FROM message
      WHERE number = $1 AND seq BETWEEN $2 AND $3 AND clientMsgID IS NOT NULL ORDER BY seq
      """, [number, range.lowerBound, range.upperBound], SentMessage.read)
  }

  package func sentMessages(number: Int64, from sender: UserID, in range: ClosedRange<Int64>) throws -> [SentMessage] {
    try rows(
      """
      SELECT \(SentMessage.columnNames) FROM message
      WHERE number = $1 AND seq BETWEEN $2 AND $3 AND sender = $4 AND clientMsgID IS NOT NULL ORDER BY seq
      """, [number, range.lowerBound, range.upperBound, sender.rawValue], SentMessage.read)
  }
}

/// Statements of `messageChange` rows: what messages have since they were changed.
private enum MessageChangeRows {
  // The message must exist, unless retention has removed it. A message that stays pinned keeps the
  // change that pinned it.
  static let putSQL = """
    WITH g AS (SELECT number, firstSeq FROM groupRecord WHERE groupID = $1),
    put AS (
      INSERT INTO messageChange (number, seq, changeSeq, editTime, pinned)
      SELECT m.number, m.seq, $4, $5, CASE WHEN $6 THEN $4 ELSE 0 END FROM g
      JOIN message AS m ON m.number = g.number AND m.seq = $2 AND m.msgID = $3
      ON CONFLICT (number, seq) DO UPDATE SET changeSeq = excluded.changeSeq, editTime = excluded.editTime,
      pinned = CASE WHEN messageChange.pinned > 0 AND excluded.pinned > 0 THEN messageChange.pinned ELSE excluded.pinned END
      RETURNING seq)
    SELECT seq FROM put UNION ALL SELECT firstSeq FROM g WHERE firstSeq > $2
    """

  // The change must be the message's last, unless retention has removed the message.
  static let originSQL = """
    WITH g AS (SELECT number, firstSeq FROM groupRecord WHERE groupID = $1),
    put AS (
      UPDATE messageChange AS c SET otherSeq = CASE WHEN c.originKind <> $4 THEN c.originSeq ELSE coalesce(c.otherSeq, 0) END,
      originSeq = $3, originKind = $4, originUser = $5, originPlatform = $6, originReaction = $7, originIsAdded = $8 FROM g
      WHERE c.number = g.number AND c.seq = $2 AND c.changeSeq = $3 RETURNING c.seq)
    SELECT seq FROM put UNION ALL SELECT firstSeq FROM g WHERE firstSeq > $2
    """
}

extension WriteTransaction {
  func noteChange(of message: Message) throws {
    try runForOne(
      MessageChangeRows.putSQL,
      [
        message.groupID.rawValue, message.seq ?? .max, message.msgID, message.changeSeq, message.editTime, message.isPinned,
      ]
    ) { missing(message) }
  }

  func put(_ origin: ChangeOrigin, of seq: Int64, changeSeq: Int64, in group: GroupID) throws {
    try runForOne(
      MessageChangeRows.originSQL,
      [
        group.rawValue, seq, changeSeq, origin.kind.rawValue, origin.user.rawValue, origin.platform.rawValue, origin.reaction,
        origin.isAdded,
      ]
    ) { "no change \(changeSeq) of message \(seq) of \(group)" }
  }

  func put(changeSeq: Int64, at time: WallInstant, in group: GroupID) throws {
    try runForOne(
      "UPDATE groupRecord SET changeSeq = $2, changeTime = $3 WHERE groupID = $1", [group.rawValue, changeSeq, time]
    ) { "no group \(group) to change" }
  }
}

extension PostgreSQLConnection {
  package func changeOrigins(number: Int64, seqs: [Int64]) throws -> [Int64: StoredChangeOrigin] {
    let found = try rows(
      "SELECT seq, changeSeq, \(ChangeOriginRow.columns.names) FROM messageChange WHERE number = $1 AND seq = ANY ($2)",
      [number, seqs]
    ) { row -> (Int64, StoredChangeOrigin?) in
      let (seq, changeSeq) = (try row.integer(), try row.integer())
      return (seq, try ChangeOriginRow.read(&row).origin(of: changeSeq))
    }
    var origins: [Int64: StoredChangeOrigin] = [:]
    for (seq, origin) in found { origins[seq] = origin }
    return origins
  }

  package func changes(number: Int64, after changeSeq: Int64, limit: Int) throws -> [(changeSeq: Int64, seq: Int64)] {
    try rows(
      "SELECT changeSeq, seq FROM messageChange WHERE number = $1 AND changeSeq > $2 ORDER BY changeSeq LIMIT $3",
      [number, changeSeq, limit]
    ) { (changeSeq: try $0.integer(), seq: try $0.integer()) }
  }

  /// The pinned messages, the last pinned first.
  func pinned(number: Int64) throws -> [Int64] {
    try rows("SELECT seq FROM messageChange WHERE number = $1 AND pinned > 0 ORDER BY pinned DESC", [number]) {
      try $0.integer()
    }
  }
}

/// Statements of `reaction` rows, and of the users who gave each.
private enum ReactionRows {
  // A message that retention has removed stays as it is.
  private static let live = """
    WITH g AS (SELECT number, firstSeq FROM groupRecord WHERE groupID = $1),
    live AS (SELECT number FROM g WHERE firstSeq <= $2)
    """
  private static let removed = "SELECT firstSeq FROM g WHERE firstSeq > $2"
  private static let giveSQL = "given AS (INSERT INTO reactionUser SELECT number, $3, $4, $5 FROM live RETURNING kind)"
  static let beginSQL = """
    \(live), \(giveSQL),
    begun AS (INSERT INTO reaction SELECT number, $2, $3, 1, $6 FROM live RETURNING kind)
    SELECT kind FROM begun UNION ALL \(removed)
    """
  static let addSQL = """
    \(live), \(giveSQL),
    counted AS (
      UPDATE reaction AS r SET count = r.count + 1 FROM live WHERE r.number = live.number AND r.seq = $2 AND r.kind = $3
      RETURNING r.kind)
    SELECT kind FROM counted UNION ALL \(removed)
    """
  static let removeSQL = """
    \(live),
    taken AS (
      DELETE FROM reactionUser AS u USING live WHERE u.number = live.number AND u.kind = $3 AND u.userID = $4
      RETURNING u.number),
    counted AS (
      UPDATE reaction AS r SET count = r.count - 1 FROM taken
      WHERE r.number = taken.number AND r.seq = $2 AND r.kind = $3 AND r.count > 1 RETURNING r.kind),
    ended AS (
      DELETE FROM reaction AS r USING taken
      WHERE r.number = taken.number AND r.seq = $2 AND r.kind = $3 AND r.count <= 1 RETURNING r.kind)
    SELECT kind FROM counted UNION ALL SELECT kind FROM ended UNION ALL \(removed)
    """
}

extension WriteTransaction {
  func update(_ reaction: ReactionUpdate) throws {
    var values: [any StatementValue] = [reaction.group.rawValue, reaction.seq, reaction.number, reaction.user.rawValue]
    let sql: String
    if reaction.isAdded {
      values.append(reaction.changeSeq)
      let isFirst = reaction.number == reaction.changeSeq
      if isFirst { values.append(reaction.reaction) }
      sql = isFirst ? ReactionRows.beginSQL : ReactionRows.addSQL
    } else {
      sql = ReactionRows.removeSQL
    }
    try runForOne(sql, values) {
      "no reaction \(reaction.number) of message \(reaction.seq) of \(reaction.group) that \(reaction.user) can change"
    }
  }

  func removeReactions(of seq: Int64, in group: GroupID) throws {
    try runForOne(
      """
      WITH g AS (SELECT number FROM groupRecord WHERE groupID = $1),
      removed AS (DELETE FROM reaction AS r USING g WHERE r.number = g.number AND r.seq = $2 RETURNING r.number, r.kind),
      gone AS (INSERT INTO goneReaction SELECT number, kind FROM removed ON CONFLICT DO NOTHING)
      SELECT number FROM g
      """, [group.rawValue, seq]
    ) { "no group \(group) with reactions" }
  }
}

extension PostgreSQLConnection {
  package func reactions(
    to seqs: [Int64], number: Int64, reader: UserID?, users: Int
  ) throws -> [Int64: [StoredReaction]] {
    let rows = try self.rows(
      """
      SELECT r.seq, r.kind, r.reaction, r.count,
      (SELECT u.userID FROM reactionUser AS u WHERE u.number = r.number AND u.kind = r.kind AND u.userID = $3) IS NOT NULL
      FROM reaction AS r WHERE r.number = $1 AND r.seq = ANY ($2) ORDER BY r.seq, r.kind
      """, [number, seqs, reader?.rawValue ?? ""]
    ) { row in
      let (seq, kind, reaction) = (try row.integer(), try row.integer(), try row.text())
      let found = StoredReaction(number: kind, reaction: reaction, count: Int(try row.integer()), isByReader: try row.flag())
      return (seq: seq, found: found)
    }
    let givers = users > 0 ? try self.users(of: rows.map(\.found.number), number: number, limit: users) : [:]
    var reactions: [Int64: [StoredReaction]] = [:]
    for var row in rows {
      row.found.users = givers[row.found.number] ?? []
      reactions[row.seq, default: []].append(row.found)
    }
    return reactions
  }

  private func users(of kinds: [Int64], number: Int64, limit: Int) throws -> [Int64: [UserID]] {
    let found = try rows(
      """
      SELECT wanted.kind, u.userID FROM unnest($2) AS wanted (kind) CROSS JOIN LATERAL (
        SELECT userID, time FROM reactionUser WHERE number = $1 AND kind = wanted.kind ORDER BY time LIMIT $3) AS u
      ORDER BY wanted.kind, u.time
      """, [number, kinds, limit]
    ) { (try $0.integer(), try $0.value(UserID.self)) }
    return Dictionary(grouping: found, by: \.0).mapValues { $0.map(\.1) }
  }
}
