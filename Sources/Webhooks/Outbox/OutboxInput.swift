import GroupModel
import GroupRuntime

/// Something that happened to an outbox.
enum OutboxInput {
  /// Entries have come, in their order. A stored one is durable by now.
  case posted([WebhookEntry])
  /// The client's thread has time.
  case woken
  /// The lanes that this process posts have changed, or others have left entries in the store.
  case lanesChanged
  case attemptEnded(WebhookEntry, OutboxQueue.Outcome, error: String)
  case committed(isDurable: Bool)
  /// - Parameter isWhole: the store has no more than these, at the time of the read.
  case entriesRead([WebhookEntry], isWhole: Bool)
  case oldestRead([WebhookEntry])
  case counted(WebhookCounts)
  case readFailed(StoreRead, StoreError)
  case timerFired(MonotonicInstant)
  /// The process ends.
  case stop
}

/// Something that an outbox does.
enum OutboxAction: Equatable {
  /// An attempt; `attemptEnded` answers it, unless the process ends.
  case post(WebhookEntry)
  /// `committed` answers it.
  case commit([StoreChange])
  /// `entriesRead`, `oldestRead`, `counted` or `readFailed` answers it.
  case read(StoreRead)
  /// A timer beside those that were set before.
  case setTimer(MonotonicInstant)
  case tell(OutboxEvent)
}

/// A read of the store.
enum StoreRead: Equatable, Sendable {
  /// The next entries to post.
  /// - Parameter bytes: how many it may bring.
  case next(OutboxQueue.Read, bytes: Int)
  /// The oldest entries of all lanes.
  case oldest(limit: Int)
  /// The numbers of those that wait, and of dead letters.
  case counts
}

/// Something that the log or a metric tells.
enum OutboxEvent: Equatable {
  /// It was in memory only, which is full.
  case lost(WebhookEntry)
  case givenUp(DeadLetter)
  case receiverIsDown(error: String)
  case receiverIsBack
  /// The oldest dead letters were removed, because too many are kept.
  case deadLettersRemoved(Int)
  case readFailed(error: String)
}
