/// Connections that the server told to come back later, by when.
struct Returning {
  /// The latest first.
  private var entries: [(due: UInt64, number: Int)] = []

  /// How many wait.
  var count: Int { entries.count }

  /// When the next comes back (nanoseconds); nil = nobody waits.
  var next: UInt64? { entries.last?.due }

  mutating func insert(_ number: Int, due: UInt64) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].due > due { low = middle + 1 } else { high = middle }
    }
    entries.insert((due, number), at: low)
  }

  /// Takes one whose time has come.
  mutating func take(at now: UInt64) -> Int? {
    guard let last = entries.last, last.due <= now else { return nil }
    return entries.removeLast().number
  }

  /// How long a sign-in that was closed so is to wait, in milliseconds: "7008 retry after 1234 ms". Nil: it was closed for another
  /// reason.
  static func wait(_ ending: Ending) -> UInt64? {
    guard case .closed(4004, let reason) = ending, reason.hasPrefix("7008 retry after "), reason.hasSuffix(" ms") else {
      return nil
    }
    return UInt64(reason.dropFirst(17).dropLast(3))
  }
}
