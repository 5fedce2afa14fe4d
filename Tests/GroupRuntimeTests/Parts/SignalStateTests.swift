import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Signals beyond 100 a second and group: the newest of each sender and name waits for its turn, at
/// most 1,000 of them and each for a second.
@Suite struct SignalStateTests {
  private func signal(_ sender: String, _ name: String = "typing", _ data: String? = nil) -> WaitingSignal {
    let user = UserID(stringLiteral: sender)
    let event = GroupEvent(
      groupID: "g", opTime: 1, .onGroupSignal(GroupSignal(name: name, data: data, sender: user, nameCard: "")))
    return WaitingSignal(sender: user, name: name, event: event, session: nil)
  }

  private func text(_ signal: WaitingSignal) -> String {
    guard case .onGroupSignal(let told) = signal.event.content else { return "no signal" }
    return "\(told.sender) \(told.name) \(told.data ?? "-")"
  }

  /// 100 signals have left at an instant.
  private func busy(since now: MonotonicInstant = 0) -> SignalState {
    var state = SignalState()
    for number in 0..<SignalState.perSecond { _ = state.offer(signal("s\(number)"), at: now) }
    return state
  }

  @Test func aHundredInASecondLeaveAtOnceAndTheNextWaits() {
    var state = SignalState()
    var outcomes: [SignalState.Outcome] = []
    for number in 0..<100 { outcomes.append(state.offer(signal("s\(number)"), at: MonotonicInstant(milliseconds: number))) }
    #expect(outcomes.allSatisfy { $0 == .delivered } && state.due == nil)
    let next = state.offer(signal("next"), at: 500)
    #expect(next == .waits && state.due == 1000, "then the first is a second old")
  }

  /// "Below nothing is merged."
  @Test func theSameSignalAgainLeavesAgainWhereThereIsRoom() {
    var state = SignalState()
    for _ in 0..<100 {
      let outcome = state.offer(signal("mary"), at: 0)
      #expect(outcome == .delivered)
    }
  }

  @Test func theNewestCountsInThePlaceOfTheFirst() {
    var state = busy()
    let outcomes = [
      state.offer(signal("a", "typing", "1"), at: 10), state.offer(signal("b"), at: 20),
      state.offer(signal("a", "typing", "2"), at: 30), state.offer(signal("a", "other"), at: 40),
    ]
    #expect(outcomes == [.waits, .waits, .merged, .waits], "another name is another signal")
    let early = state.popDue(at: 999)
    #expect(early.leaving.isEmpty && early.dropped == 0)
    let popped = state.popDue(at: 1000)
    #expect(popped.leaving.map(text) == ["a typing 2", "b typing -", "a other -"])
    #expect(popped.dropped == 0 && state.due == nil && state.waitingCount == 0)
    let again = state.popDue(at: 2000)
    #expect(again.leaving.isEmpty)
  }

  @Test func oneThatWaitsKeepsALaterOneFromOvertakingIt() {
    var state = busy()
    _ = state.offer(signal("first"), at: 10)
    // There is room by now, and the alarm is late.
    let outcome = state.offer(signal("second"), at: 1010)
    #expect(outcome == .waits)
    let popped = state.popDue(at: 1010)
    #expect(popped.leaving.map(text) == ["first typing -", "second typing -"])
  }

  @Test func aSignalThatHasWaitedLongerThanASecondIsLost() {
    var state = busy()
    for number in 0..<150 { _ = state.offer(signal("w\(number)"), at: 999) }
    let first = state.popDue(at: 1000)
    #expect(first.leaving.count == 100 && first.dropped == 0 && state.due == 2000)
    let second = state.popDue(at: 2000)
    #expect(second.leaving.isEmpty && second.dropped == 50 && state.due == nil)
  }

  @Test func aSignalThatHasWaitedASecondLeaves() {
    var state = busy()
    for number in 0..<101 { _ = state.offer(signal("w\(number)"), at: 999) }
    _ = state.popDue(at: 1000)
    let merged = state.offer(signal("w100", "typing", "new"), at: 1000)
    #expect(merged == .merged, "its time begins anew")
    let popped = state.popDue(at: 2000)
    #expect(popped.leaving.map(text) == ["w100 typing new"] && popped.dropped == 0)
  }

  @Test func aThousandWaitAndTheNextIsLost() {
    var state = busy()
    for number in 0..<1000 {
      let outcome = state.offer(signal("w\(number)"), at: 10)
      #expect(outcome == .waits)
    }
    let outcomes = [state.offer(signal("more"), at: 10), state.offer(signal("w999"), at: 10)]
    #expect(outcomes == [.dropped, .merged] && state.waitingCount == 1000)
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func noSecondHasMoreAndEachSignalIsAccountedFor(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var state = SignalState()
    var now: MonotonicInstant = 0
    var (left, offered, merged, dropped) = ([MonotonicInstant](), 0, 0, 0)
    var newest: [String: String] = [:]
    func leave(_ signals: [WaitingSignal]) {
      for signal in signals {
        left.append(now)
        let key = "\(signal.sender) \(signal.name)"
        #expect(text(signal) == newest[key], "seed \(seed): an older one has left")
      }
    }
    for number in 0..<1500 {
      now += Int64.random(in: 0...8, using: &random)
      if let due = state.due, due <= now || Bool.random(using: &random) {
        let popped = state.popDue(at: now)
        dropped += popped.dropped
        leave(popped.leaving)
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let given = signal("u\(Int.random(in: 0..<150, using: &random))", "n\(Bool.random(using: &random))", "\(number)")
        newest["\(given.sender) \(given.name)"] = text(given)
        offered += 1
        switch state.offer(given, at: now) {
        case .delivered: leave([given])
        case .waits: break
        case .merged: merged += 1
        case .dropped: dropped += 1
        }
      }
    }
    #expect(offered == left.count + merged + dropped + state.waitingCount, "seed \(seed)")
    for (index, time) in left.enumerated() {
      #expect(left[index...].prefix { $0 < time + 1000 }.count <= SignalState.perSecond, "seed \(seed)")
    }
    #expect(merged > 0 && left.count > 500, "seed \(seed)")
  }
}
