import GRDB
import StoreTables

/// Indexes the rows of `webhook` that have waited for a second. At once, each message of a busy
/// server would write a page of the index for its group; most rows are removed before.
enum WebhookIndexing {
  /// No row up to this number lacks its entry in the index.
  static func through(in db: Database) throws -> Int64 {
    Int64(try db.count("SELECT through FROM webhookIndexing", []))
  }

  /// Indexes one chunk in the transaction that is open.
  /// - Parameters:
  ///   - rows: how many rows a chunk has at most.
  ///   - last: the last number to be indexed.
  /// - Returns: false where nothing is left to index.
  static func chunk(of rows: Int, through last: Int64, in db: Database) throws -> Bool {
    let begin = try through(in: db)
    let numbers = try db.rows(
      "SELECT number FROM webhook WHERE number > ? AND number <= ? ORDER BY number LIMIT ?", [begin, last, rows]
    ) { try $0.integer() }
    guard let end = numbers.last else { return false }
    try db.run("UPDATE webhook SET isIndexed = 1 WHERE number > ? AND number <= ? AND isIndexed = 0", [begin, end])
    try db.run("UPDATE webhookIndexing SET through = ?", [end])
    return numbers.count == rows
  }
}
