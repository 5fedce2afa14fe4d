import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Time for rates, waits and memories: never back, and on from where it was.
@Suite struct AdvancingTimeTests {
  @Test func itIsTheClocksUntilThatIsSetBack() {
    var steady = AdvancingTime(at: 1000)
    func advance(_ now: WallInstant) -> WallInstant { steady.advance(to: now) }
    #expect(advance(1000) == 1000 && advance(1500) == 1500)
    #expect(advance(200) == 1500, "an hour back or a second, no time has passed")
    #expect(advance(300) == 1600)
    #expect(advance(100) == 1600 && advance(150) == 1650, "once more")
    #expect(steady.clock(at: 1700) == 200)
  }

  @Test func whoOnlyLooksIsToldTheSame() {
    var steady = AdvancingTime(at: 1000)
    #expect(steady.time(at: 1200) == 1200 && steady.time(at: 400) == 1000)
    _ = steady.advance(to: 400)
    #expect(steady.time(at: 400) == 1000 && steady.time(at: 450) == 1050)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func whateverTheClockShowsTheTimeGoesOnByItsStepsForward(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (clock, expected): (WallInstant, WallInstant) = (10_000, 10_000)
    var steady = AdvancingTime(at: clock)
    for step in 0..<200 {
      let change = Int64.random(in: -300...500, using: &random)
      clock += change
      expected += max(0, change)
      #expect(steady.time(at: clock) == expected, "seed \(seed), step \(step)")
      let time = steady.advance(to: clock)
      #expect(time == expected && steady.clock(at: time) == clock, "seed \(seed), step \(step)")
    }
  }
}
