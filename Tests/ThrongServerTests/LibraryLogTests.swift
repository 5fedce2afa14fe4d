import Gateway
import Testing

@testable import ThrongServer

/// A client that provokes the library, or guesses credentials, must not fill the log.
struct LineLimitTests {
  @Test func onlyAFewLinesASecondAreWrittenAndTheNextTellsHowManyWereNot() {
    let limit = LineLimit()
    let start = ContinuousClock.now
    let first = (0..<12).map { _ in limit.admit(at: start) }
    #expect(first == [0, 0, 0, 0, 0, nil, nil, nil, nil, nil, nil, nil])
    #expect(limit.admit(at: start + .seconds(2)) == 7)
    #expect(limit.admit(at: start + .seconds(2)) == 0)
  }
}
