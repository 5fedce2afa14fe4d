import GroupModel
import GroupRuntime
import Synchronization

/// The rates of one user over all sessions of all loops (Protocol.md, "Rate limits"). Sessions hold
/// it, so that a request costs one uncontended lock and no look-up.
final class UserBudget: Sendable {
  /// The most reading requests in flight.
  static let maxReads = 8

  private struct Reads {
    var inFlight = 0
    /// Sessions with a deferred read.
    var waiting: [Session] = []
  }

  private struct Writes {
    var allowance: WriteAllowance
    var isHeavyInFlight = false
    /// Sessions with a deferred heavy write.
    var waiting: [Session] = []
  }

  private let requests: Mutex<TokenBucket>
  private let writes: Mutex<Writes>
  private let reads = Mutex(Reads())
  /// Nil where this node is alone.
  private let reported: ReportedCharges?
  /// What the user's requests may send to members of the groups that this node decides for; nil = no
  /// limit.
  let fanOut: FanOutBudget?
  /// Whom the user has added to groups of this node without asking them; nil = no limit.
  let strangers: StrangerQuota?

  fileprivate init(
    requestsPerSecond: Int, burst: Int, fanOut: FanOutBudget?, strangers: StrangerQuota?, now: MonotonicInstant,
    reported: ReportedCharges?
  ) {
    self.fanOut = fanOut
    self.strangers = strangers
    requests = Mutex(TokenBucket(perSecond: requestsPerSecond, burst: burst, now: now))
    writes = Mutex(Writes(allowance: WriteAllowance(requestsPerSecond: requestsPerSecond, now: now)))
    self.reported = reported
  }

  /// Counts one request.
  /// - Returns: nil = allowed; else after how many milliseconds to try again.
  func acquireRequest(at now: MonotonicInstant) -> Int64? {
    let wait = requests.withLock { $0.acquire(at: now) }
    if wait == nil, let reported { reported.charge(at: now) }
    return wait
  }

  /// Counts requests that another node has let pass.
  fileprivate func charge(_ requests: Int, at now: MonotonicInstant) {
    self.requests.withLock { $0.take(requests, at: now) }
  }

  /// The result of `acquireRequest`, without counting a request.
  func requestWait(at now: MonotonicInstant) -> Int64? { requests.withLock { $0.wait(at: now) } }

  /// Charges the bytes that a request writes.
  /// - Returns: after how many milliseconds the request may run.
  func chargeWrite(_ bytes: Int, at now: MonotonicInstant) -> Int64 { writes.withLock { $0.allowance.charge(bytes, at: now) } }

  /// Begins a write that names many users: one at a time, so that other users' writes come between.
  /// - Returns: false where one is in flight; `endHeavyWrite` returns the session to try again.
  func beginHeavyWrite(of session: Session) -> Bool {
    writes.withLock { writes in
      guard writes.isHeavyInFlight else {
        writes.isHeavyInFlight = true
        return true
      }
      if !writes.waiting.contains(where: { $0 === session }) { writes.waiting.append(session) }
      return false
    }
  }

  /// A write that names many users is complete.
  /// - Returns: sessions that may try again, in the order of their attempts.
  func endHeavyWrite() -> [Session] {
    writes.withLock { writes in
      writes.isHeavyInFlight = false
      defer { writes.waiting = [] }
      return writes.waiting
    }
  }

  /// Begins a read.
  /// - Returns: false at the limit; `endRead` returns the session to try again.
  func beginRead(of session: Session) -> Bool {
    reads.withLock { reads in
      if reads.inFlight < UserBudget.maxReads {
        reads.inFlight += 1
        return true
      }
      if !reads.waiting.contains(where: { $0 === session }) { reads.waiting.append(session) }
      return false
    }
  }

  /// A read is complete.
  /// - Returns: sessions that may try again; all of them, because one may have ended.
  func endRead() -> [Session] {
    reads.withLock { reads in
      reads.inFlight -= 1
      guard !reads.waiting.isEmpty else { return [] }
      defer { reads.waiting = [] }
      return reads.waiting
    }
  }

