import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "onGroupAttributeChanged may merge several writes into one event, at most 20 a second per group;
/// the last state always arrives".
@Suite struct AttributeStateTests {
  private func attributes(_ value: String) -> GroupAttributes { GroupAttributes([GroupAttributes.Entry(key: "k", value: value)]) }

  @Test func theFirstEventIsDueAtOnceAndTheNextAfterTheInterval() {
    var state = AttributeState(GroupAttributes())
    func isDue(at now: WallInstant) -> Bool { state.popDueEvent(at: now) }
    #expect(state.eventDue == nil)
    #expect(!isDue(at: 1000))
    state.set(attributes("a"), at: 1000)
    #expect(isDue(at: 1000))
    #expect(state.eventDue == nil)
    #expect(!isDue(at: 1000))
    state.set(attributes("b"), at: 1010)
    state.set(attributes("c"), at: 1040)
    #expect(state.eventDue == 1050)
    #expect(!isDue(at: 1049))
    #expect(isDue(at: 1050))
    #expect(state.values == attributes("c"))
    #expect(!isDue(at: 2000))
  }

  @Test func aLateEventBeginsTheNextInterval() {
    var state = AttributeState(GroupAttributes())
    state.set(attributes("a"), at: 0)
    _ = state.popDueEvent(at: 0)
    state.set(attributes("b"), at: 10)
    let isDue = state.popDueEvent(at: 80)
    #expect(isDue)
    state.set(attributes("c"), at: 90)
    #expect(state.eventDue == 130)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func noSecondHasMoreThanTwentyEventsAndTheLastStateIsPublished(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var state = AttributeState(GroupAttributes())
    var told: [(time: WallInstant, values: GroupAttributes)] = []
    var now: WallInstant = 1_700_000_000_000
    for step in 0..<500 {
      now += Int64.random(in: 0...20, using: &random)
      // Woken when due, or a little later, as alarms are.
      if let due = state.eventDue, due <= now, state.popDueEvent(at: now) { told.append((now, state.values)) }
      state.set(attributes("\(step)"), at: now)
      if state.popDueEvent(at: now) { told.append((now, state.values)) }
    }
    let due = try #require(state.eventDue ?? told.last?.time)
    if state.popDueEvent(at: due) { told.append((due, state.values)) }
    #expect(told.last?.values == attributes("499"), "seed \(seed)")
    for (index, event) in told.enumerated() {
      let second = told[index...].prefix { $0.time < event.time + 1000 }
      #expect(second.count <= 20, "seed \(seed), event \(index)")
    }
    #expect(told.count > 50, "seed \(seed)")
  }
}
