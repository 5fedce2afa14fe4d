import GroupModel
import Testing

@Suite struct MonotonicInstantTests {
  private let start = MonotonicInstant(nanoseconds: 5_000_000)

  @Test func instantsAndLengthsAddUp() {
    #expect(start.advanced(byMilliseconds: 2) == MonotonicInstant(nanoseconds: 7_000_000))
    #expect(start + .microseconds(1) == MonotonicInstant(nanoseconds: 5_001_000))
    #expect(start + .seconds(-1) - start == .seconds(-1))
    #expect((start + .microseconds(1999)).milliseconds(since: start) == 1, "whole milliseconds")
    #expect(start < start + .nanoseconds(1))
  }

  @Test(arguments: [.max, .max / 1_000_000 + 1, .max / 1_000_000] as [Int64])
  func anInstantBeyondTheClockIsTheLast(milliseconds: Int64) {
    #expect(start.advanced(byMilliseconds: milliseconds) == .distantFuture)
    #expect(start + .seconds(Int64.max) == .distantFuture)
    #expect(MonotonicInstant.distantFuture + .nanoseconds(1) == .distantFuture)
  }
}

@Suite struct WallInstantTests {
  private let start = WallInstant(milliseconds: 1_700_000_000_000)

  @Test func instantsAndLengthsAddUp() {
    #expect(start.advanced(byMilliseconds: 2) - start == .milliseconds(2))
    #expect(start + .seconds(3) == WallInstant(milliseconds: 1_700_000_003_000))
    #expect(start - .seconds(3) == start + .seconds(-3))
    #expect((start + .microseconds(1999)).milliseconds(since: start) == 1, "whole milliseconds")
    #expect((start - .microseconds(1999)).milliseconds(since: start) == -1, "whole milliseconds")
  }

  @Test func anUnsetInstantIsZeroAndBeforeEveryOther() {
    #expect(WallInstant.unset.milliseconds == 0 && !WallInstant.unset.isSet)
    #expect(WallInstant(milliseconds: 1).isSet && .unset < WallInstant(milliseconds: 1))
    #expect(WallInstant.distantPast < .unset && start < .distantFuture)
  }

  @Test func anInstantTakesEightBytes() {
    #expect(MemoryLayout<WallInstant>.size == 8 && MemoryLayout<MonotonicInstant>.size == 8)
  }

  @Test func itsTextIsItsNumber() { #expect("\(start)" == "1700000000000") }
}
