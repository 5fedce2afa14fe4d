import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Laws of the gate that need arrivals of a certain kind, or a clock or a waking that is not as it should be.
@Suite struct GateLawsTests {
  private typealias Gate = PriorityRateLimiter<Int>

  private func delivered(_ exits: [Gate.Exit]) -> [Int] {
    exits.compactMap { if case .delivered(let number) = $0 { number } else { nil } }
  }

  private func dropped(_ exits: [Gate.Exit]) -> [Int] {
    exits.compactMap { if case .dropped(let number) = $0 { number } else { nil } }
  }

  /// Lets time pass, and the gate leave what it wants to.
  private func pass(_ gate: inout Gate, from start: Instant, until end: Instant, _ note: (Gate.Exit, Instant) -> Void) {
    var now = start
    while let wake = gate.nextExit, wake <= end {
      now = max(now, wake)
      for exit in gate.advance(to: now) { note(exit, now) }
    }
  }

  /// "High is dropped only when High alone exceeds the limit."
  @Test(arguments: 0..<60 as Range<UInt64>) func highIsSafeWhileHighAloneIsUnderTheLimit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 5, 40].randomElement(using: &random)!
    var gate = Gate(limit: limit)
    var (now, high, lost): (Instant, [Instant], [Int]) = (0, [], [])
    var isHigh: [Bool] = []
    for number in 0..<500 {
      let next = now + ([0, 0, 0, 0, 1, 5, 30, 200, 999] as [Instant]).randomElement(using: &random)!
      pass(&gate, from: now, until: next) { exit, _ in lost += dropped([exit]) }
      now = next
      let wantsHigh = Bool.random(using: &random) && high.count { now - $0 < 1000 } < limit
      if wantsHigh { high.append(now) }
      isHigh.append(wantsHigh)
      let priority = wantsHigh ? .high : [Priority.normal, .low, .lowest].randomElement(using: &random)!
      lost += dropped(gate.advance(to: now))
      let (admission, displaced) = gate.offer(number, priority, at: now)
      if admission == .dropped { lost.append(number) }
      if let displaced { lost.append(displaced) }
    }
    pass(&gate, from: now, until: .max) { exit, _ in lost += dropped([exit]) }
    #expect(high.count > 20 && lost.allSatisfy { !isHigh[$0] }, "seed \(seed), limit \(limit)")
  }

  /// "High alone exceeds the limit": then even High is dropped, the newest.
  @Test func ofTooManyHighTheNewestAreDropped() {
    var gate = Gate(limit: 3)
    let admissions = (0..<8).map { gate.offer($0, .high, at: 0).admission }
    #expect(admissions == Array(repeating: .delivered, count: 3) + Array(repeating: .queued, count: 3) + [.dropped, .dropped])
  }

  /// A gate that is woken too late, or only when something is offered, keeps the limit all the same.
  @Test(arguments: 0..<60 as Range<UInt64>) func wokenLateItKeepsTheLimit(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = [1, 2, 5, 40].randomElement(using: &random)!
    var gate = Gate(limit: limit)
    var (now, left): (Instant, [Int]) = (0, [])
    var (arrivals, deliveries): ([Instant], [Instant]) = ([], [])
    func note(_ exits: [Gate.Exit]) {
      left += delivered(exits) + dropped(exits)
      for number in delivered(exits) {
        deliveries.append(now)
        #expect(now - arrivals[number] <= 1100, "at most 1 s, and 100 ms where the waking is late")
      }
    }
    for number in 0..<400 {
      now += ([0, 0, 0, 1, 5, 100, 950, 1050, 1150] as [Instant]).randomElement(using: &random)!
      note(gate.advance(to: now))
      #expect(gate.nextExit ?? .max > now, "nothing is left that could leave")
      arrivals.append(now)
      let (admission, displaced) = gate.offer(number, Priority.allCases.randomElement(using: &random)!, at: now)
      if admission == .delivered { deliveries.append(now) }
      if admission != .queued { left.append(number) }
      if let displaced { left.append(displaced) }
    }
    now += 10_000
    note(gate.advance(to: now))
    #expect(left.sorted() == Array(0..<400) && gate.count == 0 && gate.nextExit == nil)
    for (newer, older) in zip(deliveries.dropFirst(limit), deliveries) { #expect(newer - older >= 1000) }
  }

  // MARK: By hand

  @Test func twoThatAreASecondApartAreNotInOneWindow() {
    for (gap, admission) in [(999, .queued), (1000, .delivered)] as [(Instant, Gate.Admission)] {
      var gate = Gate(limit: 1)
      _ = gate.offer(0, .normal, at: 0)
      _ = gate.advance(to: gap)
      #expect(gate.offer(1, .normal, at: gap).admission == admission)
    }
  }

  @Test func aWakingMayBeATenthOfASecondLateButNoMore() {
    for (now, expected) in [(1110, [1]), (1111, [])] as [(Instant, [Int])] {
      var gate = Gate(limit: 1)
      _ = gate.offer(0, .normal, at: 0)
      _ = gate.offer(1, .normal, at: 10)
      let exits = gate.advance(to: now)
      #expect(delivered(exits) == expected && dropped(exits) == [1].filter { !expected.contains($0) })
    }
  }

  /// The others have taken all places of its second: it is too old, however punctual the waking.
  @Test func whatHasWaitedASecondWithoutAPlaceIsDropped() {
    var gate = Gate(limit: 2)
    for (number, now) in [(0, 0), (1, 900)] as [(Int, Instant)] { _ = gate.offer(number, .normal, at: now) }
    #expect(gate.offer(2, .low, at: 910).admission == .queued)
    #expect(gate.offer(3, .high, at: 915).admission == .queued)
    #expect(delivered(gate.advance(to: 1000)) == [3])
    #expect(gate.offer(4, .high, at: 1100).admission == .queued)
    #expect(delivered(gate.advance(to: 1900)) == [4])
    #expect(gate.nextExit == 1911)
    #expect(gate.advance(to: 1910).isEmpty, "a whole second")
    #expect(dropped(gate.advance(to: 1911)) == [2] && gate.nextExit == nil)
  }

  @Test func emptiedItGivesAllThatWaitsAndTakesAnew() {
    var gate = Gate(limit: 3)
    for number in 0..<3 { _ = gate.offer(number, .normal, at: 0) }
    for (number, priority) in [(3, .lowest), (4, .high), (5, .lowest)] as [(Int, Priority)] {
      _ = gate.offer(number, priority, at: 0)
    }
    #expect(gate.empty() == [4, 3, 5] && gate.count == 0 && gate.nextExit == nil)
    #expect((6..<10).map { gate.offer($0, .low, at: 1).admission } == [.queued, .queued, .queued, .dropped])
  }

  // MARK: The clock

  @Test func aClockThatWasSetForwardLeavesNothingBehind() {
    var gate = Gate(limit: 2)
    for number in 0..<4 { _ = gate.offer(number, .normal, at: 0) }
    #expect(gate.advance(to: 3_600_000).count == 2 && gate.count == 0)
    #expect(gate.offer(4, .normal, at: 3_600_000).admission == .delivered)
  }
}
