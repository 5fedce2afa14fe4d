import Foundation
import GRDB
import GroupModel
import GroupRuntime

/// `webhook` and `webhookFailure` rows.
enum WebhookRows {
  static let columns = "number, id, lane, type, timestamp, since, data"
  static let failureColumns = "number, id, lane, type, timestamp, attempts, lastError, data"

  private static let insertSQL = "INSERT INTO webhook (id, lane, type, timestamp, since, data) VALUES (?, ?, ?, ?, ?, ?)"
  private static let insertFailureSQL = """
    INSERT INTO webhookFailure (id, lane, type, timestamp, attempts, lastError, data) VALUES (?, ?, ?, ?, ?, ?, ?)
    """

  /// With the profiles of this transaction.
  static func append(_ entry: WebhookEntry, in db: Database) throws {
    let users = entry.shownUsers
    if !users.isEmpty { entry.show(try UserInfoRows.profiles(of: users, in: db)) }
    try db.run(insertSQL) { binding in
      binding.append(entry.id)
      binding.append(entry.lane.text)
      binding.append(entry.type.rawValue)
      binding.append(entry.timestamp)
      binding.append(entry.since)
      binding.append(bytes: entry.data)
    }
    entry.didStore(as: db.lastInsertedRowID)
  }

  static func remove(_ numbers: [Int64], in db: Database) throws {
    // Numbers that follow each other share a statement, which is three times as fast.
    var rest = numbers.sorted()[...]
    while let first = rest.first {
      let count = zip(rest, first...).prefix { $0 == $1 }.count
      try db.run("DELETE FROM webhook WHERE number BETWEEN ? AND ?") {
        $0.append(first)
        $0.append(first + Int64(count) - 1)
      }
      rest = rest.dropFirst(count)
    }
  }

  /// Where the row is gone already, the failure is all the same kept: the entry was not posted.
  static func giveUp(_ entry: WebhookEntry, attempts: Int, _ error: String, in db: Database) throws {
    if entry.storedNumber > 0 { try remove([entry.storedNumber], in: db) }
    try db.run(insertFailureSQL) { binding in
      binding.append(entry.id)
      binding.append(entry.lane.text)
      binding.append(entry.type.rawValue)
      binding.append(entry.timestamp)
      binding.append(Int64(attempts))
      binding.append(error)
      binding.append(bytes: entry.data)
    }
  }

  static func removeFailures(_ numbers: [Int64], in db: Database) throws {
    for number in numbers { try db.run("DELETE FROM webhookFailure WHERE number = ?") { $0.append(number) } }
  }

  /// Numbers grow by one, and those that were tried again are missing: fewer may be left.
  static func trimFailures(keeping count: Int, in db: Database) throws {
    try db.run("DELETE FROM webhookFailure WHERE number <= (SELECT max(number) FROM webhookFailure) - ?", [count])
  }

  static func entry(_ row: inout RowReader) throws -> WebhookEntry {
    let number = try row.integer()
    let id = try row.text()
    let lane = try row.value(WebhookEntry.Lane.init)
    let type = try row.value(WebhookType.init(rawValue:))
    let timestamp = try row.instant()
    let since = try row.instant()
    return WebhookEntry(id: id, type, data: try row.bytes(), in: lane, at: timestamp, since: since, number: number)
  }

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
}
