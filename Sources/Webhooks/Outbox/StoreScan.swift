/// The search in the store for entries of lanes that are not in memory.
struct StoreScan {
  /// Such entries may be behind this number; nil = there are none.
  private(set) var through: Int64?
  /// How often an entry was left to the search: a read misses those from after its start.
  private(set) var leftCount = 0
  /// The smallest number that was left to it since the present read began.
  private(set) var lowestLeft: Int64?
  /// It finds the entries of all lanes that were gained by then (`LaneOwnership`).
  private(set) var gain: Int64 = 0
  /// How often it has begun again: a read from before misses entries of lanes that were gained since.
  private(set) var round = 0

  init(isNeeded: Bool) { through = isNeeded ? 0 : nil }

  var isNeeded: Bool { through != nil }

  /// Whether no entry before this one is left to the search.
  func isPast(_ number: Int64) -> Bool { through.map { number <= $0 } ?? true }

  /// Begins at the beginning of the store.
  mutating func restart(for gain: Int64) {
    through = 0
    leftCount += 1
    round += 1
    self.gain = max(self.gain, gain)
  }

  /// The search goes back where it has passed the entry before.
  mutating func leave(_ number: Int64) {
    through = min(through ?? .max, number - 1)
    leftCount += 1
    lowestLeft = min(lowestLeft ?? .max, number)
  }

  /// - Returns: the number behind which a read begins; nil = there is nothing to read.
  mutating func beginRead() -> Int64? {
    lowestLeft = nil
    return through
  }

  mutating func pass(_ number: Int64) { through = number }

  /// - Parameter leftCount: when the read of all that is left began.
  mutating func end(ifStill leftCount: Int) { if self.leftCount == leftCount { through = nil } }
}

/// Numbers that are done, until the store has removed them and no read can bring them back.
struct FinishedNumbers {
  private var numbers: Set<Int64> = []
  private var removedDuringRead: [Int64] = []

  var count: Int { numbers.count }

  func contains(_ number: Int64) -> Bool { numbers.contains(number) }

  mutating func insert(_ number: Int64) { numbers.insert(number) }

  /// The store has removed them. A read that is under way may still have them.
  mutating func remove(_ removed: [Int64], isReading: Bool) {
    if isReading { removedDuringRead += removed } else { numbers.subtract(removed) }
  }

  mutating func readEnded() {
    numbers.subtract(removedDuringRead)
    removedDuringRead = []
  }
}
