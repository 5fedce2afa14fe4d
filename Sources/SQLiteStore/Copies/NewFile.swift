import Foundation

/// A file that gets its name when it is whole and on the disk. It has mode 0600, because it holds
/// what people have written.
enum NewFile {
  /// Fills a file beside `path`, then gives it this name. After a failure there is neither.
  /// - Throws: `StoreOpenError` `.exists` where there is one already.
  static func make(_ path: String, _ fill: (_ unfinished: String) throws(StoreOpenError) -> Void) throws(StoreOpenError) {
    let unfinished = path + "-new"
    guard !exists(path) else { throw StoreOpenError(.exists, "\(path) exists: move it away, or choose another name") }
    unlink(unfinished)
    let file = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw StoreOpenError(.directory, "cannot make \(unfinished): \(lastSystemError())") }
    defer { close(file) }
    do throws(StoreOpenError) {
      try fill(unfinished)
      guard fsync(file) == 0 else { throw StoreOpenError(.unavailable, "cannot sync \(unfinished): \(lastSystemError())") }
      guard !exists(path), rename(unfinished, path) == 0 else {
        throw StoreOpenError(.unavailable, "cannot give \(unfinished) the name \(path): \(lastSystemError())")
      }
      try syncDirectory(of: path)
    } catch {
      unlink(unfinished)
      throw error
    }
  }

  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private static func syncDirectory(of path: String) throws(StoreOpenError) {
    let directory = (path as NSString).deletingLastPathComponent
    let descriptor = open(directory.isEmpty ? "." : directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreOpenError(.unavailable, "cannot open \(directory): \(lastSystemError())") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreOpenError(.unavailable, "cannot sync \(directory): \(lastSystemError())") }
  }
}
