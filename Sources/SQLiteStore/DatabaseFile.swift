import Foundation

/// Where a database is, and where its lock.
struct DatabaseFile {
  /// The directory that holds it, and its log and lock.
  let directory: String
  private let name: String

  /// What the database of a data directory is called where nobody says otherwise.
  private static let defaultName = "throng.db"

  var path: String { directory + "/" + name }

  /// SQLite's write-ahead log.
  var logPath: String { path + "-wal" }

  /// The index of the log, which connections share.
  var indexPath: String { path + "-shm" }

  /// The default database keeps `lock`, the name it always had, whoever opens it; every other database has a lock of its own.
  var lockPath: String { name == Self.defaultName ? directory + "/lock" : path + "-lock" }

  /// Finds the place, and makes the directory, for the owner alone, where it is missing.
  /// - Parameters:
  ///   - path: counts from the data directory where it is relative; nil = the default.
  ///   - makesDirectory: false = looks only.
  init(_ path: String?, dataDirectory: String, makesDirectory: Bool = true) throws(StoreOpenError) {
    let path = path ?? Self.defaultName
    let named = path.hasPrefix("/") ? path : dataDirectory + "/" + path
    // A link is followed, or one database would have two names and two locks. Links of directories lead to one lock by themselves.
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
