import DequeModule
import GroupModel
import GroupRuntime

/// The entries of a group or user: those in memory, and whether the store has more.
struct OutboxLane {
  /// What becomes of the first entry.
  private enum Head {
    /// It may be posted. Next: inFlight.
    case ready
    /// Next: ready, waiting.
    case inFlight
    /// An attempt has failed. Next: ready.
    case waiting(until: MonotonicInstant)
  }

  private(set) var entries: Deque<WebhookEntry> = []
  private var head = Head.ready
  /// How many attempts of the first entry have failed.
  private(set) var attempts = 0
  /// The gain under which its stored entries were added (`LaneOwnership`); nil = it has been lost.
  private(set) var gain: Int64?
  /// The largest number that was in memory.
  private(set) var lastNumber: Int64 = 0
  /// The store has more.
  private(set) var backlog: Backlog?
  /// How many of the entries are stored ones.
  private(set) var storedCount = 0
  /// Whether it stands among the lanes that are ready.
  var isListed = false
  /// Whether it stands among the lanes that are to be read.
  var isListedToRead = false

  /// Entries that are in the store only, and those in memory that come behind them.
  struct Backlog {
    /// How often an entry was left in the store: a read misses those from after its start.
    fileprivate(set) var leftCount = 0
    /// Each behind the stored entries up to a number; nil = behind all that the store has by then.
    fileprivate(set) var behind: Deque<(number: Int64?, entry: WebhookEntry)> = []
    /// The largest number that this process has posted and left.
    fileprivate var lastPosted: Int64?
  }

  init(gain: Int64?) { self.gain = gain }

  var isEmpty: Bool { entries.isEmpty && backlog == nil }

  /// Whether the first entry may be posted.
  var isReady: Bool { if case .ready = head { !entries.isEmpty } else { false } }

  /// Whether the first entry is being posted.
  var isInFlight: Bool { if case .inFlight = head { true } else { false } }

  /// When the first entry may be tried again; nil = its time has come, or it is being posted.
  var due: MonotonicInstant? { if case .waiting(let due) = head { due } else { nil } }

  /// Whether the store has more, and half of the lane's part of memory is free.
  func isReadable(_ bounds: OutboxQueue.Bounds) -> Bool { backlog != nil && storedCount <= bounds.entriesPerLane / 2 }

  func holds(_ number: Int64) -> Bool { entries.contains { $0.storedNumber == number } }

  // MARK: Attempts

  mutating func beginAttempt() { head = .inFlight }

  mutating func endAttempt() { head = .ready }

  mutating func noteFailure() { attempts += 1 }

  mutating func wait(until due: MonotonicInstant) { head = .waiting(until: due) }

  mutating func endWait() { head = .ready }

  // MARK: Adding

  mutating func append(_ entry: WebhookEntry) {
    storedCount += 1
    entries.append(entry)
    lastNumber = entry.storedNumber
  }

  /// Adds an entry that another process has stored, before those with a larger number.
  mutating func insert(_ entry: WebhookEntry) {
    storedCount += 1
    let index = entries.indices.first { ($0 > 0 || !isInFlight) && entries[$0].storedNumber > entry.storedNumber }
    let place = index ?? entries.count
    entries.insert(entry, at: place)
    if place == 0 { restart() }
  }

  /// Adds an entry that is in memory only.
  mutating func appendVolatile(_ entry: WebhookEntry) {
    if let last = backlog?.lastPosted {
      backlog?.behind.append((last, entry))
    } else if backlog != nil {
      backlog?.behind.append((nil, entry))
    } else {
      entries.append(entry)
    }
  }

  // MARK: The store

  /// The store alone has an entry that this process has posted.
  mutating func leave(posted number: Int64) {
    leave()
    guard var backlog else { return }
    // Those that were posted before this entry stand before it.
    for index in backlog.behind.indices where backlog.behind[index].number == nil {
      backlog.behind[index].number = number - 1
    }
    backlog.lastPosted = number
    self.backlog = backlog
  }

  /// The store may have entries that are not in memory.
  mutating func leave() {
    var backlog = backlog ?? Backlog()
    backlog.leftCount += 1
    self.backlog = backlog
  }

  /// The next entry of the store comes now, and before it those in memory only that precede it.
  mutating func pass(_ number: Int64) {
    while let first = backlog?.behind.first, first.number ?? .max < number, let next = backlog?.behind.popFirst() {
      entries.append(next.entry)
    }
  }

  /// Lets the store's entries come once more behind a number, but for one that is being posted.
  /// - Returns: those that have left memory.
  mutating func readAgain(after number: Int64) -> [WebhookEntry] {
    var removed: [WebhookEntry] = []
    var behind: Deque<(number: Int64?, entry: WebhookEntry)> = []
    let (known, isHeadKept) = (entries, isInFlight)
    entries = []
    for entry in known {
      if entry.storedNumber > number, !isHeadKept || !entries.isEmpty {
        removed.append(entry)
      } else if let last = removed.last {
        behind.append((last.storedNumber, entry))
      } else {
        entries.append(entry)
      }
    }
    storedCount -= removed.count
    if !isHeadKept, known.first != entries.first { restart() }
    lastNumber = number
    leave()
    backlog?.behind.prepend(contentsOf: behind)
    return removed
  }

  /// The store's entry was done before it was read, or is being posted.
  mutating func skip(_ number: Int64) { lastNumber = number }

  /// The store has no more.
  mutating func endBacklog() {
    while let next = backlog?.behind.popFirst() { entries.append(next.entry) }
    backlog = nil
  }

  // MARK: Removing

  mutating func removeFirst() -> WebhookEntry? {
    guard let entry = entries.popFirst() else { return nil }
    if entry.storedNumber > 0 { storedCount -= 1 }
    restart()
    return entry
  }

  /// Removes entries; the one that is being posted stays.
  /// - Returns: each with the attempts that have failed.
  mutating func removeAll(where isRemoved: (WebhookEntry) -> Bool) -> [(entry: WebhookEntry, attempts: Int)] {
    let posted = isInFlight ? entries.popFirst() : nil
    let (first, attempts) = (entries.first, attempts)
    var removed = entries.filter(isRemoved).map { (entry: $0, attempts: 0) }
    entries.removeAll(where: isRemoved)
    storedCount -= removed.count { $0.entry.storedNumber > 0 }
    if let posted {
      entries.prepend(posted)
    } else if let first, isRemoved(first) {
      removed[0].attempts = attempts
      restart()
    }
    return removed
  }

  /// Forgets what the store has, because another process posts it, or it was gained anew. Entries that are
  /// in memory only stay, and so does one that is being posted.
  /// - Returns: the stored entries that have left memory.
  mutating func forgetStored(gain: Int64?) -> [WebhookEntry] {
    endBacklog()
    let removed = removeAll { $0.storedNumber > 0 }.map(\.entry)
    lastNumber = isInFlight ? entries.first?.storedNumber ?? 0 : 0
    self.gain = gain
    return removed
  }

  /// Another entry is the first now.
  private mutating func restart() {
    attempts = 0
    head = .ready
  }
}
