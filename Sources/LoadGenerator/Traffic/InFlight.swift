/// The messages of the closed loop that are in flight, by their stamps.
///
/// A server may skip a message for the pacer. It expires when one sent `timeout` later has come
/// back, or none has for `timeout`. Age alone is no reason: in a long queue every message is old.
struct InFlight {
  /// The wait for a message that later ones have overtaken (nanoseconds).
  static let timeout = 2 * Clock.second

  private struct Entry {
    let stamp: UInt64
    var isDone = false
  }

  /// The number of messages in flight.
  private(set) var count = 0
  /// The number of expired messages.
  private(set) var expired = 0
  /// In the order of their stamps; those before `first` are done.
  private var entries: [Entry] = []
  private var first = 0
  private var last: UInt64 = 0
  /// The newest stamp that came back, and the instant of the last return.
  private var newest: UInt64 = 0
  private var lastReturn: UInt64 = 0

  /// The stamp of a message sent now; stamps rise even if the clock does not.
  func nextStamp(at instant: UInt64) -> UInt64 {
    max(Stamp.value(at: instant, flow: 0), last + UInt64(Stamp.flows))
  }

  /// Adds a sent message; its stamp is the newest.
  mutating func insert(_ stamp: UInt64) {
    entries.append(Entry(stamp: stamp))
    last = stamp
    count += 1
  }

  /// Records that a message came back; an expired or repeated one changes nothing.
  mutating func recordReturn(_ stamp: UInt64, at now: UInt64) {
    newest = max(newest, stamp)
    lastReturn = now
    remove(stamp)
  }

  /// Removes a message: it came back or never will.
  mutating func remove(_ stamp: UInt64) {
    var (low, high) = (first, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].stamp < stamp { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].stamp == stamp, !entries[low].isDone else { return }
    entries[low].isDone = true
    count -= 1
    trim()
  }

  /// Removes the messages that have waited too long.
  mutating func expire(at now: UInt64) {
    let horizon = now >= lastReturn + InFlight.timeout ? now : newest
    while first < entries.count, entries[first].stamp + InFlight.timeout <= horizon {
      expired += 1
      remove(entries[first].stamp)
    }
  }

  /// The instant at which messages expire if none comes back (nanoseconds).
  var deadline: UInt64 {
    first < entries.count ? max(lastReturn, entries[first].stamp) + InFlight.timeout : .max
  }

  /// Advances `first` to a message in flight.
  private mutating func trim() {
    while first < entries.count, entries[first].isDone { first += 1 }
    if first > 1024, first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
  }
}
