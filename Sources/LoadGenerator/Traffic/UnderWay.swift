/// The messages of the closed loop that are under way, by their stamps.
///
/// A server may skip a message for the connection that clocks the loop, and its place would be lost for good: the message is given up
/// once one that was sent `patience` later has come back, or nothing has come back for so long. Age alone would not do: in a long
/// queue every message is old.
struct UnderWay {
  /// How long a message is waited for that others have overtaken (nanoseconds).
  static let patience = 2 * Clock.second

  private struct Entry {
    let stamp: UInt64
    var isOver = false
  }

  /// How many there are.
  private(set) var count = 0
  /// How many were given up so far.
  private(set) var givenUp = 0
  /// In the order of their stamps; those before `first` are over.
  private var entries: [Entry] = []
  private var first = 0
  private var last: UInt64 = 0
  /// The newest stamp that has come back, and when something last did.
  private var newest: UInt64 = 0
  private var lastReturn: UInt64 = 0

  /// The stamp of a message that goes out now; stamps rise, however coarse the clock.
  func stamp(at instant: UInt64) -> UInt64 {
    max(Stamp.value(at: instant, lane: 0), last + UInt64(Stamp.lanes))
  }

  /// A message went out; its stamp is the newest.
  mutating func begin(_ stamp: UInt64) {
    entries.append(Entry(stamp: stamp))
    last = stamp
    count += 1
  }

  /// A message has come back; one that was given up, or comes again, changes nothing.
  mutating func comeBack(_ stamp: UInt64, at now: UInt64) {
    newest = max(newest, stamp)
    lastReturn = now
    finish(stamp)
  }

  /// A message is over: it has come back or never will.
  mutating func finish(_ stamp: UInt64) {
    var (low, high) = (first, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].stamp < stamp { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].stamp == stamp, !entries[low].isOver else { return }
    entries[low].isOver = true
    count -= 1
    trim()
  }

  /// Gives up the messages that are no longer waited for.
  mutating func giveUp(at now: UInt64) {
    let horizon = now >= lastReturn + UnderWay.patience ? now : newest
    while first < entries.count, entries[first].stamp + UnderWay.patience <= horizon {
      givenUp += 1
      finish(entries[first].stamp)
    }
  }

  /// When messages are given up if nothing more comes back (nanoseconds).
  var deadline: UInt64 {
    first < entries.count ? max(lastReturn, entries[first].stamp) + UnderWay.patience : .max
  }

  /// Passes over what is over at the beginning, so that the first of the rest is under way.
  private mutating func trim() {
    while first < entries.count, entries[first].isOver { first += 1 }
    if first > 1024, first > entries.count / 2 {
      entries.removeFirst(first)
      first = 0
    }
  }
}
