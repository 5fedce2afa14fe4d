import Foundation
import Synchronization

/// The claim of one process on a data directory: an exclusive lock on the file `lock` in it, held until `release()` or the end of
/// the process. Two servers on one database would each believe their own memory of a group.
final class DirectoryLock: Sendable {
  private let file: Mutex<Int32?>

  /// Takes the lock and writes this process's id into the file.
  init(directory: String) throws(StoreOpenError) {
    let path = directory + "/lock"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw StoreOpenError(.directory, "cannot write to the data directory \(directory): \(lastSystemError())")
    }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      let holder = DirectoryLock.processID(in: descriptor)
      close(descriptor)
      throw DirectoryLock.refusal(reason, holder: holder, directory: directory)
    }
    let text = "\(getpid())\n"
    guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, text, text.utf8.count, 0) == text.utf8.count else {
      let reason = lastSystemError()
      close(descriptor)
      throw StoreOpenError(.unavailable, "cannot write to \(path): \(reason)")
    }
    file = Mutex(descriptor)
  }

  deinit { release() }

  /// Gives the directory back. The file stays: removing it would let two processes lock two different files of that name.
  func release() {
    file.withLock { descriptor in
      if let descriptor { close(descriptor) }
      descriptor = nil
    }
  }

  private static func refusal(_ reason: Int32, holder: String?, directory: String) -> StoreOpenError {
    guard reason == EWOULDBLOCK else {
      return StoreOpenError(.directory, "cannot lock the data directory \(directory): \(String(cString: strerror(reason)))")
    }
    let who = holder.map { "process \($0)" } ?? "another process"
    return StoreOpenError(.locked, "the data directory \(directory) is in use by \(who)")
  }

  private static func processID(in descriptor: Int32) -> String? {
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let digits = bytes.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
  }
}

/// The text of `errno`.
func lastSystemError() -> String { String(cString: strerror(errno)) }
