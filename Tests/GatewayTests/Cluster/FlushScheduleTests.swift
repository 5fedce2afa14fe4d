import Testing

@testable import Gateway

/// How many flushes the entries of links need.
@Suite struct FlushScheduleTests {
  @Test func anEntryOfNoLoopLeavesAtOnceAndThoseBehindItWithIt() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule() == .now)
    #expect(schedule.schedule() == nil)
    #expect(schedule.schedule(isInTurn: true) == nil)
    schedule.begin(takesAll: false, at: 1)
    #expect(schedule.schedule() == .now)
  }

  @Test func theEntriesOfATurnLeaveTogetherAtItsEnd() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule(isInTurn: true) == .endOfTurn)
    for _ in 1..<FlushSchedule.maxTurnEntries { #expect(schedule.schedule(isInTurn: true) == nil) }
    let isDue = schedule.endTurn()
    #expect(isDue)
    let isDueAgain = schedule.endTurn()
    #expect(!isDueAgain)
    #expect(schedule.schedule() == nil, "the flush is on its way")
    schedule.begin(takesAll: false, at: 1)
    #expect(schedule.schedule(isInTurn: true) == .endOfTurn)
  }

  @Test func aLongTurnIsNotWaitedFor() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule(isInTurn: true) == .endOfTurn)
    for _ in 1..<FlushSchedule.maxTurnEntries { #expect(schedule.schedule(isInTurn: true) == nil) }
    #expect(schedule.schedule(isInTurn: true) == .now)
    #expect(schedule.schedule(isInTurn: true) == nil)
    let isDue = schedule.endTurn()
    #expect(!isDue, "the flush is on its way")
  }

  @Test func nobodyButALoopWaitsForATurn() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule(isInTurn: true) == .endOfTurn)
    #expect(schedule.schedule() == .now)
    let isDue = schedule.endTurn()
    #expect(!isDue)
  }

  /// The clock flushes whatever waits: a turn that ends behind that has nothing to begin.
  @Test func aTurnThatEndsBehindAFlushBeginsNone() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule(isInTurn: true) == .endOfTurn)
    schedule.begin(takesAll: false, at: 1)
    let isDue = schedule.endTurn()
    #expect(!isDue)
  }

  @Test func entriesThatMayWaitLeaveTogether() {
    var schedule = FlushSchedule()
    #expect(schedule.schedule(mayWait: true, isInTurn: true) == .full(FlushSchedule.pauseNanoseconds))
    #expect(schedule.schedule(mayWait: true) == nil)
    #expect(schedule.schedule() == .now, "others do not wait for them")
    schedule.begin(takesAll: true, at: 100)
    #expect(schedule.schedule(mayWait: true) == .full(100 + FlushSchedule.pauseNanoseconds))
  }
}
