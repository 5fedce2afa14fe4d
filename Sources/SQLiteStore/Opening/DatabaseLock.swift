import Foundation
import GroupModel
import Synchronization

/// The lock of one process on a database, until `release()` or the end of the process: two servers
/// would each trust their own memory of a group.
///
/// The lock on the database's own file holds for every name of it: a hard link, another mount. The
/// lock file beside it protects a database that does not exist yet, and excludes older versions; it
/// holds the `RunRecord`, and its modification time tells when the process last ran.
final class DatabaseLock: Sendable {
  /// About when a store last had the database open; now where none ever did.
  let lastAlive: WallInstant
  /// The end of the last run.
  let lastRun: RunRecord.End
  let database: DatabaseFile
  private let state: Mutex<State>

  private struct State {
    /// nil where it cannot be created: the disk is full or read-only. The database's lock is
    /// enough.
    var lockFile: Int32?
    /// Opened before SQLite opens the database and closed after SQLite has closed it: a process
    /// that closes any descriptor of a file loses the locks that SQLite has on it.
    var databaseFile: Int32?
    /// The files that must stay in their places while the store runs.
    var watched: [String: FileIdentity] = [:]
    var note = RunRecord(end: .unknown)

    mutating func close() {
      for descriptor in [lockFile, databaseFile] {
        guard let descriptor else { continue }
        // A child between fork and exec still holds the descriptor, and with it the lock.
        flock(descriptor, LOCK_UN)
        Foundation.close(descriptor)
      }
      (lockFile, databaseFile) = (nil, nil)
    }
  }

  /// Takes both locks, the database's where it exists. The lock file's time stays unchanged until
  /// `touch(at:)`, because a failed start must not count as a run.
  init(of database: DatabaseFile, now: WallInstant) throws(StoreOpenError) {
    var state = State()
    do throws(StoreOpenError) {
      state.databaseFile = try Self.lockDatabase(database)
      state.lockFile = try Self.lockFile(of: database, isOptional: state.databaseFile != nil)
    } catch {
      state.close()
      throw error
    }
    var touched: WallInstant?
    if let file = state.lockFile {
      touched = Self.lastTouch(of: file)
      state.note = RunRecord(in: file)
      // On a full disk the next tick tries again.
      _ = state.note.write(to: file) && setTime(of: file, to: touched ?? now)
    }
    // The clock may have been put back since then.
    lastAlive = min(touched ?? now, now)
    lastRun = state.note.end
    self.database = database
    self.state = Mutex(state)
  }

  deinit { close() }

  /// Locks the file of a new database, before it gets the database's name.
  func lockNewDatabase(_ descriptor: Int32) throws(StoreOpenError) {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = lastSystemError()
      Foundation.close(descriptor)
      throw StoreOpenError(.unavailable, "cannot lock \(database.path): \(reason)")
    }
    state.withLock { $0.databaseFile = descriptor }
  }

  /// Begins the run, with the database and its log open: an end without `release` is a crash from
  /// now on.
  func beginRun() {
    state.withLock { state in
      // Some file systems report another number each time: their files cannot be watched.
      if let own = state.databaseFile, FileIdentity(of: own) == FileIdentity(of: database.path) {
        for path in [database.path, database.logPath, database.indexPath] { state.watched[path] = FileIdentity(of: path) }
      }
      state.note.end = .crashed(nil)
    }
  }

  /// Notes that the process is running.
  /// - Parameter log: the end of the log; nil = as before.
  /// - Returns: false where the file cannot be written; `errno` says why.
  func touch(at time: WallInstant, log: RunRecord.LogMark?) -> Bool {
    state.withLock { state in
      if let log { state.note.end = .crashed(log) }
      guard let file = state.lockFile else { return true }
      // The time can be set on a full disk too.
      let isWritten = state.note.write(to: file)
      return setTime(of: file, to: time) && isWritten
    }
  }

  /// Releases the database. The lock file stays: without it two processes could lock two different
  /// files of that name.
  /// - Parameter isCheckpointed: the next run needs nothing of the log.
  func release(at time: WallInstant, isCheckpointed: Bool) {
    state.withLock { state in
      if isCheckpointed { state.note.end = .clean }
      if let file = state.lockFile { _ = state.note.write(to: file) && setTime(of: file, to: time) }
    }
    close()
  }

  /// Releases the database after a failed start, without recording an end.
  func close() { state.withLock { $0.close() } }
}

// MARK: - While it is held

extension DatabaseLock {
  enum Finding: Equatable {
    case unchanged
    /// The lock file was missing, and was created and locked again.
    case lockFileMadeAgain
    /// Writes may be lost, or another process may write too.
    case lost(String)
  }

  /// Compares each name with the open file: files may be removed or replaced while the server runs.
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
    // For writing if possible: an overlay file system opens a different file for reading only.
    var descriptor = open(database.path, O_RDWR | O_CLOEXEC)
    if descriptor < 0, errno != ENOENT { descriptor = open(database.path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw StoreOpenError(.directory, "cannot read \(database.path): \(lastSystemError())")
    }
    try lock(descriptor, of: database)
    return descriptor
  }

  /// - Parameter isOptional: on a full or read-only disk the result is nil instead of an error.
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
      // A file that was removed before it was locked would keep no other process out.
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

  /// The process that holds the lock file; nil where none does: the database may have another name.
  static func holder(of database: DatabaseFile) -> String? {
    let descriptor = open(database.lockPath, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { Foundation.close(descriptor) }
    return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? nil : RunRecord(in: descriptor).process
  }

  /// The modification time of the file; nil where it is new.
  private static func lastTouch(of descriptor: Int32) -> WallInstant? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return nil }
    let time = status.st_mtim
    return WallInstant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

// Not synced: after a power failure an older time is good enough.
private func setTime(of descriptor: Int32, to time: WallInstant) -> Bool {
  let instant = timespec(tv_sec: Int(time.milliseconds / 1000), tv_nsec: Int(time.milliseconds % 1000) * 1_000_000)
  return futimens(descriptor, [instant, instant]) == 0
}

/// The text of `errno`.
func lastSystemError() -> String { String(cString: strerror(errno)) }
