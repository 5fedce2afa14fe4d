import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// "onGroupAttributeChanged may merge several writes into one event, at most 20 a second per group; the last state always arrives".
@Suite struct AttributeStateTests {
  private func attributes(_ value: String) -> GroupAttributes { GroupAttributes([GroupAttributes.Entry(key: "k", value: value)]) }

  @Test func theFirstWriteIsToldAtOnceAndTheNextAfterTheInterval() {
    var board = AttributeState(GroupAttributes())
    func tells(at now: Instant) -> Bool { board.takeEvent(at: now) }
    #expect(board.eventDue == nil)
    #expect(!tells(at: 1000))
    board.set(attributes("a"), at: 1000)
    #expect(tells(at: 1000))
    #expect(board.eventDue == nil)
    #expect(!tells(at: 1000))
    board.set(attributes("b"), at: 1010)
    board.set(attributes("c"), at: 1040)
    #expect(board.eventDue == 1050)
    #expect(!tells(at: 1049))
    #expect(tells(at: 1050))
    #expect(board.values == attributes("c"))
    #expect(!tells(at: 2000))
  }

  @Test func aLateWakeIsTheBeginningOfTheNextInterval() {
    var board = AttributeState(GroupAttributes())
    board.set(attributes("a"), at: 0)
    _ = board.takeEvent(at: 0)
    board.set(attributes("b"), at: 10)
    let tells = board.takeEvent(at: 80)
    #expect(tells)
    board.set(attributes("c"), at: 90)
    #expect(board.eventDue == 130)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func noSecondHasMoreThanTwentyAndTheLastStateIsTold(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var board = AttributeState(GroupAttributes())
    var told: [(time: Instant, values: GroupAttributes)] = []
    var now: Instant = 1_700_000_000_000
    for step in 0..<500 {
      now += Int64.random(in: 0...20, using: &random)
      // Woken when due, or a little later, as alarms are.
      if let due = board.eventDue, due <= now, board.takeEvent(at: now) { told.append((now, board.values)) }
      board.set(attributes("\(step)"), at: now)
      if board.takeEvent(at: now) { told.append((now, board.values)) }
    }
    let due = try #require(board.eventDue ?? told.last?.time)
    if board.takeEvent(at: due) { told.append((due, board.values)) }
    #expect(told.last?.values == attributes("499"), "seed \(seed)")
    for (index, event) in told.enumerated() {
      let second = told[index...].prefix { $0.time < event.time + 1000 }
      #expect(second.count <= 20, "seed \(seed), event \(index)")
    }
    #expect(told.count > 50, "seed \(seed)")
  }
}
