import GroupModel

/// How many sign-ins a second the server admits (contract section 10.7): the generic cell rate algorithm, with room for those of one
/// second. A pure value over an injected clock.
///
/// Those who are refused are told to come back at instants that lie as far apart as the rate wants, so that a storm becomes a
/// queue without anybody being kept waiting here.
struct SignInRate: Sendable {
  private static let second: Int64 = 1_000_000_000
  /// Nobody is told to wait longer: the queue's end is unknown that far ahead, and chance spreads those behind it.
  static let longestWait: Int64 = 30 * second

  /// All in nanoseconds.
  private let interval: Int64
  /// When all that was admitted would have come at an even rate.
  private var admittedThrough: Int64 = 0
  /// When the next who is refused may come back.
  private var nextReturn: Int64 = 0
  private var latest: Int64 = 0

  /// Nobody has come yet. `perSecond` is at least 1.
  init(perSecond: Int) { interval = max(1, SignInRate.second / Int64(perSecond)) }

  /// Admits one; nil, or in how many milliseconds to come back.
  /// - Parameters:
  ///   - now: in nanoseconds of a clock that never goes back; threads may give their instants out of order.
  ///   - chance: from 0 to below 1.
  mutating func admit(at now: Int64, chance: Double) -> Instant? {
    latest = max(latest, now)
    let next = max(admittedThrough, latest) + interval
    guard next - latest > SignInRate.second else {
      admittedThrough = next
      return nil
    }
    let wait = max(nextReturn, next - SignInRate.second) - latest
    guard wait < SignInRate.longestWait else {
      return milliseconds(SignInRate.longestWait / 2 + Int64(chance * Double(SignInRate.longestWait / 2)))
    }
    nextReturn = latest + wait + interval
    // Somewhat later, so that clients with one idea of time do not meet; never earlier, or there is no room yet.
    return milliseconds(min(SignInRate.longestWait, wait + Int64(chance * Double(wait / 8))))
  }

  private func milliseconds(_ nanoseconds: Int64) -> Instant { max(1, (nanoseconds + 999_999) / 1_000_000) }
}
