import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

/// `webhook` and `webhookFailure` rows.
///
/// Messages that follow each other in a group, and belong to the same trace or to none, share a row,
/// which only says where they are: beside its message, an after-event costs next to nothing.
enum WebhookRows {
  /// The most messages of one row, and so many numbers are kept free for them.
  static let messagesPerRow: Int64 = 64

  private static let places = WebhookRow.columns.map { $0.name == "seq" ? "firstSeq" : $0.name }.joined(separator: ", ")
  private static let insertSQL = """
    INSERT INTO webhook (\(places), count, isIndexed) VALUES (\(WebhookRow.columns.places("?")), 1, ?)
    """
  private static let insertMessagesSQL = """
    INSERT INTO webhook (number, lane, count, isIndexed, groupNumber, firstSeq, trace)
    VALUES (?, ?, ?, 0, (SELECT number FROM groupRecord WHERE groupID = ?), ?, ?)
    """
  fileprivate static let insertFailureSQL = """
    INSERT INTO webhookFailure (\(WebhookFailure.columns.names)) VALUES (\(WebhookFailure.columns.places("?")))
    """

  /// The last number that is in use.
  static func lastNumber(in db: Database) throws -> Int64 {
    Int64(try db.count("SELECT number + count - 1 FROM webhook ORDER BY number DESC LIMIT 1", []))
  }

  static func insert(_ entry: WebhookEntry, as number: Int64, isIndexed: Bool = false, in db: Database) throws {
    try db.run(insertSQL) { binding in
      try WebhookRow(entry, number: number).write(to: &binding)
      binding.append(isIndexed)
    }
  }

  /// - Parameters:
  ///   - group: one that is not disbanded.
  ///   - trace: of all of them.
  static func insertMessages(
    _ count: Int64, of group: GroupID, from seq: Int64, as number: Int64, trace: TraceContext?, in db: Database
  ) throws {
    try db.run(insertMessagesSQL) { binding in
      binding.append(number)
      binding.append(WebhookEntry.Lane.group(group).text)
      binding.append(count)
      binding.append(group.rawValue)
      binding.append(seq)
      if let trace { binding.append(trace.traceparent) } else { binding.append(null: .text) }
    }
  }

  static func remove(_ numbers: [Int64], in db: Database) throws {
    // Numbers that follow each other share statements, which is three times as fast.
    var rest = numbers.sorted()[...]
    while let first = rest.first {
      let count = zip(rest, first...).prefix { $0 == $1 }.count
      try remove(first...(first + Int64(count) - 1), in: db)
      rest = rest.dropFirst(count)
    }
  }

  // Only the last row that begins before a number can hold it.
  private static let keepRestSQL = """
    INSERT INTO webhook (number, lane, count, isIndexed, groupNumber, firstSeq, trace)
    SELECT ?1 + 1, lane, number + count - 1 - ?1, isIndexed, groupNumber, firstSeq + ?1 + 1 - number, trace FROM webhook
    WHERE number = (SELECT max(number) FROM webhook WHERE number <= ?1) AND number + count - 1 > ?1
    """
  private static let keepBeginningSQL = """
    UPDATE webhook SET count = ?1 - number
    WHERE number = (SELECT max(number) FROM webhook WHERE number < ?1) AND number + count > ?1
    """

  private static func remove(_ numbers: ClosedRange<Int64>, in db: Database) throws {
    try db.run(keepRestSQL) { $0.append(numbers.upperBound) }
    try db.run(keepBeginningSQL) { $0.append(numbers.lowerBound) }
    try db.run("DELETE FROM webhook WHERE number BETWEEN ? AND ?") {
      $0.append(numbers.lowerBound)
      $0.append(numbers.upperBound)
    }
  }
}

extension SQLiteTransaction {
  func removeWebhooks(_ numbers: [Int64]) throws { try WebhookRows.remove(numbers, in: db) }

  func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String) throws {
    if entry.storedNumber > 0 { try WebhookRows.remove([entry.storedNumber], in: db) }
    let failure = WebhookFailure(number: 0, entry: entry, attempts: attempts, lastError: error)
    try db.run(WebhookRows.insertFailureSQL) { try failure.write(to: &$0) }
  }

  func removeWebhookFailures(_ numbers: [Int64]) throws {
    for number in numbers { try db.run("DELETE FROM webhookFailure WHERE number = ?") { $0.append(number) } }
  }

  // Numbers grow by one, and those that were tried again are missing: fewer may be left.
  func trimWebhookFailures(keeping count: Int) throws {
    try db.run("DELETE FROM webhookFailure WHERE number <= (SELECT max(number) FROM webhookFailure) - ?", [count])
  }
}

