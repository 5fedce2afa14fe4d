import GroupModel
import GroupRuntime

/// An entry that is not tried any more.
struct DeadLetter: Equatable {
  let entry: WebhookEntry
  let attempts: Int
  let error: String
}

/// The changes of entries that are done and wait for a commit. Delivered ones leave the store
/// together: its pages that become empty as a whole are not written. `kill -9` posts them again.
struct PendingChanges {
  /// The changes of one commit.
  struct Batch {
    fileprivate(set) var delivered: [Int64] = []
    fileprivate(set) var givenUp: [DeadLetter] = []
    /// How many of the oldest dead letters leave the store, because too many are kept.
    fileprivate(set) var surplus = 0

    /// 0 for each entry that was in memory only.
    var numbers: [Int64] { delivered + givenUp.map(\.entry.storedNumber) }

    var changes: [StoreChange] {
      let moves = givenUp.map { StoreChange.giveUpWebhook($0.entry, attempts: $0.attempts, lastError: $0.error) }
      return delivered.isEmpty ? moves : moves + [.removeWebhooks(delivered)]
    }
  }

  private static let deliveredPerCommit = 2000
  static let givenUpPerCommit = 100
  /// So many that were delivered, or the oldest after such a time in milliseconds, are due.
  private static let deliveredUntilDue = 1000
  private static let removalDelay: Int64 = 250

  private var waiting = Batch()
  /// When those that were delivered are due at the latest; nil = there are none.
  private(set) var removalDue: MonotonicInstant?

  var isEmpty: Bool { waiting.delivered.isEmpty && waiting.givenUp.isEmpty }

  mutating func addDelivered(_ number: Int64, at now: MonotonicInstant) {
    waiting.delivered.append(number)
    if removalDue == nil { removalDue = now.advanced(byMilliseconds: PendingChanges.removalDelay) }
  }

  mutating func addGivenUp(_ letters: [DeadLetter]) { waiting.givenUp += letters }

  func isDue(at now: MonotonicInstant) -> Bool {
    !waiting.givenUp.isEmpty || waiting.delivered.count >= PendingChanges.deliveredUntilDue
      || removalDue.map { $0 <= now } ?? false
  }

  mutating func popBatch(surplus: Int, at now: MonotonicInstant) -> Batch {
    let batch = Batch(
      delivered: Array(waiting.delivered.prefix(PendingChanges.deliveredPerCommit)),
      givenUp: Array(waiting.givenUp.prefix(PendingChanges.givenUpPerCommit)), surplus: surplus)
    waiting.delivered.removeFirst(batch.delivered.count)
    waiting.givenUp.removeFirst(batch.givenUp.count)
    removalDue = waiting.delivered.isEmpty ? nil : now
    return batch
  }

  /// Takes a batch back whose commit has failed.
  mutating func restore(_ batch: Batch, at now: MonotonicInstant) {
    waiting = Batch(delivered: batch.delivered + waiting.delivered, givenUp: batch.givenUp + waiting.givenUp)
    removalDue = waiting.delivered.isEmpty ? nil : now
  }

  mutating func popAll() -> [StoreChange] {
    defer { self = PendingChanges() }
    return waiting.changes
  }
}
