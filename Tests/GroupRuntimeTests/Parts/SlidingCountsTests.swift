import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "10 in any 5 s" and its kin (contract section 6, Other limits).
@Suite struct SlidingCountsTests {
  @Test func theLimitHoldsForEveryWindowAndSaysWhenToTryAgain() {
    var counts = SlidingCounts<String>(limit: 3, window: 1000)
    func wait(at now: Instant, _ key: String = "a") -> Instant? { counts.pass(key, at: now) }
    for now in [0, 400, 900] as [Instant] { #expect(wait(at: now) == nil) }
    #expect(wait(at: 900) == 100)
    #expect(wait(at: 999) == 1)
    #expect(wait(at: 1000) == nil, "the first is a whole window old")
    #expect(wait(at: 1000) == 400)
    #expect(wait(at: 1400) == nil)
  }

  @Test func whatIsRefusedDoesNotCount() {
    var counts = SlidingCounts<String>(limit: 1, window: 1000)
    func wait(at now: Instant, _ key: String = "a") -> Instant? { counts.pass(key, at: now) }
    #expect(wait(at: 0) == nil)
    for now in 1...999 as ClosedRange<Instant> { #expect(wait(at: now) != nil) }
    #expect(wait(at: 1000) == nil)
  }

  @Test func eachKeyHasItsOwnCount() {
    var counts = SlidingCounts<String>(limit: 1, window: 1000)
    func wait(at now: Instant, _ key: String = "a") -> Instant? { counts.pass(key, at: now) }
    for key in ["a", "b", "c"] { #expect(wait(at: 0, key) == nil) }
    for key in ["a", "b", "c"] { #expect(wait(at: 1, key) == 999) }
  }

  @Test func aClockThatWasSetBackKeepsNobodyWaitingLongerThanAWindow() {
    var counts = SlidingCounts<String>(limit: 2, window: 1000)
    func wait(at now: Instant, _ key: String = "a") -> Instant? { counts.pass(key, at: now) }
    for now in [3_600_000, 3_600_500] as [Instant] { #expect(wait(at: now) == nil) }
    #expect(wait(at: 100) == 1000, "what passed before counts as if it passed now")
    for now in [1100, 1200] as [Instant] { #expect(wait(at: now) == nil) }
    #expect(wait(at: 1300) == 800, "the limit holds for the new time")
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func noWindowHoldsMoreAndNobodyIsRefusedWithoutNeed(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int.random(in: 1...5, using: &random)
    let window = Int64.random(in: 1...50, using: &random)
    var counts = SlidingCounts<Int>(limit: limit, window: window)
    var passed: [Int: [Instant]] = [:]
    var now: Instant = 1_700_000_000_000
    for step in 0..<400 {
      now += Int64.random(in: 0...8, using: &random)
      let key = Int.random(in: 0..<3, using: &random)
      let within = passed[key, default: []].filter { $0 > now - window }
      let wait = counts.pass(key, at: now)
      if within.count < limit {
        #expect(wait == nil, "seed \(seed), step \(step)")
        passed[key, default: []].append(now)
      } else {
        #expect(wait == within[0] + window - now, "seed \(seed), step \(step)")
      }
    }
  }
}
