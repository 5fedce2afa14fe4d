import Foundation

/// The paths of a database, its log and its lock.
struct DatabaseFile {
  /// The directory of all of them.
  let directory: String
  private let name: String

  private static let defaultName = "throng.db"

  var path: String { directory + "/" + name }

  /// SQLite's write-ahead log.
  var logPath: String { path + "-wal" }

  /// The index of the log, which connections share.
  var indexPath: String { path + "-shm" }

  /// The default database keeps the name `lock`, which older versions know; others have their own.
  var lockPath: String { name == Self.defaultName ? directory + "/lock" : path + "-lock" }

  /// The bytes of the database and its log. Opens no file: that would lose SQLite's locks.
  var bytesOnDisk: Int {
    [path, logPath].reduce(0) { $0 + DatabaseFile.bytes(of: $1) }
  }

  /// The bytes of a file; 0 where there is none.
  static func bytes(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The bytes that the server may still write to the disk of the database; nil where the system
  /// does not say.
  var freeBytesOnDisk: Int? {
    var status = statvfs()
    guard statvfs(directory, &status) == 0 else { return nil }
    return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
  }

  /// Resolves the path, and creates the directory, with mode 0700, where it is missing.
  /// - Parameters:
  ///   - path: absolute, or relative to the data directory; nil = the default.
  ///   - makesDirectory: false = creates nothing.
  init(_ path: String?, dataDirectory: String, makesDirectory: Bool = true) throws(StoreOpenError) {
    let path = path ?? Self.defaultName
    let named = path.hasPrefix("/") ? path : dataDirectory + "/" + path
    // Two names of one database must lead to one lock. Links of directories do so by themselves.
    let real = (Self.isLink(named) ? Self.real(named) ?? named : named) as NSString
    directory = real.deletingLastPathComponent
    name = real.lastPathComponent
    guard makesDirectory else { return }
    do {
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StoreOpenError(.directory, "cannot make the directory \(directory): \(error.localizedDescription)")
    }
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private static func real(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }
}
