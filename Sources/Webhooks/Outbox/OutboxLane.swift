import DequeModule
import GroupModel
import GroupRuntime

/// The entries of a group or user: those in memory, and whether the store has more.
struct OutboxLane {
  /// The first may be in flight.
  var entries: Deque<WebhookEntry> = []
  var isInFlight = false
  /// How often the first entry was tried.
  var attempts = 0
  /// When the first entry is tried again; nil = it was not tried, or its time has come.
  var due: MonotonicInstant?
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
    /// Each behind the stored entries up to a number.
    fileprivate(set) var behind: Deque<(number: Int64, entry: WebhookEntry)> = []
    /// The largest number that was left.
    fileprivate var lastLeft: Int64 = 0
  }

  var isEmpty: Bool { entries.isEmpty && backlog == nil }

  /// Whether the first entry may be posted.
  var isReady: Bool { !entries.isEmpty && !isInFlight && due == nil }

  /// Whether the store has more, and half of the lane's part of memory is free.
  func isReadable(_ bounds: OutboxQueue.Bounds) -> Bool { backlog != nil && storedCount <= bounds.entriesPerLane / 2 }

  mutating func append(_ entry: WebhookEntry) {
    storedCount += 1
    entries.append(entry)
    lastNumber = entry.storedNumber
  }

  /// Adds an entry that is in memory only.
  mutating func appendVolatile(_ entry: WebhookEntry) {
    if let last = backlog?.lastLeft {
      backlog?.behind.append((last, entry))
    } else {
      entries.append(entry)
    }
  }

  /// The store alone has an entry.
  mutating func leave(_ number: Int64) {
    var backlog = backlog ?? Backlog()
    backlog.leftCount += 1
    backlog.lastLeft = max(backlog.lastLeft, number)
    self.backlog = backlog
  }

  /// The next entry of the store comes now, and before it those in memory only that precede it.
  mutating func pass(_ number: Int64) {
    while let first = backlog?.behind.first, first.number < number, let next = backlog?.behind.popFirst() {
      entries.append(next.entry)
    }
  }

  /// The store's entry was done before it was read.
  mutating func skip(_ number: Int64) { lastNumber = number }

  /// The store has no more.
  mutating func endBacklog() {
    pass(.max)
    backlog = nil
  }

  /// A stored entry has left `entries`.
  mutating func didRemoveStored() { storedCount -= 1 }

  /// Another entry is the first now.
  mutating func restart() {
    attempts = 0
    due = nil
  }
}
