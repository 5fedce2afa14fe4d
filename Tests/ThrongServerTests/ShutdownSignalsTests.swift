import Testing

@testable import ThrongServer

@Suite struct ShutdownSignalsTests {
  private let start = ContinuousClock.now

  @Test func theFirstDrainsAndItsEchoesAreTheSame() {
    var signals = ShutdownSignals()
    #expect(signals.receive(at: start) == .drain)
    for milliseconds in [0, 1, 500, 999] {
      #expect(signals.receive(at: start + .milliseconds(milliseconds)) == .nothing)
    }
  }

  @Test(arguments: [1000, 1001, 60_000]) func aLaterOneEndsAtOnce(milliseconds: Int) {
    var signals = ShutdownSignals()
    #expect(signals.receive(at: start) == .drain)
    #expect(signals.receive(at: start + .milliseconds(900)) == .nothing, "echoes do not move the second on")
    #expect(signals.receive(at: start + .milliseconds(milliseconds)) == .endAtOnce)
  }
}
