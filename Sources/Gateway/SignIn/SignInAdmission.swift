import GroupModel
import Synchronization

/// Who may sign in now: first the user's own rate is asked, then the server's, so that nobody whose bucket is empty takes a place that
/// others wait for.
final class SignInAdmission: Sendable {
  /// Nil = no limit.
  private let rate: Mutex<SignInRate?>

  init(_ configuration: GatewayConfiguration) {
    let perSecond = configuration.signInsPerSecond
    rate = Mutex(perSecond > 0 ? SignInRate(perSecond: perSecond) : nil)
  }

  /// Admits a user whose token has been verified; nil, or in how many milliseconds to come back.
  func admit(_ budget: UserBudget, at now: MonotonicClock.Reading) -> Instant? {
    if let wait = budget.wait(at: now.milliseconds) { return wait }
    let chance = Double.random(in: 0..<1)
    if let wait = rate.withLock({ $0?.admit(at: Int64(now.nanoseconds), chance: chance) ?? nil }) { return wait }
    return budget.takeRequest(at: now.milliseconds)
  }
}
