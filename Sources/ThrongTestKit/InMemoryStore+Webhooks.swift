import GroupModel
import GroupRuntime
import Synchronization

extension InMemoryStore: WebhookStore {
  /// How many entries wait, and how many were given up.
  public func webhookCounts() async throws(StoreError) -> WebhookCounts {
    contents.withLock { WebhookCounts(pending: $0.webhooks.count, failures: $0.webhookFailures.count) }
  }

  /// Entries that wait, by their number; `bytes` is ignored.
  public func webhooks(
    in lane: WebhookEntry.Lane?, after: Int64, limit: Int, bytes: Int
  ) async throws(StoreError) -> [WebhookEntry] {
    contents.withLock { contents in
      let found = contents.webhooks.filter { $0.storedNumber > after && (lane == nil || lane == $0.lane) }
      return found.prefix(limit).map { entry in
        WebhookEntry(
          id: entry.id, entry.type, data: entry.data, in: entry.lane, at: entry.timestamp, since: entry.since,
          number: entry.storedNumber, trace: entry.trace)
      }
    }
  }

  /// Entries that were given up, by their number; `bytes` is ignored.
  public func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure] {
    contents.withLock { contents in Array(contents.webhookFailures.filter { $0.number > after }.prefix(limit)) }
  }
}

extension StoreContents {
  mutating func append(_ entry: WebhookEntry) -> Undo {
    let users = Set(entry.shownUsers)
    lastWebhook += 1
    let number = lastWebhook
    webhooks.append(
      entry.encoded(showing: userInfos.filter { users.contains($0.key) }.compactMapValues(\.profile)).stored(as: number))
    return { contents in contents.webhooks.removeAll { $0.storedNumber == number } }
  }

  mutating func removeWebhooks(_ numbers: [Int64]) -> Undo {
    let before = webhooks
    webhooks.removeAll { numbers.contains($0.storedNumber) }
    return { $0.webhooks = before }
  }

  mutating func giveUp(_ entry: WebhookEntry, _ attempts: Int, _ error: String) -> Undo {
    let (before, failures) = (webhooks, webhookFailures)
    webhooks.removeAll { $0.id == entry.id }
    lastWebhookFailure += 1
    let kept = WebhookEntry(
      id: entry.id, entry.type, data: entry.data, in: entry.lane, at: entry.timestamp, since: entry.since, number: 0,
      trace: entry.trace)
    webhookFailures.append(WebhookFailure(number: lastWebhookFailure, entry: kept, attempts: attempts, lastError: error))
    return {
      $0.webhooks = before
      $0.webhookFailures = failures
    }
  }

  mutating func removeFailures(where isRemoved: (WebhookFailure) -> Bool) -> Undo {
    let before = webhookFailures
    webhookFailures.removeAll(where: isRemoved)
    return { $0.webhookFailures = before }
  }

  mutating func trimFailures(keeping count: Int) -> Undo {
    let last = lastWebhookFailure
    return removeFailures { $0.number <= last - Int64(count) }
  }
}
