import GroupModel
import Synchronization

/// The rate of sign-ins. The user's own rate comes before the server's, so that a user without
/// tokens uses up nothing of the server's rate.
package final class SignInLimiter: Sendable {
  /// Nil = no limit.
  private let rate: Mutex<SignInRate?>

  /// The rate of a configuration.
  package init(_ configuration: GatewayConfiguration) {
    let perSecond = configuration.signInsPerSecond
    rate = Mutex(perSecond > 0 ? SignInRate(perSecond: perSecond) : nil)
  }

  /// Counts a sign-in of a user whose token has been verified.
  /// - Returns: nil = allowed; else after how many milliseconds to try again.
  func acquire(_ budget: UserBudget, at now: MonotonicInstant) -> Int64? {
    if let wait = budget.requestWait(at: now) { return wait }
    if let wait = rate.withLock({ $0?.acquire(at: now, chance: .random(in: 0..<1)) ?? nil }) { return wait }
    return budget.acquireRequest(at: now)
  }
}

/// The server's rate of sign-ins (Protocol.md, "Sign-in rate"): the generic cell rate algorithm
/// with a burst of one second. A pure value over an injected clock.
///
/// Refused clients get retry times as far apart as the rate demands, so that a storm becomes a
/// queue without any connection kept waiting.
struct SignInRate: Sendable {
  private static let second: Int64 = 1_000_000_000
  /// The longest wait: the queue's end is unknown that far ahead, and chance spreads later clients.
  static let longestWait: Int64 = 30 * second

  /// All in nanoseconds.
  private let interval: Int64
  /// The instant at which all allowed sign-ins would have come at an even rate.
  private var allowedThrough: Int64 = 0
  /// The earliest retry of the next refused client.
  private var nextRetry: Int64 = 0
  private var latest: Int64 = 0

  /// - Parameter perSecond: at least 1.
  init(perSecond: Int) { interval = max(1, SignInRate.second / Int64(perSecond)) }

  /// Counts a sign-in.
  /// - Parameters:
  ///   - now: threads may give their instants out of order.
  ///   - chance: from 0 to below 1; the system is asked for it only where the sign-in has to wait.
  /// - Returns: nil = allowed; else after how many milliseconds to try again.
  mutating func acquire(at now: MonotonicInstant, chance: @autoclosure () -> Double) -> Int64? {
    latest = max(latest, now.nanoseconds)
    let next = max(allowedThrough, latest) + interval
    guard next - latest > SignInRate.second else {
      allowedThrough = next
      return nil
    }
    let wait = max(nextRetry, next - SignInRate.second) - latest
    guard wait < SignInRate.longestWait else {
      return milliseconds(SignInRate.longestWait / 2 + Int64(chance() * Double(SignInRate.longestWait / 2)))
    }
    nextRetry = latest + wait + interval
    // Random and only later, so that clients spread and none comes before the rate allows it.
    return milliseconds(min(SignInRate.longestWait, wait + Int64(chance() * Double(wait / 8))))
  }

  private func milliseconds(_ nanoseconds: Int64) -> Int64 { max(1, (nanoseconds + 999_999) / 1_000_000) }
}
