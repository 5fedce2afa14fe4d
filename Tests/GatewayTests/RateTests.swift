import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

@Suite struct TokenBucketTests {
  @Test func aFullBucketGivesTheBurstAndThenTheSteadyRate() {
    var bucket = TokenBucket(perSecond: 50, burst: 100, now: 0)
    for _ in 0..<100 { #expect(bucket.acquire(at: 0) == nil) }
    #expect(bucket.acquire(at: 0) == 20)
    #expect(bucket.acquire(at: 19) == 1)
    #expect(bucket.acquire(at: 20) == nil)
    #expect(bucket.acquire(at: 20) == 20)
  }

  @Test func aPauseFillsItToTheBurstAndNotBeyond() {
    var bucket = TokenBucket(perSecond: 10, burst: 3, now: 0)
    for _ in 0..<3 { _ = bucket.acquire(at: 0) }
    for _ in 0..<3 { #expect(bucket.acquire(at: 3_600_000) == nil) }
    #expect(bucket.acquire(at: 3_600_000) == 100)
  }

  @Test func aRefusalTakesNothing() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 0)
    _ = bucket.acquire(at: 0)
    for now in 1..<1000 { #expect(bucket.acquire(at: MonotonicInstant(milliseconds: now)) == Int64(1000 - now)) }
    #expect(bucket.acquire(at: 1000) == nil)
  }

  @Test func anEarlierInstantGivesNothingAndTakesNothing() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 5000)
    #expect(bucket.acquire(at: 4000) == nil)
    #expect(bucket.acquire(at: 4000) == 1000)
  }

  /// Loops that share a bucket read the clock before they have its lock.
  @Test func anInstantThatIsGivenOutOfOrderIsNotFilledForTwice() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 0)
    #expect(bucket.acquire(at: 0) == nil)
    for _ in 0..<10 {
      #expect(bucket.acquire(at: 900) == 100)
      #expect(bucket.acquire(at: 0) == 100)
    }
  }

  @Test func partsOfAMillisecondAddUp() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 0)
    #expect(bucket.acquire(at: 0) == nil)
    let waits = (1...1999).map { bucket.acquire(at: MonotonicInstant(nanoseconds: Int64($0) * 500_000)) }
    #expect(waits.allSatisfy { $0 != nil } && waits.last == 1)
    #expect(bucket.acquire(at: 1000) == nil)
  }

  @Test func lookingTakesNothing() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 0)
    for _ in 0..<3 { #expect(bucket.wait(at: 0) == nil) }
    #expect(bucket.isFull(at: 0) == true)
    #expect(bucket.acquire(at: 0) == nil)
    #expect(bucket.wait(at: 1) == 999)
    #expect(bucket.isFull(at: 999) == false)
    #expect(bucket.isFull(at: 1000) == true)
  }

  @Test func aBucketThatIsNeverFilledGivesTheBurst() {
    var bucket = TokenBucket(perSecond: 0, burst: 2, now: 0)
    for _ in 0..<2 { #expect(bucket.acquire(at: .distantFuture) == nil) }
    #expect(bucket.acquire(at: .distantFuture) ?? 0 > 0)
  }
}

@Suite struct SlidingWindowCounterTests {
  /// A counter that `#expect` can ask to change.
  private final class Counter {
    private var counter: SlidingWindowCounter

    init(window: Duration, bound: Int) { counter = SlidingWindowCounter(window: window, bound: bound) }

    @discardableResult func note(at now: MonotonicInstant) -> Bool { counter.note(at: now) }
    func isReached(at now: MonotonicInstant) -> Bool { counter.isReached(at: now) }
    func isEmpty(at now: MonotonicInstant) -> Bool { counter.isEmpty(at: now) }
  }

  @Test func theBoundIsReachedWithinTheWindowOnly() {
    let counter = Counter(window: .seconds(10), bound: 3)
    #expect(!counter.note(at: 0))
    #expect(!counter.note(at: 9999))
    #expect(!counter.note(at: 10_000), "the first is 10 s ago")
    #expect(counter.note(at: 10_000))
  }

  @Test func askingNotesNothing() {
    let counter = Counter(window: .milliseconds(10), bound: 1)
    #expect(!counter.isReached(at: 0))
    #expect(counter.isEmpty(at: 0))
    counter.note(at: 0)
    #expect(counter.isReached(at: 9))
    #expect(!counter.isReached(at: 10))
    #expect(counter.isEmpty(at: 10))
  }

