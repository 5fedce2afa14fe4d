import Foundation
import Testing

@testable import ThrongServer

@Suite struct ProcessMetricsTests {
  @Test func theFieldsAreThoseOfProc() {
    let numbers = (4...52).map { "\($0)" }.joined(separator: " ")
    let status = ProcessStatus(
      stat: "77 (a ) name) S \(numbers)\n", bootSeconds: 1000, ticksPerSecond: 10, pageBytes: 4096)
    #expect(status?.cpuSeconds == 2.9 && status?.threads == 20)
    #expect(status?.startSeconds == 1002.2)
    #expect(status?.virtualBytes == 23 && status?.residentBytes == 24 * 4096)
    #expect(ProcessStatus(stat: "77 (x) S 1 2", bootSeconds: 1, ticksPerSecond: 1, pageBytes: 1) == nil)
  }

  @Test func thisProcessIsMeasured() async throws {
    let metrics = PrometheusRegistry()
    ProcessMetrics.collect(in: metrics)
    let text = String(decoding: await metrics.renderAll(), as: UTF8.self)
    func value(_ name: String) -> Double? {
      text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap { Double($0.dropFirst(name.count + 1)) }
    }
    for name in [
      "process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes", "process_open_fds",
      "process_max_fds", "process_start_time_seconds", "process_threads",
    ] {
      #expect(value(name) ?? 0 > 0, "\(name)")
    }
    let start = try #require(value("process_start_time_seconds"))
    #expect(abs(start - Date().timeIntervalSince1970) < 86_400)
    #expect(text.contains("throng_build_info{swift=\"6."))
  }
}

/// Clients choose the code that they close with: unknown codes share one label.
@Suite struct CloseCountsTests {
  private func text(_ closes: [Int: Int]) -> [String] {
    CloseCounts.byLabel(closes).map { row in row.labels.map { "\($0.0)=\($0.1)" }.joined() + " \(Int(row.value))" }
  }

  @Test func codesOfTheStandardAndOursHaveTheirOwnRows() {
    #expect(
      text([4503: 1, 1000: 2, 1006: 3, 1015: 4, 4001: 5, 4500: 6])
        == ["code=1000 2", "code=1006 3", "code=1015 4", "code=4001 5", "code=4500 6", "code=4503 1"])
  }

  @Test func theRestIsOne() {
    let invented = Dictionary(uniqueKeysWithValues: (3000...4000).map { ($0, 1) } + [(4009, 1), (4499, 2), (4504, 1), (999, 1)])
    #expect(text(invented.merging([1001: 7]) { $1 }) == ["code=1001 7", "code=other 1006"])
    #expect(text([:]) == [])
  }
}
