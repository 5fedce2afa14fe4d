/// The instants of an open loop's messages: a fixed rate in absolute time.
///
/// A late message keeps its instant, and its latency counts from there (no coordinated omission).
/// The schedule catches up and skips none.
struct Schedule: Equatable {
  /// The longest offset from the start in nanoseconds: some 290 years.
  private static let longest = 9e18
  /// Messages per second.
  let rate: Double
  private let start: UInt64
  private var taken: UInt64 = 0

  /// A schedule whose first message is due at `start` (nanoseconds).
  init(rate: Double, start: UInt64) {
    self.rate = rate
    self.start = start
  }

  /// The next instant; never for a rate of 0 or too low for the clock. It is computed from the
  /// start, so that errors do not add up.
  var next: UInt64 {
    guard rate > 0 else { return .max }
    let offset = Double(taken) * 1e9 / rate
    return offset < Schedule.longest ? start + UInt64(offset) : .max
  }

  /// Advances to the next message if this one is due.
  /// - Returns: the instant of this one.
  mutating func popDue(at now: UInt64) -> UInt64? {
    let due = next
    guard due <= now else { return nil }
    taken += 1
    return due
  }
}
