import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Properties of the limiter under chosen arrivals, late calls of `advance` and a clock that is
/// set.
@Suite struct PriorityRateLimiterEdgeTests {
  private typealias Limiter = PriorityRateLimiter<Int>

  private func delivered(_ dequeued: [Limiter.Dequeued]) -> [Int] {
    dequeued.compactMap { if case .delivered(let number) = $0 { number } else { nil } }
  }

  private func dropped(_ dequeued: [Limiter.Dequeued]) -> [Int] {
    dequeued.compactMap { if case .dropped(let number) = $0 { number } else { nil } }
  }

  /// Lets time pass; the limiter advances whenever it has an item to remove.
  private func pass(
    _ limiter: inout Limiter, from start: MonotonicInstant, until end: MonotonicInstant,
    _ note: (Limiter.Dequeued, MonotonicInstant) -> Void
  ) {
    var now = start
    while let wake = limiter.nextChange, wake <= end {
      now = max(now, wake)
      for item in limiter.advance(to: now) { note(item, now) }
    }
  }

  /// "High is dropped only when High alone exceeds the limit."
  @Test(arguments: 0..<60 as Range<UInt64>) func highIsSafeWhileHighAloneIsUnderTheLimit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 5, 40].randomElement(using: &random)!
    var limiter = Limiter(limit: limit)
    var (now, high, lost): (MonotonicInstant, [MonotonicInstant], [Int]) = (0, [], [])
    var isHigh: [Bool] = []
    for number in 0..<500 {
      let next = now + ([0, 0, 0, 0, 1, 5, 30, 200, 999] as [Int64]).randomElement(using: &random)!
      pass(&limiter, from: now, until: next) { item, _ in lost += dropped([item]) }
      now = next
      let wantsHigh = Bool.random(using: &random) && high.count { now < $0 + 1000 } < limit
      if wantsHigh { high.append(now) }
      isHigh.append(wantsHigh)
      let priority = wantsHigh ? .high : [Priority.normal, .low, .lowest].randomElement(using: &random)!
      lost += dropped(limiter.advance(to: now))
      let (outcome, displaced) = limiter.offer(number, priority, at: now)
      if outcome == .dropped { lost.append(number) }
      if let displaced { lost.append(displaced) }
    }
    pass(&limiter, from: now, until: .distantFuture) { item, _ in lost += dropped([item]) }
    #expect(high.count > 20 && lost.allSatisfy { !isHigh[$0] }, "seed \(seed), limit \(limit)")
  }

  /// "High alone exceeds the limit": then even High is dropped, the newest.
  @Test func theNewestOfTooManyHighAreDropped() {
    var limiter = Limiter(limit: 3)
    let outcomes = (0..<8).map { limiter.offer($0, .high, at: 0).outcome }
    #expect(outcomes == Array(repeating: .delivered, count: 3) + Array(repeating: .queued, count: 3) + [.dropped, .dropped])
  }

  /// Late calls of `advance` do not exceed the limit.
  @Test(arguments: 0..<60 as Range<UInt64>) func lateCallsKeepTheLimit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 5, 40].randomElement(using: &random)!
    var limiter = Limiter(limit: limit)
    var (now, left): (MonotonicInstant, [Int]) = (0, [])
    var (arrivals, deliveries): ([MonotonicInstant], [MonotonicInstant]) = ([], [])
    func note(_ dequeued: [Limiter.Dequeued]) {
      left += delivered(dequeued) + dropped(dequeued)
      for number in delivered(dequeued) {
        deliveries.append(now)
        #expect(now <= arrivals[number] + 1100, "at most 1 s, and 100 ms where the call is late")
      }
    }
    for number in 0..<400 {
      now += ([0, 0, 0, 1, 5, 100, 950, 1050, 1150] as [Int64]).randomElement(using: &random)!
      note(limiter.advance(to: now))
      #expect(limiter.nextChange ?? .distantFuture > now, "nothing is left that could leave")
      arrivals.append(now)
      let (outcome, displaced) = limiter.offer(number, Priority.allCases.randomElement(using: &random)!, at: now)
      if outcome == .delivered { deliveries.append(now) }
      if outcome != .queued { left.append(number) }
      if let displaced { left.append(displaced) }
    }
    now += 10_000
    note(limiter.advance(to: now))
    #expect(left.sorted() == Array(0..<400) && limiter.count == 0 && limiter.nextChange == nil)
    for (newer, older) in zip(deliveries.dropFirst(limit), deliveries) { #expect(newer >= older + 1000) }
  }

  // MARK: Examples

  @Test func twoThatAreASecondApartAreNotInOneWindow() {
    for (gap, outcome) in [(999, .queued), (1000, .delivered)] as [(MonotonicInstant, Limiter.Outcome)] {
      var limiter = Limiter(limit: 1)
      _ = limiter.offer(0, .normal, at: 0)
      _ = limiter.advance(to: gap)
      #expect(limiter.offer(1, .normal, at: gap).outcome == outcome)
    }
  }

  @Test func aCallMayBeATenthOfASecondLate() {
    for (now, expected) in [(1110, [1]), (1111, [])] as [(MonotonicInstant, [Int])] {
      var limiter = Limiter(limit: 1)
      _ = limiter.offer(0, .normal, at: 0)
      _ = limiter.offer(1, .normal, at: 10)
      let dequeued = limiter.advance(to: now)
      #expect(delivered(dequeued) == expected && dropped(dequeued) == [1].filter { !expected.contains($0) })
    }
  }

  /// Others have occupied all slots of its second.
  @Test func anItemWithoutASlotForASecondIsDropped() {
    var limiter = Limiter(limit: 2)
    for (number, now) in [(0, 0), (1, 900)] as [(Int, MonotonicInstant)] { _ = limiter.offer(number, .normal, at: now) }
    #expect(limiter.offer(2, .low, at: 910).outcome == .queued)
    #expect(limiter.offer(3, .high, at: 915).outcome == .queued)
    #expect(delivered(limiter.advance(to: 1000)) == [3])
    #expect(limiter.offer(4, .high, at: 1100).outcome == .queued)
    #expect(delivered(limiter.advance(to: 1900)) == [4])
    #expect(limiter.nextChange == 1911)
    #expect(limiter.advance(to: 1910).isEmpty, "a whole second")
    #expect(dropped(limiter.advance(to: 1911)) == [2] && limiter.nextChange == nil)
  }

  @Test func removeAllReturnsTheQueueAndLeavesTheLimiterUsable() {
    var limiter = Limiter(limit: 3)
    for number in 0..<3 { _ = limiter.offer(number, .normal, at: 0) }
    for (number, priority) in [(3, .lowest), (4, .high), (5, .lowest)] as [(Int, Priority)] {
      _ = limiter.offer(number, priority, at: 0)
    }
    #expect(limiter.removeAll() == [4, 3, 5] && limiter.count == 0 && limiter.nextChange == nil)
    #expect((6..<10).map { limiter.offer($0, .low, at: 1).outcome } == [.queued, .queued, .queued, .dropped])
  }

  // MARK: The clock

  /// A message that is recalled while it waits leaves the others in their order, and its place to the
  /// next one.
  @Test func anItemCanBeTakenOutOfTheQueue() {
    var limiter = Limiter(limit: 3)
    for number in 0..<3 { _ = limiter.offer(number, .normal, at: 0) }
    for (number, priority) in [(3, .low), (4, .high), (5, .low)] as [(Int, Priority)] {
      #expect(limiter.offer(number, priority, at: 1).outcome == .queued)
    }
    #expect(limiter.first { $0 > 2 } == 4 && limiter.first { $0 == 9 } == nil && limiter.count == 3)
    let (missing, taken) = (limiter.remove { $0 == 9 }, limiter.remove { $0 == 3 })
    #expect(missing == nil && taken == 3 && limiter.count == 2)
    #expect(limiter.offer(6, .lowest, at: 2).outcome == .queued)
    let left = delivered(limiter.advance(to: 1000))
    #expect(left == [4, 5, 6] && limiter.count == 0 && limiter.nextChange == nil)
  }

  @Test func aClockThatWasSetForwardEmptiesTheQueue() {
    var limiter = Limiter(limit: 2)
    for number in 0..<4 { _ = limiter.offer(number, .normal, at: 0) }
    #expect(limiter.advance(to: 3_600_000).count == 2 && limiter.count == 0)
    #expect(limiter.offer(4, .normal, at: 3_600_000).outcome == .delivered)
  }
}
