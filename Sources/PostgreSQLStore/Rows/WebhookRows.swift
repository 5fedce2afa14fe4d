import GroupModel
import GroupRuntime
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

/// `webhook` and `webhookFailure` rows. A row of a stored message only says where it is.
enum WebhookRows {
  /// Adds an entry with the profiles of this transaction, and numbers it.
  static func append(_ entry: WebhookEntry, _ transaction: WriteTransaction) throws {
    if let seq = entry.messageSeq, case .group(let group) = entry.lane {
      return try transaction.run(
        """
        INSERT INTO webhook (number, lane, groupNumber, seq) VALUES (nextval('webhookNumber'), $2, \(numberOfGroup), $3)
        RETURNING number
        """, [group.rawValue, entry.lane.text, seq], then: transaction.appends.add(entry))
    }
    let users = entry.shownUsers
    let shown = entry.encoded(showing: users.isEmpty ? [:] : try UserInfoRows.profiles(of: users, in: transaction))
    try transaction.run(
      """
      INSERT INTO webhook (number, lane, id, type, timestamp, since, data)
      VALUES (nextval('webhookNumber'), $1, $2, $3, $4, $5, $6) RETURNING number
      """, [shown.lane.text, shown.id, shown.type.rawValue, shown.timestamp, shown.since, shown.data],
      then: transaction.appends.add(shown))
  }

  static func remove(_ numbers: [Int64], _ transaction: WriteTransaction) throws {
    try transaction.run("DELETE FROM webhook WHERE number = ANY ($1)", [numbers])
  }

  /// Where the row is gone already, the failure is all the same kept: the entry was not posted.
  static func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String, _ transaction: WriteTransaction) throws {
    if entry.storedNumber > 0 { try remove([entry.storedNumber], transaction) }
    try transaction.run(
      """
      INSERT INTO webhookFailure (id, lane, type, timestamp, attempts, lastError, data) VALUES ($1, $2, $3, $4, $5, $6, $7)
      """, [entry.id, entry.lane.text, entry.type.rawValue, entry.timestamp, attempts, error, entry.data])
  }

  static func removeFailures(_ numbers: [Int64], _ transaction: WriteTransaction) throws {
    try transaction.run("DELETE FROM webhookFailure WHERE number = ANY ($1)", [numbers])
  }

  /// Numbers grow by one, and those that were tried again are missing: fewer may be left.
  static func trimFailures(keeping count: Int, _ transaction: WriteTransaction) throws {
    try transaction.run("DELETE FROM webhookFailure WHERE number <= (SELECT max(number) FROM webhookFailure) - $1", [count])
  }

  static let failureColumns = "number, id, lane, type, timestamp, attempts, lastError, data"

  static func failure(_ row: inout RowReader) throws -> WebhookFailure {
    let number = try row.integer()
    let id = try row.text()
    let lane = try row.value(WebhookEntry.Lane.init)
    let type = try row.value(WebhookType.init(rawValue:))
    let timestamp = try row.instant()
    let attempts = Int(clamping: try row.integer())
    let error = try row.text()
    let entry = WebhookEntry(id: id, type, data: try row.bytes(), in: lane, at: timestamp, since: timestamp, number: 0)
    return WebhookFailure(number: number, entry: entry, attempts: attempts, lastError: error)
  }

  // MARK: Entries that wait

  private struct MessagePlace {
    let number: Int64
    let lane: WebhookEntry.Lane
    let groupNumber: Int64
    let seq: Int64
  }

  private enum Waiting {
    case entry(WebhookEntry)
    case message(MessagePlace)
  }

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
      SELECT number, lane, groupNumber, seq, id, type, timestamp, since, data FROM webhook
      WHERE number > $1 \(lane == nil ? "" : "AND lane = $3") ORDER BY number LIMIT $2
      """, [number, limit] + (lane.map { [$0.text] } ?? []), waiting)
    var page = Page(rowCount: rows.count)
    for row in rows {
      switch row {
      case .entry(let entry):
        page.lastNumber = entry.storedNumber
        if isWanted(entry.lane) { page.entries.append(entry) }
      case .message(let place):
        page.lastNumber = place.number
        if isWanted(place.lane) { page.entries.append(try entry(of: place, db)) }
      }
    }
    return page
  }

  private static func waiting(_ row: inout RowReader) throws -> Waiting {
    let number = try row.integer()
    let lane = try row.value(WebhookEntry.Lane.init)
    let groupNumber = try row.optionalInteger()
    let seq = try row.optionalInteger()
    if let groupNumber, let seq { return .message(MessagePlace(number: number, lane: lane, groupNumber: groupNumber, seq: seq)) }
    let id = try row.text()
    let type = try row.value(WebhookType.init(rawValue:))
    let timestamp = try row.instant()
    let since = try row.instant()
    return .entry(WebhookEntry(id: id, type, data: try row.bytes(), in: lane, at: timestamp, since: since, number: number))
  }

  /// The entry of a message as it is now, with its sender's profile of now.
  private static func entry(of place: MessagePlace, _ db: PostgreSQLConnection) throws -> WebhookEntry {
    guard case .group(let group) = place.lane,
      let message = try MessageRows.messages(of: group, number: place.groupNumber, seqs: [place.seq], in: db).first
    else { return lost(place) }
    let profile = message.sender == .administrator ? nil : try UserInfoRows.profiles(of: [message.sender], in: db)[message.sender]
    return WebhookEntry(messageSent: MessageInfo(message, senderProfile: profile), number: place.number)
  }

  /// Nothing removes a message before `copyMessages`, but what comes behind it must not wait for a
  /// damaged table.
  private static func lost(_ place: MessagePlace) -> WebhookEntry {
    let data = JSONWriter.text(capacity: 128) { writer in
      writer.object { writer in
        if case .group(let group) = place.lane { writer.member("groupID", group.rawValue) }
        writer.key("message")
        writer.object { $0.member("seq", Int(place.seq)) }
      }
    }
    let time = WallInstant(milliseconds: 0)
    return WebhookEntry(
      id: "\(place.groupNumber)-\(place.seq)", .messageSent, data: data, in: place.lane, at: time, since: time,
      number: place.number)
  }

  /// Gives the events of messages data of their own, because the messages will be removed.
  /// - Parameter seq: of the first message that stays.
  static func copyMessages(number: Int64, before seq: Int64, _ transaction: WriteTransaction) throws {
    let rows = try transaction.rows(
      """
      SELECT number, lane, groupNumber, seq, id, type, timestamp, since, data FROM webhook
      WHERE groupNumber = $1 AND seq < $2 ORDER BY number
      """, [number, seq], waiting)
    for case .message(let place) in rows {
      let entry = try entry(of: place, transaction.connection)
      try transaction.run(
        """
        UPDATE webhook SET groupNumber = NULL, seq = NULL, id = $2, type = $3, timestamp = $4, since = $5, data = $6
        WHERE number = $1
        """, [place.number, entry.id, entry.type.rawValue, entry.timestamp, entry.since, entry.data])
      try transaction.check()
    }
  }
}
