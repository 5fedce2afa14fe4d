import GroupModel
import Testing

@testable import GroupRuntime

/// A clock that is put right in small steps does not open the gate.
@Suite struct GateClockTests {
  @Test func eachStepBackOfTheClockDoesNotLetThroughWhatTheSecondHasNoRoomFor() {
    var gate = MessageGate<Int>(limit: 2)
    var (clock, delivered): (Instant, Int) = (1_700_000_000_000, 0)
    for number in 0..<20 {
      delivered += gate.advance(to: clock).count { if case .delivered = $0 { true } else { false } }
      if gate.offer(number, .normal, at: clock).admission == .delivered { delivered += 1 }
      clock -= 1
    }
    #expect(delivered == 2, "all of it within a few milliseconds")
  }

  /// What waited then may wait a second from then on, no longer.
  @Test func whatWaitsWhenTheClockIsSetBackGrowsOldFromThenOn() {
    var gate = MessageGate<Int>(limit: 1)
    for number in 0..<2 { _ = gate.offer(number, .normal, at: 3_600_000) }
    #expect(gate.advance(to: 500).isEmpty && gate.nextExit == 1500)
    guard case .dropped(1)? = gate.advance(to: 1601).first else { return #expect(Bool(false), "a tenth of a second too late") }
    #expect(gate.nextExit == nil)
  }
}
