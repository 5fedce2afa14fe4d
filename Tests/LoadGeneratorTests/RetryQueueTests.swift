import Testing

@testable import LoadGenerator

@Suite struct RetryQueueTests {
  @Test func connectionsComeBackInTheOrderOfTheirTimes() {
    var retries = RetryQueue()
    for (number, due) in [30, 10, 20, 10].enumerated() { retries.insert(number, due: UInt64(due)) }
    #expect(retries.next == 10 && retries.count == 4)
    var taken: [Int?] = []
    for now in [9, 10, 10, 10, 25, 25, 40, 40] { taken.append(retries.popDue(at: UInt64(now))) }
    #expect(taken.compactMap { $0 }.count == 4)
    #expect(taken[0] == nil && Set(taken[1...2]) == [1, 3] && taken[3] == nil)
    #expect(taken[4] == 2 && taken[5] == nil && taken[6] == 0 && taken[7] == nil)
    #expect(retries.next == nil)
  }

  @Test(
    arguments: [
      (Ending.closed(code: 4004, reason: "7008 retry after 1234 ms"), 1234), (.closed(code: 4004, reason: "request flood"), nil),
      (.closed(code: 4500, reason: "7008 retry after 1 ms"), nil), (.closed(code: 4004, reason: "7008 retry after x ms"), nil),
      (.lost(0), nil),
    ] as [(Ending, UInt64?)])
  func aCloseTellsHowLongToWait(ending: Ending, wait: UInt64?) { #expect(RetryQueue.delay(after: ending) == wait) }
}
