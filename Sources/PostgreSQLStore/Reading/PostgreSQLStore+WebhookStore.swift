import GroupRuntime

extension PostgreSQLStore: WebhookStore {
  /// How many entries wait, and how many were given up: counted once, at the start.
  public func webhookCounts() async throws(StoreError) -> WebhookCounts {
    let leadership = options.leadership
    return try await read { db in
      let lanes = try db.rows("SELECT lane, count(*) FROM webhook GROUP BY lane", []) {
        (lane: try $0.value(WebhookEntry.Lane.init), count: Int(try $0.integer()))
      }
      return WebhookCounts(
        pending: lanes.reduce(0) { leadership.owns($1.lane) ? $0 + $1.count : $0 },
        failures: try db.count("SELECT count(*) FROM webhookFailure", []))
    }
  }

  /// Entries that wait, by their number, and so in the order of the commits of a lane.
  /// - Parameter lane: nil = of all lanes that this process leads.
  public func webhooks(
    in lane: WebhookEntry.Lane?, after: Int64, limit: Int, bytes: Int
  ) async throws(StoreError) -> [WebhookEntry] {
    let leadership = options.leadership
    return try await read { db in
      var entries: [WebhookEntry] = []
      var (last, sum) = (after, 0)
      // Pages, because nobody knows the bytes of an entry before it is read.
      while sum < bytes, entries.count < limit {
        let wanted = min(64, limit - entries.count)
        let page = try WebhookRows.entries(in: lane, after: last, limit: wanted, db)
        for entry in page where sum < bytes && (lane != nil || leadership.owns(entry.lane)) {
          sum += entry.estimatedBytes
          entries.append(entry)
        }
        guard page.count == wanted, let number = page.last?.storedNumber else { break }
        last = number
      }
      return entries
    }
  }

  /// Entries that were given up, by their number.
  public func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure] {
    try await read { db in
      var failures: [WebhookFailure] = []
      var (last, sum) = (after, 0)
      while sum < bytes, failures.count < limit {
        let wanted = min(64, limit - failures.count)
        let page = try db.rows(
          "SELECT \(WebhookRows.failureColumns) FROM webhookFailure WHERE number > $1 ORDER BY number LIMIT $2", [last, wanted],
          WebhookRows.failure)
        for failure in page where sum < bytes {
          sum += failure.entry.data.count
          failures.append(failure)
        }
        guard page.count == wanted, let number = page.last?.number else { break }
        last = number
      }
      return failures
    }
  }
}
