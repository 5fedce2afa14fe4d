/// When the messages of an open loop are due: at a fixed rate in absolute time.
///
/// A message that goes out late keeps the instant it was due at, and its latency counts from there (no coordinated omission); the
/// schedule catches up and skips nothing.
struct Schedule: Equatable {
  /// What an instant can lie behind the start, in nanoseconds: some 290 years.
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

  /// When the next message is due; never, when the rate is 0 or so low that no clock gets there. Computed from the beginning, so
  /// errors do not add up.
  var next: UInt64 {
    guard rate > 0 else { return .max }
    let offset = Double(taken) * 1e9 / rate
    return offset < Schedule.longest ? start + UInt64(offset) : .max
  }

  /// Takes the next message if it is due; gives the instant it was due at.
  mutating func take(at now: UInt64) -> UInt64? {
    let due = next
    guard due <= now else { return nil }
    taken += 1
    return due
  }
}
