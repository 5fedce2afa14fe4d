import GRDB
import GroupModel
import GroupRuntime
import StoreTables

extension SQLiteStore: WebhookStore {
  /// How many entries wait, and how many were given up: counted once, at the start.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func webhookCounts() async throws(StoreError) -> WebhookCounts {
    try await read { db in
      WebhookCounts(
        pending: try db.count("SELECT coalesce(sum(count), 0) FROM webhook", []),
        failures: try db.count("SELECT count(*) FROM webhookFailure", []))
    }
  }

  /// Entries that wait, by their number, and so in the order of their commits.
  /// - Parameter lane: nil = of all lanes.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func webhooks(
    in lane: WebhookEntry.Lane?, after: Int64, limit: Int, bytes: Int
  ) async throws(StoreError) -> [WebhookEntry] {
    // A row that begins before `after` may hold messages behind it.
    let first = after - WebhookRows.messagesPerRow + 1
    return try await read { db in
      var entries: [WebhookEntry] = []
      var sum = 0
      func add(_ entry: WebhookEntry) {
        guard sum < bytes, entries.count < limit else { return }
        sum += entry.estimatedBytes
        entries.append(entry)
      }
      try WebhookRows.visit(lane, from: first, in: db) { row in
        switch row {
        case .entry(let entry): if entry.storedNumber > after { add(entry) }
        case .messages(let range):
          let range = range.dropping(through: after, limit: limit - entries.count)
          if range.count > 0 { for entry in try WebhookRows.entries(of: range, in: db) { add(entry) } }
        }
        return sum < bytes && entries.count < limit
      }
      return entries
    }
  }

  /// Entries that were given up, by their number.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure] {
    try await read { db in
      try db.rows(
        "SELECT \(WebhookFailure.numberedColumns) FROM webhookFailure WHERE number > ? ORDER BY number LIMIT ?", [after, limit],
        bytes: bytes, { $0.entry.data.count }, WebhookFailure.readNumbered)
    }
  }
}

extension Database {
  /// The first rows of a query, until they have so many bytes; one is always among them.
  fileprivate func rows<Value>(
    _ sql: String, _ arguments: [(any DatabaseValueConvertible)?], bytes: Int, _ size: (Value) -> Int,
    _ make: (inout RowReader) throws -> Value
  ) throws -> [Value] {
    let cursor = try Row.fetchCursor(cachedStatement(sql: sql), arguments: StatementArguments(arguments))
    var values: [Value] = []
    var sum = 0
    while sum < bytes, let row = try cursor.next() {
      var columns = RowReader(row)
      let value = try make(&columns)
      sum += size(value)
      values.append(value)
    }
    return values
  }
}
