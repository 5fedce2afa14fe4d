import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The rounds of read receipt events, by a random reader and a plain second statement of the rule.
@Suite struct ReceiptNoticesTests {
  private func instant(_ milliseconds: Int64) -> MonotonicInstant { MonotonicInstant(0).advanced(byMilliseconds: milliseconds) }

  private func expectRound(
    _ notices: inout ReceiptNotices, _ expected: [Int64], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let round = notices.beginRound()
    #expect(round == expected, sourceLocation: sourceLocation)
  }

  @Test func theFirstRoundIsAtOnceAndTheNextAQuarterSecondAfterItsEnd() {
    var notices = ReceiptNotices()
    #expect(notices.isIdle && notices.due(at: instant(0)) == nil)
    notices.add([3, 1, 2, 3])
    #expect(!notices.isIdle && notices.due(at: instant(10)) == instant(10))
    expectRound(&notices, [1, 2, 3])
    notices.add([2])
    #expect(notices.due(at: instant(11)) == nil && !notices.isIdle, "one round at a time")
    notices.endRound(at: instant(20))
    #expect(notices.due(at: instant(21)) == instant(270))
    #expect(notices.due(at: instant(300)) == instant(300))
    expectRound(&notices, [2])
    notices.endRound(at: instant(300))
    #expect(notices.isIdle)
  }

  @Test func aRoundThatFailsIsRepeated() {
    var notices = ReceiptNotices()
    notices.add([5, 5000])
    expectRound(&notices, [5, 5000])
    notices.repeatRound([5, 5000], at: instant(1000))
    #expect(notices.due(at: instant(0)) == instant(1000))
    expectRound(&notices, [5, 5000])
  }

  @Test func theEndOfTheGroupForgetsAll() {
    var notices = ReceiptNotices()
    notices.add([5])
    notices.removeAll()
    #expect(notices.isIdle)
    expectRound(&notices, [])
  }

  @Test func aRoundIsBoundedAndTheLongestWaitingComeFirst() {
    var notices = ReceiptNotices()
    notices.add((1...500).map { 2048 + $0 })
    notices.add([1])
    var rounds: [Int] = []
    var told: [Int64] = []
    while !notices.isIdle {
      let round = notices.beginRound()
      notices.endRound(at: instant(0))
      rounds.append(round.count)
      told += round
    }
    #expect(rounds == [200, 200, 101])
    #expect(told == (1...500).map { 2048 + $0 } + [1])
  }

  @Test func aRoundReadsFewBlocks() {
    var notices = ReceiptNotices()
    notices.add((0..<20).map { $0 * SeqBlock.size })
    var rounds: [[Int64]] = []
    while !notices.isIdle {
      rounds.append(notices.beginRound())
      notices.endRound(at: instant(0))
    }
    #expect(rounds.map(\.count) == [8, 8, 4])
    #expect(Array(rounds.joined()) == (0..<20).map { $0 * SeqBlock.size })
  }

  @Test(arguments: 1...20) func atMostFiveRoundsBeginInAnySecondAndEveryReceiptIsTold(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var notices = ReceiptNotices()
    var waiting: Set<Int64> = []
    var ends: [Int64] = []
    var reading: [Int64]?
    for now in 0..<Int64(6000) {
      if now < 4000, Int.random(in: 0..<4, using: &random) == 0 {
        let seqs = (0..<3).map { _ in Int64.random(in: 1...4000, using: &random) }
        notices.add(seqs)
        waiting.formUnion(seqs)
      }
      if let read = reading, Int.random(in: 0..<5, using: &random) == 0 {
        reading = nil
        if Int.random(in: 0..<6, using: &random) == 0 {
          notices.repeatRound(read, at: instant(now + 300))
          waiting.formUnion(read)
        } else {
          notices.endRound(at: instant(now))
          ends.append(now)
        }
      } else if reading == nil, let due = notices.due(at: instant(now)), due <= instant(now) {
        let round = notices.beginRound()
        #expect(!round.isEmpty && round.count <= ReceiptNotices.maxCount && Set(round).isSubset(of: waiting))
        waiting.subtract(round)
        reading = round
      }
    }
    #expect(waiting.isEmpty, "the last state always arrives")
    for (index, end) in ends.enumerated() where index >= 5 { #expect(end - ends[index - 5] > 1000) }
  }
}
