import Foundation
import GroupModel
import Synchronization

/// The claim of one process on a database: an exclusive lock on a file beside it, held until `release()` or the end of
/// the process. Two servers on one database would each believe their own memory of a group.
///
/// The file's time of modification says when its holder was last alive.
final class DatabaseLock: Sendable {
  /// When a store last had the database open, about; now where none ever did.
  let lastAlive: Instant
  private let file: Mutex<Int32?>

  /// Takes the lock and writes this process's id into the file. Its time stays as it was until `touch(at:)`: an opening that fails is no
  /// sign of life.
  init(of database: DatabaseFile, now: Instant) throws(StoreOpenError) {
    let path = database.lockPath
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreOpenError(.directory, "cannot write to the directory \(database.directory): \(lastSystemError())")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      let holder = DatabaseLock.processID(in: descriptor)
      close(descriptor)
      throw DatabaseLock.refusal(reason, holder: holder, database: database.path)
    }
    let text = "\(getpid())\n"
    guard let touched = DatabaseLock.lastTouch(of: descriptor),
      ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count,
      setTime(of: descriptor, to: touched ?? now)
    else {
      let reason = lastSystemError()
      close(descriptor)
      throw StoreOpenError(.unavailable, "cannot write to \(path): \(reason)")
    }
    // A clock that was put back since then must not make a time to come of it.
    lastAlive = min(touched ?? now, now)
    file = Mutex(descriptor)
  }

  /// Says that the holder is alive.
  /// - Returns: false where the file refused; `errno` says why.
  func touch(at time: Instant) -> Bool {
    file.withLock { descriptor in
      guard let descriptor else { return true }
      return setTime(of: descriptor, to: time)
    }
  }

  deinit { release() }

  /// Gives the database back. The file stays: removing it would let two processes lock two different files of that name.
  func release() {
    file.withLock { descriptor in
      if let descriptor { close(descriptor) }
      descriptor = nil
    }
  }

  /// The time of the file; `.some(nil)` where it is new, and nil where nobody can tell.
  private static func lastTouch(of descriptor: Int32) -> Instant?? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    if status.st_size == 0 { return .some(nil) }
    return .some(Instant(status.st_mtim.tv_sec) * 1000 + Instant(status.st_mtim.tv_nsec) / 1_000_000)
  }

  private static func refusal(_ reason: Int32, holder: String?, database: String) -> StoreOpenError {
    guard reason == EWOULDBLOCK else {
      return StoreOpenError(.directory, "cannot lock \(database): \(String(cString: strerror(reason)))")
    }
    let who = holder.map { "process \($0)" } ?? "another process"
    return StoreOpenError(.locked, "the database \(database) is in use by \(who)")
  }

  private static func processID(in descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let digits = bytes.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
  }
}

// Not synced: after a power failure an older time is good enough.
private func setTime(of descriptor: Int32, to time: Instant) -> Bool {
  let instant = timespec(tv_sec: Int(time / 1000), tv_nsec: Int(time % 1000) * 1_000_000)
  return futimens(descriptor, [instant, instant]) == 0
}

/// The text of `errno`.
func lastSystemError() -> String { String(cString: strerror(errno)) }
