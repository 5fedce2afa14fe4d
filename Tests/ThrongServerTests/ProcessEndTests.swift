import Foundation
import Logging
import SQLiteStore
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The end of the process after a failed sync.
@Suite struct ProcessEndTests {
  @Test func itHasAStatusOfItsOwnAndTheLogSaysWhyFirst() async throws {
    let result = try await #require(
      processExitsWith: .exitCode(ProcessEnd.status), observing: [\.standardOutputContent]
    ) {
      let log = LogOutput(STDOUT_FILENO)
      let logger = Logger(label: "test") { _ in LineLogHandler(format: .json, level: .info, output: log) }
      ProcessEnd(logger: logger, log: log)(DurabilityFault(.commit, "SQLite 1034: disk I/O error", systemError: EIO))
    }
    let text = String(decoding: result.standardOutputContent, as: UTF8.self)
    let line = try #require(text.split(separator: "\n").last { $0.contains("the process ends") })
    let entry = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(entry["level"] as? String == "critical" && entry["errno"] as? Int == Int(EIO))
    #expect(entry["error"] as? String == "SQLite 1034: disk I/O error")
    #expect(entry["reason"] as? String == String(cString: strerror(EIO)) && entry["hint"] as? String != nil)
  }

  @Test func aNumberThatIsNotKnownIsNotTold() {
    let metadata = ProcessEnd.metadata(of: DurabilityFault(.checkpoint, "SQLite 1034: disk I/O error", systemError: nil))
    #expect(Set(metadata.keys) == ["error", "hint"])
  }
}
