import Foundation
import Logging

/// Makes durable what the last run, or a start that has failed, has left in the log, before anything
/// of it is answered. A run that has ended in order leaves nothing.
///
/// The log that a start finds is that in the system's cache. After a failed sync it may hold a
/// transaction that the disk does not have and no later sync brings there: Linux counts what it could
/// not write as written. A client that repeats its request would be told that it is stored, and a
/// power failure would take it, and all that follows it in the log. Writing the same bytes once more
/// gives them to the disk again.
enum LogRewrite {
  private static let chunk = 1 << 20

  /// Writes and syncs the file. A missing one, or one on a read-only disk, is left alone.
  /// - Throws: `StoreOpenError`, where the disk fails.
  static func perform(on path: String, _ logger: Logger) throws(StoreOpenError) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == EROFS { return }
      throw failure("open", path)
    }
    defer { close(descriptor) }
    guard copyOntoItself(descriptor) else {
      // A file system that never overwrites needs room even for this; nothing of a failed sync is in
      // its cache.
      guard errno == ENOSPC || errno == EDQUOT else { throw failure("write", path) }
      logger.warning(
        "the write-ahead log could not be written again: the disk is full", metadata: ["error": "\(lastSystemError())"])
      return
    }
    guard fsync(descriptor) == 0 else { throw failure("sync", path) }
  }

  /// - Returns: false where a call failed; `errno` says why.
  private static func copyOntoItself(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: chunk)
    var offset: off_t = 0
    while true {
      let count = pread(descriptor, &bytes, chunk, offset)
      guard count > 0 else { return count == 0 }
      var rest = bytes[..<count]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, offset) }
        guard written > 0 else { return false }
        rest = rest.dropFirst(written)
        offset += off_t(written)
      }
    }
  }

  private static func failure(_ what: String, _ path: String) -> StoreOpenError {
    StoreOpenError(.unavailable, "cannot \(what) \(path) after a crash: \(lastSystemError())")
  }
}
