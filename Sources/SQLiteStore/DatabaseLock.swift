import Foundation
import GroupModel
import Synchronization

/// The claim of one process on a database, held until `release()` or the end of the process. Two servers on one database would each
/// believe their own memory of a group.
///
/// The lock of the database's own file holds whatever name the file goes by: a hard link, another mount. The lock of a file beside it
/// holds before there is a database, and against versions that know no other; the file tells how its holder fared (`RunNote`), and its
/// time of modification when that was last alive.
final class DatabaseLock: Sendable {
  /// When a store last had the database open, about; now where none ever did.
  let lastAlive: Instant
  /// How the last run ended.
  let lastRun: RunNote.End
  private let database: DatabaseFile
  private let state: Mutex<State>

  private struct State {
    /// nil where it cannot be made: the disk is full or read-only. The database's own lock is enough.
    var lockFile: Int32?
    /// Open before SQLite opens the database and closed after it has closed it: a process that closes any descriptor of a file loses the
    /// locks that SQLite has on it.
    var databaseFile: Int32?
    /// The files that are looked at while the store runs, and which they were when it began.
    var watched: [String: FileIdentity] = [:]
    var note = RunNote(end: .unknown)

    mutating func close() {
      for descriptor in [lockFile, databaseFile] {
        guard let descriptor else { continue }
        // A child between its fork and its exec still holds the descriptor, and with it the lock.
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
      }
      (lockFile, databaseFile) = (nil, nil)
    }
  }

  /// Takes both locks, that of the database where there is one. The file's time stays as it was until `touch(at:)`: an opening that fails
  /// is no sign of life.
  init(of database: DatabaseFile, now: Instant) throws(StoreOpenError) {
    var state = State()
    do throws(StoreOpenError) {
      state.databaseFile = try Self.lockDatabase(database)
      state.lockFile = try Self.lockFile(of: database, isOptional: state.databaseFile != nil)
    } catch {
      state.close()
      throw error
    }
    var touched: Instant?
    if let file = state.lockFile {
      touched = Self.lastTouch(of: file)
      state.note = RunNote(in: file)
      // Where the disk has no room, the next tick tries again.
      _ = state.note.write(to: file) && setTime(of: file, to: touched ?? now)
    }
    // A clock that was put back since then must not make a time to come of it.
    lastAlive = min(touched ?? now, now)
    lastRun = state.note.end
    self.database = database
    self.state = Mutex(state)
  }

  deinit { close() }

  /// Locks the file of a new database, before it gets the database's name.
  func take(new descriptor: Int32) throws(StoreOpenError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = lastSystemError()
      Foundation.close(descriptor)
      throw StoreOpenError(.unavailable, "cannot lock \(database.path): \(reason)")
    }
    state.withLock { $0.databaseFile = descriptor }
  }

  /// The database is open, its log too: from here on an end without `release(isLogCarriedOver:)` is a crash.
  func begin() {
    state.withLock { state in
      // Some file systems give a file another number with each look: there nothing can be told.
      if let own = state.databaseFile, FileIdentity(of: own) == FileIdentity(of: database.path) {
        for path in [database.path, database.logPath, database.indexPath] { state.watched[path] = FileIdentity(of: path) }
      }
      state.note.end = .crashed(nil)
    }
  }

  /// Says that the holder is alive.
  /// - Parameter log: how far the log is; nil = as far as it was.
  /// - Returns: false where the file refused; `errno` says why.
  func touch(at time: Instant, log: RunNote.LogMark?) -> Bool {
    state.withLock { state in
      if let log { state.note.end = .crashed(log) }
      guard let file = state.lockFile else { return true }
      // The time is set also where the text has no room.
      let isWritten = state.note.write(to: file)
      return setTime(of: file, to: time) && isWritten
    }
  }

  /// Gives the database back. The file stays: removing it would let two processes lock two different files of that name.
  /// - Parameter isLogCarriedOver: the next run needs nothing of the log.
  func release(at time: Instant, isLogCarriedOver: Bool) {
    state.withLock { state in
      if isLogCarriedOver { state.note.end = .clean }
      if let file = state.lockFile { _ = state.note.write(to: file) && setTime(of: file, to: time) }
    }
    close()
  }

  /// Gives the database back after an opening that failed, and says nothing of it.
  func close() { state.withLock { $0.close() } }
}

