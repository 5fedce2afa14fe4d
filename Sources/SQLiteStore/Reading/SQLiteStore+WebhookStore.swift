import GRDB
import GroupModel
import GroupRuntime

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
      let source = lane == nil ? "webhook WHERE" : "webhook INDEXED BY webhookByLane WHERE lane = ? AND"
      let sql = """
        SELECT \(WebhookRows.columns) FROM \(source) number >= ? AND number + count - 1 > ? ORDER BY number LIMIT ?
        """
      var arguments: [(any DatabaseValueConvertible)?] = [first, after, limit]
      if let lane { arguments.insert(lane.text, at: 0) }
      let cursor = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: StatementArguments(arguments))
      var entries: [WebhookEntry] = []
      var sum = 0
      while sum < bytes, entries.count < limit, let row = try cursor.next() {
        var columns = RowReader(row)
        switch try WebhookRows.waiting(&columns) {
        case .entry(let entry):
          sum += entry.estimatedBytes
          entries.append(entry)
        case .messages(let range):
          for entry in try WebhookRows.entries(of: range.dropping(through: after, limit: limit - entries.count), in: db) {
            guard sum < bytes else { break }
            sum += entry.estimatedBytes
            entries.append(entry)
          }
        }
      }
      return entries
    }
  }

  /// Entries that were given up, by their number.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure] {
    try await read { db in
      try db.rows(
        "SELECT \(WebhookRows.failureColumns) FROM webhookFailure WHERE number > ? ORDER BY number LIMIT ?", [after, limit],
        bytes: bytes, { $0.entry.data.count }, WebhookRows.failure)
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
