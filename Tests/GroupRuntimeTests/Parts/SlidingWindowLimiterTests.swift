import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "5 in any 1 s per group" and its kin.
@Suite struct SlidingWindowLimiterTests {
  @Test func theLimitHoldsForEveryWindowAndSaysWhenToTryAgain() {
    var window = SlidingWindowLimiter(limit: 3, windowMilliseconds: 1000)
    func wait(at now: MonotonicInstant) -> Int64? { window.acquire(at: now) }
    for now in [0, 400, 900] as [MonotonicInstant] { #expect(wait(at: now) == nil) }
    #expect(wait(at: 900) == 100)
    #expect(wait(at: 999) == 1)
    #expect(wait(at: 1000) == nil, "the first is a whole window old")
    #expect(wait(at: 1000) == 400)
    #expect(wait(at: 1400) == nil)
  }

  @Test func whatIsRefusedDoesNotCount() {
    var window = SlidingWindowLimiter(limit: 1, windowMilliseconds: 1000)
    func wait(at now: MonotonicInstant) -> Int64? { window.acquire(at: now) }
    #expect(wait(at: 0) == nil)
    for now in (1...999).map(MonotonicInstant.init) { #expect(wait(at: now) != nil) }
    #expect(wait(at: 1000) == nil)
  }

  @Test func itIsEmptyWhenTheLastPassIsAWindowOld() {
    var window = SlidingWindowLimiter(limit: 2, windowMilliseconds: 1000)
    #expect(window.isEmpty(at: 0))
    for now in [0, 500] as [MonotonicInstant] { _ = window.acquire(at: now) }
    #expect(!window.isEmpty(at: 1499) && window.isEmpty(at: 1500))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func waitTellsWhatAcquireWouldAnswerAndCountsNothing(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var window = SlidingWindowLimiter(limit: Int.random(in: 1...4, using: &random), windowMilliseconds: 50)
    var now: MonotonicInstant = 0
    for step in 0..<400 {
      now += Int64.random(in: 0...20, using: &random)
      let told = window.wait(at: now)
      let answer = window.acquire(at: now)
      #expect(told == answer, "seed \(seed), step \(step)")
    }
  }
}
