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