// MARK: - While it is held

extension DatabaseLock {
  /// What has become of the names of the files that are open.
  enum Finding: Equatable {
    case unchanged
    /// The lock file was gone, and was made and locked again.
    case lockFileMadeAgain
    /// What is written may not be found again, or somebody else may write too.
    case lost(String)
  }

  /// Looks whether each name still leads to the file that is open: files may be removed and replaced below a server that runs.
  func inspect() -> Finding {
    state.withLock { state in
      for (path, identity) in state.watched where FileIdentity(of: path) != identity {
        return .lost("\(path) was removed or replaced while it was in use")
      }
      if let file = state.lockFile, FileIdentity(of: database.lockPath) == FileIdentity(of: file) { return .unchanged }
      return remakeLockFile(&state)
    }
  }

  private func remakeLockFile(_ state: inout State) -> Finding {
    do {
      guard let file = try Self.lockFile(of: database, isOptional: true) else { return .unchanged }
      if let old = state.lockFile { Foundation.close(old) }
      state.lockFile = file
      _ = state.note.write(to: file)
      return .lockFileMadeAgain
    } catch {
      return error.kind == .locked ? .lost(error.description) : .unchanged
    }
  }
}

// MARK: - Taking the locks

extension DatabaseLock {
  private static func lockDatabase(_ database: DatabaseFile) throws(StoreOpenError) -> Int32? {
    // For writing, where that is possible: an overlay file system opens another file for reading than for writing.
    var descriptor = open(database.path, O_RDWR | O_CLOEXEC)
    if descriptor < 0, errno != ENOENT { descriptor = open(database.path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StoreOpenError(.directory, "cannot read \(database.path): \(lastSystemError())")
    }
    try lock(descriptor, of: database)
    return descriptor
  }

  /// - Parameter isOptional: a disk that is full or read-only is no obstacle; then nil.
  private static func lockFile(of database: DatabaseFile, isOptional: Bool) throws(StoreOpenError) -> Int32? {
    while true {
      var descriptor = open(database.lockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if descriptor < 0, isOptional, [EROFS, ENOSPC, EDQUOT].contains(errno) {
        descriptor = open(database.lockPath, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
      }
      guard descriptor >= 0 else {
        throw StoreOpenError(.directory, "cannot write to the directory \(database.directory): \(lastSystemError())")
      }
      try lock(descriptor, of: database)
      // Removed between the opening and the lock, it would keep nobody out.
      if FileIdentity(of: database.lockPath) == FileIdentity(of: descriptor) { return descriptor }
      Foundation.close(descriptor)
    }
  }

  private static func lock(_ descriptor: Int32, of database: DatabaseFile) throws(StoreOpenError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
    let reason = errno
    Foundation.close(descriptor)
    guard reason == EWOULDBLOCK else {
      throw StoreOpenError(.directory, "cannot lock \(database.path): \(String(cString: strerror(reason)))")
    }
    let who = holder(of: database).map { "process \($0)" } ?? "another process"
    throw StoreOpenError(.locked, "the database \(database.path) is in use by \(who)")
  }

  /// The process that holds the lock file; nil where nobody does, as where the database goes by another name.
  private static func holder(of database: DatabaseFile) -> String? {
    let descriptor = open(database.lockPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Foundation.close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? nil : RunNote(in: descriptor).process
  }

  /// The time of the file; nil where it is new.
  private static func lastTouch(of descriptor: Int32) -> Instant? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    return Instant(status.st_mtim.tv_sec) * 1000 + Instant(status.st_mtim.tv_nsec) / 1_000_000
  }
}

// Not synced: after a power failure an older time is good enough.
private func setTime(of descriptor: Int32, to time: Instant) -> Bool {
  let instant = timespec(tv_sec: Int(time / 1000), tv_nsec: Int(time % 1000) * 1_000_000)
  return futimens(descriptor, [instant, instant]) == 0
}

/// The text of `errno`.
func lastSystemError() -> String { String(cString: strerror(errno)) }
