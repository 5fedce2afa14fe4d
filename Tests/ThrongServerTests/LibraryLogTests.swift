import Logging
import Testing

@testable import ThrongServer

/// A client that provokes the library must not fill the log.
struct LibraryLogTests {
  @Test func onlyAFewLinesASecondAreWrittenAndTheNextTellsHowManyWereNot() {
    let log = LibraryLog(Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let start = ContinuousClock.now
    let first = (0..<12).map { _ in log.admit(at: start) }
    #expect(first == [0, 0, 0, 0, 0, nil, nil, nil, nil, nil, nil, nil])
    #expect(log.admit(at: start + .seconds(2)) == 7)
    #expect(log.admit(at: start + .seconds(2)) == 0)
  }
}