  /// Whether a new budget would be the same.
  fileprivate func isUnused(at now: MonotonicInstant) -> Bool {
    requests.withLock { $0.isFull(at: now) } && writes.withLock { $0.allowance.isFull(at: now) }
      && reported?.isEmpty(at: now) != false && fanOut?.isUnused(at: now) != false && strangers?.isUnused(at: now) != false
  }
}

/// The budgets of users who are or recently were signed in: a budget outlives its sessions until it
/// is full again.
package final class UserBudgets: Sendable {
  private final class Stripe: Sendable {
    let budgets = Mutex<[UserID: UserBudget]>([:])
  }

  private let stripes = (0..<64).map { _ in Stripe() }
  private let perSecond: Int
  private let burst: Int
  private let strangersPerDay: Int
  private let deliveriesPerSecond: Int
  private let deliveredBytesPerSecond: Int
  private let swept = Atomic(0)
  private let reporter: (any ChargeReporter)?

  /// - Parameter reporter: tells other nodes; nil = this one is alone.
  package init(_ configuration: GatewayConfiguration, reporter: (any ChargeReporter)? = nil) {
    self.reporter = reporter
    perSecond = configuration.requestsPerSecond
    burst = configuration.requestBurst
    strangersPerDay = configuration.strangersPerDay
    deliveriesPerSecond = configuration.deliveriesPerSecond
    deliveredBytesPerSecond = configuration.deliveredBytesPerSecond
  }

  /// The budget of a user. The token has been verified, or names could fill the memory.
  func budget(of user: UserID, at now: MonotonicInstant) -> UserBudget {
    stripes[Int(UInt(bitPattern: user.hashValue) % UInt(stripes.count))].budgets.withLock { budgets in
      if let budget = budgets[user] { return budget }
      let budget = UserBudget(
        requestsPerSecond: perSecond, burst: burst, fanOut: fanOut(at: now),
        strangers: strangersPerDay > 0 ? StrangerQuota(limit: strangersPerDay) : nil, now: now,
        reported: reported(of: user, at: now))
      budgets[user] = budget
      return budget
    }
  }

  private func fanOut(at now: MonotonicInstant) -> FanOutBudget? {
    guard deliveriesPerSecond > 0 || deliveredBytesPerSecond > 0 else { return nil }
    return FanOutBudget(
      FanOutAllowance(deliveriesPerSecond: deliveriesPerSecond, bytesPerSecond: deliveredBytesPerSecond, now: now))
  }

  private func reported(of user: UserID, at now: MonotonicInstant) -> ReportedCharges? {
    reporter.map { ReportedCharges(of: user, UnreportedCharges(perSecond: perSecond, burst: burst, now: now), to: $0) }
  }

  /// Counts requests of a user that another node has let pass.
  func charge(_ requests: Int, of user: UserID, at now: MonotonicInstant) { budget(of: user, at: now).charge(requests, at: now) }

  /// Removes full budgets that no session holds, in one stripe. Called with each tick.
  func sweep(at now: MonotonicInstant) {
    let tick = swept.wrappingAdd(1, ordering: .relaxed).oldValue
    stripes[tick % stripes.count].budgets.withLock { budgets in
      var forgotten: [UserID] = []
      // `indices` would retain every budget once more. References are handed out under this lock
      // alone, so a unique one stays unique.
      var index = budgets.startIndex
      while index != budgets.endIndex {
        if isKnownUniquelyReferenced(&budgets.values[index]), budgets.values[index].isUnused(at: now) {
          forgotten.append(budgets.keys[index])
        }
        budgets.formIndex(after: &index)
      }
      for user in forgotten { budgets[user] = nil }
    }
  }

  /// The number of ticks that a sweep of all users takes.
  var sweepTicks: Int { stripes.count }

  /// The number of users with a budget.
  var count: Int { stripes.reduce(0) { sum, stripe in sum + stripe.budgets.withLock { $0.count } } }
}
