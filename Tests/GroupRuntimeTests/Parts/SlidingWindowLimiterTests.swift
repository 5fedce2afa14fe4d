import GroupModel
import Testing

@testable import GroupRuntime

/// "5 in any 1 s per group" and its kin.
@Suite struct SlidingWindowLimiterTests {
  @Test func theLimitHoldsForEveryWindowAndSaysWhenToTryAgain() {
    var window = SlidingWindowLimiter(limit: 3, length: 1000)
    func wait(at now: Instant) -> Instant? { window.pass(at: now) }
    for now in [0, 400, 900] as [Instant] { #expect(wait(at: now) == nil) }
    #expect(wait(at: 900) == 100)
    #expect(wait(at: 999) == 1)
    #expect(wait(at: 1000) == nil, "the first is a whole window old")
    #expect(wait(at: 1000) == 400)
    #expect(wait(at: 1400) == nil)
  }

  @Test func whatIsRefusedDoesNotCount() {
    var window = SlidingWindowLimiter(limit: 1, length: 1000)
    func wait(at now: Instant) -> Instant? { window.pass(at: now) }
    #expect(wait(at: 0) == nil)
    for now in 1...999 as ClosedRange<Instant> { #expect(wait(at: now) != nil) }
    #expect(wait(at: 1000) == nil)
  }

  @Test func itIsEmptyWhenTheLastPassIsAWindowOld() {
    var window = SlidingWindowLimiter(limit: 2, length: 1000)
    #expect(window.isEmpty(at: 0))
    for now in [0, 500] as [Instant] { _ = window.pass(at: now) }
    #expect(!window.isEmpty(at: 1499) && window.isEmpty(at: 1500))
  }
}
