import Glibc
import Testing

@testable import LoadGenerator

@Suite struct ProcessUsageTests {
  private func stat(pages: Int) -> String {
    let fields = (3...52).map { field in
      switch field {
      case 14: "250"
      case 15: "50"
      case 24: "\(pages)"
      default: "9"
      }
    }
    // A name may look like the end of the name.
    return "77 (a) 1 (b) 2) " + fields.joined(separator: " ") + "\n"
  }

  @Test func theFieldsOfProcAreRead() throws {
    let stat = stat(pages: 1000)
    let status = "Name:\tx\nVmPeak:\t  1 kB\nVmHWM:\t    5000 kB\nVmRSS:\t 4000 kB\n"
    let usage = try #require(ProcessUsage(stat: stat, status: status, ticksPerSecond: 100, pageSize: 4096))
    #expect(usage.cpuSeconds == 3)
    #expect(usage.residentBytes == 4_096_000)
    #expect(usage.peakBytes == 5_120_000)
    #expect(ProcessUsage(stat: "77 (x) S 1 2", status: status, ticksPerSecond: 100, pageSize: 4096) == nil)
    #expect(ProcessUsage(stat: "", status: "", ticksPerSecond: 100, pageSize: 4096) == nil)
  }

  @Test func aProcessWithoutMemoryIsOver() {
    let status = "Name:\tx\nState:\tZ (zombie)\n"
    #expect(ProcessUsage(stat: stat(pages: 0), status: status, ticksPerSecond: 100, pageSize: 4096) == nil)
    #expect(ProcessUsage(stat: stat(pages: 1), status: status, ticksPerSecond: 100, pageSize: 4096) != nil)
  }

  @Test func thisProcessIsThere() throws {
    let usage = try #require(ProcessUsage.of(pid: getpid()))
    #expect(usage.residentBytes > 1_000_000)
    #expect(usage.peakBytes >= usage.residentBytes)
    #expect(ProcessUsage.ofSelf().cpuSeconds > 0)
    #expect(ProcessUsage.of(pid: .max) == nil)
  }
}
