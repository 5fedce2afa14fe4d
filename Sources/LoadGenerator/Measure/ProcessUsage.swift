import Glibc

/// The CPU time and the memory that a process has used so far.
struct ProcessUsage {
  /// User and system time of all threads, in seconds.
  var cpuSeconds = 0.0
  /// Resident memory, in bytes.
  var residentBytes = 0
  /// The most resident memory so far, in bytes.
  var peakBytes = 0

  /// The usage of a process of this machine; nil: there is none, or it has ended.
  static func of(pid: Int32) -> ProcessUsage? {
    guard let stat = ProcessFile.text("/proc/\(pid)/stat"), let status = ProcessFile.text("/proc/\(pid)/status") else {
      return nil
    }
    return ProcessUsage(
      stat: stat, status: status, ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))), pageSize: sysconf(Int32(_SC_PAGESIZE)))
  }

  /// Reads two files of `/proc/PID` (proc(5)); nil: `stat` is malformed, or the process has no
  /// memory: it has ended, and its parent has not waited for it yet.
  init?(stat: String, status: String, ticksPerSecond: Double, pageSize: Int) {
    // The name in parentheses may contain parentheses and blanks.
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

  /// The CPU time of this process, without its memory.
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

/// The small files of a process below `/proc`.
private enum ProcessFile {
  /// The contents of such a file; nil: it cannot be read.
  static func text(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 16384)
    let length = read(descriptor, &bytes, bytes.count)
    return length >= 0 ? String(decoding: bytes[..<length], as: UTF8.self) : nil
  }
}
