/// Changes that wait for the store, in their order.
struct StoreInbox {
  /// Changes that belong together.
  private struct Change {
    let events: [StoreEvent]
    let bytes: Int
  }

  private var changes: [Change] = []
  private var first = 0
  private var bytes = 0
  /// How many changes have come.
  private(set) var count = 0

  /// How many of them were taken.
  var takenCount: Int { count - (changes.count - first) }

  var isEmpty: Bool { first == changes.count }

  /// Whether the connection is read no further before there is room.
  var isFull: Bool { changes.count - first >= ClientLimits.waitingChanges || bytes >= ClientLimits.waitingBytes }

  /// - Parameter bytes: of the frame that they came with.
  mutating func append(_ events: [StoreEvent], bytes: Int) {
    changes.append(Change(events: events, bytes: bytes))
    self.bytes += bytes
    count += 1
  }

  /// The next that are written at once.
  mutating func take() -> [StoreEvent] {
    var taken: [StoreEvent] = []
    while first < changes.count, taken.count < ClientLimits.changesAtOnce {
      taken += changes[first].events
      bytes -= changes[first].bytes
      first += 1
    }
    // Moving the rest down costs a step for each change that was taken.
    if first * 2 > changes.count {
      changes.removeFirst(first)
      first = 0
    }
    return taken
  }
}
