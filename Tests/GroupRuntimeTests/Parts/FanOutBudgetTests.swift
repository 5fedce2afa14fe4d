import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The deliveries and bytes of one user, as a value and as groups share it.
@Suite struct FanOutBudgetTests {
  /// A value that `#expect` can ask to change.
  private final class Allowance {
    private var allowance: FanOutAllowance

    init(_ deliveries: Int, _ bytes: Int) {
      allowance = FanOutAllowance(deliveriesPerSecond: deliveries, bytesPerSecond: bytes, now: 0)
    }

    func charge(_ receivers: Int, of bytes: Int = 0, at now: MonotonicInstant) -> Int64 {
      allowance.charge(FanOut(to: receivers, ofBytes: bytes), at: now)
    }
    func isFull(at now: MonotonicInstant) -> Bool { allowance.isFull(at: now) }
  }

  @Test func aSecondsWorthAtOnceAndThenTheRate() {
    let allowance = Allowance(1000, 0)
    #expect(allowance.charge(999, at: 0) == 0)
    #expect(allowance.charge(1, at: 0) == 1, "nothing is left")
    #expect(allowance.charge(0, at: 1) == 0)
    #expect(allowance.charge(100, at: 1) == 100)
    #expect(allowance.charge(0, at: 100) == 1)
    #expect(allowance.charge(0, at: 101) == 0)
  }

  @Test func oneRequestMayReachAnyNumber() {
    let allowance = Allowance(1000, 0)
    #expect(allowance.charge(1_000_000, at: 0) == 999_001)
    #expect(allowance.charge(0, at: 999_000) == 1)
    #expect(allowance.charge(0, at: 999_001) == 0)
    #expect(!allowance.isFull(at: 999_999) && allowance.isFull(at: 1_000_000))
  }

  @Test func theLongerWaitOfDeliveriesAndBytesCounts() {
    let allowance = Allowance(1000, 10_000)
    #expect(allowance.charge(1000, of: 100, at: 0) == 9001)
    #expect(allowance.charge(20_000, of: 1, at: 9001) > 9001)
  }

  @Test func withoutALimitNothingCounts() {
    let allowance = Allowance(0, 0)
    #expect(allowance.charge(1_000_000, of: 1_000_000, at: 0) == 0 && allowance.isFull(at: 0))
  }

  @Test func anEarlierInstantGivesNothing() {
    let allowance = Allowance(1, 0)
    #expect(allowance.charge(2, at: 5000) == 1001)
    for _ in 0..<10 { #expect(allowance.charge(0, at: 4000) == 1001) }
  }

  @Test func aBudgetRefusesUntilItIsPaidBack() {
    let budget = FanOutBudget(FanOutAllowance(deliveriesPerSecond: 10, bytesPerSecond: 0, now: 0))
    #expect(budget.wait(at: 0) == nil && budget.isUnused(at: 0))
    budget.charge(FanOut(to: 30, ofBytes: 1), at: 0)
    #expect(budget.wait(at: 0) == 2001)
    #expect(budget.wait(at: MonotonicInstant(nanoseconds: 1_000_000_001)) == 1001, "a part of a millisecond is one")
    #expect(budget.wait(at: 2001) == nil && !budget.isUnused(at: 2001))
    #expect(budget.isUnused(at: 3000))
  }
}
