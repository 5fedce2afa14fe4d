/// Connections that the server postponed, by the instant of their next attempt.
struct RetryQueue {
  /// The latest first.
  private var entries: [(due: UInt64, number: Int)] = []

  /// The number of waiting connections.
  var count: Int { entries.count }

  /// The instant of the next attempt (nanoseconds); nil: none waits.
  var next: UInt64? { entries.last?.due }

  mutating func insert(_ number: Int, due: UInt64) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].due > due { low = middle + 1 } else { high = middle }
    }
    entries.insert((due, number), at: low)
  }

  /// Removes a connection whose attempt is due.
  mutating func popDue(at now: UInt64) -> Int? {
    guard let last = entries.last, last.due <= now else { return nil }
    return entries.removeLast().number
  }

  /// The wait that a close demands, in milliseconds: "7008 retry after 1234 ms"; nil: another
  /// reason (Protocol.md, "Sign-in rate").
  static func delay(after ending: Ending) -> UInt64? {
    guard case .closed(4004, let reason) = ending, reason.hasPrefix("7008 retry after "), reason.hasSuffix(" ms") else {
      return nil
    }
    return UInt64(reason.dropFirst(17).dropLast(3))
  }
}
