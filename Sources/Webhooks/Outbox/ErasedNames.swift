import GroupModel
import GroupRuntime
import WireProtocol

/// The users who were deleted while entries that show them may be in memory: none of these brings a name
/// back into the store.
struct ErasedNames: Sendable {
  /// A user, and whether texts go.
  struct Name: Sendable, Equatable {
    let user: UserID
    let messages: UserDeletion.MessageFate
  }

  /// Beyond, the earliest are forgotten.
  static let maxCount = 10_000

  private let lifetime: Duration
  /// In the order of the deletions.
  private var entries: [(name: Name, time: MonotonicInstant)] = []

  /// - Parameter lifetime: no entry is longer in memory.
  init(lifetime: Duration) { self.lifetime = lifetime }

  /// How many are remembered.
  var count: Int { entries.count }

  /// Adds a user; the last deletion of one counts.
  mutating func add(_ user: UserID, _ messages: UserDeletion.MessageFate, at now: MonotonicInstant) {
    entries.removeAll { $0.name.user == user }
    if entries.count == ErasedNames.maxCount { entries.removeFirst() }
    entries.append((Name(user: user, messages: messages), now))
  }

  /// Those whose entries may be in memory.
  mutating func current(at now: MonotonicInstant) -> [Name] {
    entries.removeAll { now - $0.time > lifetime }
    return entries.map(\.name)
  }
}

extension StoreChange {
  /// The same, where it stores the text of an after-event, without what is the users'.
  func erasing(_ names: [ErasedNames.Name]) -> StoreChange {
    switch self {
    case .giveUpWebhook(let entry, attempts: let attempts, lastError: let error):
      .giveUpWebhook(entry.erasing(names), attempts: attempts, lastError: error)
    case .appendWebhook(let entry) where entry.messageSeq == nil: .appendWebhook(entry.erasing(names))
    default: self
    }
  }
}

extension WebhookEntry {
  fileprivate func erasing(_ names: [ErasedNames.Name]) -> WebhookEntry {
    let known = data
    var data = known
    for name in names { data = PersonalTexts.erase(name.user, in: data, messages: name.messages) ?? data }
    guard data != known else { return self }
    return WebhookEntry(id: id, type, data: data, in: lane, at: timestamp, since: since, number: storedNumber, trace: trace)
  }
}
