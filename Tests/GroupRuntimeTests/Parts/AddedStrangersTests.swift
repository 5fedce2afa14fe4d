import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Whom a user has added without asking them, within a day.
@Suite struct AddedStrangersTests {
  private static let day: Int64 = 86_400_000

  @Test func asManyAsTheLimitAreAddedADay() {
    var added = AddedStrangers(limit: 3)
    let first = added.reserve(["a", "b", "a"], at: 0)
    #expect(first.excluded.isEmpty && first.counted == ["a", "b"], "each once")
    let second = added.reserve(["c", "d", "a", "e"], at: 1000)
    #expect(second.excluded == ["d", "e"] && second.counted == ["c"])
    let again = added.reserve(["b", "c"], at: 2000)
    #expect(again.excluded.isEmpty && again.counted.isEmpty, "who counts already may be added again")
    let late = added.reserve(["d", "e", "f"], at: MonotonicInstant(milliseconds: AddedStrangersTests.day))
    #expect(late.excluded == ["f"] && late.counted == ["d", "e"], "the first two are a day old")
  }

  @Test func whoWasNotAddedDoesNotCount() {
    var added = AddedStrangers(limit: 2)
    _ = added.reserve(["a", "b"], at: 0)
    added.release(["a"])
    #expect(added.reserve(["c", "d"], at: 1).excluded == ["d"])
    let isEmpty = added.isEmpty(at: MonotonicInstant(milliseconds: AddedStrangersTests.day - 1))
    #expect(!isEmpty)
    let isEmptyLater = added.isEmpty(at: MonotonicInstant(milliseconds: AddedStrangersTests.day + 1))
    #expect(isEmptyLater)
  }
}
