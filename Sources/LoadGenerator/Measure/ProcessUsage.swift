import Glibc

/// What a process has used so far.
struct ProcessUsage {
  /// User and system time of all threads, in seconds.
  var cpuSeconds = 0.0
  /// Memory in RAM, in bytes.
  var residentBytes = 0
  /// The most memory in RAM so far, in bytes.
  var peakBytes = 0

  /// The usage of a process of this machine; nil when there is none with that ID, or it has ended and nobody has taken note yet.
  static func of(pid: Int32) -> ProcessUsage? {
    guard let stat = ProcessFile.text("/proc/\(pid)/stat"), let status = ProcessFile.text("/proc/\(pid)/status") else {
      return nil
    }
    return ProcessUsage(
      stat: stat, status: status, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))), pageSize: sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The usage that the two files of `/proc/PID` tell (proc(5)); nil when `stat` is not what it should be.
  /// A process without memory is over: its CPU time is there until its parent has read its status, its memory is not.
  init?(stat: String, status: String, ticksPerSecond: Double, pageSize: Int) {
    // The name in parentheses may hold anything, parentheses and blanks too.
    guard let name = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]), let pages = Int(fields[21]),
      pages > 0
    else { return nil }
    cpuSeconds = (user + system) / ticksPerSecond
    residentBytes = pages * pageSize
    peakBytes = max(residentBytes, ProcessUsage.peak(status) ?? 0)
  }

  private init() {}

  /// The usage of this process; its memory is left out.
  static func ofSelf() -> ProcessUsage {
    var raw = rusage()
    getrusage(RUSAGE_SELF.rawValue, &raw)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    var usage = ProcessUsage()
    usage.cpuSeconds = seconds(raw.ru_utime) + seconds(raw.ru_stime)
    return usage
  }

  private static func peak(_ status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }) else { return nil }
    return line.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 * 1024 }
  }
}
