import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The counters of a group as a value: what is written together, and what is told when.
@Suite struct CounterStateTests {
  private typealias Entry = GroupCounters.Entry

  /// Makes changes durable, as a store that keeps up with them.
  private func write(_ entries: [Entry], _ state: inout CounterState, at now: MonotonicInstant) {
    state.set(entries)
    if let written = state.beginWrite(isPosted: false, isLast: false, at: now) { state.didWrite(written) }
  }

  @Test func oneWriteHoldsAllChangesSinceTheOneBefore() {
    var state = CounterState(GroupCounters([Entry(key: "old", value: 1), Entry(key: "gone", value: 1)]))
    #expect(state.beginWrite(isPosted: false, isLast: false, at: 0) == nil, "nothing has changed")
    state.set([Entry(key: "a", value: 1)])
    #expect(state.beginWrite(isPosted: false, isLast: false, at: 0) == [Entry(key: "a", value: 1)])
    state.set([Entry(key: "b", value: 5), Entry(key: "gone", value: nil), Entry(key: "old", value: 1)])
    state.set([Entry(key: "a", value: 2), Entry(key: "b", value: 6)])
    #expect(state.beginWrite(isPosted: false, isLast: false, at: 0) == nil, "one at a time")
    #expect(state.hasUnwritten)
    state.didWrite([Entry(key: "a", value: 1)])
    let all = [Entry(key: "a", value: 2), Entry(key: "b", value: 6), Entry(key: "gone", value: nil)]
    #expect(state.beginWrite(isPosted: false, isLast: false, at: 0) == all, "each once, as it is now; what has its old value not")
    #expect(!state.hasUnwritten)
  }

  @Test func theLastWriteWaitsForNothing() {
    var state = CounterState(GroupCounters())
    state.set([Entry(key: "a", value: 1)])
    #expect(state.beginWrite(isPosted: true, isLast: false, at: 0) != nil)
    state.set([Entry(key: "a", value: 2)])
    #expect(state.beginWrite(isPosted: true, isLast: true, at: 0) == [Entry(key: "a", value: 2)])
  }

  @Test func writesWithAnAfterEventKeepTheirInterval() {
    var state = CounterState(GroupCounters())
    state.set([Entry(key: "a", value: 1)])
    let first = state.beginWrite(isPosted: true, isLast: false, at: 0)
    state.didWrite(first ?? [])
    _ = state.popDueEvent(at: 0)
    state.set([Entry(key: "a", value: 2)])
    #expect(state.nextWake == .distantFuture, "a change asks for its write itself")
    #expect(state.beginWrite(isPosted: true, isLast: false, at: 99) == nil)
    #expect(state.nextWake == 100)
    #expect(state.beginWrite(isPosted: true, isLast: false, at: 100) == [Entry(key: "a", value: 2)])
    #expect(state.nextWake == .distantFuture, "a write under way wakes nobody")
  }

  @Test func whatIsNotDurableIsNotTold() {
    var state = CounterState(GroupCounters())
    state.set([Entry(key: "a", value: 1)])
    let written = state.beginWrite(isPosted: false, isLast: false, at: 0)
    state.set([Entry(key: "a", value: 2)])
    #expect(state.popDueEvent(at: 0) == nil)
    state.didWrite(written ?? [])
    #expect(state.popDueEvent(at: 0) == [Entry(key: "a", value: 1)], "the value that is durable")
  }

  @Test func theFirstEventComesAtOnceAndLaterOnesAreMerged() {
    var state = CounterState(GroupCounters())
    write([Entry(key: "a", value: 1)], &state, at: 0)
    #expect(state.popDueEvent(at: 0) == [Entry(key: "a", value: 1)])
    write([Entry(key: "b", value: 1)], &state, at: 1)
    write([Entry(key: "b", value: nil)], &state, at: 2)
    write([Entry(key: "a", value: 3)], &state, at: 3)
    #expect(state.popDueEvent(at: 219) == nil && state.nextWake == 220)
    #expect(state.popDueEvent(at: 220) == [Entry(key: "a", value: 3), Entry(key: "b", value: nil)])
    #expect(state.popDueEvent(at: 1000) == nil && state.nextWake == .distantFuture)
  }

  /// Also where the second ends with an event: 6 instants 220 ms apart are more than a second.
  @Test func atMostFiveEventsInAnySecond() {
    var state = CounterState(GroupCounters())
    var times: [Int64] = []
    for time in 0..<5000 {
      write([Entry(key: "a", value: Int64(time))], &state, at: MonotonicInstant(milliseconds: Int64(time)))
      if state.popDueEvent(at: MonotonicInstant(milliseconds: Int64(time))) != nil { times.append(Int64(time)) }
    }
    for (index, time) in times.enumerated() { #expect(times[index...].prefix { $0 <= time + 1000 }.count <= 5) }
    #expect(times.count >= 20)
  }

  @Test func eventsGoOnAfterAStateWasDiscarded() {
    var state = CounterState(GroupCounters())
    write([Entry(key: "a", value: 1)], &state, at: 0)
    _ = state.popDueEvent(at: 0)
    write([Entry(key: "a", value: 2), Entry(key: "b", value: 1)], &state, at: 1)
    state.set([Entry(key: "a", value: 3)])
    var loaded = CounterState(GroupCounters([Entry(key: "a", value: 2)]))
    loaded.resume(state.interruptedEvents)
    #expect(loaded.nextWake == 220, "the interval goes on, too")
    #expect(loaded.popDueEvent(at: 220) == [Entry(key: "a", value: 2), Entry(key: "b", value: nil)], "as the store has it")
  }
}
