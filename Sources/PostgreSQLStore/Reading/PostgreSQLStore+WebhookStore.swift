import GroupRuntime
import StoreTables

extension PostgreSQLStore {
  /// How many entries wait, and how many were given up: counted once, at the start.
  package func webhookCounts() async throws(StoreError) -> WebhookCounts {
    let leadership = options.leadership
    return try await read { db in
      let lanes = try db.rows("SELECT lane, count(*) FROM webhook GROUP BY lane", []) {
        (lane: try $0.value(WebhookEntry.Lane.self), count: try $0.value(Int.self))
      }
      return WebhookCounts(
        pending: lanes.reduce(0) { leadership.owns($1.lane) ? $0 + $1.count : $0 },
        failures: try db.count("SELECT count(*) FROM webhookFailure", []))
    }
  }

  /// Entries that wait, by their number, and so in the order of the commits of a lane. All pages show
  /// one moment: otherwise a later page could have an entry whose predecessor was missing from an
  /// earlier one, because its number came before others', and its commit behind.
  /// - Parameter lane: nil = of all lanes that this process leads.
  package func webhooks(
    in lane: WebhookEntry.Lane?, after: Int64, limit: Int, bytes: Int
  ) async throws(StoreError) -> [WebhookEntry] {
    let leadership = options.leadership
    return try await read { db in
      var entries: [WebhookEntry] = []
      var (last, sum) = (after, 0)
      // Pages, because nobody knows the bytes of an entry before it is read.
      while sum < bytes, entries.count < limit {
        let wanted = min(64, limit - entries.count)
        let page = try WebhookRows.page(in: lane, after: last, limit: wanted, db) { lane != nil || leadership.owns($0) }
        for entry in page.entries where sum < bytes {
          sum += entry.estimatedBytes
          entries.append(entry)
        }
        guard page.rowCount == wanted, let number = page.lastNumber else { break }
        last = number
      }
      return entries
    }
  }
}
