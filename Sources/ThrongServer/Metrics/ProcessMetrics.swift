import Foundation
import GroupModel
import GroupRuntime
import ServerConfiguration

/// Metrics of the process, with the names of Prometheus' client libraries, and of the build.
enum ProcessMetrics {
  static func collect(in metrics: PrometheusRegistry) {
    for one in ProcessMetrics.all {
      metrics.collect(one.name, help: one.help, type: one.type) {
        one.read().map { [(labels: [], value: $0)] } ?? []
      }
    }
    metrics.collect("throng_build_info", help: "The release and the Swift it was built with; always 1.", type: .gauge) {
      [(labels: [("version", Release.version), ("swift", ProcessMetrics.swiftVersion)], value: 1)]
    }
  }

  private struct Metric: Sendable {
    let name: String
    let help: String
    let type: ScrapedType
    let read: @Sendable () -> Double?
  }

  private static let all = [
    Metric(name: "process_cpu_seconds_total", help: "User and system CPU time in seconds.", type: .counter) {
      ProcessStatus.now?.cpuSeconds
    },
    Metric(name: "process_resident_memory_bytes", help: "Resident memory in bytes.", type: .gauge) {
      ProcessStatus.now?.residentBytes
    },
    Metric(name: "process_virtual_memory_bytes", help: "Virtual memory in bytes.", type: .gauge) {
      ProcessStatus.now?.virtualBytes
    },
    Metric(name: "process_threads", help: "Threads.", type: .gauge) { ProcessStatus.now?.threads },
    Metric(name: "process_start_time_seconds", help: "When the process started, in Unix seconds.", type: .gauge) {
      ProcessStatus.now?.startSeconds
    },
    Metric(name: "process_open_fds", help: "Open file descriptors.", type: .gauge) {
      // The directory itself is open too.
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count - 1) }
    },
    Metric(name: "process_max_fds", help: "How many file descriptors may be open.", type: .gauge) {
      var limit = rlimit()
      guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
      return Double(limit.rlim_cur)
    },
  ]

  /// The compiler tells no more than these bounds.
  private static var swiftVersion: String {
    #if compiler(>=6.5)
      "6.5 or later"
    #elseif compiler(>=6.4)
      "6.4"
    #elseif compiler(>=6.3)
      "6.3"
    #elseif compiler(>=6.2)
      "6.2"
    #else
      "6.1"
    #endif
  }
}

/// One reading of `/proc/self/stat`.
struct ProcessStatus: Equatable {
  let cpuSeconds: Double
  let residentBytes: Double
  let virtualBytes: Double
  let threads: Double
  let startSeconds: Double

  /// Nil where the system has no such file.
  static var now: ProcessStatus? {
    guard let stat = text("/proc/self/stat") else { return nil }
    return ProcessStatus(
      stat: stat, bootSeconds: bootSeconds, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
      pageBytes: Double(sysconf(Int32(_SC_PAGESIZE))))
  }

  /// When the system started, in Unix seconds. `/proc/stat` says so too, but a service manager may
  /// hide it (`ProcSubset=pid`). Read once, so that the process' start does not move.
  private static let bootSeconds: Double = {
    let now = SystemClocks().now
    return Double(now.wall.milliseconds) / 1000 - Double(now.monotonic.nanoseconds) / 1e9
  }()

  /// - Parameters:
  ///   - stat: `/proc/PID/stat`, whose fields are counted from 1 in proc(5); the second is a name
  ///     that may hold anything.
  ///   - bootSeconds: when the system started, in Unix seconds.
  init?(stat: String, bootSeconds: Double, ticksPerSecond: Double, pageBytes: Double) {
    guard let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: name)...].split(whereSeparator: \.isWhitespace)
    func field(_ number: Int) -> Double? { number - 3 < fields.count ? Double(fields[number - 3]) : nil }
    guard let user = field(14), let kernel = field(15), let threads = field(20), let start = field(22), let virtual = field(23),
      let resident = field(24)
    else { return nil }
    cpuSeconds = (user + kernel) / ticksPerSecond
    residentBytes = resident * pageBytes
    virtualBytes = virtual
    self.threads = threads
    startSeconds = bootSeconds + start / ticksPerSecond
  }

  /// The kernel's files report no length: they are read to their end.
  private static func text(_ path: String) -> String? {
    guard let file = FileHandle(forReadingAtPath: path) else { return nil }
    return (try? file.readToEnd()).map { String(decoding: $0, as: UTF8.self) }
  }
}