  @Test func beyondTheBoundTheOldestIsForgotten() {
    let counter = Counter(window: .milliseconds(10), bound: 2)
    for now in [0, 0, 0, 8, 8] as [MonotonicInstant] { counter.note(at: now) }
    #expect(counter.isReached(at: 17), "the two that count are those at 8")
    #expect(!counter.isReached(at: 18))
  }
}

@Suite struct RequestLimiterTests {
  private func budgets(perSecond: Int, burst: Int) -> UserBudgets {
    var configuration = GatewayConfiguration()
    configuration.requestsPerSecond = perSecond
    configuration.requestBurst = burst
    return UserBudgets(configuration)
  }

  @Test func theThousandthRefusalInTenSecondsIsAFlood() {
    let budget = budgets(perSecond: 1, burst: 1).budget(of: "alice", at: 0)
    var rate = RequestLimiter()
    #expect(rate.check(budget, at: 0) == .pass)
    for _ in 0..<999 { #expect(rate.check(budget, at: 0) == .refuse(retryAfterMs: 1000)) }
    #expect(rate.check(budget, at: 0) == .flood(retryAfterMs: 1000))
    #expect(rate.check(budget, at: 0) == .flood(retryAfterMs: 1000))
  }

  @Test func refusalsOverMoreThanTenSecondsAreNone() {
    let budget = budgets(perSecond: 1, burst: 1).budget(of: "alice", at: 0)
    var rate = RequestLimiter()
    _ = rate.check(budget, at: 0)
    for _ in 0..<999 { _ = rate.check(budget, at: 0) }
    #expect(rate.check(budget, at: 10_000) == .pass)
    #expect(rate.check(budget, at: 10_000) == .refuse(retryAfterMs: 1000))
  }

  /// "1,000 refusals in 10 s close" the session that got them, not the user's others.
  @Test func theRateIsTheUsersAndTheFloodTheSessions() {
    let budget = budgets(perSecond: 1, burst: 1).budget(of: "alice", at: 0)
    var (loud, quiet) = (RequestLimiter(), RequestLimiter())
    for _ in 0..<1001 { _ = loud.check(budget, at: 0) }
    #expect(quiet.check(budget, at: 0) == .refuse(retryAfterMs: 1000))
  }
}

@Suite struct UserBudgetsTests {
  private let budgets: UserBudgets

  init() {
    var configuration = GatewayConfiguration()
    configuration.requestsPerSecond = 1
    configuration.requestBurst = 2
    budgets = UserBudgets(configuration)
  }

  private func sweep(at now: MonotonicInstant) { for _ in 0..<budgets.sweepTicks { budgets.sweep(at: now) } }

  @Test func sessionsOfAUserShareABudget() {
    let (first, second) = (budgets.budget(of: "alice", at: 0), budgets.budget(of: "alice", at: 0))
    #expect(first.acquireRequest(at: 0) == nil)
    #expect(second.acquireRequest(at: 0) == nil)
    #expect(first.acquireRequest(at: 0) == 1000)
    #expect(second.requestWait(at: 0) == 1000)
    #expect(budgets.budget(of: "bob", at: 0).acquireRequest(at: 0) == nil, "another user is not affected")
  }

  @Test func aBudgetOutlivesItsSessionsUntilNothingIsMissing() {
    for _ in 0..<2 { #expect(budgets.budget(of: "alice", at: 0).acquireRequest(at: 0) == nil) }
    sweep(at: 1999)
    #expect(budgets.count == 1)
    #expect(budgets.budget(of: "alice", at: 1999).acquireRequest(at: 1999) == nil, "one has come back, and no more")
    #expect(budgets.budget(of: "alice", at: 1999).acquireRequest(at: 1999) == 1)
    sweep(at: 4000)
    #expect(budgets.count == 0)
  }

  @Test func aBudgetIsKeptWhileASessionHoldsIt() {
    let held = budgets.budget(of: "alice", at: 0)
    for user in 0..<1000 { _ = budgets.budget(of: UserID(stringLiteral: "u\(user)"), at: 0) }
    #expect(budgets.count == 1001)
    sweep(at: 0)
    #expect(budgets.count == 1)
    #expect(held.acquireRequest(at: 0) == nil)
    #expect(budgets.budget(of: "alice", at: 0) === held)
  }
}
