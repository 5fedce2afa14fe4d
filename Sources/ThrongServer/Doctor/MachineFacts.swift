import CSystem
import Foundation

/// Facts of the machine, as `throng doctor` judges them.
struct MachineFacts: Sendable {
  /// A data directory, or the nearest directory above it that exists.
  struct Directory: Sendable {
    let path: String
    /// Whether the data directory is not there yet.
    let isMissing: Bool
    let isWritable: Bool
    let freeBytes: Int?
    /// As statfs(2) numbers them.
    let fileSystem: UInt
  }

  /// The service that keeps the clock right.
  enum Clock: Sendable { case synchronized, unsynchronized, unknown }

  /// How many files a process of this user may open, when it has raised its own limit.
  var hardFileLimit: Int
  var clock: Clock
  var directory: Directory

  /// Reads the facts for a data directory, which need not exist.
  static func read(dataDirectory: String) -> MachineFacts {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let clock: Clock =
      switch csys_clock_state() {
      case CSYS_CLOCK_SYNCHRONIZED: .synchronized
      case CSYS_CLOCK_UNSYNCHRONIZED: .unsynchronized
      default: .unknown
      }
    return MachineFacts(
      hardFileLimit: Int(clamping: limit.rlim_max), clock: clock, directory: directory(dataDirectory))
  }

  private static func directory(_ path: String) -> Directory {
    let wanted = URL(fileURLWithPath: path).standardizedFileURL
    var url = wanted
    while !FileManager.default.fileExists(atPath: url.path), url.path != "/" { url.deleteLastPathComponent() }
    var status = statvfs()
    let free = statvfs(url.path, &status) == 0 ? Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize)) : nil
    return Directory(
      path: url.path, isMissing: url.path != wanted.path, isWritable: access(url.path, W_OK | X_OK) == 0, freeBytes: free,
      fileSystem: csys_file_system(url.path))
  }
}
