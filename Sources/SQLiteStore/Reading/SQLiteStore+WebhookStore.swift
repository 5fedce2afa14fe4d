import GRDB
import GroupModel
import GroupRuntime
import StoreTables

extension SQLiteStore {
  package func webhookCounts() async throws(StoreError) -> WebhookCounts {
    try await read { db in
      WebhookCounts(
        pending: try db.count("SELECT coalesce(sum(count), 0) FROM webhook", []),
        failures: try db.count("SELECT count(*) FROM webhookFailure", []))
    }
  }

  package func webhooks(
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
}