extension Database {
  package func webhookFailures(after number: Int64, limit: Int) throws -> [WebhookFailure] {
    try rows(
      "SELECT \(WebhookFailure.numberedColumns) FROM webhookFailure WHERE number > ? ORDER BY number LIMIT ?", [number, limit],
      WebhookFailure.readNumbered)
  }
}

// MARK: - Entries that wait

extension WebhookRows {
  /// Successive messages of a group whose events wait.
  struct MessageRange {
    let number: Int64
    let group: GroupID
    let groupNumber: Int64
    let count: Int64
    let isIndexed: Bool
    let firstSeq: Int64
    let trace: TraceContext?

    /// Without those up to a number, and without those beyond a count.
    func dropping(through number: Int64, limit: Int) -> MessageRange {
      let dropped = max(0, number + 1 - self.number)
      return MessageRange(
        number: self.number + dropped, group: group, groupNumber: groupNumber, count: min(count - dropped, Int64(limit)),
        isIndexed: isIndexed, firstSeq: firstSeq + dropped, trace: trace)
    }
  }

  enum Waiting {
    case entry(WebhookEntry)
    case messages(MessageRange)
  }

  static let columns =
    WebhookRow.columns.map { $0.name == "seq" ? "firstSeq AS seq" : $0.name }.joined(separator: ", ") + ", count, isIndexed"

  static func waiting(_ reader: inout RowReader) throws -> Waiting {
    let row = try WebhookRow.read(&reader)
    let (count, isIndexed) = (try reader.integer(), try reader.flag())
    guard let groupNumber = row.groupNumber, let seq = row.seq, case .group(let group) = row.lane else {
      return .entry(try row.entry())
    }
    return .messages(
      MessageRange(
        number: row.number, group: group, groupNumber: groupNumber, count: count, isIndexed: isIndexed, firstSeq: seq,
        trace: row.trace))
  }

  /// The entries of messages as they are now, with their senders' profiles of now.
  static func entries(of range: MessageRange, in db: Database) throws -> [WebhookEntry] {
    let last = range.firstSeq + range.count - 1
    let messages = try db.rows(
      "SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = ? AND m.seq BETWEEN ? AND ? ORDER BY m.seq",
      [range.groupNumber, range.firstSeq, last]
    ) { try Message.read(of: range.group, &$0) }
    let senders = Set(messages.map(\.sender)).filter { $0 != .administrator }
    let profiles = try db.profiles(of: Array(senders))
    let found = Dictionary(uniqueKeysWithValues: messages.lazy.map { ($0.seq, $0) })
    return zip(range.firstSeq...last, range.number...).map { seq, number in
      guard let message = found[seq] else {
        return WebhookEntry(lostMessage: seq, in: .group(range.group), groupNumber: range.groupNumber, number: number)
      }
      return WebhookEntry(
        messageSent: MessageInfo(message, senderProfile: profiles[message.sender]), number: number, trace: range.trace)
    }
  }

  /// Gives the events of messages rows of their own, because the messages will be removed.
  /// - Parameter seq: of the first message that stays.
  static func copyMessages(of group: GroupID, number: Int64, before seq: Int64, in db: Database) throws {
    var rows: [Waiting] = []
    try visit(.group(group), from: 0, in: db) { row in
      rows.append(row)
      return true
    }
    for case .messages(let range) in rows where range.groupNumber == number && range.firstSeq < seq {
      let entries = try entries(of: range, in: db)
      try remove(range.number...(range.number + range.count - 1), in: db)
      for entry in entries { try insert(entry, as: entry.storedNumber, isIndexed: range.isIndexed, in: db) }
    }
  }

  /// Gives `body` the rows of a lane from a number on, until it returns false.
  static func visit(
    _ lane: WebhookEntry.Lane?, from number: Int64, in db: Database, _ body: (Waiting) throws -> Bool
  ) throws {
    guard let lane else {
      try visit("webhook WHERE number >= ?", [number], db, body)
      return
    }
    // A row that is not indexed comes behind all that are.
    let indexed = "webhook INDEXED BY webhookByLane WHERE isIndexed = 1 AND lane = ? AND number >= ?"
    guard try visit(indexed, [lane.text, number], db, body) else { return }
    let recent = max(number, try WebhookIndexing.through(in: db) + 1)
    try visit("webhook WHERE isIndexed = 0 AND lane = ? AND number >= ?", [lane.text, recent], db, body)
  }

  /// - Returns: false where the body has returned it.
  @discardableResult
  private static func visit(
    _ source: String, _ arguments: [(any DatabaseValueConvertible)?], _ db: Database, _ body: (Waiting) throws -> Bool
  ) throws -> Bool {
    try !db.visit("SELECT \(columns) FROM \(source) ORDER BY number", arguments) { try body(waiting(&$0)) }
  }
}
