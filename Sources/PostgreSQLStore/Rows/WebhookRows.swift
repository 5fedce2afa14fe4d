import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

/// The after-events that a transaction adds. Their numbers come with its results.
final class WebhookAppends {
  /// In the order of `add`. One whose result was lost with its connection has no number: the outbox
  /// has it in memory only, and finds it once more in the store.
  private(set) var entries: [WebhookEntry] = []

  /// Adds an entry.
  /// - Returns: gives it the number that its statement returns.
  func add(_ entry: WebhookEntry) -> (StatementResult) throws -> Void {
    let index = entries.count
    entries.append(entry)
    return { [self] result in
      for number in try result.map({ try $0.integer() }) { entries[index] = entry.stored(as: number) }
    }
  }
}

extension WriteTransaction {
  func append(_ entry: WebhookEntry) throws {
    if let seq = entry.messageSeq, case .group(let group) = entry.lane {
      return try run(
        """
        INSERT INTO webhook (number, lane, groupNumber, seq, trace)
        VALUES (nextval('webhookNumber'), $2, \(numberOfGroup), $3, $4) RETURNING number
        """, [group.rawValue, entry.lane.text, seq, entry.trace?.traceparent], then: appends.add(entry))
    }
    let users = entry.shownUsers
    let shown = entry.encoded(showing: users.isEmpty ? [:] : try profiles(of: users))
    try run(
      """
      INSERT INTO webhook (number, lane, id, type, timestamp, since, data, trace)
      VALUES (nextval('webhookNumber'), $1, $2, $3, $4, $5, $6, $7) RETURNING number
      """,
      [
        shown.lane.text, shown.id, shown.type.rawValue, shown.timestamp, shown.since, shown.data, shown.trace?.traceparent,
      ],
      then: appends.add(shown))
  }

  func removeWebhooks(_ numbers: [Int64]) throws {
    try run("DELETE FROM webhook WHERE number = ANY ($1)", [numbers])
  }

  func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String) throws {
    if entry.storedNumber > 0 { try removeWebhooks([entry.storedNumber]) }
    try run(
      "INSERT INTO webhookFailure (\(WebhookFailure.columns.names)) VALUES (\(WebhookFailure.columns.places("$")))"
    ) { try WebhookFailure(number: 0, entry: entry, attempts: attempts, lastError: error).write(to: &$0) }
  }

  func removeWebhookFailures(_ numbers: [Int64]) throws {
    try run("DELETE FROM webhookFailure WHERE number = ANY ($1)", [numbers])
  }

  // Numbers grow by one, and those that were tried again are missing: fewer may be left.
  func trimWebhookFailures(keeping count: Int) throws {
    try run("DELETE FROM webhookFailure WHERE number <= (SELECT max(number) FROM webhookFailure) - $1", [count])
  }
}

extension PostgreSQLConnection {
  package func webhookFailures(after number: Int64, limit: Int) throws -> [WebhookFailure] {
    try rows(
      "SELECT \(WebhookFailure.numberedColumns) FROM webhookFailure WHERE number > $1 ORDER BY number LIMIT $2", [number, limit],
      WebhookFailure.readNumbered)
  }
}

/// `webhook` rows, the entries that wait. A row of a stored message only says where it is.
enum WebhookRows {
  /// Rows by their number.
  struct Page {
    var entries: [WebhookEntry] = []
    /// Those that are not wanted included.
    var rowCount = 0
    var lastNumber: Int64?
  }

  /// Entries by their number, of at most so many rows.
  static func page(
    in lane: WebhookEntry.Lane?, after number: Int64, limit: Int, _ db: PostgreSQLConnection,
    where isWanted: (WebhookEntry.Lane) -> Bool
  ) throws -> Page {
    let rows = try db.rows(
      """
      SELECT \(WebhookRow.columns.names) FROM webhook
      WHERE number > $1 \(lane == nil ? "" : "AND lane = $3") ORDER BY number LIMIT $2
      """, [number, limit] + (lane.map { [$0.text] } ?? []), WebhookRow.read)
    var page = Page(rowCount: rows.count)
    for row in rows {
      page.lastNumber = row.number
      if isWanted(row.lane) { page.entries.append(try entry(of: row, db)) }
    }
    return page
  }

  /// The entry of a row. That of a message shows it as it is now, with its sender's profile of now.
  private static func entry(of row: WebhookRow, _ db: PostgreSQLConnection) throws -> WebhookEntry {
    guard let number = row.groupNumber, let seq = row.seq else { return try row.entry() }
    guard case .group(let group) = row.lane,
      let message = try db.messages(of: group, number: number, seqs: [seq]).first
    else { return WebhookEntry(lostMessage: seq, in: row.lane, groupNumber: number, number: row.number) }
    let profile = message.sender == .administrator ? nil : try db.profiles(of: [message.sender])[message.sender]
    return WebhookEntry(messageSent: MessageInfo(message, senderProfile: profile), number: row.number, trace: row.trace)
  }

  /// Gives the events of messages data of their own, because the messages will be removed.
  /// - Parameter seq: of the first message that stays.
  static func copyMessages(number: Int64, before seq: Int64, _ transaction: WriteTransaction) throws {
    let rows = try transaction.rows(
      """
      SELECT \(WebhookRow.columns.names) FROM webhook WHERE groupNumber = $1 AND seq < $2 ORDER BY number
      """, [number, seq], WebhookRow.read)
    let content = WebhookRow.columns.without("number", "lane").map(\.name)
    for row in rows {
      let entry = try entry(of: row, transaction.connection)
      try transaction.run(
        """
        UPDATE webhook SET \(WebhookRow.columns.assignments("$", to: content))
        WHERE number = $\(WebhookRow.columns.place(of: "number"))
        """
      ) { try WebhookRow(entry, number: row.number).write(to: &$0) }
      try transaction.check()
    }
  }
}
