import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// A client that provokes the library, or guesses credentials, must not fill the log.
struct LogRateLimiterTests {
  @Test func onlyAFewLinesASecondAreWrittenAndTheNextTellsHowManyWereNot() {
    let limit = LogRateLimiter()
    let start: MonotonicInstant = 0
    let first = (0..<12).map { _ in limit.acquire(at: start) }
    #expect(first == [0, 0, 0, 0, 0, nil, nil, nil, nil, nil, nil, nil])
    #expect(limit.acquire(at: start + .seconds(2)) == 7)
    #expect(limit.acquire(at: start + .seconds(2)) == 0)
  }
}
