import Testing

@testable import Gateway

@Suite struct TokenBucketTests {
  @Test func aFullBucketGivesTheBurstAndThenTheSteadyRate() {
    var bucket = TokenBucket(perSecond: 50, burst: 100, now: 0)
    for _ in 0..<100 { #expect(bucket.take(at: 0) == nil) }
    #expect(bucket.take(at: 0) == 20)
    #expect(bucket.take(at: 19) == 1)
    #expect(bucket.take(at: 20) == nil)
    #expect(bucket.take(at: 20) == 20)
  }

  @Test func aPauseFillsItToTheBurstAndNotBeyond() {
    var bucket = TokenBucket(perSecond: 10, burst: 3, now: 0)
    for _ in 0..<3 { _ = bucket.take(at: 0) }
    for _ in 0..<3 { #expect(bucket.take(at: 3_600_000) == nil) }
    #expect(bucket.take(at: 3_600_000) == 100)
  }

  @Test func aRefusalTakesNothing() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 0)
    _ = bucket.take(at: 0)
    for now in 1..<1000 { #expect(bucket.take(at: Int64(now)) == Int64(1000 - now)) }
    #expect(bucket.take(at: 1000) == nil)
  }

  @Test func anEarlierInstantGivesNothingAndTakesNothing() {
    var bucket = TokenBucket(perSecond: 1, burst: 1, now: 5000)
    #expect(bucket.take(at: 4000) == nil)
    #expect(bucket.take(at: 4000) == 1000)
  }
}

@Suite struct WindowCounterTests {
  /// A counter that `#expect` can ask to change.
  private final class Counter {
    private var counter: WindowCounter

    init(window: Int64, bound: Int) { counter = WindowCounter(window: window, bound: bound) }

    @discardableResult func note(at now: Int64) -> Bool { counter.note(at: now) }
    func isReached(at now: Int64) -> Bool { counter.isReached(at: now) }
    func isEmpty(at now: Int64) -> Bool { counter.isEmpty(at: now) }
  }

  @Test func theBoundIsReachedWithinTheWindowOnly() {
    let counter = Counter(window: 10_000, bound: 3)
    #expect(!counter.note(at: 0))
    #expect(!counter.note(at: 9999))
    #expect(!counter.note(at: 10_000), "the first is 10 s ago")
    #expect(counter.note(at: 10_000))
  }

  @Test func askingNotesNothing() {
    let counter = Counter(window: 10, bound: 1)
    #expect(!counter.isReached(at: 0))
    #expect(counter.isEmpty(at: 0))
    counter.note(at: 0)
    #expect(counter.isReached(at: 9))
    #expect(!counter.isReached(at: 10))
    #expect(counter.isEmpty(at: 10))
  }

  @Test func beyondTheBoundTheOldestIsForgotten() {
    let counter = Counter(window: 10, bound: 2)
    for now in [0, 0, 0, 8, 8] as [Int64] { counter.note(at: now) }
    #expect(counter.isReached(at: 17), "the two that count are those at 8")
    #expect(!counter.isReached(at: 18))
  }
}

@Suite struct RateGuardTests {
  private func guarding(perSecond: Int, burst: Int) -> RateGuard {
    var configuration = GatewayConfiguration()
    configuration.requestsPerSecond = perSecond
    configuration.requestBurst = burst
    return RateGuard(configuration, now: 0)
  }

  @Test func theThousandthRefusalInTenSecondsIsAFlood() {
    var rate = guarding(perSecond: 1, burst: 1)
    #expect(rate.judge(at: 0) == .pass)
    for _ in 0..<999 { #expect(rate.judge(at: 0) == .refuse(retryAfterMs: 1000)) }
    #expect(rate.judge(at: 0) == .flood(retryAfterMs: 1000))
    #expect(rate.judge(at: 0) == .flood(retryAfterMs: 1000))
  }

  @Test func refusalsOverMoreThanTenSecondsAreNone() {
    var rate = guarding(perSecond: 1, burst: 1)
    _ = rate.judge(at: 0)
    for _ in 0..<999 { _ = rate.judge(at: 0) }
    #expect(rate.judge(at: 10_000) == .pass)
    #expect(rate.judge(at: 10_000) == .refuse(retryAfterMs: 1000))
  }
}
