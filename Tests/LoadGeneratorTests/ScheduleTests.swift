import Testing

@testable import LoadGenerator

@Suite struct ScheduleTests {
  @Test func messagesAreDueAtTheRate() {
    var schedule = Schedule(rate: 4, start: 1000)
    #expect(schedule.popDue(at: 999) == nil)
    #expect(schedule.popDue(at: 1000) == 1000)
    #expect(schedule.next == 250_001_000)
    #expect(schedule.popDue(at: 250_000_999) == nil)
    #expect(schedule.popDue(at: 250_001_000) == 250_001_000)
  }

  @Test func aLateScheduleCatchesUpAndKeepsTheInstantsThatWereMeant() {
    var schedule = Schedule(rate: 1000, start: 0)
    var due: [UInt64] = []
    while let instant = schedule.popDue(at: 10_000_000) { due.append(instant) }
    #expect(due == (0...10).map { $0 * 1_000_000 })
  }

  @Test(arguments: [0.1, 3, 7, 149.9, 150, 33_333.3]) func errorsDoNotAddUp(rate: Double) {
    var schedule = Schedule(rate: rate, start: 0)
    let seconds = 100.0
    var count = 0
    while schedule.popDue(at: UInt64(seconds * 1e9) - 1) != nil { count += 1 }
    #expect(abs(Double(count) - seconds * rate) <= 1)
  }

  @Test(arguments: [1e-11, 1e-300, Double.leastNonzeroMagnitude]) func aRateTooLowForAnyClockIsDueOnce(rate: Double) {
    var schedule = Schedule(rate: rate, start: 1000)
    #expect(schedule.popDue(at: 1000) == 1000)
    #expect(schedule.next == .max)
    #expect(schedule.popDue(at: 1 << 62) == nil)
  }

  @Test func everyRateThatTheCommandLineTakesFitsTheClock() {
    for rate in [RunOptions.rates.lowerBound, RunOptions.rates.upperBound] {
      var schedule = Schedule(rate: rate, start: 1000)
      #expect(schedule.popDue(at: 1000) == 1000)
      #expect(schedule.next == 1000 + UInt64(1e9 / rate))
    }
  }

  @Test func withoutARateNothingIsDue() {
    var schedule = Schedule(rate: 0, start: 0)
    #expect(schedule.next == .max)
    #expect(schedule.popDue(at: 1 << 62) == nil)
  }
}
