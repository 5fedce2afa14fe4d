import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "10 in any 5 s" and its kin.
@Suite struct KeyedRateLimiterTests {
  @Test func eachKeyHasItsOwnCount() {
    var counts = KeyedRateLimiter<String>(limit: 1, windowMilliseconds: 1000)
    func wait(at now: MonotonicInstant, _ key: String = "a") -> Int64? { counts.acquire(key, at: now) }
    for key in ["a", "b", "c"] { #expect(wait(at: 0, key) == nil) }
    for key in ["a", "b", "c"] { #expect(wait(at: 1, key) == 999) }
  }

  @Test func aLookCountsNothingAndAnswersAsAPassWould() {
    var counts = KeyedRateLimiter<String>(limit: 2, windowMilliseconds: 1000)
    #expect(counts.wait("a", at: 0) == nil && counts.count == 0)
    for now in [0, 400] as [MonotonicInstant] { _ = counts.acquire("a", at: now) }
    #expect(counts.wait("a", at: 500) == 500 && counts.wait("b", at: 500) == nil)
    #expect(counts.wait("a", at: 999) == 1 && counts.wait("a", at: 1000) == nil)
    let passed = counts.acquire("a", at: 1000)
    #expect(passed == nil && counts.wait("a", at: 1000) == 400)
  }

  @Test func aKeyIsForgottenWhenItsLastPassIsAWindowOld() {
    var counts = KeyedRateLimiter<Int>(limit: 2, windowMilliseconds: 1000)
    for number in 0..<100 { _ = counts.acquire(number % 10, at: MonotonicInstant(milliseconds: number)) }
    #expect(counts.count == 10)
    _ = counts.acquire(0, at: 1000)
    #expect(counts.count == 10)
    _ = counts.acquire(0, at: 2100)
    #expect(counts.count == 1)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func noWindowHoldsMoreAndNobodyIsRefusedWithoutNeed(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int.random(in: 1...5, using: &random)
    let window = Int64.random(in: 1...50, using: &random)
    var counts = KeyedRateLimiter<Int>(limit: limit, windowMilliseconds: window)
    var passed: [Int: [MonotonicInstant]] = [:]
    var now: MonotonicInstant = 1_700_000_000_000
    for step in 0..<400 {
      now += Int64.random(in: 0...8, using: &random)
      let key = Int.random(in: 0..<3, using: &random)
      let within = passed[key, default: []].filter { $0 > now - window }
      let wait = counts.acquire(key, at: now)
      if within.count < limit {
        #expect(wait == nil, "seed \(seed), step \(step)")
        passed[key, default: []].append(now)
      } else {
        #expect(wait == window - now.milliseconds(since: within[0]), "seed \(seed), step \(step)")
      }
    }
  }
}
